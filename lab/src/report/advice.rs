//! What to do about it: which of the measured to use, how much that gives, what is cheaper and gives most of it, and the
//! code. Only what an interval carries is advised; of those that tie the simplest.
//!
//! What a way of reading asks of a program is told by its snippet ([`crate::snippet`]); of one without, nothing is known, and
//! it counts as the least simple.

use super::ranking::{Row, Standing};
use super::words;
use crate::record::TrialRecord;
use crate::snippet::{self, Snippet};
use crate::stats::{self, Bootstrap, Clear, Ratio};
use crate::trial::{COMMAND, Params, TrialId};
use std::collections::BTreeSet;

/// What follows from one ranking for whoever writes a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Where it holds: `warm`, `cold over http`.
    pub condition: String,
    /// All of it in one sentence.
    pub sentence: String,
    /// Number of the trial to use; `None` where nothing can be advised.
    pub uses: Option<usize>,
    /// Its name.
    pub name: String,
    /// The names of those that are as fast, as far as can be told.
    pub tied: Vec<String>,
    /// What it is held against.
    pub against: Option<Against>,
    /// What asks for less and is faster than that, too.
    pub cheaper: Option<Cheaper>,
    /// Code that reads so.
    pub code: Vec<Snippet>,
}

/// Another trial and the ratio to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// Its name.
    pub name: String,
    /// How many times as fast as it the advised one is.
    pub ratio: Ratio,
}

/// A trial that asks for less.
#[derive(Debug, Clone, PartialEq)]
pub struct Cheaper {
    /// Number of the trial.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// How many times as fast it is as what the advised one is held against.
    pub ratio: Ratio,
    /// What it does without.
    pub without: Vec<&'static str>,
}

/// A measured trial with its summary.
type Measured<'a> = (Row, &'a TrialRecord);

/// What a program must have to read in a trial's way; `None` where nobody tells.
fn needs((_, trial): &Measured) -> Option<BTreeSet<&'static str>> {
    let mut needs = snippet::needs(&trial.trial.id.method)?;
    needs.extend((param(trial, "threads") > 1).then_some("several threads"));
    Some(needs)
}

fn param(trial: &TrialRecord, name: &str) -> u64 {
    trial.trial.params.0.get(name).copied().unwrap_or(1)
}

/// By what the simplest of those that tie is found: it asks for least, then has the fewest threads, the fewest reads in
/// flight, the smallest buffers, the fewest settings.
fn complexity(measured: &Measured) -> impl Ord + use<> {
    let trial = measured.1;
    let buffer: u64 =
        ["buffer_bytes", "buffer_chars", "chunk_bytes"].iter().map(|name| param(trial, name)).sum();
    let set = trial.trial.id.params.0.values().filter(|value| **value > 0).count();
    let asks = needs(measured).map_or(usize::MAX, |needs| needs.len());
    (
        asks,
        param(trial, "threads"),
        param(trial, "depth"),
        param(trial, "buffers"),
        buffer,
        set,
        trial.trial.index,
    )
}

impl Advice {
    /// The advice from the rows of a ranking, fastest first; `reference` is the number of the trial that the user named.
    /// `None` where fewer than two were measured.
    pub(super) fn of(
        rows: &[Measured],
        reference: Option<usize>,
        condition: String,
        bootstrap: Bootstrap,
    ) -> Option<Advice> {
        let first: Vec<&Measured> =
            rows.iter().filter(|(row, _)| row.place.is_some_and(|it| it.rank == 1)).collect();
        let fastest = *first.first().filter(|_| rows.len() > 1)?;
        let undecided =
            first.iter().filter(|(row, _)| row.place.is_some_and(|it| it.standing == Standing::Undecided));
        let undecided = undecided.count();
        if undecided > 0 {
            return Some(Advice::none(condition, undecided));
        }
        // One that shares the first rank by its wide interval may still be seen to be slower than the reference.
        let worth = |it: &&&Measured| it.0.ratio.and_then(|ratio| ratio.clear()) != Some(Clear::Slower);
        let used = first.iter().filter(worth).min_by_key(|measured| complexity(measured)).copied();
        let used = used.unwrap_or(fastest);
        let tied: Vec<String> =
            first.iter().filter(|it| it.0.index != used.0.index).map(|(row, _)| row.name.clone()).collect();
        let baseline = baseline(rows, used, reference);
        let ratio_to_baseline = |it: &Measured| {
            let baseline = baseline.filter(|baseline| baseline.0.index != it.0.index)?;
            stats::ratio(&baseline.1.samples, &it.1.samples, bootstrap)
        };
        let against = baseline.zip(ratio_to_baseline(used));
        let against = against.map(|(baseline, ratio)| Against { name: baseline.0.name.clone(), ratio });
        let cheaper = cheaper(rows, used, ratio_to_baseline);
        let mut advice = Advice {
            condition,
            sentence: String::new(),
            uses: Some(used.0.index),
            name: used.0.name.clone(),
            tied,
            against,
            cheaper: cheaper.as_ref().map(|(_, cheaper)| cheaper.clone()),
            code: snippet::code(&used.1.trial.id.method, &used.1.trial.params),
        };
        advice.sentence = advice.tell(used, cheaper.map(|(measured, _)| measured));
        Some(advice)
    }

