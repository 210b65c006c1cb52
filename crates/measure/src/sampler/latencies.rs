//! What contenders say that single reads took: compared with the reads of their turn, and recorded
//! with its samples.

use super::observed_turn::MeteredTurn;
use crate::interface::Slot;
use readlab_model::target::places::PlacesFacts;
use readlab_record::{Line, Trial};
use readlab_roster::session::Turn;

/// By so much of a window a read may seem longer than it: numbers of a histogram are rounded up.
const ROUNDED_UP: u64 = 50;

/// Why what is said of single reads cannot be true; `None` where it can, and where nothing is said.
pub(super) fn refuted(turn: &Turn, places: Option<&PlacesFacts>) -> Option<String> {
    let counts = turn.latencies.as_ref()?.counts();
    let counted: u64 = counts.iter().map(|count| count.reads).sum();
    let reads = places.map_or(0, |places| places.reads) * turn.samples.len() as u64;
    if counted != reads {
        return Some(format!("its latencies are of {counted} reads, and it read {reads} blocks"));
    }
    let untimed: u64 = counts.iter().filter(|count| count.ns == 0).map(|count| count.reads).sum();
    if untimed > 0 {
        return Some(format!("{untimed} of its {counted} reads took 0 ns, which no read does"));
    }
    let longest_ns = counts.last().map_or(0, |count| count.ns);
    let window_ns = turn.samples.iter().map(|sample| sample.wall_ns).max().unwrap_or(0);
    (longest_ns > window_ns + window_ns / ROUNDED_UP)
        .then(|| format!("its longest read took {longest_ns} ns, in a window of {window_ns} ns"))
}

/// What single reads took, as lines of the record: one for each reader. What a search reads is not
/// reported, nor what a control does.
pub(super) fn lines(trial: &Trial, slot: &Slot, turns: &[MeteredTurn]) -> Vec<Line> {
    let is_reported = slot.rung.is_none() && !trial.is_control();
    let told = turns.iter().filter(|_| is_reported).filter_map(|turn| turn.answer.latencies.clone());
    let line =
        |histogram| Line::Latencies { trial: trial.index, fill: slot.fill, round: slot.round, histogram };
    told.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::sample_line;
    use super::*;
    use readlab_model::target::places::Pattern;
    use readlab_protocol::SampleLine;
    use readlab_record::testing::latencies;

    const PLACES: PlacesFacts = PlacesFacts {
        pattern: Pattern::Random,
        block_bytes: 4096,
        reads: 3,
        distinct: 3,
        file_bytes: 1 << 20,
    };

    fn turn(times_ns: &[u64]) -> Turn {
        let sample = SampleLine { wall_ns: 1000, ..sample_line(None) };
        let latencies = Some(latencies(times_ns.iter().copied()));
        Turn { samples: vec![sample.clone(), sample], counts: Vec::new(), latencies, seen_ns: 2000 }
    }

    #[test]
    fn latencies_are_of_the_reads_of_the_turn_and_none_is_longer_than_a_window() {
        assert_eq!(refuted(&turn(&[100, 200, 300, 100, 200, 1000]), Some(&PLACES)), None);
        let fewer = refuted(&turn(&[100, 200, 300]), Some(&PLACES)).unwrap();
        assert_eq!(fewer, "its latencies are of 3 reads, and it read 6 blocks");
        let longer = refuted(&turn(&[100, 200, 300, 100, 200, 1100]), Some(&PLACES)).unwrap();
        assert!(longer.ends_with("in a window of 1000 ns"), "{longer}");
        let untimed = refuted(&turn(&[0, 0, 300, 100, 200, 1000]), Some(&PLACES)).unwrap();
        assert_eq!(untimed, "2 of its 6 reads took 0 ns, which no read does");
        assert!(refuted(&turn(&[100]), None).is_some(), "of a file that is read whole nothing is said");
        assert_eq!(refuted(&Turn { latencies: None, ..turn(&[]) }, Some(&PLACES)), None);
    }
}
