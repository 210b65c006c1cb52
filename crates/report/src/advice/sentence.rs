//! The sentence of an advice.

use super::super::words;
use super::{MeasuredTrial, SimplerTrial, Why};
use readlab_analysis::stats::{SharedRatio, Significance};
use readlab_model::trial::{COMMAND, Params};

/// What follows the deed: with which trial, and why; if the fastest by its median is another trial,
/// why that is not advised; and the cheaper trial.
pub(super) fn write(
    used: &MeasuredTrial,
    why: &Why,
    fastest: &MeasuredTrial,
    tied: usize,
    cheaper: Option<&SimplerTrial>,
) -> String {
    let what = spelled(used);
    let tie = tie(used, fastest, tied);
    match why {
        Why::Itself { is_reference: true } if tied == 0 => {
            format!("{what}: the reference itself is the fastest")
        }
        Why::Itself { .. } if tied == 0 => format!("{what}: nothing that was measured is faster"),
        Why::Itself { .. } => format!("{what}: nothing that was measured is faster beyond doubt{tie}"),
        Why::Faster { base, ratio } => {
            let (name, times) = (spelled(base), words::times(*ratio));
            let cheaper = cheaper.map_or_else(String::new, would_give);
            format!("{what}: {times} times as fast as {name}{tie}{cheaper}")
        }
        Why::Open { baseline } => format!(
            "{what}: nothing that was measured is faster{tie}; {} needs 1 more round for an interval",
            baseline.row.name
        ),
        Why::Kept { instead, ratio } => {
            format!("{what}: {}", not_faster(&spelled(instead), *ratio))
        }
    }
}

/// How many trials tie with the advised one; where another has the best median, its name and that
/// it is less simple.
fn tie(used: &MeasuredTrial, fastest: &MeasuredTrial, tied: usize) -> String {
    if used.is(fastest) {
        return if tied == 0 { String::new() } else { format!("; it ties with {tied} more") };
    }
    let more = match tied.saturating_sub(1) {
        0 => String::new(),
        more => format!("; {more} more tie"),
    };
    format!("; {} has the best median, but ties with it and is less simple{more}", spelled(fastest))
}

fn would_give(step: &SimplerTrial) -> String {
    let (what, times) = (spelled(step.measured), words::times(step.ratio));
    format!("; {what} would already give {times} times without {}", listed(&step.without, "or"))
}

/// Why the baseline is kept: the other trial is slower, as fast, or one round at most holds both.
fn not_faster(what: &str, ratio: Option<SharedRatio>) -> String {
    let Some((ratio, clear)) = ratio.and_then(|ratio| Some((ratio, ratio.clear()?))) else {
        return format!("whether {what} is faster cannot be told from one round");
    };
    let times = words::times(ratio);
    match clear {
        Significance::Slower => format!("{what} is slower: {times} times as fast"),
        _ => format!("{what} is not faster beyond doubt: {times} times as fast"),
    }
}

/// `a, b or c`.
fn listed(things: &[&str], word: &str) -> String {
    match things.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} {word} {last}", others.join(", ")),
    }
}

/// A trial's name in a sentence: `mmap with avx2 and 2 threads`.
fn spelled(measured: &MeasuredTrial) -> String {
    let id = &measured.trial.trial.id;
    if id.method.contender == COMMAND {
        return format!("'{}'", measured.row.name.trim_start_matches("command/"));
    }
    let settings = id.params.0.iter().filter_map(|(name, &value)| setting(name, value, measured));
    let parts: Vec<String> = id.method.scan.iter().cloned().chain(settings).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let method = format!("{}/{}", id.method.contender, id.method.method);
    if parts.is_empty() { method } else { format!("{method} with {}", listed(&parts, "and")) }
}

/// One setting in words; `None` for what is switched off or is the default.
fn setting(name: &str, value: u64, measured: &MeasuredTrial) -> Option<String> {
    let one = Params([(name.to_owned(), value)].into_iter().collect()).to_string();
    let (short, spelled) = one.split_once('=')?;
    let switch = value <= 1 && !["depth", "threads", "buffers", "readers", "concurrency"].contains(&short);
    match short {
        "buffer" if measured.param("buffers") > 1 => {
            Some(format!("{} × {} buffers", measured.param("buffers"), size(spelled)))
        }
        "buffer" => Some(format!("{} buffers", size(spelled))),
        "buffers" if measured.trial.trial.id.params.0.keys().any(|name| Params::short(name) == "buffer") => {
            None
        }
        "threads" | "readers" => (value > 1).then(|| format!("{value} {short}")),
        _ if switch => (value == 1).then(|| short.to_owned()),
        _ => Some(format!("{short} {}", size(spelled))),
    }
}

/// `64KiB` as `64 KiB`.
fn size(spelled: &str) -> String {
    let unit = spelled.find(|c: char| c.is_ascii_alphabetic());
    unit.map_or_else(|| spelled.to_owned(), |at| format!("{} {}", &spelled[..at], &spelled[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_analysis::stats::{Interval, IntervalRule, RuledInterval};

    #[test]
    fn what_is_kept_has_its_reason_in_every_case() {
        let ratio = |estimate, ends: Option<(f64, f64)>| {
            let ci95 = ends.map(|(low, high)| RuledInterval {
                ends: Interval { low, high },
                rule: IntervalRule::SignedRank,
            });
            Some(SharedRatio { estimate, ci95, pairs: 10 })
        };
        for (ratio, expected) in [
            (ratio(0.828, Some((0.79, 0.86))), "x is slower: 0.83 [0.79, 0.86] times as fast"),
            (ratio(0.828, Some((0.7, 1.1))), "x is not faster beyond doubt: 0.8 [0.7, 1.1] times as fast"),
            (ratio(1.3, Some((0.9, 1.6))), "x is not faster beyond doubt: 1.3 [0.9, 1.6] times as fast"),
            (ratio(2.0, None), "whether x is faster cannot be told from one round"),
            (None, "whether x is faster cannot be told from one round"),
        ] {
            assert_eq!(not_faster("x", ratio), expected);
        }
    }
}
