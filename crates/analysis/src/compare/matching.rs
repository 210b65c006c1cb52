//! The matching of cases: which cases of several sides are the same, by name and by comparison key.
//!
//! A case of the first side is matched with the case of the same name on each other side if target,
//! work, state and parameters agree. Cases of which only the name is the same are unlike: they are
//! compared only if the user forces it.

use super::case::{Case, ComparisonKey};
use super::side::Side;
use readlab_model::units::Bytes;

/// A case of the first side with its partners on the other sides.
pub(super) struct MatchedCase<'a> {
    /// One entry for each side; the first is the case of the first side.
    pub(super) cases: Vec<Option<&'a Case>>,
    /// The differences between cases that are compared because the user forces it.
    pub(super) forced_differences: Vec<String>,
}

/// Every case of the first side with its partners, and the cases without one.
#[derive(Default)]
pub(super) struct Matching<'a> {
    pub(super) rows: Vec<MatchedCase<'a>>,
    /// A sentence for each pair of cases of one name that differ.
    pub(super) unlike_case_sentences: Vec<String>,
    /// The cases that only one side has, a sentence for each side.
    pub(super) one_side_sentences: Vec<String>,
    /// The unmatched cases that have numbers, one entry each.
    pub(super) unpaired_cases: Vec<UnpairedCase>,
}

/// A case with numbers that another side lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpairedCase {
    /// Number of the side that lacks the case, from 0.
    pub lacking_side: usize,
    pub name: String,
}

impl<'a> MatchedCase<'a> {
    pub(super) fn first_case(&self) -> &'a Case {
        self.cases[0].expect("a row begins with its case")
    }
}

impl<'a> Matching<'a> {
    pub(super) fn pair(sides: &'a [Side], force: bool) -> Matching<'a> {
        let Some((first, others)) = sides.split_first() else { return Matching::default() };
        let row = |case| MatchedCase { cases: vec![Some(case)], forced_differences: Vec::new() };
        let mut matching = Matching { rows: first.cases.iter().map(row).collect(), ..Matching::default() };
        for (number, side) in (1..).zip(others) {
            matching.pair_with_side(number, first, side, force);
        }
        let Matching { rows, unlike_case_sentences, one_side_sentences, .. } = &mut matching;
        let is_met = |row: &MatchedCase| others.is_empty() || row.cases[1..].iter().any(Option::is_some);
        let lonely = rows.iter().filter(|row| !is_met(row)).map(|row| case_name(row.first_case()));
        let lonely = lonely
            .filter(|name| !unlike_case_sentences.iter().any(|it| it.starts_with(&format!("{name} of "))));
        one_side_sentences.extend(one_sided_names_words(&first.name, &lonely.collect::<Vec<_>>()));
        rows.retain(is_met);
        matching
    }

    /// Matches the cases of one more side: first the cases that agree and have the same path, then
    /// those that agree, then unlike cases of the same name.
    fn pair_with_side(&mut self, number: usize, first: &Side, side: &'a Side, force: bool) {
        let mut taken = vec![false; side.cases.len()];
        let free = |taken: &[bool], fits: &dyn Fn(&Case) -> bool| {
            side.cases.iter().zip(taken).position(|(other, taken)| !taken && fits(other))
        };
        let mut partners: Vec<Option<usize>> = vec![None; self.rows.len()];
        for is_same_path in [true, false] {
            for (row, partner) in self.rows.iter().zip(&mut partners).filter(|(_, it)| it.is_none()) {
                let case = row.first_case();
                let agrees = |it: &Case| {
                    have_common_name(case, it)
                        && differences(&case.key, &it.key).is_empty()
                        && (!is_same_path || case.key.path == it.key.path)
                };
                *partner = free(&taken, &agrees);
                if let Some(at) = *partner {
                    taken[at] = true;
                }
            }
        }
        for (row, partner) in self.rows.iter_mut().zip(partners) {
            row.cases.push(partner.map(|at| &side.cases[at]));
        }
        for row in self.rows.iter_mut().filter(|row| row.cases[number].is_none()) {
            let case = row.first_case();
            let Some(at) = free(&taken, &|it: &Case| have_common_name(case, it)) else {
                self.unpaired_cases.extend(UnpairedCase::of_measured(number, case));
                continue;
            };
            let why = differences(&case.key, &side.cases[at].key).join(", ");
            taken[at] = true;
            let words = format!("{} of {} and of {}: {why}", case_name(case), first.name, side.name);
            if force {
                row.cases[number] = Some(&side.cases[at]);
                row.forced_differences.push(words);
            } else {
                self.unlike_case_sentences.push(words);
            }
        }
        let left: Vec<&Case> =
            side.cases.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(case, _)| case).collect();
        self.unpaired_cases.extend(left.iter().filter_map(|case| UnpairedCase::of_measured(0, case)));
        self.one_side_sentences
            .extend(one_sided_names_words(&side.name, &left.into_iter().map(case_name).collect::<Vec<_>>()));
    }
}

