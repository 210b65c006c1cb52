//! The ranking: the trials of one target, work and cache state ordered by their medians, with what
//! was proven about the cache, and the trials that could not be measured. Controls are listed
//! separately, since they read no file.
//!
//! A ranking holds numbers and facts. [`super::answer`] and [`super::advice`] put it into
//! sentences; nothing here uses them.

mod condition;
mod pieces;
mod proof;
mod rank;
mod row;
mod stops;
mod unmeasured;

pub(super) use pieces::Pieces;
pub(super) use proof::StateProof;
use proof::TouchCounts;
pub(super) use rank::{Rank, Reference};
pub(super) use row::{ChartReading, RankingRow};
pub(super) use unmeasured::UnmeasuredLine;

use super::groups;
use super::limits::Bound;
use super::name::ShortNames;
use super::search::SearchView;
use super::words;
use condition::DistinguishingFacts;
use rank::WhyReference;
use readlab_analysis::noise::SharedNoise;
use readlab_analysis::verdict;
use readlab_catalog::language::Languages;
use readlab_model::target::hidden_cache::HiddenCache;
use readlab_model::target::memory::MemoryBound;
use readlab_model::target::range::RangeFacts;
use readlab_model::target::{TargetFacts, TargetIndex, layers};
use readlab_model::trial::{CacheState, Transport, TrialIndex, Work};
use readlab_model::units::Bytes;
use readlab_protocol::Archive;
use readlab_record::{Limit, Record, TrialRecord};
use row::MeasuredRow;
use std::collections::BTreeMap;

/// The properties that all trials of one ranking share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RankingKey {
    target: TargetIndex,
    archive: Option<Archive>,
    work: Work,
    state: CacheState,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Index of the target in the record.
    pub target: TargetIndex,
    pub path: String,
    /// The size of the target; `None` if the record does not hold the target.
    pub size: Option<Bytes>,
    /// The archive whose content is read; `None` where bytes are read as they are.
    pub archive: Option<Archive>,
    /// The size of the content that is read, from which rates are computed: the size of the target,
    /// or the decoded size.
    pub content_bytes: Option<Bytes>,
    /// The range of the target that is read; `None` if the user chose no range.
    pub range: Option<RangeFacts>,
    /// The pieces in which the target is read; `None` for a file that is read whole.
    pub pieces: Option<Pieces>,
    /// The ranks or readers that read the target together, such as `2 readers`; `None` if the run
    /// has no such targets.
    pub readers_words: Option<String>,
    /// The settings of the system under which the target is read, such as `read-ahead=4MiB`; `None`
    /// if the run compares no settings.
    pub settings: Option<String>,
    /// The bound on memory under which the target is read; `None` if there is none.
    pub memory: Option<MemoryBound>,
    pub work: Work,
    pub state: CacheState,
    /// The indifference zone of the run: a trial that is slower than the fastest by at most this
    /// share counts as equally good. 0 if every difference counts.
    pub indifference_share: f64,
    /// The caches that still hold the target when it is cold; `None` in other states, and if no
    /// lower cache is known.
    pub cold_above: Option<String>,
    /// The known facts about the layers below a cold target, one line each.
    pub layer_lines: Vec<String>,
    pub transport: Transport,
    /// What distinguishes this ranking from others of the record with the same condition, for
    /// example ` (lines)` or ` (lines, data.zip)`; often empty.
    pub distinction: String,
    /// The trial that ratios are computed against; `None` if no ranked trial was measured.
    pub reference: Option<Reference>,
    /// The measured trials except controls, fastest first.
    pub rows: Vec<RankingRow>,
    /// The measured controls, fastest first.
    pub controls: Vec<RankingRow>,
    /// The trials without numbers, in the order of their indices.
    pub unmeasured: Vec<UnmeasuredLine>,
    /// What was proven about the cache over all accepted samples, without the controls.
    pub proof: StateProof,
    /// The readings by their evidence that the bytes were touched; `None` if no turn was metered.
    pub touch_counts: Option<TouchCounts>,
    /// The best rates of the machine in this state, slowest first.
    pub bounds: Vec<Bound>,
    /// Why cold readings may be faster than the device, and which limits were replaced.
    pub explanations: Vec<String>,
    /// The size of the search; `None` where nothing was searched.
    pub search: Option<SearchView>,
    /// The noise of all measured trials together.
    pub(super) noise: SharedNoise,
    /// The settings of a search with the readings of the search; only curves are drawn from them.
    pub searched: Vec<RankingRow>,
}

