//! Figure: how soon a default race decides, and which claims a suite answers. A race runs on a
//! terminal, as a user sees it. Measured are the time to the first ranking on the screen, the time
//! to the end, how certain the first rank is, how many pairs of trials the race distinguishes, how
//! many ratios have no interval, and how many languages have a ratio of their best method to their
//! usual one. An older readlab (`--before`) takes turns with this one.

use crate::pairwise::{FirstRank, Pairwise};
use crate::programs::{Lab, Programs, Race, RunningLab, output};
use crate::row::{Row, Share};
use crate::screen::{self, ScreenTimes};
use readlab_model::units::Bytes;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(super) const ABOUT: &str =
    "default races: first ranking, time, first rank, pairs told apart; claims told by a suite";

/// Largest half-width of a ratio's interval that counts as a tie.
const TIE_HALF_WIDTH_MAX: f64 = 0.05;
const SUITE: &str = "byte-stream";
const SUITE_BUDGET: &str = "150s";
/// 16 of the suite's 25 claims.
const DECIDED_CLAIMS_SHARE_MIN: f64 = 16.0 / 25.0;
/// The states of a default race.
const STATES: [&str; 2] = ["cold", "warm"];

/// A default race, and the promises about it.
struct DefaultRace {
    name: &'static str,
    target: RaceTarget,
    options: &'static [&'static str],
    ranking_s: Option<f64>,
    race_s: f64,
    /// Whether the first rank of the race must be decided.
    is_decisive: bool,
    /// The share of pairs that a cold and a warm race must distinguish; `None` without a promise.
    distinguished_min: Option<[f64; 2]>,
    repeats: usize,
}

enum RaceTarget {
    Lines(Bytes),
    /// This number of files, with the sizes of source code.
    SourceTree(usize),
}

const ONE_FILE_RACE: DefaultRace = DefaultRace {
    name: "256 MiB",
    target: RaceTarget::Lines(Bytes(256 << 20)),
    options: &[],
    ranking_s: Some(10.0),
    race_s: 60.0,
    is_decisive: true,
    // Ten times 3 of 435 pairs and five times 20 of 378, which a race distinguished whose intervals
    // needed five rounds.
    distinguished_min: Some([30.0 / 435.0, 100.0 / 378.0]),
    repeats: 2,
};
const OTHER_RACE: DefaultRace =
    DefaultRace { ranking_s: None, is_decisive: false, distinguished_min: None, repeats: 1, ..ONE_FILE_RACE };
const RACES: [DefaultRace; 4] = [
    ONE_FILE_RACE,
    DefaultRace {
        name: "1 GiB",
        target: RaceTarget::Lines(Bytes(1 << 30)),
        race_s: 90.0,
        is_decisive: true,
        ..OTHER_RACE
    },
    DefaultRace { name: "256 MiB over S3", options: &["--s3"], race_s: 90.0, ..OTHER_RACE },
    DefaultRace {
        name: "a source tree of 20,000 files",
        target: RaceTarget::SourceTree(20_000),
        ..OTHER_RACE
    },
];

struct RaceResult {
    shown: ScreenTimes,
    pairwise: Option<Pairwise>,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    for lab in programs.labs() {
        lab.build()?;
    }
    let mut rows: Vec<Row> =
        RACES.iter().flat_map(|race| Row::all_or_failed(race.name, race.measure(programs))).collect();
    for lab in programs.labs() {
        let found = Row::all_or_failed(format!("suite {SUITE}"), measure_claims(programs, lab));
        rows.extend(found.into_iter().map(|row| row.for_revision(lab.revision)));
    }
    Ok(rows)
}

impl DefaultRace {
    fn measure(&self, programs: &Programs) -> anyhow::Result<Vec<Row>> {
        let file = match self.target {
            RaceTarget::Lines(size) => programs.lines(size)?,
            RaceTarget::SourceTree(files) => programs.source_tree(files)?,
        };
        let races =
            programs.in_turns(programs.repeats(self.repeats), |lab, _| self.race(programs, lab, &file))?;
        let rows = races.iter().flat_map(|(lab, decided)| {
            self.rows(decided).into_iter().map(|row| row.for_revision(lab.revision))
        });
        Ok(rows.collect())
    }

    fn race(&self, programs: &Programs, lab: &Lab, file: &Path) -> anyhow::Result<RaceResult> {
        let name = format!("decide-{:?}", lab.revision);
        let folder = programs.empty_folder(&name)?;
        let race = Race { name: &name, trials: &[], file, state: None, options: self.options };
        let shown = screen::run(&programs.command(lab, &race, &folder)?)?;
        let compare = || Pairwise::compare(lab, &folder.join("record.jsonl"));
        Ok(RaceResult { shown, pairwise: self.is_decisive.then(compare).transpose()? })
    }

