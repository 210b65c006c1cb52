//! Recomputes what pages say, over every record of the tests. A statement about two trials must
//! follow from the samples of the trials that it names, and the order in which a record announces
//! its trials must not change any statement.

use super::locations::record_at_two_places;
use super::memory::record_under_bounds;
use super::page_records::{race_of_buffer_sizes, race_with_counts, scripted_records, swept_record};
use super::settings::record_under_two_settings;
use super::*;
use crate::archives::ArchiveRatio;
use crate::ranking::{Ranking, RankingRow};
use crate::row_pairs::RowPairs;
use crate::{html, write_csv, write_json_with_claims};
use readlab_analysis::memory::{MemoryContest, MemoryCurve, MemoryLevel};
use readlab_analysis::stats::{self, Interval, SharedRatio, SharedVariance, Significance, whole};
use readlab_analysis::verdict::{DeviceUse, Remedy, ServerWait, Verdict};
use readlab_claims as claims;
use readlab_record::{FleetTurn, Header, RunKind, StopReason, Stopped, Trials};
use std::collections::BTreeSet;

/// A record of every kind of run, and records with archives, readers and other features.
pub(super) fn records() -> Vec<(&'static str, Record)> {
    let peculiar = [
        ("race", race_with_counts()),
        ("settings", race_of_buffer_sizes(10)),
        ("sweep", swept_record()),
        ("plain and packed", archive_record()),
        ("zip-lines", zip_lines_record()),
        ("readers", readers_record()),
        ("decided", decided_record()),
        ("places", record_at_two_places(["d", "d"], [250, 200, 125])),
        ("failures", failures()),
    ];
    scripted_records().into_iter().chain(peculiar).collect()
}

/// Two contenders read lines of a plain file and of a zip with the same content, cold and warm.
/// Unavailable trials are announced before the others, as in a plan.
pub(super) fn archive_record() -> Record {
    let mut record = plain_and_packed(header());
    for (index, name) in [(10, "java/MemorySegment"), (11, "java/mapped")] {
        announce(&mut record, index, name, CacheState::Cold);
        add_outcome(&mut record, index, Outcome::Unavailable { reason: "this JDK is too old".into() });
    }
    let reads = [
        ("java/Files.lines", 0, 99),
        ("java/zip", 1, 280),
        ("java/BufferedReader", 0, 120),
        ("rust/read/avx2", 0, 46),
        ("rust/zip/avx2", 1, 400),
    ];
    for (nth, state) in [CacheState::Cold, CacheState::Warm].into_iter().enumerate() {
        for (at, (name, target, wall_ms)) in reads.into_iter().enumerate() {
            add_reading_trial(&mut record, nth * reads.len() + at, name, state, target, wall_ms);
        }
    }
    record
}

/// The published suite `zip-lines` with its archive and its three buffers, cold and warm.
fn zip_lines_record() -> Record {
    let command = ["readlab", "suite", "zip-lines", "lines"].map(str::to_owned).into();
    let mut record = plain_and_packed(Header { kind: RunKind::Suite, command, ..header() });
    let reads = [
        ("zip", "java/zip@verify=0", 1, 280),
        ("plain, buffer of 8192 chars", "java/BufferedReader@buffer=8192", 0, 100),
        ("plain, buffer of 1024 chars", "java/BufferedReader@buffer=1024", 0, 130),
        ("plain, buffer of 2097152 chars", "java/BufferedReader@buffer=2097152", 0, 115),
    ];
    for (nth, state) in [CacheState::Cold, CacheState::Warm].into_iter().enumerate() {
        for (at, (label, name, target, wall_ms)) in reads.into_iter().enumerate() {
            let index = nth * reads.len() + at;
            add_reading_trial(&mut record, index, name, state, target, wall_ms);
            trial_mut(&mut record, index).trial.label = Some(label.to_owned());
        }
    }
    record
}

/// A record of a plain file and a zip with the same content.
fn plain_and_packed(header: Header) -> Record {
    let mut record = Record::new(header);
    let answer = Answer { newlines: Some(9), bytes: Some(SIZE), ..Answer::default() };
    let digest = "d".to_owned();
    let decoded = Some(DecodedContent { archive: Archive::Zip, digest: digest.clone(), answer });
    let plain = TargetFacts {
        path: "/data/lines".into(),
        size_bytes: SIZE,
        digest: Some(digest),
        ..TargetFacts::default()
    };
    let zip = TargetFacts {
        path: "/data/lines.zip".into(),
        size_bytes: SIZE / 4,
        decoded,
        ..TargetFacts::default()
    };
    record.add(testing::target_line(0, plain));
    record.add(testing::target_line(1, zip));
    record
}