/// The scan that only touches pages, by its name in the protocol.
const TOUCH_SCAN: &str = "touch";

/// The shares of re-read bytes of a method are uneven if the largest exceeds the least by more than
/// this, and by more than [`UNEVEN_RELATIVE_MIN`] of the largest.
const UNEVEN_DIFFERENCE_MIN: f64 = 0.1;
const UNEVEN_RELATIVE_MIN: f64 = 0.2;

/// Of the methods with uneven shares, the sentence names at most this many.
const UNEVEN_NAMED_MAX: usize = 3;

struct RankingContext<'a> {
    record: &'a Record,
    limits: &'a [Limit],
    names: ShortNames,
    languages: Languages,
    distinguishing_facts: DistinguishingFacts,
}

impl Ranking {
    /// Whether a trial may be shown as the fastest, alone or tied: it has the first rank, another
    /// trial does not, and no trial without a rank may be faster.
    pub fn is_leader(&self, row: &RankingRow) -> bool {
        row.is_first()
            && self.unranked_before_first().next().is_none()
            && !self.rows.iter().all(RankingRow::is_first)
    }

    pub(super) fn row(&self, index: TrialIndex) -> Option<&RankingRow> {
        self.rows.iter().find(|row| row.index == index)
    }

    pub(super) fn reference_row(&self) -> Option<&RankingRow> {
        self.row(self.reference.as_ref()?.index)
    }

    /// The rows without a rank that may be the fastest: those with a lower median than all ranked
    /// rows.
    pub(super) fn unranked_before_first(&self) -> impl Iterator<Item = &RankingRow> {
        self.rows.iter().take_while(|row| row.rank.is_none())
    }

    /// The place of each rank with its rows, in the order of their medians. Rows without a rank are
    /// left out.
    pub(super) fn rows_by_rank(&self) -> Vec<(usize, Vec<&RankingRow>)> {
        groups::by_key(self.rows.iter().filter_map(|row| Some((row.rank?.place, row))))
    }

    /// Whether the reference was named or chosen before the run. If not, it is merely the fastest.
    pub(super) fn has_chosen_reference(&self) -> bool {
        self.reference.as_ref().is_some_and(|it| it.why != WhyReference::Fastest)
    }

    /// The rankings of a record, in the order of target, archive, work and state, with their
    /// limits.
    pub fn all(record: &Record, limits: &[Limit]) -> Vec<Ranking> {
        let mut groups: BTreeMap<RankingKey, Vec<&TrialRecord>> = BTreeMap::new();
        for it in &record.trials {
            let trial = &it.trial;
            let key = RankingKey {
                target: trial.target,
                archive: trial.decoded_format,
                work: trial.work,
                state: trial.state,
            };
            groups.entry(key).or_default().push(it);
        }
        join_lone_controls(&mut groups);
        groups.values_mut().for_each(|trials| trials.sort_by_key(|it| it.trial.index));
        let (names, languages) = (ShortNames::for_record(record), Languages::of_record(record));
        let distinguished_by = DistinguishingFacts::for_record(record);
        let shared =
            RankingContext { record, limits, names, languages, distinguishing_facts: distinguished_by };
        groups.into_iter().map(|(key, trials)| shared.ranking(key, &trials)).collect()
    }
}

/// The rows of two trials, which may be in different rankings; `None` if one of them has no row.
pub(super) fn rows_of_pair(rankings: &[Ranking], pair: [TrialIndex; 2]) -> Option<[&RankingRow; 2]> {
    let row = |trial: TrialIndex| rankings.iter().find_map(|ranking| ranking.row(trial));
    let [first, second] = pair.map(row);
    first.zip(second).map(|(first, second)| [first, second])
}

