//! The targets of a run as locations of the same content: how many times as fast a method reads the
//! content at another location as at the first one, for each method that reads both, and over all
//! these methods.
//!
//! Two locations have the same content if their digests are equal. A tree and a stream, such as the
//! decoded content of an archive, have digests of different kinds: they have the same content if
//! the expected answers about their bytes are equal. A tree and a tar have the same content if the
//! expected answers about the files of the tar are equal to those of the tree
//! ([`SameContentProof`]). Otherwise the user may assert that the content is the same; if the sizes
//! differ then, times per byte are compared.
//!
//! Ratios are computed within rounds, with the noise of all trials at both locations
//! ([`SharedNoise`]). Under settings of the system, each location is compared with the first one
//! under the same settings.

use super::noise::SharedNoise;
use super::stats::{Observation, SharedRatio, float};
use readlab_model::target::TargetIndex;
use readlab_model::target::content::SameContentProof;
use readlab_model::trial::{CacheState, TrialIndex, Work};
use readlab_protocol::Archive;
use readlab_record::{Record, TrialRecord};
use std::collections::BTreeSet;

/// All locations of a record, compared with the first one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LocationComparisons {
    /// The comparisons, ordered by location, by the content that is read there, by work and by
    /// state.
    pub compared: Vec<LocationRatios>,
    pub not_compared: Vec<NotCompared>,
}

/// One location compared with the first one, for one work and in one state of the cache.
#[derive(Debug, Clone, PartialEq)]
pub struct LocationRatios {
    pub state: CacheState,
    pub work: Work,
    pub first: TargetContent,
    pub other: TargetContent,
    pub same_by: SameContentProof,
    /// The number of bytes at this location divided by the number at the first one; `None` if times
    /// are not compared per byte.
    pub size_ratio: Option<f64>,
    /// The methods that read both locations, ordered by their trial's index at the first one.
    pub methods: Vec<MethodRatio>,
    /// The ratio over all these methods; `None` if there is no method, or no round that holds both
    /// trials of a method.
    pub overall: Option<SharedRatio>,
    /// The fastest trials of both locations; `None` if they are the same method, because its ratio
    /// is in `methods`.
    pub fastest: Option<TrialPair>,
}

/// What is read of a target: its bytes, or the decoded content of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetContent {
    /// Number of the target.
    pub target: TargetIndex,
    pub decoded_format: Option<Archive>,
}

/// A trial at a location and a trial at the first location.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialPair {
    pub first: TrialIndex,
    pub other: TrialIndex,
    /// How many times as fast the trial at the other location is.
    pub ratio: SharedRatio,
}

/// A method that reads both locations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MethodRatio {
    pub pair: TrialPair,
    /// Whether the ratio differs from the ratios of the other methods.
    pub is_unlike_others: bool,
}

/// A location that is not compared with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotCompared {
    /// Number of the target at the first location.
    pub first: TargetIndex,
    /// Number of the target.
    pub target: TargetIndex,
    pub why: WhyNotCompared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyNotCompared {
    /// The digest and the expected answers both differ from those of the first location.
    Content,
    /// No work was measured at both locations in the same state of the cache.
    State,
}

/// Two equal contents: the content at the first location, then the content at another one.
#[derive(Debug, Clone, Copy)]
struct SameContentPair {
    contents: [TargetContent; 2],
    same_by: SameContentProof,
}

impl LocationComparisons {
    pub fn from_record(record: &Record) -> LocationComparisons {
        let mut found = LocationComparisons::default();
        let Some(locations) = record.header.locations else { return found };
        let count = location_count(record);
        for target in record.targets.indices() {
            let first = target.first_under_same_condition(count);
            if first == target {
                continue;
            }
            let mut same = same_content_pairs(record, first, target);
            if same.is_empty() && locations.asserts_same_content {
                let both = [first, target].map(|target| TargetContent { target, decoded_format: None });
                same.push(SameContentPair { contents: both, same_by: SameContentProof::Assertion });
            }
            let compared = same.iter().flat_map(|same| ratios_by_condition(record, *same));
            let compared: Vec<LocationRatios> = compared.collect();
            let why = if same.is_empty() { WhyNotCompared::Content } else { WhyNotCompared::State };
            // Settings do not change the content, so this reason is reported once.
            let is_under_first = target == target.under_first_condition(count);
            let is_new = compared.is_empty() && (why == WhyNotCompared::State || is_under_first);
            found.not_compared.extend(is_new.then_some(NotCompared { first, target, why }));
            found.compared.extend(compared);
        }
        found
    }
}