/// Adds a trial that reads the plain target 0, or decodes the zip, target 1.
fn add_reading_trial(
    record: &mut Record,
    index: usize,
    name: &str,
    state: CacheState,
    target: usize,
    wall_ms: u64,
) {
    let it = announce(record, index, name, state);
    (it.target, it.decoded_format) = (TargetIndex::new(target), (target == 1).then_some(Archive::Zip));
    add_samples_with_wobble(record, index, wall_ms, [0, 40, 80, 20, 60]);
    add_outcome(record, index, Outcome::Measured);
}

/// One method read by one, two and four readers of a host. The largest number is announced first.
pub(super) fn readers_record() -> Record {
    let mut record = Record::new(header());
    let counts = [4_u32, 1, 2];
    for (at, readers) in counts.into_iter().enumerate() {
        let size_bytes = SIZE * u64::from(readers);
        let facts = TargetFacts { reader_count: Some(readers), size_bytes, ..TargetFacts::default() };
        record.add(testing::target_line(at, facts));
    }
    for (at, wall_ms) in [520, 250, 260].into_iter().enumerate() {
        announce(&mut record, at, "rust/read", CacheState::Warm).target = TargetIndex::new(at);
        add_samples_with_wobble(&mut record, at, wall_ms, [0, 40, 80, 20, 60]);
        add_outcome(&mut record, at, Outcome::Measured);
    }
    record
}

/// The reasons by which a trial stops after a comparison of its readings with those of other
/// trials.
const COMPARING_STOP_REASONS: [StopReason; 2] = [StopReason::NotFirst, StopReason::Decided];

/// A race that was decided by its readings, in which all trials have ten rounds.
fn decided_record() -> Record {
    let mut record = warm_race(&[
        ("command/wc -l", 60, [0, 900, 300, 2_000, 700]),
        ("rust/mmap/avx2", 50, [1_500, 0, 2_100, 300, 900]),
        ("rust/lines", 58, [700, 2_500, 0, 1_200, 400]),
        ("rust/read/avx2", 51, [200, 1_100, 1_900, 0, 2_300]),
    ]);
    for (index, why) in [
        COMPARING_STOP_REASONS[0],
        COMPARING_STOP_REASONS[1],
        COMPARING_STOP_REASONS[0],
        COMPARING_STOP_REASONS[0],
    ]
    .into_iter()
    .enumerate()
    {
        trial_mut(&mut record, index).stopped = Some(Stopped { why, rounds: 10 });
    }
    record
}

/// Finds the trials of a ranking by their names, as a reader of the page does.
struct RankingCheck<'r> {
    record: &'r Record,
    ranking: &'r Ranking,
}

