//! The trials of one target, work and cache state side by side: who is the fastest, how sure that is, what was proven,
//! and who could not be measured. Controls stand apart: they read no file.

use super::advice::Advice;
use super::answer::condition;
use super::bound::Bound;
use super::name::Names;
use super::reading::{self, Reading};
use super::search::SearchView;
use crate::record::{Count, Limit, Metric, Record, Sample, TrialRecord};
use crate::stats::{self, Bootstrap, Clear, FillSpread, Ratio, Summary};
use crate::target::TargetFacts;
use crate::trial::{CacheState, MethodId, Over, Params, Work};
use crate::units::{Bytes, Nanos, Throughput};
use crate::verdict::{self, Judgement};
use readlab_protocol::Archive;
use std::collections::BTreeMap;

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
    /// Over what they come.
    pub over: Over,
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
    /// What the machine can do at best in this state, slowest first; empty where the record holds no limits.
    pub bounds: Vec<Bound>,
    /// Why cold readings may look faster than the device is; empty where nothing makes them.
    pub gives: Vec<String>,
    /// What follows for whoever writes a program; `None` where fewer than two were measured.
    pub advice: Option<Advice>,
    /// What a search took; `None` where nothing was searched.
    pub search: Option<SearchView>,
    /// The settings of a search with the readings of the search, which no number but a curve's is told from.
    pub searched: Vec<Row>,
}

/// The trial that ratios are made against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Number of the trial.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Why this one.
    pub why: WhyReference,
}

/// Why a trial is the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyReference {
    /// The user named it.
    Named,
    /// It is code that nobody here wrote: `wc -l`, or what brings it the bytes: a decoder, over http curl.
    Baseline,
    /// It is what most programs do: Rust's buffered reader.
    Usual,
    /// None of those was measured; it is the fastest.
    Fastest,
}

/// One measured trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Number of the trial.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its name as short as it may be beside the others of this record.
    pub short: String,
    /// Name that a suite gives it.
    pub label: Option<String>,
    /// Who reads and how.
    pub method: MethodId,
    /// Every parameter in force.
    pub params: Params,
    /// Where it stands; `None` for a control.
    pub place: Option<Place>,
    /// Wall time.
    pub wall: Summary,
    /// The bytes that come out of the target over the median wall time; `None` for a control and for a target of no bytes.
    pub throughput: Option<Throughput>,
    /// The bytes that go in, those of the target itself, over the median wall time; `None` where nothing is decoded.
    pub rate_in: Option<Throughput>,
    /// Every metric that some sample holds, the wall time among them.
    pub summaries: BTreeMap<Metric, Summary>,
    /// The readings one by one.
    pub readings: Vec<Reading>,
    /// Processors in use on average: CPU time over wall time, the median over the samples that hold both.
    pub cores: Option<f64>,
    /// Counts from untimed runs.
    pub counts: BTreeMap<String, Count>,
    /// Why a meter could not be read, by its name in files.
    pub missing: BTreeMap<String, String>,
    /// Times as fast as the reference; `None` for the reference itself, and where no round holds both.
    pub ratio: Option<Ratio>,
    /// Whether it goes to the device even when the file is cached.
    pub bypasses_cache: bool,
    /// Bytes from the device over the target's size, lowest and highest sample.
    pub device_share: Option<Range>,
    /// How far fills lie apart; `None` when cold, and with one fill.
    pub fills: Option<FillSpread>,
    /// Readings thrown away because their state could not be proven.
    pub rejected: usize,
    /// Whether the run was cut short before this trial was done.
    pub cut_short: bool,
    /// What stops it, with its nearest limit and the reasons; `None` for a control.
    pub judgement: Option<Judgement>,
}

/// A place in the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// From 1; those that cannot be told apart share it.
    pub rank: usize,
    /// How it stands to the first of its rank.
    pub standing: Standing,
}

/// How a trial stands to the first of its rank, by their ratio within rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is the first.
    First,
    /// The interval of their ratio holds 1.
    Tied,
    /// Too few rounds hold both to say.
    Undecided,
}

/// A trial without numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmeasured {
    /// Number of the trial.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its name as short as it may be beside the others of this record.
    pub short: String,
    /// `refused`, `failed`, `unavailable`, or `not measured` when the run ended before.
    pub outcome: &'static str,
    /// Why.
    pub reason: String,
}

/// Lowest and highest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Lowest.
    pub low: f64,
    /// Highest.
    pub high: f64,
}