/// Number of locations. If settings of the system are raced, the record repeats the targets for
/// each combination of values, in the same order. The targets under the settings that were found at
/// the start come first.
fn location_count(record: &Record) -> usize {
    record.targets.iter().take_while(|facts| facts.has_initial_settings()).count().max(1)
}

/// The pairs of equal contents, one at the first location and one at another one.
fn same_content_pairs(record: &Record, first: TargetIndex, target: TargetIndex) -> Vec<SameContentPair> {
    let content = |source: TargetContent| record.targets.get(source.target)?.content(source.decoded_format);
    let pair = |first: TargetContent| {
        let mut all: Vec<TargetContent> = contents_of_target(record, target).collect();
        // A content that is decoded in the same way is preferred.
        all.sort_by_key(|there| there.decoded_format != first.decoded_format);
        all.into_iter().find_map(|there| {
            let same_by = content(first)?.same_content_proof(&content(there)?)?;
            Some(SameContentPair { contents: [first, there], same_by })
        })
    };
    contents_of_target(record, first).filter_map(pair).collect()
}

fn contents_of_target(record: &Record, target: TargetIndex) -> impl Iterator<Item = TargetContent> {
    let facts = record.targets.get(target);
    let decoded = facts.and_then(|facts| facts.decoded.as_ref()).map(|decoded| decoded.archive);
    [None]
        .into_iter()
        .chain(decoded.map(Some))
        .map(move |decodes| TargetContent { target, decoded_format: decodes })
}

fn work_and_state(it: &TrialRecord) -> (Work, CacheState) {
    (it.trial.work, it.trial.state)
}

/// The ratios for each work and state in which both contents were measured.
fn ratios_by_condition(record: &Record, same: SameContentPair) -> Vec<LocationRatios> {
    let conditions: BTreeSet<(Work, CacheState)> =
        measured_trials(record, same.contents[0]).into_iter().map(work_and_state).collect();
    conditions.into_iter().filter_map(|condition| ratios_in_condition(record, same, condition)).collect()
}

/// The measured trials that read this content, without controls, ordered by their index.
fn measured_trials(record: &Record, source: TargetContent) -> Vec<&TrialRecord> {
    let reads_source = move |it: &&TrialRecord| {
        let trial = &it.trial;
        it.is_measured()
            && !trial.is_control()
            && (trial.target, trial.decoded_format) == (source.target, source.decoded_format)
    };
    let mut trials: Vec<&TrialRecord> = record.trials.iter().filter(reads_source).collect();
    trials.sort_by_key(|it| it.trial.index);
    trials
}