impl<'r> RankingCheck<'r> {
    /// The measured trial of this name in the ranking; there must be exactly one.
    fn trial_named(&self, name: &str) -> &'r TrialRecord {
        let of_ranking = |trial: &Trial| {
            (trial.target, trial.decoded_format, trial.work, trial.state)
                == (self.ranking.target, self.ranking.archive, self.ranking.work, self.ranking.state)
        };
        let is_it =
            |it: &&TrialRecord| of_ranking(&it.trial) && it.trial.id.to_string() == name && it.is_measured();
        let found: Vec<&TrialRecord> = self.record.trials.iter().filter(is_it).collect();
        let [one] = found[..] else { panic!("{} trials are called {name}", found.len()) };
        one
    }

    fn median_ns(&self, name: &str) -> f64 {
        median_ns(self.trial_named(name))
    }

    /// The noise of all trials, in the order of the ranking's rows.
    fn noise(&self) -> SharedVariance {
        let trials: Vec<&TrialRecord> =
            self.ranking.rows.iter().map(|row| self.trial_named(&row.name)).collect();
        let noise = SharedVariance::new(trials.iter().map(|it| &it.samples));
        let is_compared =
            |it: &TrialRecord| it.stopped.is_some_and(|it| COMPARING_STOP_REASONS.contains(&it.why));
        if trials.into_iter().any(is_compared) { noise.of_decided_race() } else { noise }
    }

    fn row_position(&self, name: &str) -> usize {
        self.ranking.rows.iter().position(|row| row.name == name).unwrap()
    }

    fn ratio(&self, base: &str, name: &str) -> Option<SharedRatio> {
        self.noise().ratio(self.row_position(name), self.row_position(base))
    }

    /// Checks the rows, and the remedies that their verdicts name.
    fn check_rows(&self) {
        let reference = self.ranking.reference.as_ref().map(|it| it.name.as_str());
        for row in &self.ranking.rows {
            assert_eq!(row.wall.median, whole(self.median_ns(&row.name)), "{}", row.name);
            let anew =
                reference.filter(|base| *base != row.name).and_then(|base| self.ratio(base, &row.name));
            assert_eq!(row.ratio_to_reference, anew, "{}", row.name);
            let Some(remedy) = row.diagnosis.as_ref().and_then(|it| remedy(&it.verdict)) else { continue };
            let times = self.median_ns(&row.name) / self.median_ns(&remedy.name);
            assert!((remedy.speed_ratio - times).abs() < 1e-9, "{}: {remedy:?}, {times}", row.name);
        }
    }

    fn check_limits(&self) {
        for row in &self.ranking.rows {
            let judged = row.diagnosis.as_ref();
            let limit = judged.and_then(|it| it.limit.as_ref());
            let Some((limit, trial)) = limit.and_then(|it| Some((it, it.trial?))) else { continue };
            let shown_by = self.record.trial(trial).unwrap();
            assert_eq!(limit.name, shown_by.trial.id.to_string());
            assert_eq!(limit.samples.len(), shown_by.samples.len(), "{}", limit.name);
        }
    }

    fn check_headline(&self) {
        let Some(headline) = self.ranking.advised_headline(None) else { return };
        for best in &headline.languages {
            let row = self.ranking.rows.iter().find(|row| row.name == best.name).unwrap();
            let of_language = self.ranking.rows.iter().filter(|it| it.language == best.language);
            let fastest = of_language.map(|it| self.median_ns(&it.name)).fold(f64::INFINITY, f64::min);
            assert_eq!(whole(self.median_ns(&best.name)), whole(fastest), "{}", best.language);
            assert_eq!(best.ratio_words.is_empty(), row.ratio_to_reference.is_none());
        }
    }

    fn check_advice(&self, advice: &crate::advice::Advice) {
        assert_eq!(advice.action.is_some(), advice.advised_trial.is_some());
        if let Some(action) = advice.action {
            let said = format!("{}: {action} ", advice.condition);
            assert!(advice.sentence.starts_with(&said), "{}", advice.sentence);
            let headline = self.ranking.advised_headline(Some(advice)).unwrap();
            assert_eq!(headline.action, advice.action, "the card says what the sentence says");
        }
        if let Some(against) = &advice.slower_baseline {
            let name = advice.advised_name.as_ref().unwrap();
            assert_eq!(Some(against.ratio), self.ratio(&against.name, name), "{}", advice.sentence);
            if let Some(cheaper) = &advice.cheaper {
                assert_eq!(Some(cheaper.ratio), self.ratio(&against.name, &cheaper.name));
            }
        }
        for language in &advice.by_language {
            let usual = language.usual.as_ref().filter(|usual| usual.index != language.best.index);
            let of_language = self.ranking.rows.iter().filter(|row| row.language == language.language);
            let others = of_language.count() - 1;
            let anew = usual.and_then(|usual| {
                let (best, usual) = (self.row_position(&language.best.name), self.row_position(&usual.name));
                self.noise().ratio_of_chosen(best, usual, others)
            });
            assert_eq!(language.ratio, anew, "{}", language.language);
        }
    }
}

fn median_ns(it: &TrialRecord) -> f64 {
    stats::median(it.samples.iter().map(|sample| sample.wall_ns as f64)).unwrap()
}

/// The other trial that a verdict names.
fn remedy(verdict: &Verdict) -> Option<&Remedy> {
    match verdict {
        Verdict::Processing { faster_scan } => faster_scan.as_ref(),
        Verdict::Lock { single_thread } => Some(single_thread),
        Verdict::Device { device_use: DeviceUse::SmallBlocks { remedy } | DeviceUse::Shallow { remedy } } => {
            Some(remedy)
        }
        Verdict::Server { wait: ServerWait::Connection { remedy, .. } } => Some(remedy),
        _ => None,
    }
}