    /// That nothing can be advised.
    fn none(condition: String, undecided: usize) -> Advice {
        let sentence = format!(
            "{condition}: no advice, as {} cannot be told from the fastest with so few rounds",
            words::plural(undecided, "more trial")
        );
        let (tied, code) = (Vec::new(), Vec::new());
        Advice {
            condition,
            sentence,
            uses: None,
            name: String::new(),
            tied,
            against: None,
            cheaper: None,
            code,
        }
    }

    fn tell(&self, used: &Measured, cheaper: Option<&Measured>) -> String {
        let (condition, what) = (&self.condition, spelled(used));
        let clear = self.against.as_ref().and_then(|against| against.ratio.clear());
        let tie = match self.tied.len() {
            0 => String::new(),
            tied => format!("; it ties with {tied} more, of which it is the simplest"),
        };
        match (&self.against, clear) {
            (None, _) if self.tied.is_empty() => {
                format!("{condition}: keep {what}: nothing that was measured is faster")
            }
            (None, _) => {
                format!("{condition}: keep {what}: nothing that was measured is faster beyond doubt{tie}")
            }
            (Some(Against { name, ratio }), Some(Clear::Faster)) => {
                let cheaper =
                    cheaper.zip(self.cheaper.as_ref()).map_or_else(String::new, |(measured, cheaper)| {
                        format!(
                            "; {} would already give {} times without {}",
                            spelled(measured),
                            words::factor(cheaper.ratio.estimate),
                            any_of(&cheaper.without)
                        )
                    });
                format!(
                    "{condition}: use {what}: {} times {name}{}{tie}{cheaper}",
                    words::factor(ratio.estimate),
                    interval(ratio)
                )
            }
            (Some(Against { name, ratio }), _) => format!(
                "{condition}: keep {name}: {what} is not faster beyond doubt, {} times{}",
                words::factor(ratio.estimate),
                interval(ratio)
            ),
        }
    }
}

/// `a, b or c`.
fn any_of(things: &[&str]) -> String {
    match things.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

fn interval(ratio: &Ratio) -> String {
    ratio.ci95.map_or_else(String::new, |ends| {
        format!(", interval {} to {}", words::factor(ends.low), words::factor(ends.high))
    })
}

/// What the advised is held against: what the user named, else what programs in its language usually do, the slowest of
/// them, else the reference of the ranking, which is there in any case.
fn baseline<'r, 'a>(
    rows: &'r [Measured<'a>],
    used: &Measured,
    reference: Option<usize>,
) -> Option<&'r Measured<'a>> {
    let named = rows.iter().find(|(row, _)| Some(row.index) == reference);
    let usual = |(_, trial): &&Measured| {
        let method = &trial.trial.id.method;
        method.contender == used.1.trial.contender && snippet::is_usual(method)
    };
    // The rows stand in the order of their medians.
    named.or_else(|| rows.iter().rfind(usual)).or_else(|| rows.iter().find(|(row, _)| row.ratio.is_none()))
}

/// The fastest that asks for less than the advised one and is clearly faster than the baseline.
fn cheaper<'r, 'a>(
    rows: &'r [Measured<'a>],
    used: &Measured,
    ratio_to_baseline: impl Fn(&Measured) -> Option<Ratio>,
) -> Option<(&'r Measured<'a>, Cheaper)> {
    let all = needs(used)?;
    let asks_less = |measured: &&Measured| {
        needs(measured).is_some_and(|less| less.len() < all.len() && less.is_subset(&all))
    };
    // Of many steps down the lowest is told: what needs nothing, before what needs a little less.
    let candidates = rows.iter().filter(asks_less).filter_map(|measured| {
        let ratio = ratio_to_baseline(measured).filter(|ratio| ratio.clear() == Some(Clear::Faster))?;
        let without = all.difference(&needs(measured)?).copied().collect();
        let (index, name) = (measured.0.index, measured.0.name.clone());
        Some((measured, Cheaper { index, name, ratio, without }))
    });
    candidates.min_by_key(|(measured, _)| needs(measured).map_or(usize::MAX, |needs| needs.len()))
}

/// A trial as a sentence names it: `mmap with avx2 and 2 threads`.
fn spelled((row, trial): &Measured) -> String {
    let id: &TrialId = &trial.trial.id;
    if id.method.contender == COMMAND {
        return format!("'{}'", row.name.trim_start_matches("command/"));
    }
    let mut parts: Vec<String> = id.method.scan.iter().cloned().collect();
    parts.extend(id.params.0.iter().filter_map(|(name, &value)| setting(name, value, trial)));
    let method = format!("{}/{}", id.method.contender, id.method.method);
    match parts.split_last() {
        None => method,
        Some((last, [])) => format!("{method} with {last}"),
        Some((last, others)) => format!("{method} with {} and {last}", others.join(", ")),
    }
}

/// One setting in words; `None` for what is switched off, or as it is when nobody asks.
fn setting(name: &str, value: u64, trial: &TrialRecord) -> Option<String> {
    let one = Params([(name.to_owned(), value)].into_iter().collect()).to_string();
    let (short, spelled) = one.split_once('=')?;
    let switch = value <= 1 && !["depth", "threads", "buffers", "readers"].contains(&short);
    match short {
        "buffer" if param(trial, "buffers") > 1 => {
            Some(format!("{} × {} buffers", param(trial, "buffers"), size(spelled)))
        }
        "buffer" => Some(format!("{} buffers", size(spelled))),
        "buffers" if trial.trial.id.params.0.keys().any(|name| Params::short(name) == "buffer") => None,
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