/// The ratios of both contents for one work in one state; `None` if neither a method nor the
/// fastest trials of both have a ratio.
fn ratios_in_condition(
    record: &Record,
    same: SameContentPair,
    (work, state): (Work, CacheState),
) -> Option<LocationRatios> {
    let SameContentPair { contents: both, same_by } = same;
    let [mut at_first, mut at_other] = both.map(|source| {
        let mut trials = measured_trials(record, source);
        trials.retain(|it| work_and_state(it) == (work, state));
        trials
    });
    // Times per byte are compared only for trials that are known to read the whole target. If there
    // is no such trial, commands may have read the same part of both targets.
    let is_whole = |it: &&TrialRecord| record.wholly_read_target(it).is_some();
    let size_ratio = size_ratio(record, same).filter(|_| at_first.iter().any(is_whole));
    if size_ratio.is_some() {
        at_first.retain(is_whole);
        at_other.retain(is_whole);
    }
    // Times at the other location are scaled to the number of bytes at the first one.
    let scale = |it: &TrialRecord| match size_ratio {
        Some(times) if it.trial.target == both[1].target => times,
        _ => 1.0,
    };
    let times = |it: &&TrialRecord| -> (TrialIndex, Vec<Observation>) {
        let scaled = |it: Observation, scale: f64| Observation { value: it.value / scale, ..it };
        let observed = it.samples.iter().map(Observation::from);
        (it.trial.index, observed.map(|observed| scaled(observed, scale(it))).collect())
    };
    let noise = SharedNoise::of_record(record, at_first.iter().chain(&at_other).map(times));
    let methods = at_first.iter().filter_map(|it| {
        let other = at_other.iter().find(|other| other.trial.id == it.trial.id)?;
        let (first, there) = (it.trial.index, other.trial.index);
        Some(TrialPair { first, other: there, ratio: noise.ratio(there, first)? })
    });
    let methods: Vec<TrialPair> = methods.collect();
    let pairs: Vec<[TrialIndex; 2]> = methods.iter().map(|it| [it.other, it.first]).collect();
    let unlike = noise.are_unlike_others(&pairs);
    let method = |(pair, is_unlike_others)| MethodRatio { pair, is_unlike_others };
    let fastest = fastest_pair(&noise, &at_first, &at_other);
    let [first, there] = both;
    let overall = noise.ratio_over(&pairs);
    let found = LocationRatios {
        state,
        work,
        first,
        other: there,
        same_by,
        size_ratio,
        methods: methods.into_iter().zip(unlike).map(method).collect(),
        overall,
        fastest,
    };
    (found.overall.is_some() || found.fastest.is_some()).then_some(found)
}

/// The number of bytes at the other location divided by the number at the first one; `None` if
/// these numbers are equal, or if answers or digests show that both contents are the same.
fn size_ratio(record: &Record, SameContentPair { contents: both, same_by }: SameContentPair) -> Option<f64> {
    let bytes = |source: TargetContent| {
        record.targets.get(source.target).map_or(0, |facts| facts.bytes_out(source.decoded_format))
    };
    let [first, there] = both.map(bytes);
    let are_unlike = same_by == SameContentProof::Assertion && first != there && first > 0 && there > 0;
    are_unlike.then(|| float(there) / float(first))
}