/// The names of the checks that compared at least one number.
type CheckNames = BTreeSet<&'static str>;

/// Checks the sentences on plain files and archives, and that no two of them contradict.
fn check_archives(record: &Record, page: &Page, checked: &mut CheckNames) {
    for said in &page.archives {
        checked.insert("archives");
        let of = |decodes| {
            let is_it = |it: &&Ranking| (it.archive, it.state, it.work) == (decodes, said.state, said.work);
            let ranking = page.rankings.iter().find(is_it).unwrap();
            RankingCheck { record, ranking }
        };
        let (plain, packed) = (
            of(None).trial_named(&said.plain_trial),
            of(Some(said.archive)).trial_named(&said.decoding_trial),
        );
        let (of_packed, of_plain) = (of(Some(said.archive)), of(None));
        let rows = |it: &RankingCheck| it.ranking.rows.len();
        let readers = [&of_packed, &of_plain];
        let samples = readers
            .into_iter()
            .flat_map(|it| it.ranking.rows.iter().map(move |row| &it.trial_named(&row.name).samples));
        let place = rows(&of_packed) + of_plain.row_position(&said.plain_trial);
        let anew =
            SharedVariance::new(samples).ratio(of_packed.row_position(&said.decoding_trial), place).unwrap();
        let ends = anew.ci95.map(|it| it.ends);
        assert_eq!((said.estimate, said.ci95), (anew.estimate, ends), "{}", said.sentence());
        let by_medians = median_ns(plain) / median_ns(packed);
        match said.ci95.map(Significance::from_interval) {
            Some(Significance::Faster) => assert!(by_medians > 0.9, "{}: {by_medians}", said.sentence()),
            Some(Significance::Slower) => assert!(by_medians < 1.1, "{}: {by_medians}", said.sentence()),
            _ => {}
        }
    }
    for said in &page.break_evens {
        checked.insert("break-even");
        let is_it = |it: &&Ranking| {
            (it.archive, it.work, it.state, &it.path)
                == (Some(said.archive), said.work, CacheState::Warm, &said.path)
        };
        let reader = RankingCheck { record, ranking: page.rankings.iter().find(is_it).unwrap() };
        assert_eq!(said.decoding_ns, whole(reader.median_ns(&said.decoding_trial)));
    }
}

/// How many times as long as the other ranks a rank takes: the geometric mean over these turns.
fn rank_slowdown(turns: &[&FleetTurn], rank: usize) -> f64 {
    let lag = |turn: &FleetTurn| {
        let logs: Vec<f64> = turn.ranks.iter().map(|timing| (timing.wall_ns as f64).ln()).collect();
        let others: Vec<f64> =
            logs.iter().enumerate().filter(|(at, _)| *at != rank).map(|(_, log)| *log).collect();
        logs[rank] - others.iter().sum::<f64>() / others.len() as f64
    };
    (turns.iter().map(|turn| lag(turn)).sum::<f64>() / turns.len() as f64).exp()
}

