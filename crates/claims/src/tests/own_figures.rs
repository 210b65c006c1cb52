//! The answers to publications' claims by their own figures. The code computes figures from the
//! published tables; the expected values here were read from those tables by hand.

use super::*;

fn own_answer(file: &str, says: &str) -> Answer {
    let judged = judge(&find_built_in(file).unwrap(), None);
    let found = judged.claims.into_iter().find(|it| it.claim.statement.starts_with(says));
    found.unwrap_or_else(|| panic!("no claim begins with '{says}'")).own_answer
}

/// The lowest and the highest number, with two decimals.
fn range(answer: &Answer) -> (f64, f64) {
    let (ShownNumbers::Times(found) | ShownNumbers::Shares(found) | ShownNumbers::Values(_, found)) =
        &answer.shown
    else {
        panic!("no numbers: {answer:?}")
    };
    let values = || found.iter().map(|it| (it.estimate.value * 100.0).round() / 100.0);
    (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
}

#[test]
fn a_claim_that_contradicts_its_own_tables_does_not_hold() {
    for (says, ends) in [
        ("safe access", (6.81, 19.97)),
        ("withUnsafeBytes doubles the peak of memory of a whole", (1.14, 1.58)),
        ("withUnsafeBytes doubles the peak of memory of the delegate", (0.49, 0.57)),
        ("the M2 MacBook Air", (1.48, 2.4)),
    ] {
        let own = own_answer("byte-stream", says);
        assert_eq!((range(&own), own.verdict), (ends, Verdict::DoesNotHold), "{says}");
    }
    let order = own_answer("byte-stream", "the order of the fourteen");
    let differ = ShownNumbers::Ranks { differing: 7, total: 14 };
    assert_eq!((order.shown, order.verdict), (differ, Verdict::DoesNotHold));
}

#[test]
fn an_order_that_does_not_hold_names_the_pair_that_contradicts_it_most() {
    let order = own_answer("newlines", "from fastest to slowest");
    assert_eq!(order.shown, ShownNumbers::Pairs { in_order: 16, reversed: 2, total: 18 });
    let pair = order.farthest_beyond.unwrap();
    assert_eq!(pair.trials, "BufReader without appends / Direct IO");
    assert!(pair.side.contains("text") && (pair.estimate.value - 15.94 / 35.7).abs() < 1e-9, "{pair:?}");
}

#[test]
fn the_summary_with_typing_errors_is_contradicted_by_its_percentiles() {
    for says in ["with the delegate, reduce", "with the completion handler, reduce"] {
        assert_eq!(own_answer("byte-stream", says).verdict, Verdict::DoesNotHold, "{says}");
    }
}

#[test]
fn a_claim_that_the_tables_support_holds() {
    for (file, says) in [
        ("byte-stream", "the incremental delegate with withUnsafeBytes takes the least time"),
        ("byte-stream", "AsyncBytes is faster"),
        ("byte-stream", "one reading with URLSession"),
        ("byte-stream", "a for loop takes about 20 %"),
        ("byte-stream", "forEach and reduce take the same"),
        ("newlines", "a mapping counted with AVX-512"),
        ("newlines", "the file is read faster than the drive"),
        ("sizes", "the newer machine reads"),
        ("sizes", "files of 100 kB"),
        ("zip-lines", "reading from the zip"),
        ("zip-lines", "two threads that each"),
        ("lucene-directories", "in memory a mapping"),
        ("lucene-directories", "beyond memory a mapping falls"),
        ("lucene-directories", "beyond memory MADV_RANDOM"),
    ] {
        let answer = own_answer(file, says);
        assert_eq!(answer.verdict, Verdict::Holds, "{file}: {says}: {answer:?}");
    }
    assert_eq!(range(&own_answer("newlines", "the file is read faster")), (2.34, 2.34));
    assert_eq!(range(&own_answer("zip-lines", "two threads that each")), (1.83, 1.83));
    assert_eq!(range(&own_answer("lucene-directories", "beyond memory pread is")), (2.21, 3.44));
}

#[test]
fn published_deviations_make_intervals() {
    let zip = own_answer("zip-lines", "reading from the zip");
    let ShownNumbers::Times(found) = &zip.shown else { panic!("{zip:?}") };
    let of = |machine: &str| found.iter().find(|it| it.side == machine).unwrap().estimate;
    let m920 = of("M920").ci95.unwrap();
    assert!(m920.low > 1.9 && m920.high < 2.1, "{m920:?}");
    assert_eq!(of("Old desktop").ci95, None, "it was read once");
    let drives = own_answer("zip-lines", "two drives of one class");
    assert!(matches!(drives.verdict, Verdict::Undecided(_)), "its intervals hold 0.95: {drives:?}");
}

#[test]
fn a_claim_about_unpublished_numbers_cannot_be_decided() {
    for (file, says, why) in [
        ("newlines", "the reader: with lines", "have no CPU time"),
        ("byte-stream", "yes: a mapped Data takes less time than the fastest", "do not have"),
        ("byte-stream", "a drive of today", "no data sheet"),
        ("sizes", "writes have no such band", "single sizes"),
        ("zip-lines", "the disk: the same reader", "one state of the cache"),
        ("zip-lines", "the reader: it keeps", "have no CPU time"),
    ] {
        let Verdict::Undecided(said) = own_answer(file, says).verdict else { panic!("{says} is told") };
        assert!(said.contains(why), "{says}: {said}");
    }
}
