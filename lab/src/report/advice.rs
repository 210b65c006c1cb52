//! What to do about it: which of the measured to use, how much that gives, what is cheaper and
//! gives most of it, and the code. Only what an interval carries is advised; of those that tie the
//! simplest.
//!
//! What a way of reading asks of a program is told by its snippet ([`crate::contender::snippet`]);
//! of one without, nothing is known, and it counts as the least simple.

use super::ranking::{Reference, Row, TieStatus, WhyReference};
use super::words;
use crate::analysis::stats::{self, Bootstrap, Ratio, Significance};
use crate::contender::snippet::{self, Snippet};
use crate::record::TrialRecord;
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

/// By what the simplest of those that tie is found: it asks for least, then has the fewest threads,
/// the fewest reads in flight, the smallest buffers, the fewest settings.
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

/// The measured trials with their ratios.
struct Field<'r, 'a> {
    /// In the order of their medians.
    rows: &'r [Measured<'a>],
    bootstrap: Bootstrap,
}

impl<'r, 'a> Field<'r, 'a> {
    /// How many times as fast as the base a trial is; `None` for itself, and where no round holds
    /// both.
    fn ratio(&self, base: &Measured, it: &Measured) -> Option<Ratio> {
        if base.0.index == it.0.index {
            return None;
        }
        stats::ratio(&base.1.samples, &it.1.samples, self.bootstrap)
    }

    fn is_faster(&self, it: &Measured, than: &Measured) -> bool {
        self.ratio(than, it).and_then(|ratio| ratio.clear()) == Some(Significance::Faster)
    }

    /// Whether nothing that was measured is faster beyond doubt.
    fn is_unbeaten(&self, it: &Measured) -> bool {
        let mut before = self.rows.iter().take_while(|other| other.0.index != it.0.index);
        !before.any(|other| self.is_faster(other, it))
    }

    /// Of these the simplest than which nothing is faster beyond doubt.
    fn simplest(&self, mut among: Vec<&'r Measured<'a>>) -> Option<&'r Measured<'a>> {
        among.sort_by_key(|measured| complexity(measured));
        among.into_iter().find(|it| self.is_unbeaten(it))
    }
}

/// What the advised is to what it is held against.
enum Case<'r, 'a> {
    /// It is that itself, or there is nothing else.
    Itself { is_reference: bool },
    /// It is faster beyond doubt; not always the simplest of those that tie with it.
    Faster { base: &'r Measured<'a>, ratio: Ratio, is_simplest: bool },
    /// What is there is kept, for this one is not faster beyond doubt.
    Kept { instead: &'r Measured<'a>, ratio: Option<Ratio> },
}