/// Checks the map of hosts, the pairs of states, and the scaling with ranks or readers.
fn check_hosts_states_and_scaling(record: &Record, page: &Page, checked: &mut CheckNames) {
    for effects in page.fleet.iter().flat_map(|fleet| &fleet.method_effects) {
        let it = record.trial(effects.trial).unwrap();
        let ranks = record.fleet.as_ref().unwrap().ranks.len();
        let whole: Vec<&FleetTurn> = it.fleet_turns.iter().filter(|turn| turn.ranks.len() == ranks).collect();
        assert!(whole.iter().all(|turn| turn.trial == effects.trial) && !whole.is_empty());
        assert_eq!(effects.ratios.len(), ranks);
        for (rank, ratio) in effects.ratios.iter().enumerate() {
            let anew = rank_slowdown(&whole, rank);
            assert!((ratio / anew - 1.0).abs() < 1e-9, "{} on rank {rank}: {anew}", it.trial.id);
            checked.insert("hosts");
        }
    }
    for group in RowPairs::cold_and_warm(&page.rankings) {
        for pair in group.pairs {
            assert_eq!(pair.first_row.name, pair.second_row.name);
            let samples = |row: &RankingRow| median_ns(record.trial(row.index).unwrap());
            assert!((pair.speedup() - samples(pair.first_row) / samples(pair.second_row)).abs() < 1e-6);
            checked.insert("cold/warm");
        }
    }
    for view in &page.scaling {
        let of_count = |count: u64| {
            let is_it = |it: &&TrialRecord| {
                let together = record.targets[it.trial.target].concurrent_readers().map(u64::from);
                it.trial.id == view.scaling.id
                    && it.trial.state == view.scaling.state
                    && it.is_accepted()
                    && together == Some(count)
            };
            let found: Vec<&TrialRecord> = record.trials.iter().filter(is_it).collect();
            let [one] = found[..] else { panic!("{} trials of {count}", found.len()) };
            one.trial.bytes_out(&record.targets[one.trial.target]) as f64 * 1e9 / median_ns(one)
        };
        let gain = view.scaling.gain().unwrap();
        let anew = of_count(gain.to_count) / of_count(gain.from_count);
        assert!((gain.factor / anew - 1.0).abs() < 0.05, "{}: {} {anew}", view.name, gain.factor);
        checked.insert("scaling");
    }
}

fn check_locations(record: &Record, page: &Page, checked: &mut CheckNames) {
    for table in &page.locations.tables {
        for method in &table.ratios.methods {
            let of = |trial| record.trial(trial).unwrap();
            let (first, there) = (of(method.pair.first), of(method.pair.other));
            assert_eq!(first.trial.id, there.trial.id);
            assert!(first.trial.target == TargetIndex::new(0) && there.trial.target > first.trial.target);
            let expected = median_ns(first) / median_ns(there);
            assert!(
                (method.pair.ratio.estimate / expected - 1.0).abs() < 0.05,
                "{}: {expected}",
                first.trial.id
            );
            checked.insert("places");
        }
        let logs = table.ratios.methods.iter().map(|it| it.pair.ratio.estimate.ln());
        let expected = (logs.sum::<f64>() / table.ratios.methods.len() as f64).exp();
        assert!((table.ratios.overall.unwrap().estimate - expected).abs() < 1e-9, "{}", table.sentence);
    }
}

/// Checks that a ratio of wall times in a claim is the ratio of the two trials that it names, and
/// that the claim and the sentence on plain files and archives agree.
fn check_claims(record: &Record, page: &Page, checked: &mut CheckNames) {
    // Claims about a sweep name series of files, and no trial.
    let judged = Some(claims::judge_built_in(record)).filter(|_| record.header.kind != RunKind::Sweep);
    for judged in judged.iter().flatten().flat_map(|it| &it.claims) {
        let claims::Expression::Ratio { pairs, .. } = &judged.claim.expression else { continue };
        let Some(answer) = &judged.record_answer else { continue };
        let claims::ShownNumbers::Times(shown) = &answer.shown else { continue };
        let of_wall = |it: &claims::Quantity| it.metric == claims::Metric::WALL;
        for pair in pairs.iter().filter(|pair| of_wall(&pair.quantity) && of_wall(&pair.reference)) {
            let trials = format!("{} / {}", pair.quantity.trial, pair.reference.trial);
            let Some(found) = shown.iter().find(|it| it.trials == trials) else { continue };
            let of = |quantity: &claims::Quantity| {
                let is_it = |it: &&TrialRecord| {
                    let name = &quantity.trial;
                    (it.trial.label.as_ref() == Some(name) || it.trial.id.to_string() == *name)
                        && quantity.state.is_none_or(|state| it.trial.state == state)
                        && it.is_measured()
                };
                record.trials.iter().filter(is_it).collect::<Vec<&TrialRecord>>()
            };
            let (these, those) = (of(&pair.quantity), of(&pair.reference));
            let mut times =
                these.iter().flat_map(|it| those.iter().map(move |to| median_ns(it) / median_ns(to)));
            let value = found.estimate.value;
            assert!(times.any(|times| (times / value - 1.0).abs() < 0.1), "{trials}: {value}");
            checked.insert("claims");
            let is_told = |trials: &[&TrialRecord], name: &str, state: CacheState| {
                trials.iter().any(|it| it.trial.state == state && it.trial.id.to_string() == name)
            };
            let same = |said: &&ArchiveRatio| {
                is_told(&these, &said.decoding_trial, said.state)
                    && is_told(&those, &said.plain_trial, said.state)
            };
            for said in page.archives.iter().filter(same) {
                let sentence = said.sentence();
                assert!((value * said.estimate - 1.0).abs() < 0.1, "{trials}: {value}; {sentence}");
                let is_longer = claims::Bounds { at_least: Some(1.0), at_most: None };
                if pairs.len() == 1 && judged.claim.bounds == is_longer {
                    let verdict = match said.ci95.map(Significance::from_interval) {
                        Some(Significance::Slower) => claims::Verdict::Holds,
                        Some(Significance::Faster) => claims::Verdict::DoesNotHold,
                        _ => continue,
                    };
                    assert_eq!(answer.verdict, verdict, "{}; {sentence}", judged.claim.statement);
                    checked.insert("claims and archives");
                }
            }
        }
    }
}

