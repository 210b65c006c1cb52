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
    /// It comes first.
    pub(super) cases: Vec<Option<&'a Case>>,
    /// What does not agree, where unlike things were forced together.
    pub(super) forced: Vec<String>,
}

/// Every case of the first side, and what could not be matched.
#[derive(Default)]
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

impl<'a> MatchedCase<'a> {
    pub(super) fn first(&self) -> &'a Case {
        self.cases[0].expect("a row begins with its case")
    }
}

impl<'a> Matching<'a> {
    pub(super) fn pair(sides: &'a [Side], force: bool) -> Matching<'a> {
        let Some((first, others)) = sides.split_first() else { return Matching::default() };
        let row = |case| MatchedCase { cases: vec![Some(case)], forced: Vec::new() };
        let mut matching = Matching { rows: first.cases.iter().map(row).collect(), ..Matching::default() };
        for (number, side) in (1..).zip(others) {
            matching.pair_with(number, first, side, force);
        }
        let Matching { rows, unlike, alone, .. } = &mut matching;
        let is_met = |row: &MatchedCase| others.is_empty() || row.cases[1..].iter().any(Option::is_some);
        let lonely = rows.iter().filter(|row| !is_met(row)).map(|row| called(row.first()));
        let lonely = lonely.filter(|name| !unlike.iter().any(|it| it.starts_with(&format!("{name} of "))));
        alone.extend(only(&first.name, &lonely.collect::<Vec<_>>()));
        rows.retain(is_met);
        matching
    }

    /// Finds the partners on one more side: first those that agree, then what is unlike them.
    fn pair_with(&mut self, number: usize, first: &Side, side: &'a Side, force: bool) {
        let mut taken = vec![false; side.cases.len()];
        let free = |taken: &[bool], fits: &dyn Fn(&Case) -> bool| {
            side.cases.iter().zip(taken).position(|(other, taken)| !taken && fits(other))
        };
        for row in &mut self.rows {
            let case = row.first();
            let agrees = |it: &Case| same_name(case, it) && differences(&case.key, &it.key).is_empty();
            let found = free(&taken, &agrees);
            found.into_iter().for_each(|at| taken[at] = true);
            row.cases.push(found.map(|at| &side.cases[at]));
        }
        for row in self.rows.iter_mut().filter(|row| row.cases[number].is_none()) {
            let case = row.first();
            let Some(at) = free(&taken, &|it: &Case| same_name(case, it)) else {
                self.unpaired.extend(Unpaired::find(number, case));
                continue;
            };
            let why = differences(&case.key, &side.cases[at].key).join(", ");
            taken[at] = true;
            let words = format!("{} of {} and of {}: {why}", called(case), first.name, side.name);
            if force {
                row.cases[number] = Some(&side.cases[at]);
                row.forced.push(words);
            } else {
                self.unlike.push(words);
            }
        }
        let left: Vec<&Case> =
            side.cases.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(case, _)| case).collect();
        self.unpaired.extend(left.iter().filter_map(|case| Unpaired::find(0, case)));
        self.alone.extend(only(&side.name, &left.into_iter().map(called).collect::<Vec<_>>()));
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
    if let (Some(a), Some(b)) = (&one.digest, &other.digest) {
        if a != b {
            found.push(format!("the files differ (digest {a} and {b}{})", sizes(one, other)));
        }
    } else if let (Some(a), Some(b)) = (one.size_bytes, other.size_bytes)
        && a.abs_diff(b) > a.max(b) / SIZE_SLACK
    {
        found.push(format!("the files differ{}", sizes(one, other)));
    }
    let mut differ = |what: &str, words: fn(&ComparisonKey) -> Option<String>| {
        if let (Some(a), Some(b)) = (words(one), words(other))
            && a != b
        {
            found.push(format!("{what} {a} and {b}"));
        }
    };
    differ("work", |it| Some(it.work?.to_string()));
    differ("read over", |it| Some(it.over?.word().to_owned()));
    differ("state", |it| Some(it.state?.to_string()));
    // If the parameters of both sides are known, they include the readers.
    if one.params.is_none() || other.params.is_none() {
        differ("readers", |it| Some(it.readers?.to_string()));
    }
    differ("read at once by", |it| Some(it.together?.to_string()));
    differ("cold", |it| Some(if it.is_above_cache? { "above a cache" } else { "of the device" }.to_owned()));
    differ("parameters", |it| Some(format!("[{}]", it.params.as_ref()?)));
    found
}

fn sizes(one: &ComparisonKey, other: &ComparisonKey) -> String {
    match (one.size_bytes, other.size_bytes) {
        (Some(a), Some(b)) if a != b => format!(", {} and {}", Bytes(a), Bytes(b)),
        _ => String::new(),
    }
}