impl UnpairedCase {
    /// The entry which says that a side lacks `case`; `None` if the case has no numbers.
    fn of_measured(side: usize, case: &Case) -> Option<UnpairedCase> {
        (!case.figures.is_empty()).then(|| UnpairedCase { lacking_side: side, name: case_name(case) })
    }
}

/// The words `only in A: x; y`, with a few names at most; `None` without names.
fn one_sided_names_words(side: &str, names: &[String]) -> Option<String> {
    const NAMES_SHOWN: usize = 6;
    let mut shown = names.to_vec();
    shown.dedup();
    let more = if shown.len() > NAMES_SHOWN {
        format!(" and {} more", shown.len() - NAMES_SHOWN)
    } else {
        String::new()
    };
    shown.truncate(NAMES_SHOWN);
    (!names.is_empty()).then(|| format!("only in {side}: {}{more}", shown.join("; ")))
}

/// The name of a case, with its cache state where known.
pub(super) fn case_name(case: &Case) -> String {
    case.key.state.map_or_else(|| case.name.clone(), |state| format!("{} ({state})", case.name))
}

fn have_common_name(one: &Case, other: &Case) -> bool {
    one.names.intersection(&other.names).next().is_some()
}

/// Whether files of these sizes are different files. Published sizes are rounded: a difference of
/// one hundredth is ignored.
pub fn sizes_differ(a: u64, b: u64) -> bool {
    a.abs_diff(b) > a.max(b) / 100
}

/// The differences between two keys, in words. A value that one side does not know is no
/// difference.
pub(super) fn differences(one: &ComparisonKey, other: &ComparisonKey) -> Vec<String> {
    let mut found = Vec::new();
    if let (Some(a), Some(b)) = (&one.digest, &other.digest) {
        if a != b {
            found.push(format!("the files differ (digest {a} and {b}{})", size_words(one, other)));
        }
    } else if let (Some(a), Some(b)) = (one.size_bytes, other.size_bytes)
        && sizes_differ(a, b)
    {
        found.push(format!("the files differ{}", size_words(one, other)));
    }
    let mut differ = |what: &str, words: fn(&ComparisonKey) -> Option<String>| {
        if let (Some(a), Some(b)) = (words(one), words(other))
            && a != b
        {
            found.push(format!("{what} {a} and {b}"));
        }
    };
    differ("work", |it| Some(it.work?.to_string()));
    differ("read over", |it| Some(it.transport?.word().to_owned()));
    differ("state", |it| Some(it.state?.to_string()));
    differ("memory", |it| Some(it.memory_bound?.to_string()));
    // If the parameters of both sides are known, they include the number of readers.
    if one.params.is_none() || other.params.is_none() {
        differ("readers", |it| Some(it.reader_count?.to_string()));
    }
    differ("read at once by", |it| Some(it.concurrent_readers?.to_string()));
    differ("cold", |it| Some(if it.is_above_cache? { "above a cache" } else { "of the device" }.to_owned()));
    differ("parameters", |it| Some(format!("[{}]", it.params.as_ref()?)));
    found
}

fn size_words(one: &ComparisonKey, other: &ComparisonKey) -> String {
    match (one.size_bytes, other.size_bytes) {
        (Some(a), Some(b)) if a != b => format!(", {} and {}", Bytes(a), Bytes(b)),
        _ => String::new(),
    }
}