/// The fastest trial of each location; `None` if both have the same method. The interval of their
/// ratio is corrected for the choice of both.
fn fastest_pair(
    noise: &SharedNoise,
    at_first: &[&TrialRecord],
    at_other: &[&TrialRecord],
) -> Option<TrialPair> {
    let time_ns = |it: &&&TrialRecord| noise.location(it.trial.index).map_or(f64::MAX, |it| it.estimate_ns);
    let least = |all: &[&TrialRecord]| {
        let fastest = all.iter().min_by(|one, other| time_ns(one).total_cmp(&time_ns(other)));
        fastest.map(|it| (it.trial.index, it.trial.id.clone()))
    };
    let ((first, own), (there, other)) = (least(at_first)?, least(at_other)?);
    if own == other {
        return None;
    }
    let comparisons = at_first.len() + at_other.len() - 2;
    Some(TrialPair { first, other: there, ratio: noise.ratio_of_chosen(there, first, comparisons)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::sample::Sample;
    use readlab_model::target::setting::SettingValue;
    use readlab_model::target::tree::TreeFacts;
    use readlab_model::target::{DecodedContent, TargetFacts, TargetKind};
    use readlab_model::trial::Answer;
    use readlab_protocol::Cache;
    use readlab_record::{Header, testing};

    fn answer_with(newlines: u64) -> Answer {
        Answer { bytes: Some(600), newlines: Some(newlines), sum: Some(7), ..Answer::default() }
    }

    fn file_facts(digest: &str) -> TargetFacts {
        let (digest, answer) = (Some(digest.to_owned()), Some(answer_with(9)));
        TargetFacts { size_bytes: 600, digest, answer, ..TargetFacts::default() }
    }

    fn zip_facts(digest: &str, content: &str) -> TargetFacts {
        let decoded =
            DecodedContent { archive: Archive::Zip, digest: content.to_owned(), answer: answer_with(9) };
        TargetFacts { decoded: Some(decoded), answer: Some(answer_with(2)), ..file_facts(digest) }
    }

    fn tree_facts(digest: &str, newlines: u64) -> TargetFacts {
        let mut facts = TargetFacts { answer: Some(answer_with(newlines)), ..file_facts(digest) };
        facts.kind = TargetKind::Tree(TreeFacts::default());
        facts
    }

    /// A warm run on these targets. Each trial is the number of its target, the archive that it
    /// decodes, its name, and the milliseconds of a reading.
    fn warm_record(targets: &[TargetFacts], trials: &[(usize, Option<Archive>, &str, u64)]) -> Record {
        let locations = Some(readlab_record::LocationOptions::default());
        let mut record = Record::new(Header { locations, ..testing::header() });
        for (index, facts) in targets.iter().enumerate() {
            record.add(testing::target_line(index, facts.clone()));
        }
        for (target, decodes, name, wall_ms) in trials {
            let reading = |round: u64| {
                let wobble = round * 7 % 5 + (*target as u64 + round) % 2;
                Sample { wall_ns: wall_ms * (1_000_000 + 1_000 * wobble), ..Sample::default() }
            };
            let (state, readings) = (CacheState::Warm, (0..6).map(reading));
            let added = testing::add_trial(&mut record, name, state, Cache::Through, readings);
            let trial = &mut record.trials[TrialIndex::new(added)].trial;
            (trial.target, trial.decoded_format) = (TargetIndex::new(*target), *decodes);
        }
        record
    }

    /// The same four methods at two locations. At the second location they take `there_ms`.
    fn at_two_locations(first: TargetFacts, there: TargetFacts, there_ms: [u64; 4]) -> Record {
        let names = ["rust/a", "rust/b", "rust/c", "rust/d"];
        let at_first = names.iter().zip([100, 200, 300, 400]).map(|(name, ms)| (0, None, *name, ms));
        let at_other = names.iter().zip(there_ms).map(|(name, ms)| (1, None, *name, ms));
        warm_record(&[first, there], &at_first.chain(at_other).collect::<Vec<_>>())
    }

    /// The second location, whose content is not compared with that of the first.
    fn not_compared(why: WhyNotCompared) -> NotCompared {
        NotCompared { first: TargetIndex::new(0), target: TargetIndex::new(1), why }
    }

    /// The comparison of a record that has only one.
    fn sole_comparison(record: &Record) -> LocationRatios {
        let LocationComparisons { mut compared, not_compared } = LocationComparisons::from_record(record);
        assert_eq!((compared.len(), not_compared.len()), (1, 0), "{compared:?}");
        compared.remove(0)
    }

    #[test]
    fn a_slower_location_has_a_ratio_over_all_methods_and_one_for_each() {
        let found =
            sole_comparison(&at_two_locations(file_facts("d"), file_facts("d"), [125, 250, 375, 500]));
        let overall = found.overall.unwrap();
        assert!((overall.estimate - 0.8).abs() < 0.005, "{overall:?}");
        let ends = overall.ci95.unwrap().ends;
        assert!(ends.holds(0.8) && ends.half_width() < 0.02, "{ends:?}");
        assert_eq!((found.methods.len(), found.same_by), (4, SameContentProof::Digest));
        for method in &found.methods {
            assert!((method.pair.ratio.estimate - 0.8).abs() < 0.01, "{method:?}");
            assert!(!method.is_unlike_others, "{method:?}");
        }
        assert_eq!(found.fastest, None, "the same method is the fastest at both");
    }

    #[test]
    fn a_method_that_a_location_slows_more_than_the_others_is_marked() {
        let found =
            sole_comparison(&at_two_locations(file_facts("d"), file_facts("d"), [300, 200, 300, 400]));
        let unlike: Vec<bool> = found.methods.iter().map(|it| it.is_unlike_others).collect();
        assert_eq!(unlike, [true, false, false, false]);
        let fastest = found.fastest.unwrap();
        assert_eq!([fastest.first, fastest.other], [0, 5].map(TrialIndex::new));
        assert!((fastest.ratio.estimate - 0.5).abs() < 0.01, "{fastest:?}");
    }

    #[test]
    fn different_contents_are_compared_only_if_the_user_asserts_that_they_are_the_same() {
        let mut record = at_two_locations(file_facts("d"), file_facts("e"), [100, 200, 300, 400]);
        let found = LocationComparisons::from_record(&record);
        assert_eq!(found.not_compared, [not_compared(WhyNotCompared::Content)]);
        record.header.locations = Some(readlab_record::LocationOptions { asserts_same_content: true });
        let asserted = sole_comparison(&record);
        assert_eq!(asserted.same_by, SameContentProof::Assertion);
        assert!((asserted.overall.unwrap().estimate - 1.0).abs() < 0.01);
        record.header.locations = None;
        assert_eq!(
            LocationComparisons::from_record(&record),
            LocationComparisons::default(),
            "each target is a separate race"
        );
    }

    #[test]
    fn contents_of_unlike_sizes_that_the_user_asserts_to_be_the_same_are_compared_by_byte() {
        let answer = Some(Answer { bytes: Some(900), ..answer_with(12) });
        let grown = TargetFacts { answer, ..file_facts("grown") };
        let mut record = at_two_locations(file_facts("d"), grown, [150, 300, 450, 600]);
        record.header.locations = Some(readlab_record::LocationOptions { asserts_same_content: true });
        let found = sole_comparison(&record);
        assert_eq!(found.size_ratio, Some(1.5));
        assert!((found.overall.unwrap().estimate - 1.0).abs() < 0.01, "{found:?}");
        assert!((found.methods[0].pair.ratio.estimate - 1.0).abs() < 0.01, "{found:?}");
        record.trials.iter_mut().for_each(|it| it.trial.work = Work::Output);
        let found = sole_comparison(&record);
        assert_eq!(found.size_ratio, None, "a command may read the same first lines of both");
        assert!((found.overall.unwrap().estimate - 1.0 / 1.5).abs() < 0.01, "{found:?}");
        let equal =
            sole_comparison(&at_two_locations(file_facts("d"), file_facts("d"), [100, 200, 300, 400]));
        assert_eq!(equal.size_ratio, None);
    }

    #[test]
    fn under_settings_each_location_is_compared_with_the_first_one_under_the_same_settings() {
        let under = |value: &str, is_found| {
            let (name, value) = ("x".to_owned(), value.to_owned());
            let settings = vec![SettingValue { name, value, is_initial: is_found, is_read_back: true }];
            TargetFacts { settings, ..file_facts("d") }
        };
        let targets = [under("1", true), under("1", true), under("2", false), under("2", false)];
        let walls_ms = [100, 200, 50, 50];
        let trials = walls_ms.into_iter().enumerate().map(|(target, ms)| (target, None, "rust/a", ms));
        let record = warm_record(&targets, &trials.collect::<Vec<_>>());
        let found = LocationComparisons::from_record(&record);
        let pairs: Vec<[TargetIndex; 2]> =
            found.compared.iter().map(|it| [it.first.target, it.other.target]).collect();
        assert_eq!(pairs, [[0, 1], [2, 3]].map(|pair| pair.map(TargetIndex::new)));
        assert!(found.not_compared.is_empty(), "{found:?}");
        let times = |ratios: &LocationRatios| ratios.methods[0].pair.ratio.estimate;
        assert!((times(&found.compared[0]) - 0.5).abs() < 0.01, "{found:?}");
        assert!((times(&found.compared[1]) - 1.0).abs() < 0.01, "{found:?}");
        let mut targets = targets;
        targets.iter_mut().skip(1).step_by(2).for_each(|facts| facts.digest = Some("other".to_owned()));
        let trials = [(0, None, "rust/a", 9), (1, None, "rust/a", 9)];
        let other = LocationComparisons::from_record(&warm_record(&targets, &trials));
        assert_eq!(other.not_compared, [not_compared(WhyNotCompared::Content)], "said once");
    }

    #[test]
    fn locations_without_a_common_state_are_not_compared() {
        let mut record = at_two_locations(file_facts("d"), file_facts("d"), [100, 200, 300, 400]);
        for trial in (4..8).map(TrialIndex::new) {
            record.trials[trial].trial.state = CacheState::Unknown;
        }
        let found = LocationComparisons::from_record(&record);
        assert_eq!(found.not_compared, [not_compared(WhyNotCompared::State)]);
        assert_eq!(found.compared, []);
    }

    #[test]
    fn a_folder_is_compared_with_the_decoded_content_of_its_archive() {
        let (names, zipped) = (["rust/list", "rust/zip"], Some(Archive::Zip));
        let trials = [(0, None, names[0], 100), (1, zipped, names[1], 200), (1, None, "rust/read", 50)];
        let found = sole_comparison(&warm_record(&[tree_facts("t", 9), zip_facts("z", "c")], &trials));
        assert_eq!(
            ([found.first.decoded_format, found.other.decoded_format], found.same_by),
            ([None, zipped], SameContentProof::Answers)
        );
        assert_eq!((found.methods.len(), found.overall), (0, None), "no method reads both");
        let fastest = found.fastest.unwrap();
        assert!((fastest.ratio.estimate - 0.5).abs() < 0.01, "{fastest:?}");
        let other = LocationComparisons::from_record(&warm_record(
            &[tree_facts("t", 8), zip_facts("z", "c")],
            &trials,
        ));
        assert_eq!(other.not_compared, [not_compared(WhyNotCompared::Content)]);
    }

    #[test]
    fn a_folder_is_compared_with_a_tar_of_the_same_files_and_with_its_compressed_tar() {
        let tar_of = |files: Option<Answer>| TargetFacts { tar_files: files, ..file_facts("tar") };
        let same = at_two_locations(tree_facts("t", 4), tar_of(Some(answer_with(4))), [200, 400, 600, 800]);
        let found = sole_comparison(&same);
        assert_eq!((found.same_by, found.methods.len()), (SameContentProof::TarFiles, 4));
        assert!((found.overall.unwrap().estimate - 0.5).abs() < 0.01, "{found:?}");
        for tar_files in [None, Some(answer_with(5))] {
            let other = at_two_locations(tree_facts("t", 4), tar_of(tar_files), [200, 400, 600, 800]);
            assert_eq!(LocationComparisons::from_record(&other).compared, [], "{tar_files:?}");
        }
        let zipped = Some(Archive::Zip);
        let packed = TargetFacts { tar_files: Some(answer_with(4)), ..zip_facts("z", "c") };
        let trials = [(0, None, "rust/list", 100), (1, zipped, "rust/zip", 200), (1, None, "rust/list", 50)];
        let found = sole_comparison(&warm_record(&[tree_facts("t", 4), packed], &trials));
        assert_eq!(
            (found.other.decoded_format, found.same_by),
            (zipped, SameContentProof::TarFiles),
            "only decoded it is a tar"
        );
    }

    #[test]
    fn two_equal_archives_are_compared_as_bytes_and_decoded() {
        let zipped = Some(Archive::Zip);
        let one = |target| [(target, None, "rust/read", 100), (target, zipped, "rust/zip", 300)];
        let trials = [one(0), one(1)].concat();
        let found = LocationComparisons::from_record(&warm_record(
            &[zip_facts("z", "c"), zip_facts("z", "c")],
            &trials,
        ));
        let decodes: Vec<_> =
            found.compared.iter().map(|it| [it.first.decoded_format, it.other.decoded_format]).collect();
        assert_eq!(decodes, [[None; 2], [zipped; 2]]);
    }
}
