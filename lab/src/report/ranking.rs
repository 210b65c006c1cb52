//! The trials of one target, work and cache state side by side: who is the fastest, how sure that is, what was proven,
//! and who could not be measured. Controls stand apart: they read no file.

mod proof;
mod reference;
mod row;
mod touched;
mod unmeasured;

pub use proof::{Proof, Range};
pub use reference::{Reference, WhyReference};
pub use row::{Place, Row, Standing};
pub use touched::Touched;
pub use unmeasured::Unmeasured;

use super::advice::Advice;
use super::answer::condition;
use super::bound::Bound;
use super::name::Names;
use super::search::SearchView;
use crate::record::{Limit, Record, Samples, Trial, TrialRecord};
use crate::stats::{self, Bootstrap, Clear};
use crate::target::hidden_cache::HiddenCache;
use crate::target::{TargetFacts, layers};
use crate::trial::{CacheState, Over, Work};
use crate::units::Bytes;
use crate::verdict;
use readlab_protocol::Archive;
use std::collections::{BTreeMap, BTreeSet};

/// What the trials of a ranking have in common.
type Key = (usize, Option<Archive>, Work, CacheState);

/// One ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Number of the target in the record.
    pub target: usize,
    /// Its path.
    pub path: String,
    /// Its size; `None` where the record has lost it.
    pub size: Option<Bytes>,
    /// The archive whose content is read; `None` where bytes are read as they are.
    pub decodes: Option<Archive>,
    /// The bytes that come out of it, of which rates are made: its size, unless it is decoded.
    pub bytes_out: Option<Bytes>,
    /// What is done with the bytes.
    pub work: Work,
    /// Where the bytes are when the clock starts.
    pub state: CacheState,
    /// The caches that stay when the target is made cold, by name; `None` for another state, and where none is known.
    pub cold_above: Option<String>,
    /// What is known of the layers below a target that was made cold, a line each.
    pub below: Vec<String>,
    /// Over what they come.
    pub over: Over,
    /// The work and the target, where other rankings of the record have others: ` (lines)`, ` (lines, data.zip)`.
    pub apart: String,
    /// Against what ratios are made; `None` when nothing was measured.
    pub reference: Option<Reference>,
    /// The measured trials, fastest first.
    pub rows: Vec<Row>,
    /// The measured controls, fastest first.
    pub controls: Vec<Row>,
    /// The others, in the order of the record.
    pub unmeasured: Vec<Unmeasured>,
    /// What was proven of the cache over all samples that stand, controls left out.
    pub proof: Proof,
    /// Which readings are known to have touched the bytes.
    pub touched: Option<Touched>,
    /// What the machine can do at best in this state, slowest first; empty where the record holds no limits.
    pub bounds: Vec<Bound>,
    /// Why cold readings may look faster than the device is, and which limits were replaced; mostly empty.
    pub gives: Vec<String>,
    /// What follows for whoever writes a program; `None` where fewer than two were measured.
    pub advice: Option<Advice>,
    /// What a search took; `None` where nothing was searched.
    pub search: Option<SearchView>,
    /// The settings of a search with the readings of the search, which no number but a curve's is told from.
    pub searched: Vec<Row>,
}

impl Ranking {
    /// Whether a trial may be shown as the fastest, alone or tied: it shares the first rank, there are others below,
    /// and no place in that rank is undecided.
    #[must_use]
    pub fn leads(&self, row: &Row) -> bool {
        let at_first = |row: &Row| row.place.is_some_and(|place| place.rank == 1);
        let undecided = |row: &&Row| row.place == Some(Place { rank: 1, standing: Standing::Undecided });
        let decided = !self.rows.iter().any(|row| undecided(&row));
        at_first(row) && decided && self.rows.iter().any(|row| !at_first(row))
    }

    /// All rankings of a record, by target, what is read of it, work and state, held against its limits.
    #[must_use]
    pub fn all(record: &Record, limits: &[Limit]) -> Vec<Ranking> {
        let mut groups: BTreeMap<Key, Vec<&TrialRecord>> = BTreeMap::new();
        for it in &record.trials {
            let key = (it.trial.target, it.trial.decodes, it.trial.work, it.trial.state);
            groups.entry(key).or_default().push(it);
        }
        let apart = Apart::of(record);
        groups.into_iter().map(|(key, trials)| Ranking::of((record, limits, apart), key, &trials)).collect()
    }

