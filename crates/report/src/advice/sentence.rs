//! The sentence that explains an advice.

use super::super::words;
use super::{AdviceReason, MeasuredTrial, SimplerTrial};
use readlab_analysis::stats::{SharedRatio, Significance};
use readlab_model::enumeration::enumeration;
use readlab_model::trial::{COMMAND, Params};

/// The sentence after `use` or `keep`: the advised trial and the reason; if another trial has the
/// best median, why that trial is not advised; and the cheaper trial.
pub(super) fn advice_sentence(
    used: &MeasuredTrial,
    why: &AdviceReason,
    fastest: &MeasuredTrial,
    tied: usize,
    cheaper: Option<&SimplerTrial>,
) -> String {
    let what = trial_words(used);
    let tie = tie_words(used, fastest, tied);
    match why {
        AdviceReason::NoComparison { is_reference: true } if tied == 0 => {
            format!("{what}: the reference itself is the fastest")
        }
        AdviceReason::NoComparison { .. } if tied == 0 => {
            format!("{what}: nothing that was measured is faster")
        }
        AdviceReason::NoComparison { .. } => {
            format!("{what}: nothing that was measured is faster beyond doubt{tie}")
        }
        AdviceReason::Faster { base, ratio } => {
            let (name, times) = (trial_words(base), words::ratio_words(*ratio));
            let cheaper = cheaper.map_or_else(String::new, cheaper_words);
            format!("{what}: {times} times as fast as {name}{tie}{cheaper}")
        }
        AdviceReason::Open { baseline } => format!(
            "{what}: nothing that was measured is faster{tie}; {} needs 1 more round for an interval",
            baseline.row.name
        ),
        AdviceReason::Kept { instead, ratio } => {
            format!("{what}: {}", not_faster_words(&trial_words(instead), *ratio))
        }
    }
}

/// The number of trials that tie with the advised trial. If another trial has the best median, also
/// the name of that trial, and that it is less simple.
fn tie_words(used: &MeasuredTrial, fastest: &MeasuredTrial, tied: usize) -> String {
    if used.is_same_trial(fastest) {
        return if tied == 0 { String::new() } else { format!("; it ties with {tied} more") };
    }
    let more = match tied.saturating_sub(1) {
        0 => String::new(),
        more => format!("; {more} more tie"),
    };
    format!("; {} has the best median, but ties with it and is less simple{more}", trial_words(fastest))
}

fn cheaper_words(step: &SimplerTrial) -> String {
    let (what, times) = (trial_words(step.measured), words::ratio_words(step.ratio));
    format!("; {what} would already give {times} times without {}", enumeration(&step.spared_needs, "or"))
}

/// Why the baseline is kept: the other trial is slower or ties, or too few rounds hold both.
fn not_faster_words(what: &str, ratio: Option<SharedRatio>) -> String {
    let Some((ratio, clear)) = ratio.and_then(|ratio| Some((ratio, ratio.significance()?))) else {
        return format!("whether {what} is faster cannot be told from one round");
    };
    let times = words::ratio_words(ratio);
    match clear {
        Significance::Slower => format!("{what} is slower: {times} times as fast"),
        _ => format!("{what} is not faster beyond doubt: {times} times as fast"),
    }
}

/// A trial's name in a sentence, such as `mmap with avx2 and 2 threads`.
fn trial_words(measured: &MeasuredTrial) -> String {
    let id = &measured.trial.trial.id;
    if id.method.contender == COMMAND {
        // Settings of the system and a bound on memory are in the row's name, but not in the
        // command.
        return format!("'{}'", id.to_string().trim_start_matches("command/"));
    }
    let settings = id.params.0.iter().filter_map(|(name, &value)| setting_words(name, value, measured));
    let parts: Vec<String> = id.method.scan.iter().cloned().chain(settings).collect();
    let method = format!("{}/{}", id.method.contender, id.method.method);
    if parts.is_empty() { method } else { format!("{method} with {}", enumeration(&parts, "and")) }
}

/// One parameter in words; `None` if it is switched off or has its default value.
fn setting_words(name: &str, value: u64, measured: &MeasuredTrial) -> Option<String> {
    let one = Params([(name.to_owned(), value)].into_iter().collect()).to_string();
    let (short, spelled) = one.split_once('=')?;
    let switch = value <= 1 && !["depth", "threads", "buffers", "readers", "concurrency"].contains(&short);
    match short {
        "buffer" if measured.param_or_one("buffers") > 1 => {
            Some(format!("{} × {} buffers", measured.param_or_one("buffers"), spaced_unit(spelled)))
        }
        "buffer" => Some(format!("{} buffers", spaced_unit(spelled))),
        "buffers"
            if measured.trial.trial.id.params.0.keys().any(|name| Params::short_name(name) == "buffer") =>
        {
            None
        }
        "threads" | "readers" => (value > 1).then(|| format!("{value} {short}")),
        _ if switch => (value == 1).then(|| short.to_owned()),
        _ => Some(format!("{short} {}", spaced_unit(spelled))),
    }
}

/// Puts a space before the unit: `64KiB` becomes `64 KiB`.
fn spaced_unit(spelled: &str) -> String {
    let unit = spelled.find(|c: char| c.is_ascii_alphabetic());
    unit.map_or_else(|| spelled.to_owned(), |at| format!("{} {}", &spelled[..at], &spelled[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::shared_ratio;

    #[test]
    fn a_kept_baseline_has_a_reason_in_every_case() {
        for (estimate, ends, expected) in [
            (0.828, Some((0.79, 0.86)), "x is slower: 0.83 [0.79, 0.86] times as fast"),
            (0.828, Some((0.7, 1.1)), "x is not faster beyond doubt: 0.8 [0.7, 1.1] times as fast"),
            (1.3, Some((0.9, 1.6)), "x is not faster beyond doubt: 1.3 [0.9, 1.6] times as fast"),
            (2.0, None, "whether x is faster cannot be told from one round"),
        ] {
            assert_eq!(not_faster_words("x", Some(shared_ratio(estimate, ends))), expected);
        }
        assert_eq!(not_faster_words("x", None), "whether x is faster cannot be told from one round");
    }
}