impl Advice {
    /// The advice from the rows of a ranking, fastest first, with what its ratios are made against.
    /// `None` where fewer than two were measured.
    pub(super) fn of(
        rows: &[Measured],
        reference: Option<&Reference>,
        condition: String,
        bootstrap: Bootstrap,
    ) -> Option<Advice> {
        let first: Vec<&Measured> =
            rows.iter().filter(|(row, _)| row.place.is_some_and(|it| it.rank == 1)).collect();
        let fastest = *first.first().filter(|_| rows.len() > 1)?;
        let undecided =
            first.iter().filter(|(row, _)| row.place.is_some_and(|it| it.standing == TieStatus::Undecided));
        let undecided = undecided.count();
        if undecided > 0 {
            return Some(Advice::none(condition, undecided));
        }
        let field = Field { rows, bootstrap };
        let used = field.simplest(first.clone()).unwrap_or(fastest);
        let (used, case) = case(&field, used, reference);
        let ties =
            |it: &Measured| field.ratio(used, it).and_then(|ratio| ratio.clear()) == Some(Significance::Tie);
        let others = first.iter().filter(|it| ties(it));
        let tied: Vec<String> = others.map(|(row, _)| row.name.clone()).collect();
        let mut advice = Advice {
            condition,
            sentence: String::new(),
            uses: Some(used.0.index),
            name: used.0.name.clone(),
            tied,
            against: None,
            cheaper: None,
            code: snippet::code(&used.1.trial.id.method, &used.1.trial.params),
        };
        let mut less = None;
        if let Case::Faster { base, ratio, .. } = &case {
            advice.against = Some(Against { name: base.0.name.clone(), ratio: *ratio });
            let found = cheaper(rows, used, |it| field.ratio(base, it));
            (less, advice.cheaper) = found.map_or((None, None), |(it, cheaper)| (Some(it), Some(cheaper)));
        }
        advice.sentence = format!("{}: {}", advice.condition, advice.tell(used, &case, less));
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

    fn tell(&self, used: &Measured, case: &Case, cheaper: Option<&Measured>) -> String {
        let what = spelled(used);
        let simplest = match case {
            Case::Faster { is_simplest: false, .. } => "",
            _ => ", of which it is the simplest",
        };
        let tie = match self.tied.len() {
            0 => String::new(),
            tied => format!("; it ties with {tied} more{simplest}"),
        };
        match case {
            Case::Itself { is_reference: true } if self.tied.is_empty() => {
                format!("keep {what}: the reference itself is the fastest")
            }
            Case::Itself { .. } if self.tied.is_empty() => {
                format!("keep {what}: nothing that was measured is faster")
            }
            Case::Itself { .. } => {
                format!("keep {what}: nothing that was measured is faster beyond doubt{tie}")
            }
            Case::Faster { base, ratio, .. } => {
                let (name, times) = (&base.0.name, words::factor(ratio.estimate));
                let cheaper =
                    cheaper.zip(self.cheaper.as_ref()).map_or_else(String::new, |(measured, cheaper)| {
                        format!(
                            "; {} would already give {} times without {}",
                            spelled(measured),
                            words::factor(cheaper.ratio.estimate),
                            any_of(&cheaper.without)
                        )
                    });
                format!("use {what}: {times} times {name}{}{tie}{cheaper}", interval(ratio))
            }
            Case::Kept { instead, ratio } => {
                format!("keep {}: {}", self.name, not_faster(&spelled(instead), ratio.as_ref()))
            }
        }
    }
}

/// Why what is there is kept: the other one is slower, as fast, or nobody can tell.
fn not_faster(what: &str, ratio: Option<&Ratio>) -> String {
    let Some((ratio, clear)) = ratio.and_then(|ratio| Some((ratio, ratio.clear()?))) else {
        return format!("whether {what} is faster cannot be told with so few rounds");
    };
    let times = words::factor(ratio.estimate);
    match (clear, ratio.ci95) {
        (Significance::Slower, Some(ends)) => {
            let (low, high) = (words::factor(ends.low), words::factor(ends.high));
            format!("{what} is slower: {times} [{low}, {high}] times as fast")
        }
        _ => format!("{what} is not faster beyond doubt, {times} times{}", interval(ratio)),
    }
}

/// What is advised, and why: the simplest of the fastest, if it is faster than what it is held
/// against; else that, if nothing else is faster than it either. What is slower than something that
/// was measured is never kept.
fn case<'r, 'a>(
    field: &Field<'r, 'a>,
    used: &'r Measured<'a>,
    reference: Option<&Reference>,
) -> (&'r Measured<'a>, Case<'r, 'a>) {
    let is_reference = |it: &Measured| {
        reference.is_some_and(|own| own.index == it.0.index && own.why != WhyReference::Fastest)
    };
    let base = baseline(field.rows, used, reference).filter(|base| base.0.index != used.0.index);
    let Some(base) = base else {
        return (used, Case::Itself { is_reference: is_reference(used) });
    };
    let ratio = field.ratio(base, used);
    match ratio.filter(|ratio| ratio.clear() == Some(Significance::Faster)) {
        Some(ratio) => (used, Case::Faster { base, ratio, is_simplest: true }),
        None if field.is_unbeaten(base) => (base, Case::Kept { instead: used, ratio }),
        None => {
            let faster = field.rows.iter().filter(|it| field.is_faster(it, base)).collect();
            let better = field.simplest(faster).and_then(|it| Some((it, field.ratio(base, it)?)));
            match better {
                Some((better, ratio)) => (better, Case::Faster { base, ratio, is_simplest: false }),
                // Whoever beats the base is beaten in turn; the fastest is not.
                None => (used, Case::Itself { is_reference: is_reference(used) }),
            }
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

/// What the advised is held against: what the user named, else what programs in its language
/// usually do, the slowest of them, else the reference of the ranking.
fn baseline<'r, 'a>(
    rows: &'r [Measured<'a>],
    used: &Measured,
    reference: Option<&Reference>,
) -> Option<&'r Measured<'a>> {
    let own = reference.and_then(|own| Some((own.why, rows.iter().find(|(row, _)| row.index == own.index)?)));
    let named = own.filter(|(why, _)| *why == WhyReference::TrialSpec).map(|(_, it)| it);
    let usual = |(_, trial): &&Measured| {
        let method = &trial.trial.id.method;
        method.contender == used.1.trial.contender && snippet::is_usual(method)
    };
    // The rows stand in the order of their medians.
    named.or_else(|| rows.iter().rfind(usual)).or_else(|| own.map(|(_, it)| it))
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
        let ratio =
            ratio_to_baseline(measured).filter(|ratio| ratio.clear() == Some(Significance::Faster))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::stats::Interval;

    #[test]
    fn what_is_kept_has_its_reason_in_every_case() {
        let ratio = |estimate, ends: Option<(f64, f64)>| {
            let ci95 = ends.map(|(low, high)| Interval { low, high });
            Some(Ratio { estimate, ci95, pairs: 10 })
        };
        for (ratio, told) in [
            (ratio(0.828, Some((0.79, 0.86))), "x is slower: 0.828 [0.790, 0.860] times as fast"),
            (
                ratio(0.828, Some((0.7, 1.1))),
                "x is not faster beyond doubt, 0.828 times, interval 0.700 to 1.10",
            ),
            (
                ratio(1.3, Some((0.9, 1.6))),
                "x is not faster beyond doubt, 1.30 times, interval 0.900 to 1.60",
            ),
            (ratio(2.0, None), "whether x is faster cannot be told with so few rounds"),
            (None, "whether x is faster cannot be told with so few rounds"),
        ] {
            assert_eq!(not_faster("x", ratio.as_ref()), told);
        }
    }
}