    fn of((record, limits, apart): (&Record, &[Limit], Apart), key: Key, trials: &[&TrialRecord]) -> Ranking {
        let (target, decodes, work, state) = key;
        let facts = record.targets.get(target);
        let size = facts.map(|facts| Bytes(facts.size_bytes));
        let bytes_out = facts.map(|facts| Bytes(facts.bytes_out(decodes)));
        let bootstrap = Bootstrap::new(record.header.seed);
        let names = Names::of(record);
        let (measured, others): (Vec<&TrialRecord>, Vec<&TrialRecord>) =
            trials.iter().partition(|trial| trial.is_measured());
        let searched = |trial: &&&TrialRecord| !trial.searched.is_empty() && !trial.trial.is_control();
        let of_search = |trial: &&TrialRecord| {
            let samples = trial.searched.clone();
            Row::of(&TrialRecord { samples, ..(*trial).clone() }, &names, ((size, bytes_out), bootstrap))
        };
        let searched = trials.iter().filter(searched).filter_map(of_search).collect();
        let mut rows: Vec<(Row, &TrialRecord)> = measured
            .into_iter()
            .filter_map(|trial| Some((Row::of(trial, &names, ((size, bytes_out), bootstrap))?, trial)))
            .collect();
        rows.sort_by_key(|(row, _)| (row.wall.median, row.index));
        let (controls, mut rows): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|(_, trial)| trial.trial.is_control());
        let reference = Reference::among(record, &rows);
        compare(&mut rows, reference.as_ref(), bootstrap);
        for (row, trial) in &mut rows {
            row.judgement = verdict::judge(record, limits, trial);
        }
        let over = facts.map_or_else(Over::default, TargetFacts::over);
        let cold = facts.filter(|_| state == CacheState::Cold);
        let cold_above = cold.and_then(TargetFacts::cold_above);
        let path = facts.map_or_else(|| format!("target {target}"), |facts| facts.path.clone());
        let apart = apart.words(work, &path);
        let place = condition(state, cold_above.is_some(), over, decodes) + &apart;
        let advice = Advice::of(&rows, reference.as_ref(), place, bootstrap);
        let ranked = || rows.iter().map(|(_, trial)| *trial);
        Ranking {
            target,
            path,
            apart,
            size,
            decodes,
            bytes_out,
            work,
            state,
            below: cold.map(|facts| below(facts, cold_above.as_deref())).unwrap_or_default(),
            cold_above,
            over,
            reference,
            proof: Proof::of(ranked().map(|trial| (trial, size))),
            gives: gives(record, limits, ((target, state), !rows.is_empty())),
            touched: Touched::of(trials, ranked()),
            controls: controls.into_iter().map(|(row, _)| row).collect(),
            unmeasured: Unmeasured::all(&others, &names),
            advice,
            search: SearchView::of(trials),
            searched,
            bounds: Bound::all(limits, target, (state, decodes)),
            rows: rows.into_iter().map(|(row, _)| row).collect(),
        }
    }
}

/// Why readings may look faster than the device is, and which limits were replaced where anything is ranked.
fn gives(
    record: &Record,
    limits: &[Limit],
    ((target, state), is_ranked): ((usize, CacheState), bool),
) -> Vec<String> {
    let of_cold = (state == CacheState::Cold).then(|| verdict::what_gives(record, target));
    let replaced = is_ranked.then(|| verdict::replaced(record, limits, (target, state)));
    of_cold.into_iter().chain(replaced).flatten().collect()
}

/// What is known of the layers below a target: what cold means, the chain, and whether anybody looked for more.
fn below(facts: &TargetFacts, cold_above: Option<&str>) -> Vec<String> {
    let above = cold_above.map(|cache| format!("cold above: {cache}"));
    let chain = layers::words(&facts.layers).map(|chain| format!("layers: {chain}"));
    let not_probed = facts.hidden_cache.as_ref().and_then(HiddenCache::not_probed);
    above.into_iter().chain(chain).chain(not_probed).collect()
}

/// By what, beside the state, the rankings of a record differ.
#[derive(Debug, Clone, Copy)]
struct Apart {
    by_work: bool,
    by_target: bool,
}

impl Apart {
    /// Controls do not count: they take part in no ranking.
    fn of(record: &Record) -> Apart {
        let ranked = || record.trials.iter().map(|it| &it.trial).filter(|trial| !trial.is_control());
        let works: BTreeSet<Work> = ranked().map(|trial| trial.work).collect();
        let path = |trial: &Trial| record.targets.get(trial.target).map(|target| &target.path);
        let paths: BTreeSet<Option<&String>> = ranked().map(path).collect();
        Apart { by_work: works.len() > 1, by_target: paths.len() > 1 }
    }

    /// What tells this ranking from others, behind where the bytes are.
    fn words(self, work: Work, path: &str) -> String {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let parts = [self.by_work.then(|| work.to_string()), self.by_target.then_some(name)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}

/// Fills in the ratios to the reference, and the places by ratios to the first of each rank.
fn compare(rows: &mut [(Row, &TrialRecord)], reference: Option<&Reference>, bootstrap: Bootstrap) {
    let reference = reference.and_then(|it| rows.iter().find(|(row, _)| row.index == it.index));
    let reference: Option<&Samples> = reference.map(|(_, trial)| &trial.samples);
    let mut first: Option<(usize, &Samples)> = None;
    for (at, (row, trial)) in rows.iter_mut().enumerate() {
        if let Some(reference) =
            reference.filter(|reference| !std::ptr::eq(*reference, &raw const trial.samples))
        {
            row.ratio = stats::ratio(reference, &trial.samples, bootstrap);
        }
        let ratio = first.map(|(rank, first)| (rank, stats::ratio(first, &trial.samples, bootstrap)));
        row.place = Some(match ratio.map(|(rank, ratio)| (rank, ratio.and_then(|ratio| ratio.clear()))) {
            None | Some((_, Some(Clear::Slower))) => {
                first = Some((at + 1, &trial.samples));
                Place { rank: at + 1, standing: Standing::First }
            }
            // A higher median and yet faster within rounds is no order either.
            Some((rank, Some(Clear::Tie | Clear::Faster))) => Place { rank, standing: Standing::Tied },
            Some((rank, None)) => Place { rank, standing: Standing::Undecided },
        });
    }
}