    fn rows(&self, races: &[RaceResult]) -> Vec<Row> {
        let figure = |what: &str| format!("{}: {what}", self.name);
        let rankings: Vec<f64> =
            races.iter().filter_map(|it| it.shown.ranking).map(|it| it.as_secs_f64()).collect();
        let ends: Vec<f64> = races.iter().map(|it| it.shown.end.as_secs_f64()).collect();
        let mut rows = vec![
            Row::judged_seconds(figure("first ranking on the screen"), self.ranking_s, &rankings),
            Row::judged_seconds(figure("the whole race"), Some(self.race_s), &ends),
        ];
        let pairwise: Vec<&Pairwise> = races.iter().filter_map(|it| it.pairwise.as_ref()).collect();
        for (at, state) in STATES.into_iter().enumerate().filter(|_| self.is_decisive) {
            let figure = |what: &str| figure(&format!("{what}, {state}"));
            let share = |of_race: fn(&Pairwise, &str) -> Share| {
                pairwise.iter().map(|it| of_race(it, state)).fold(Share::default(), Share::plus)
            };
            let ranks: Vec<FirstRank> = pairwise.iter().map(|it| it.first_rank(state)).collect();
            rows.push(first_rank_row(figure("first rank"), &ranks));
            let apart = share(Pairwise::distinguished_pairs);
            rows.push(match self.distinguished_min {
                Some(least) => apart.row_at_least(figure("pairs told apart"), least[at]),
                None => apart.unjudged_row(figure("pairs told apart")),
            });
            let open = share(Pairwise::ratios_without_interval);
            rows.push(open.row_at_most(figure("ratios without an interval"), 0.0));
            let compared = share(Pairwise::compared_languages);
            rows.push(compared.row_at_least(figure("languages with best ÷ usual"), 1.0));
        }
        rows
    }
}

/// The first rank of every race. Each must be decided, or a narrow tie.
fn first_rank_row(figure: String, found: &[FirstRank]) -> Row {
    let widest = found.iter().map(|it| it.half_width()).fold(0.0, f64::max);
    let words: Vec<String> = found.iter().map(|it| it.words()).collect();
    let target = format!("decided, or tied at ±{:.0} %", TIE_HALF_WIDTH_MAX * 100.0);
    Row::judged(figure, target, widest, widest <= TIE_HALF_WIDTH_MAX && !found.is_empty(), words.join(", "))
}

/// The time that a suite takes with a budget, and the number of claims that its record answers.
fn measure_claims(programs: &Programs, lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let folder = programs.empty_folder(&format!("suite-{:?}", lab.revision))?;
    let mut command = lab.command("suite");
    command.args([SUITE, "--budget", SUITE_BUDGET, "--quiet", "--output"]).arg(&folder);
    let start = Instant::now();
    let record: PathBuf = RunningLab::start(command, &folder)?.finish()?;
    let seconds = start.elapsed().as_secs_f64();
    let mut command = lab.command("claims");
    let judged: Value =
        serde_json::from_str(&output(command.arg(SUITE).arg(&record).args(["--export-json", "-"]))?)?;
    let figure = format!("suite {SUITE}, --budget {SUITE_BUDGET}");
    Ok(vec![
        Row::judged_seconds(format!("{figure}: time"), None, &[seconds]),
        decided_claims(&judged).row_at_least(format!("{figure}: claims told"), DECIDED_CLAIMS_SHARE_MIN),
    ])
}

/// The share of claims that hold or do not hold here.
fn decided_claims(judged: &Value) -> Share {
    let files = judged["claims"].as_array().into_iter().flatten();
    let claims = files.flat_map(|file| file["claims"].as_array().into_iter().flatten());
    claims.map(|claim| matches!(claim["here"]["verdict"].as_str(), Some("holds" | "does_not_hold"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_promise_on_the_first_rank_needs_a_decision_in_every_race() {
        let narrow = FirstRank::Tied { others: 2, half_width: 0.05 };
        let wide = FirstRank::Tied { others: 1, half_width: 0.051 };
        let row = |found: &[FirstRank]| first_rank_row("x".to_owned(), found);
        assert_eq!(row(&[FirstRank::Decided, narrow]).ok, Some(true));
        assert_eq!(row(&[FirstRank::Decided, narrow]).measured, "decided, 2 tied at ±5.0 %");
        assert_eq!(row(&[FirstRank::Decided, wide]).ok, Some(false));
        assert_eq!(row(&[FirstRank::Undecided]).ok, Some(false));
        assert_eq!(row(&[]).ok, Some(false));
    }

    #[test]
    fn a_claim_counts_as_decided_if_the_record_decides_it() {
        let claim = |here: Value| json!({ "by_its_own_figures": { "verdict": "holds" }, "here": here });
        let of = |verdict: &str| claim(json!({ "verdict": verdict }));
        let claims = [of("holds"), of("does_not_hold"), of("cannot_be_told"), claim(Value::Null)];
        assert_eq!(decided_claims(&json!({ "claims": [{ "claims": claims }] })).words(), "2 of 4 (50 %)");
    }
}