/// What was proven of the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Proof {
    /// Samples that stand.
    pub samples: usize,
    /// Of these, samples whose residency is known both before and after.
    pub residency_known: usize,
    /// Readings that were thrown away.
    pub rejected: usize,
    /// Share of pages in the cache before.
    pub resident_before: Option<Range>,
    /// Share of pages in the cache after.
    pub resident_after: Option<Range>,
    /// Bytes from the device over the target's size.
    pub device_share: Option<Range>,
}

impl Range {
    /// Over some values; `None` without any.
    fn over(values: impl Iterator<Item = f64>) -> Option<Range> {
        values.fold(None, |range, value| {
            let Range { low, high } = range.unwrap_or(Range { low: value, high: value });
            Some(Range { low: low.min(value), high: high.max(value) })
        })
    }
}

impl Place {
    /// `1`; `1=` when tied, `1?` when undecided.
    #[must_use]
    pub fn word(self) -> String {
        match self.standing {
            Standing::First => self.rank.to_string(),
            Standing::Tied => format!("{}=", self.rank),
            Standing::Undecided => format!("{}?", self.rank),
        }
    }
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
        groups.into_iter().map(|(key, trials)| Ranking::of(record, limits, key, &trials)).collect()
    }

    fn of(record: &Record, limits: &[Limit], key: Key, trials: &[&TrialRecord]) -> Ranking {
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
        let named = reference.as_ref().filter(|it| it.why == WhyReference::Named).map(|it| it.index);
        let over = facts.map_or_else(Over::default, TargetFacts::over);
        let advice = Advice::of(&rows, named, condition(state, over, decodes), bootstrap);
        let ranked = || rows.iter().map(|(_, trial)| *trial);
        Ranking {
            target,
            path: facts.map_or_else(|| format!("target {target}"), |facts| facts.path.clone()),
            size,
            decodes,
            bytes_out,
            work,
            state,
            over,
            reference,
            proof: Proof::of(ranked(), size),
            gives: if state == CacheState::Cold { verdict::what_gives(record, target) } else { Vec::new() },
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

/// Up to so many trials without numbers, each is told by itself.
const SAME_TOLD_SINGLY: usize = 40;

/// Fills in the ratios to the reference, and the places by ratios to the first of each rank.
fn compare(rows: &mut [(Row, &TrialRecord)], reference: Option<&Reference>, bootstrap: Bootstrap) {
    let reference = reference.and_then(|it| rows.iter().find(|(row, _)| row.index == it.index));
    let reference: Option<&[Sample]> = reference.map(|(_, trial)| trial.samples.as_slice());
    let mut first: Option<(usize, &[Sample])> = None;
    for (at, (row, trial)) in rows.iter_mut().enumerate() {
        if let Some(reference) =
            reference.filter(|reference| !std::ptr::eq(*reference, &raw const *trial.samples))
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

impl Row {
    /// Summarises a trial; `None` without samples.
    fn of(
        trial: &TrialRecord,
        names: &Names,
        ((size, bytes_out), bootstrap): ((Option<Bytes>, Option<Bytes>), Bootstrap),
    ) -> Option<Row> {
        let summarise = |metric| Some((metric, stats::summary(&trial.samples, metric, bootstrap)?));
        let summaries: BTreeMap<Metric, Summary> = Metric::ALL.into_iter().filter_map(summarise).collect();
        let wall = summaries.get(&Metric::WallNs)?.clone();
        let read = bytes_out.filter(|size| size.0 > 0 && wall.median > 0 && !trial.trial.is_control());
        Some(Row {
            index: trial.trial.index,
            name: trial.trial.id.to_string(),
            short: names.short(&trial.trial),
            label: trial.trial.label.clone(),
            method: trial.trial.id.method.clone(),
            params: trial.trial.params.clone(),
            place: None,
            throughput: read.map(|size| Throughput::of(size, Nanos(wall.median))),
            rate_in: size
                .filter(|_| read.is_some() && trial.trial.decodes.is_some())
                .map(|size| Throughput::of(size, Nanos(wall.median))),
            wall,
            summaries,
            readings: trial.samples.iter().map(Reading::of).collect(),
            cores: reading::cores(&trial.samples),
            counts: trial.counts.clone(),
            missing: trial.missing.clone(),
            ratio: None,
            bypasses_cache: trial.trial.bypasses_cache(),
            device_share: Range::over(device_shares(trial, size)),
            fills: stats::fill_spread(&trial.samples).filter(|_| trial.trial.state == CacheState::Warm),
            rejected: trial.rejected.len(),
            cut_short: trial.outcome.is_none(),
            judgement: None,
        })
    }
}

/// Code that others wrote, for files, for what comes out of archives, and for URLs.
const BASELINES: [&str; 4] = [
    "command/wc -l",
    "command/unzip -p {} | wc -l",
    "command/gzip -dc {} | wc -l",
    "command/curl -s {} | wc -l",
];

impl Reference {
    /// The trial that the user named; else code that others wrote (`wc -l`, or behind a decoder or curl), else Rust's
    /// buffered reader, else the fastest.
    fn among(record: &Record, rows: &[(Row, &TrialRecord)]) -> Option<Reference> {
        let find = |fits: &dyn Fn(&TrialRecord) -> bool| rows.iter().find(|(_, trial)| fits(trial));
        let named = |trial: &TrialRecord| Some(&trial.trial.id) == record.header.reference.as_ref();
        let baseline = |trial: &TrialRecord| BASELINES.contains(&trial.trial.id.to_string().as_str());
        let usual = |trial: &TrialRecord| {
            trial.trial.id.method.contender == "rust" && trial.trial.id.method.method == "buffered"
        };
        let ((row, _), why) = find(&named)
            .map(|found| (found, WhyReference::Named))
            .or_else(|| find(&baseline).map(|found| (found, WhyReference::Baseline)))
            .or_else(|| find(&usual).map(|found| (found, WhyReference::Usual)))
            .or_else(|| rows.first().map(|found| (found, WhyReference::Fastest)))?;
        Some(Reference { index: row.index, name: row.name.clone(), why })
    }
}

impl Unmeasured {
    /// Those without numbers. Who left a search is none of them; and where a search has many that lack the same, one stands
    /// for all.
    fn all(others: &[&TrialRecord], names: &Names) -> Vec<Unmeasured> {
        let left_a_search = |trial: &TrialRecord| !trial.searched.is_empty() && trial.stands();
        let mut told: Vec<Unmeasured> = Vec::new();
        let mut more: Vec<usize> = Vec::new();
        for it in
            others.iter().filter(|trial| !left_a_search(trial)).map(|trial| Unmeasured::of(trial, names))
        {
            let same = |had: &Unmeasured| (had.outcome, &had.reason) == (it.outcome, &it.reason);
            match told.iter().position(same).filter(|_| others.len() > SAME_TOLD_SINGLY) {
                Some(at) => more[at] += 1,
                None => {
                    told.push(it);
                    more.push(0);
                }
            }
        }
        for (it, more) in told.iter_mut().zip(more).filter(|(_, more)| *more > 0) {
            it.name += &format!(" and {more} more");
            it.short += &format!(" and {more} more");
        }
        told
    }

    fn of(trial: &TrialRecord, names: &Names) -> Unmeasured {
        let (outcome, reason) = match &trial.outcome {
            None => ("not measured", "the run ended before its first reading"),
            Some(outcome) => (outcome.word(), outcome.reason().unwrap_or("no reading stands")),
        };
        Unmeasured {
            index: trial.trial.index,
            name: trial.trial.id.to_string(),
            short: names.short(&trial.trial),
            outcome,
            reason: reason.to_owned(),
        }
    }
}

impl Proof {
    fn of<'a>(trials: impl Iterator<Item = &'a TrialRecord> + Clone, size: Option<Bytes>) -> Proof {
        let samples = || trials.clone().flat_map(|trial| &trial.samples);
        let known = |sample: &&Sample| sample.resident_before.is_some() && sample.resident_after.is_some();
        Proof {
            samples: samples().count(),
            residency_known: samples().filter(known).count(),
            rejected: trials.clone().map(|trial| trial.rejected.len()).sum(),
            resident_before: Range::over(samples().filter_map(|sample| sample.resident_before)),
            resident_after: Range::over(samples().filter_map(|sample| sample.resident_after)),
            device_share: Range::over(trials.clone().flat_map(|trial| device_shares(trial, size))),
        }
    }
}

/// Bytes from the device over the target's size, sample by sample.
#[expect(clippy::cast_precision_loss, reason = "a share is shown with three digits")]
fn device_shares(trial: &TrialRecord, size: Option<Bytes>) -> impl Iterator<Item = f64> {
    let size = size.filter(|size| size.0 > 0);
    let bytes = trial.samples.iter().filter_map(|sample| sample.device_read_bytes);
    bytes.filter_map(move |bytes| size.map(|size| bytes as f64 / size.0 as f64))
}