#[test]
fn every_number_about_two_trials_follows_from_the_trials_that_it_names() {
    let mut checked = CheckNames::new();
    for (name, record) in records() {
        let page = Page::from_record(&record);
        for ranking in &page.rankings {
            let reader = RankingCheck { record: &record, ranking };
            reader.check_rows();
            reader.check_limits();
            reader.check_headline();
            checked.insert("rankings");
        }
        for advice in &page.advice {
            RankingCheck { record: &record, ranking: &page.rankings[advice.ranking_index] }
                .check_advice(advice);
            checked.insert("advice");
        }
        check_archives(&record, &page, &mut checked);
        check_hosts_states_and_scaling(&record, &page, &mut checked);
        check_locations(&record, &page, &mut checked);
        check_claims(&record, &page, &mut checked);
        assert!(!name.is_empty());
    }
    let all = [
        "advice",
        "archives",
        "break-even",
        "claims",
        "claims and archives",
        "cold/warm",
        "hosts",
        "places",
        "rankings",
        "scaling",
    ];
    assert_eq!(checked.into_iter().collect::<Vec<_>>(), all);
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.1, "{what}: {found}, {expected}");
}

#[test]
fn every_effect_of_a_setting_follows_from_the_two_trials_that_it_names() {
    let record = record_under_two_settings();
    let effects = Page::from_record(&record).settings;
    assert_eq!(effects.len(), 2);
    for row in effects {
        let [under, found] = [row.index, row.found_settings_trial].map(|index| record.trial(index).unwrap());
        assert_eq!((&under.trial.id, under.trial.state), (&found.trial.id, found.trial.state));
        let is_found = |it: &TrialRecord| record.target_of(&it.trial).unwrap().has_initial_settings();
        assert!(is_found(found) && !is_found(under), "{}", row.name);
        assert_eq!(row.name, record.trial_name(&under.trial));
        let medians = [median_ns(under), median_ns(found)];
        assert_eq!([row.wall_ns, row.found_settings_wall_ns], medians.map(whole));
        assert_close(row.ratio.estimate, medians[1] / medians[0], &row.name);
    }
}

#[test]
fn every_number_about_bounds_on_memory_follows_from_the_trials_that_it_names() {
    let record = record_under_bounds();
    let rate = |curve: &MemoryCurve, level: MemoryLevel| {
        let point = curve.point_at(level)?;
        assert_eq!(point.trial.trial.id, curve.trial().id);
        let bytes = point.trial.trial.bytes_out(record.target_of(&point.trial.trial).unwrap());
        Some(bytes as f64 * 1e9 / median_ns(point.trial))
    };
    let contests = MemoryContest::all(&record);
    assert!(contests.iter().any(|contest| contest.crossing.is_some()));
    for contest in &contests {
        for curve in &contest.curves {
            let name = curve.trial().id.to_string();
            for point in &curve.points {
                assert_close(point.rate, rate(curve, point.level).unwrap(), &name);
            }
            if let Some(cliff) = &curve.cliff {
                let [below, above] = cliff.between_levels.map(|level| rate(curve, level).unwrap());
                assert_close(cliff.ratio.estimate, above / below, &name);
            }
        }
        for fastest in &contest.fastest_methods {
            let mut rates: Vec<(f64, TrialIndex)> = contest
                .curves
                .iter()
                .filter_map(|curve| {
                    Some((rate(curve, fastest.level)?, curve.point_at(fastest.level)?.trial.trial.index))
                })
                .collect();
            rates.sort_by(|a, b| b.0.total_cmp(&a.0));
            assert_eq!(rates[0].1, fastest.trial.trial.index, "{:?}", fastest.level);
            if let Some(ratio) = fastest.ratio_to_second {
                assert_close(ratio.estimate, rates[0].0 / rates[1].0, &fastest.trial.trial.id.to_string());
            }
        }
        if let Some(crossing) = &contest.crossing {
            let curve_of = |it: &TrialRecord| {
                contest.curves.iter().find(|curve| curve.trial().id == it.trial.id).unwrap()
            };
            let (less, more) =
                (curve_of(crossing.trial_with_less_memory), curve_of(crossing.trial_with_more_memory));
            for at in &crossing.ratios {
                let expected = rate(more, at.level).unwrap() / rate(less, at.level).unwrap();
                assert_close(at.ratio.estimate, expected, &format!("{:?}", at.level));
            }
        }
    }
}

