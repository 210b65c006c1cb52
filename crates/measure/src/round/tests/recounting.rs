//! How often what contenders do inside is counted.

use super::*;

/// What was counted of `a`, `b` and `c`, in order.
fn counted(counts: u32, count_ns: u64) -> Vec<String> {
    let trials = [("a", COLD), ("b", COLD), ("c", COLD)];
    let plan = plan(Rules { counts, ..runs(10) }, &trials);
    let recorded = play(&plan, ScriptedSampler { count_ns, ..ScriptedSampler::default() });
    recorded.only(&["counts"]).into_iter().map(str::to_owned).collect()
}

#[test]
fn all_trials_are_counted_in_turn_as_often_as_the_rules_say() {
    assert_eq!(counted(1, 0), ["counts a Some(7)", "counts b Some(7)", "counts c Some(7)"]);
    let thrice = counted(3, 0);
    assert_eq!(thrice[3..6], ["counts a Some(8)", "counts b Some(8)", "counts c Some(8)"]);
    assert_eq!(thrice[6..], ["counts a Some(9)", "counts b Some(9)", "counts c Some(9)"]);
}

#[test]
fn counting_again_takes_half_as_long_as_all_before() {
    let few = counted(1000, 10_000);
    assert_eq!(few[..3], counted(1, 0));
    let many = counted(1000, 100);
    assert!((4..30).contains(&few.len()) && many.len() > few.len(), "{} and {}", few.len(), many.len());
    assert!(counted(1000, 10_000_000).len() <= 6, "what is long is counted once more at most");
}
