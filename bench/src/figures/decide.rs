//! Figure: how soon the default race decides. It runs on a terminal, as a user sees it: time to the
//! first ranking on the screen and to the end, how sure its first rank is, and how many pairs of
//! trials it tells apart. An older readlab (`--before`) runs in turns with this one.

mod observed;

use crate::lab::{Lab, Revision};
use crate::pairs;
use crate::pairwise::{FirstRank, Pairwise};
use crate::programs::{Programs, Race};
use crate::row::Row;
use crate::share::Share;
use observed::Observed;
use readlab_model::units::Bytes;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

pub(super) const ABOUT: &str =
    "decide: the default race of 256 MiB and 1 GiB: first ranking, time, first rank, pairs told apart";

const REPEATS: usize = 3;
/// Half the width of a tie that is one.
const TIE: f64 = 0.05;

/// A file, and what is promised of its race.
struct Size {
    bytes: Bytes,
    ranking_s: Option<f64>,
    race_s: f64,
}

const SIZES: [Size; 2] = [
    Size { bytes: Bytes(256 << 20), ranking_s: Some(10.0), race_s: 60.0 },
    Size { bytes: Bytes(1 << 30), ranking_s: None, race_s: 120.0 },
];

/// One race.
struct Decided {
    observed: Observed,
    pairwise: Pairwise,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    for lab in programs.labs() {
        lab.build()?;
    }
    let rows =
        |size: &Size| size.measure(programs).unwrap_or_else(|error| vec![Row::failed(size.name(), &error)]);
    Ok(SIZES.iter().flat_map(rows).collect())
}

fn race(programs: &Programs, lab: &Lab, file: &Path) -> anyhow::Result<Decided> {
    let name = format!("decide-{}", lab.revision.word());
    let folder = programs.empty_folder(&name)?;
    let race = Race { name: &name, trials: &[], file, state: None, options: &[] };
    let observed = Observed::run(&programs.command(lab, &race, &folder)?, &folder)?;
    let pairwise = Pairwise::compare(lab, &folder.join("record.jsonl"))?;
    Ok(Decided { observed, pairwise })
}

impl Size {
    fn name(&self) -> String {
        self.bytes.binary()
    }

    fn measure(&self, programs: &Programs) -> anyhow::Result<Vec<Row>> {
        let file = programs.lines(self.bytes)?;
        let mut races: Vec<(&Lab, Vec<Decided>)> = programs.labs().map(|lab| (lab, Vec::new())).collect();
        for _ in 0..programs.repeats(REPEATS) {
            for (lab, decided) in &mut races {
                decided.push(race(programs, lab, &file)?);
            }
            // Who is first changes, as the one before may leave something behind.
            races.reverse();
        }
        races.sort_by_key(|(lab, _)| lab.revision != Revision::Now);
        let rows = races.iter().flat_map(|(lab, decided)| {
            self.rows(decided).into_iter().map(|row| row.for_revision(lab.revision))
        });
        Ok(rows.collect())
    }

    fn rows(&self, races: &[Decided]) -> Vec<Row> {
        let figure = |what: &str| format!("{}: {what}", self.name());
        let seconds = |what: &str, most: Option<f64>, of: fn(&Observed) -> Option<Duration>| {
            let found: Vec<f64> =
                races.iter().filter_map(|it| of(&it.observed)).map(|it| it.as_secs_f64()).collect();
            in_seconds(figure(what), most, &found)
        };
        let mut rows = vec![
            seconds("first ranking on the screen", self.ranking_s, |it| it.ranking),
            seconds("every trial of a state read once", None, |it| it.round),
            seconds("the whole race", Some(self.race_s), |it| Some(it.end)),
        ];
        for (state, found) in by_state(races) {
            rows.push(first_rank(figure(&format!("first rank, {state}")), &found.first_ranks));
            rows.push(found.told_apart.noted(figure(&format!("pairs told apart, {state}"))));
        }
        rows
    }
}

/// What all races found in one state.
#[derive(Default)]
struct OfState {
    first_ranks: Vec<FirstRank>,
    told_apart: Share,
}

fn by_state(races: &[Decided]) -> BTreeMap<&str, OfState> {
    let mut states: BTreeMap<&str, OfState> = BTreeMap::new();
    for Decided { pairwise, .. } in races {
        for state in pairwise.states() {
            let found = states.entry(state).or_default();
            found.first_ranks.push(pairwise.first_rank(state));
            found.told_apart = found.told_apart.with(pairwise.told_apart(state));
        }
    }
    states
}

/// The median of some times, with a promise if there is one.
fn in_seconds(figure: String, most: Option<f64>, seconds: &[f64]) -> Row {
    if seconds.is_empty() {
        return Row::failed(figure, &anyhow::anyhow!("it never came"));
    }
    let median = pairs::median(seconds);
    let each: Vec<String> = seconds.iter().map(|it| format!("{it:.1}")).collect();
    let words = format!("{median:.1} s (of {})", each.join(", "));
    match most {
        Some(most) => Row::judged(figure, &format!("at most {most:.0} s"), median, median <= most, words),
        None => Row::unjudged(figure, median, words),
    }
}

/// The first rank of every race: each shall be decided, or a tie that is narrow.
fn first_rank(figure: String, found: &[FirstRank]) -> Row {
    let widest = found.iter().map(|it| it.half_width()).fold(0.0, f64::max);
    let words: Vec<String> = found.iter().map(|it| it.words()).collect();
    let target = format!("decided, or tied at ±{:.0} %", TIE * 100.0);
    Row::judged(figure, &target, widest, widest <= TIE && !found.is_empty(), words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_rank_is_kept_only_if_every_race_decides_it() {
        let narrow = FirstRank::Tied { others: 2, half_width: 0.05 };
        let wide = FirstRank::Tied { others: 1, half_width: 0.051 };
        let row = |found: &[FirstRank]| first_rank("x".to_owned(), found);
        assert_eq!(row(&[FirstRank::Decided, narrow]).ok, Some(true));
        assert_eq!(row(&[FirstRank::Decided, narrow]).measured, "decided, 2 tied at ±5.0 %");
        assert_eq!(row(&[FirstRank::Decided, wide]).ok, Some(false));
        assert_eq!(row(&[FirstRank::Undecided]).ok, Some(false));
        assert_eq!(row(&[]).ok, Some(false));
    }

    #[test]
    fn a_time_is_judged_by_its_median_and_never_without_one() {
        let row = |seconds: &[f64]| in_seconds("x".to_owned(), Some(10.0), seconds);
        assert_eq!((row(&[9.0, 10.0, 40.0]).ok, row(&[9.0, 10.1, 11.0]).ok), (Some(true), Some(false)));
        assert_eq!(row(&[]).mark(), "ABSENT");
    }
}