/// All lines of a record's texts, sorted. Paths are left out, because the dots of a sweep are drawn
/// in the order of its files.
fn sorted_lines(record: &Record) -> Vec<String> {
    let page = Page::from_record(record);
    let style = Style { width: 160, may_use_color: false };
    let terminal = terminal_page(&page, style, None);
    let mut text = vec![terminal, markdown(&page), exported(record, write_csv)];
    text.push(html(&page).replace('<', "\n<"));
    let is_said = |line: &&str| !line.starts_with("<path ");
    let lines = text.iter().flat_map(|it| it.lines()).filter(is_said);
    let mut lines: Vec<String> = lines.map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The export with sorted lists.
fn exported_in_any_order(record: &Record) -> serde_json::Value {
    fn sorted(value: serde_json::Value) -> serde_json::Value {
        match value {
            serde_json::Value::Array(all) => {
                let mut all: Vec<serde_json::Value> = all.into_iter().map(sorted).collect();
                all.sort_by_key(ToString::to_string);
                all.into()
            }
            serde_json::Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (name, sorted(value))).collect()
            }
            serde_json::Value::Number(number) => {
                // Sums in another order differ in their last digits.
                format!("{:.8e}", number.as_f64().unwrap()).into()
            }
            other => other,
        }
    }
    let text = exported(record, |record, out| write_json_with_claims(record, &[], out));
    sorted(serde_json::from_str(&text).unwrap())
}

#[test]
fn the_order_in_which_trials_are_announced_changes_no_text() {
    for (name, record) in records() {
        let mut reversed: Vec<TrialRecord> = record.trials.clone().into_iter().collect();
        reversed.reverse();
        let other = Record { trials: reversed.into_iter().collect::<Trials>(), ..record.clone() };
        let (lines, others) = (sorted_lines(&record), sorted_lines(&other));
        let lacks = |all: &[String], line: &&String| all.binary_search(line).is_err();
        let gone: Vec<&String> = lines.iter().filter(|line| lacks(&others, line)).collect();
        let new: Vec<&String> = others.iter().filter(|line| lacks(&lines, line)).collect();
        assert_eq!(gone, new, "{name}");
        assert_eq!(lines.len(), others.len(), "{name}");
        assert_eq!(exported_in_any_order(&record), exported_in_any_order(&other), "{name}");
    }
}

#[test]
fn a_trial_is_found_by_its_index_and_not_by_its_position() {
    let record = archive_record();
    let names: Vec<String> = record.trials.iter().take(3).map(|it| it.trial.id.to_string()).collect();
    assert_eq!(names, ["java/MemorySegment", "java/mapped", "java/Files.lines"]);
    assert_eq!(record.trial(TrialIndex::new(0)).unwrap().trial.id.to_string(), "java/Files.lines");
    let archives = Page::from_record(&record).archives;
    let sentences: Vec<String> = archives.iter().map(ArchiveRatio::sentence).collect();
    let [first, ..] = &sentences[..] else { panic!("{sentences:?}") };
    assert!(first.contains("java/zip out of the zip is 0.35"), "{first}");
    assert!(sentences.iter().all(|it| it.ends_with("reading the plain file is faster")), "{sentences:#?}");
    let ends = Interval { low: 0.3, high: 0.4 };
    assert!(archives[0].ci95.is_some_and(|own| own.low > ends.low && own.high < ends.high));
}
