//! The matching of cases: which cases of several sides are the same, by name and by what must
//! agree.
//!
//! A case of the first side takes, of each other side, the case of the same name whose target,
//! work, state and parameters agree. Where names meet and nothing agrees, the two are unlike: they
//! are compared only if that is forced.

use super::case::{Case, ComparisonKey};
use super::side::Side;
use readlab_model::units::Bytes;

/// A case of the first side with its partners, one for each side.
pub(super) struct MatchedCase<'a> {
    pub(super) cases: Vec<Option<&'a Case>>,
    /// What does not agree, where unlike things were forced together.
    pub(super) forced: Vec<String>,
}

/// Every case of the first side, and what could not be matched.
pub(super) struct Matching<'a> {
    pub(super) rows: Vec<MatchedCase<'a>>,
    /// Names that meet and things that are unlike, a sentence each.
    pub(super) unlike: Vec<String>,
    /// Which cases only one side has, a sentence for each side.
    pub(super) alone: Vec<String>,
    /// The same one by one, as far as the first side or the other has numbers.
    pub(super) unpaired: Vec<Unpaired>,
}

/// A case with numbers that another side does not have at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpaired {
    /// Number of the side that does not have it.
    pub side: usize,
    /// The case, with its state.
    pub name: String,
}

impl<'a> Matching<'a> {
    pub(super) fn pair(sides: &'a [Side], force: bool) -> Matching<'a> {
        let Some((first, others)) = sides.split_first() else {
            return Matching {
                rows: Vec::new(),
                unlike: Vec::new(),
                alone: Vec::new(),
                unpaired: Vec::new(),
            };
        };
        let row = |case| MatchedCase { cases: vec![Some(case)], forced: Vec::new() };
        let mut rows: Vec<MatchedCase> = first.cases.iter().map(row).collect();
        let (mut unlike, mut alone, mut unpaired) = (Vec::new(), Vec::new(), Vec::new());
        for (number, side) in (1..).zip(others) {
            let mut taken = vec![false; side.cases.len()];
            for row in &mut rows {
                let case = row.cases[0].expect("a row begins with its case");
                let found = side.cases.iter().zip(&taken).position(|(other, taken)| {
                    !taken && same_name(case, other) && differences(&case.key, &other.key).is_empty()
                });
                found.into_iter().for_each(|at| taken[at] = true);
                row.cases.push(found.map(|at| &side.cases[at]));
            }
            for row in rows.iter_mut().filter(|row| row.cases.last().is_some_and(Option::is_none)) {
                let case = row.cases[0].expect("a row begins with its case");
                let left =
                    side.cases.iter().zip(&taken).position(|(other, taken)| !taken && same_name(case, other));
                let Some(at) = left else {
                    unpaired.extend(Unpaired::find(number, case));
                    continue;
                };
                let why = differences(&case.key, &side.cases[at].key).join(", ");
                taken[at] = true;
                let words = format!("{} of {} and of {}: {why}", called(case), first.name, side.name);
                if force {
                    *row.cases.last_mut().expect("one was just pushed") = Some(&side.cases[at]);
                    row.forced.push(words);
                } else {
                    unlike.push(words);
                }
            }
            let left = || side.cases.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(case, _)| case);
            unpaired.extend(left().filter_map(|case| Unpaired::find(0, case)));
            let left: Vec<String> = left().map(called).collect();
            alone.extend(only(&side.name, &left));
        }
        let lonely: Vec<String> = rows
            .iter()
            .filter(|row| !others.is_empty() && row.cases[1..].iter().all(Option::is_none))
            .filter_map(|row| row.cases[0].map(called))
            .filter(|name| !unlike.iter().any(|it| it.starts_with(&format!("{name} of "))))
            .collect();
        alone.extend(only(&first.name, &lonely));
        rows.retain(|row| others.is_empty() || row.cases[1..].iter().any(Option::is_some));
        Matching { rows, unlike, alone, unpaired }
    }
}

impl Unpaired {
    /// A case that this side does not have; `None` if it has no numbers anyway.
    fn find(side: usize, case: &Case) -> Option<Unpaired> {
        (!case.figures.is_empty()).then(|| Unpaired { side, name: called(case) })
    }
}

/// `only in A: x, y`, in a line that stays short.
fn only(side: &str, names: &[String]) -> Option<String> {
    const SHOWN: usize = 6;
    let mut shown = names.to_vec();
    shown.dedup();
    let more = if shown.len() > SHOWN { format!(" and {} more", shown.len() - SHOWN) } else { String::new() };
    shown.truncate(SHOWN);
    (!names.is_empty()).then(|| format!("only in {side}: {}{more}", shown.join("; ")))
}

/// Its name, with the state where that is known.
fn called(case: &Case) -> String {
    case.key.state.map_or_else(|| case.name.clone(), |state| format!("{} ({state})", case.name))
}

fn same_name(one: &Case, other: &Case) -> bool {
    one.names.intersection(&other.names).next().is_some()
}

/// Published sizes are rounded: within a hundredth they are the same.
const SIZE_SLACK: u64 = 100;

/// What does not agree, in words; what one side does not know agrees.
pub(super) fn differences(one: &ComparisonKey, other: &ComparisonKey) -> Vec<String> {
    let mut found = Vec::new();
    match (&one.digest, &other.digest) {
        (Some(a), Some(b)) if a != b => {
            found.push(format!("the files differ (digest {a} and {b}{})", sizes(one, other)));
        }
        (Some(_), Some(_)) => {}
        _ => {
            if let (Some(a), Some(b)) = (one.size_bytes, other.size_bytes)
                && a.abs_diff(b) > a.max(b) / SIZE_SLACK
            {
                found.push(format!("the files differ{}", sizes(one, other)));
            }
        }
    }
    let mut differ = |what: &str, a: Option<String>, b: Option<String>| {
        if let (Some(a), Some(b)) = (a, b)
            && a != b
        {
            found.push(format!("{what} {a} and {b}"));
        }
    };
    differ("work", one.work.map(|it| it.to_string()), other.work.map(|it| it.to_string()));
    differ("read over", one.over.map(|it| it.word().to_owned()), other.over.map(|it| it.word().to_owned()));
    differ("state", one.state.map(|it| it.to_string()), other.state.map(|it| it.to_string()));
    // If the parameters of both sides are known, they include the readers.
    if one.params.is_none() || other.params.is_none() {
        differ("readers", one.readers.map(|it| it.to_string()), other.readers.map(|it| it.to_string()));
    }
    differ("read at once by", one.together.map(|it| it.to_string()), other.together.map(|it| it.to_string()));
    let above = |it: &ComparisonKey| {
        it.is_above_cache.map(|above| if above { "above a cache" } else { "of the device" }.to_owned())
    };
    differ("cold", above(one), above(other));
    let params = |it: &ComparisonKey| it.params.as_ref().map(|params| format!("[{params}]"));
    differ("parameters", params(one), params(other));
    found
}

fn sizes(one: &ComparisonKey, other: &ComparisonKey) -> String {
    match (one.size_bytes, other.size_bytes) {
        (Some(a), Some(b)) if a != b => format!(", {} and {}", Bytes(a), Bytes(b)),
        _ => String::new(),
    }
}