/// Moves controls whose work no other trial has to a ranking of the same target, archive and state:
/// beside commands that are only compared by their output, controls count newlines.
fn join_lone_controls(groups: &mut BTreeMap<RankingKey, Vec<&TrialRecord>>) {
    let is_lone = |key: &RankingKey| groups[key].iter().all(|it| it.trial.is_control());
    let (lone, ranked): (Vec<RankingKey>, Vec<RankingKey>) = groups.keys().copied().partition(is_lone);
    for key in lone {
        let host = ranked.iter().find(|other| RankingKey { work: key.work, ..**other } == key);
        if let Some(host) = host
            && let Some(controls) = groups.remove(&key)
        {
            groups.entry(*host).or_default().extend(controls);
        }
    }
}

impl RankingContext<'_> {
    fn ranking(&self, key: RankingKey, trials: &[&TrialRecord]) -> Ranking {
        let RankingKey { target, archive: decodes, work, state } = key;
        let facts = self.record.targets.get(target);
        let size = facts.map(|facts| Bytes(facts.size_bytes));
        let (measured, unmeasured): (Vec<&TrialRecord>, Vec<&TrialRecord>) =
            trials.iter().partition(|trial| trial.is_measured());
        let row = |trial| Some(MeasuredRow { row: RankingRow::from_trial(trial, self)?, trial });
        let mut measured: Vec<MeasuredRow> = measured.into_iter().filter_map(row).collect();
        measured.sort_by_key(|it| (it.row.wall.median, it.row.index));
        let (mut controls, mut ranked): (Vec<_>, Vec<_>) =
            measured.into_iter().partition(|it| it.trial.trial.is_control());
        let reference = Reference::choose(self.record, &ranked);
        let noise = rank::assign_ranks(&mut ranked, reference.as_ref());
        for it in &mut controls {
            let own_noise = SharedNoise::from_trials([it.trial]);
            it.row.set_interval(own_noise.location(it.row.index));
        }
        for it in &mut ranked {
            it.row.diagnosis = verdict::judge(self.record, self.limits, &noise, it.trial);
        }
        let cold = facts.filter(|_| state == CacheState::Cold);
        let cold_above = cold.and_then(TargetFacts::unevictable_cache_names);
        let path = facts.map_or_else(|| format!("target {target}"), |facts| facts.path.clone());
        let ranked_trials = || ranked.iter().map(|it| it.trial);
        Ranking {
            target,
            distinction: self.distinguishing_facts.words(work, target, facts),
            path,
            size,
            archive: decodes,
            content_bytes: facts
                .filter(|facts| decodes.is_none() || facts.decoded.is_some())
                .map(|facts| Bytes(facts.bytes_out(decodes))),
            range: facts.and_then(|facts| facts.range),
            pieces: facts.and_then(|facts| Pieces::from_facts(facts, work)),
            readers_words: facts.and_then(condition::readers_words),
            settings: facts.and_then(TargetFacts::settings_words),
            memory: facts.and_then(|facts| facts.memory_bound.as_ref()).map(|memory| memory.bound),
            work,
            state,
            indifference_share: self
                .record
                .header
                .resume_plan
                .as_ref()
                .map_or(0.0, |it| it.rules.indifference),
            layer_lines: cold.map(|facts| layer_lines(facts, cold_above.as_deref())).unwrap_or_default(),
            cold_above,
            transport: facts.map_or_else(Transport::default, TargetFacts::transport),
            reference,
            proof: StateProof::from_trials(ranked_trials().map(|trial| (trial, size))),
            explanations: self.explanations(key, &ranked),
            touch_counts: TouchCounts::from_trials(trials, ranked_trials()),
            controls: controls.into_iter().map(|it| it.row).collect(),
            unmeasured: UnmeasuredLine::all(&unmeasured, &self.names),
            search: SearchView::from_trials(trials),
            noise,
            searched: self.searched_rows(trials),
            bounds: Bound::all(self.limits, target, state, decodes),
            rows: ranked.into_iter().map(|it| it.row).collect(),
        }
    }

    /// The rows of the settings that a search tried, from the readings of the search.
    fn searched_rows(&self, trials: &[&TrialRecord]) -> Vec<RankingRow> {
        let searched = trials.iter().filter(|it| !it.search_samples.is_empty() && !it.trial.is_control());
        let row = |it: &&TrialRecord| {
            let trial = TrialRecord { samples: it.search_samples.clone(), ..(*it).clone() };
            RankingRow::from_trial(&trial, self)
        };
        searched.filter_map(row).collect()
    }

    /// Why cold readings may be faster than the device, which limits were replaced, which trials do
    /// less work than others, and which readings under a bound are uneven.
    fn explanations(&self, key: RankingKey, ranked: &[MeasuredRow]) -> Vec<String> {
        let mut lines = Vec::new();
        if key.state == CacheState::Cold && !key.work.finds_names() {
            lines.extend(verdict::device_bytes_sentences(self.record, key.target));
        }
        if !ranked.is_empty() {
            lines.extend(verdict::replaced_limit_sentences(self.record, self.limits, key.target, key.state));
        }
        lines.extend(touching_words(ranked));
        if key.state == CacheState::Pressed {
            lines.extend(uneven_words(self.record, ranked));
        }
        lines
    }
}

