//! Figure: how much of the time that windows may leave out of a turn honest contenders use, for
//! every method of every language.

use crate::programs::{Programs, Race};
use crate::row::Row;
use readlab_measure::round::share_of_bound;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Outcome, Record, TrialRecord};
use readlab_roster::roster::Roster;

pub(super) const ABOUT: &str =
    "left-out: what windows leave out of turns ÷ what is refused, at most, all methods of a language";

const SIZES: [Bytes; 2] = [Bytes(16 << 20), Bytes(256 << 20)];
const RUNS: &str = "5";

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let roster = Roster::built_in();
    let names = ["rust", "command", "c", "cpp", "go", "java", "node", "python", "swift"];
    let mut rows = Vec::new();
    for size in SIZES {
        let file = programs.lines(size)?;
        for name in names {
            let figure = format!("{name}, {}", size.binary());
            let glob = format!("{name}/*");
            let glob = if name == "command" { "rust/mmap" } else { &glob };
            let options = ["--method", glob, "--runs", RUNS];
            let race = Race { name: "left-out", trials: &[], file: &file, state: None, options: &options };
            let collects = roster.entry(name).is_some_and(|entry| entry.collects);
            rows.push(match programs.race(&race) {
                Ok(record) => row(figure, &record, name, collects),
                Err(error) => Row::failed(figure, &error),
            });
        }
    }
    Ok(rows)
}

/// The nearest of a contender's trials, and how many were refused.
fn row(figure: String, record: &Record, name: &str, collects: bool) -> Row {
    let null = |state: CacheState| {
        let is_null = move |it: &&TrialRecord| it.trial.method() == "null" && it.trial.state == state;
        record.trials.iter().filter(is_null).flat_map(|it| it.samples.iter())
    };
    let own = || record.trials.iter().filter(|it| it.trial.contender() == name && !it.trial.is_control());
    let share = |it: &TrialRecord| share_of_bound(null(it.trial.state), it.samples.iter(), collects);
    let shares = own().filter_map(|it| Some((share(it)?, format!("{} ({})", it.trial.id, it.trial.state))));
    let refused = own().filter(|it| matches!(it.outcome, Some(Outcome::Refused { .. }))).count();
    let Some((most, nearest)) = shares.max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Row::failed(figure, &anyhow::anyhow!("nothing of it was measured here"));
    };
    let words = format!("{most:.2} ({nearest}); {} trials, {refused} refused", own().count());
    Row::judged(figure, "below 1, none refused", most, most < 1.0 && refused == 0, words)
}