/// A sentence on the methods whose readings under a bound read very different shares of their bytes
/// again; `None` if there are no such methods. The share of their bytes that is in memory is steady
/// even so.
fn uneven_words(record: &Record, ranked: &[MeasuredRow]) -> Option<String> {
    let uneven: Vec<String> = ranked
        .iter()
        .filter_map(|it| {
            let bytes = record.target_of(&it.trial.trial)?.useful_bytes();
            let rereads = || it.trial.samples.iter().filter_map(|sample| sample.device_reads_per_byte(bytes));
            let (least, most) = (rereads().reduce(f64::min)?, rereads().reduce(f64::max)?);
            let is_uneven = most - least > UNEVEN_DIFFERENCE_MIN.max(UNEVEN_RELATIVE_MIN * most);
            is_uneven.then(|| format!("{} {} to {}", it.row.id, words::percent(least), words::percent(most)))
        })
        .collect();
    let named = uneven.iter().take(UNEVEN_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    let more = uneven.len().saturating_sub(UNEVEN_NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more methods") } else { String::new() };
    (!uneven.is_empty()).then(|| {
        format!(
            "readings differ in the share of their bytes that they read again ({named}{more}): near this bound it \
             depends on which pages stay in memory, and a median is of both kinds"
        )
    })
}

/// A sentence that trials which only touch the pages of a mapping do less work than the others;
/// `None` if no trial does so, or if all do.
fn touching_words(ranked: &[MeasuredRow]) -> Option<String> {
    let touches = |it: &&MeasuredRow| it.row.method.scan.as_deref() == Some(TOUCH_SCAN);
    let names: Vec<&str> = ranked.iter().filter(touches).map(|it| it.row.name.as_str()).collect();
    (!names.is_empty() && names.len() < ranked.len()).then(|| {
        format!(
            "{}: one byte a page of the mapping is touched, where others have every byte brought to the program: not the \
             same work; --work sum has each byte read by all",
            names.join(", ")
        )
    })
}

/// The layers below a target: the meaning of cold, the chain of layers, and whether hidden caches
/// were probed.
fn layer_lines(facts: &TargetFacts, cold_above: Option<&str>) -> Vec<String> {
    let above = cold_above.map(|cache| format!("cold above: {cache}"));
    let chain = layers::words(&facts.layers).map(|chain| format!("layers: {chain}"));
    let not_probed = facts.hidden_cache.as_ref().and_then(HiddenCache::not_probed_sentence);
    above.into_iter().chain(chain).chain(not_probed).collect()
}
