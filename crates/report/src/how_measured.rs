//! How the numbers of a record were measured: contenders and commands, meters that could not be
//! read and why, rejected readings, how calls were counted, and the meaning of every number.

use super::groups;
use super::words::{grouped, grouped_plural, plural};
use readlab_model::enumeration::enumeration;
use readlab_model::target::dictionary::Dictionary;
use readlab_model::target::places::{PlacesFacts, RangesFacts};
use readlab_model::target::range::RangeFacts;
use readlab_model::target::tree::TreeFacts;
use readlab_model::target::{CACHE_UNKNOWN_WORDS, Http, StoreFacts, TargetFacts};
use readlab_model::trial::{Transport, TrialId};
use readlab_model::units::Bytes;
use readlab_record::{Check, CommandRules, Header, Receipt, Record, TrialRecord};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Numbers that are missing: meters that could not be read, or the rejected readings of a trial,
/// with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasurementGap {
    /// The names of the meters, or the name of the trial.
    pub subject: String,
    pub why_missing: String,
    /// The number of trials without the meters, or of rejected readings, such as `in 3 trials`.
    pub extent: String,
}

pub(super) const METHOD_NOTES: [&str; 6] = [
    "Wall time runs from opening the target to closing it, by the contender's own monotonic clock, and is checked against the lab's. Preparing the cache state, metering and printing are outside.",
    "Every reading's answer is checked; after one wrong answer the trial is refused and its numbers are not reported.",
    "In each round every trial is read once, in an order shuffled by the recorded seed. Ratios are computed pair by pair within rounds.",
    "Intervals are at 95 %. From six rounds on a median has that of the sign test, a ratio that of signed ranks. With two to five rounds both follow from the noise of all trials together, or from Student's t where trials are few. In a race that its readings decided, the interval of a ratio is at 99 % from six rounds on, and of signed ranks from eight. Where the interval of a ratio holds 1, it is a tie. Outliers are counted and stay in.",
    "Peak memory is the kernel's high-water mark for the process; pages of a mapped file count in it.",
    "Counts of calls come from separate readings that are not timed.",
];

pub(super) fn contender_lines(receipts: &[Receipt]) -> Vec<String> {
    receipts.iter().map(|it| format!("{} {}: {}", it.contender, it.version, it.runtime)).collect()
}

pub(super) fn maker_words(header: &Header) -> String {
    format!("readlab {} ({}), seed {}", header.lab_version, header.revision, header.seed)
}

/// The titles of the targets: a line for each target. Many targets share a line, unless they are
/// locations that are compared. A file that is read under several conditions, such as bounds on
/// memory, has a target in the record for each condition, but one title.
pub(super) fn target_titles(record: &Record) -> Vec<String> {
    const LISTED_SINGLY_MAX: usize = 4;
    let mut titles = BTreeSet::new();
    let is_new = |target: &&TargetFacts| target.memory_bound.is_none() && titles.insert(target_title(target));
    let targets: Vec<&TargetFacts> = record.targets.iter().filter(is_new).collect();
    if targets.len() <= LISTED_SINGLY_MAX || record.header.locations.is_some() {
        return targets.into_iter().map(target_title).collect();
    }
    let sizes = || targets.iter().map(|target| target.size_bytes);
    let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
    let folder = Path::new(&targets[0].path).parent().map_or_else(String::new, |it| it.display().to_string());
    let total = Bytes(sizes().fold(0, u64::saturating_add));
    let mut facts = vec![
        folder,
        plural(targets.len(), "file"),
        format!("{} to {}, {total} in all", Bytes(least), Bytes(most)),
    ];
    facts.extend(storage_words(targets[0]));
    vec![facts.join(" · ")]
}

fn storage_words(target: &TargetFacts) -> Option<String> {
    let known: Vec<&str> = target.filesystem.iter().chain(&target.mount).map(String::as_str).collect();
    (!known.is_empty()).then(|| known.join(", "))
}

fn target_title(target: &TargetFacts) -> String {
    let mut facts = vec![target.path.clone(), Bytes(target.size_bytes).to_string()];
    facts.extend(target.tree().map(tree_words));
    facts.extend(target.range.as_ref().map(range_words));
    facts.extend(target.places().map(places_words));
    facts.extend(target.ranges.as_ref().map(ranges_words));
    facts.extend(target.http().map(|http| server_words(target.transport(), http)));
    facts.extend(target.store().map(store_words));
    facts.extend(target.decoded.as_ref().map(|decoded| {
        let out = target.bytes_out(Some(decoded.archive));
        format!("{}, of which {} come out", decoded.archive.noun(), Bytes(out))
    }));
    facts.extend(target.dictionary.as_ref().map(dictionary_words));
    facts.extend(storage_words(target));
    facts.extend(target.device.as_ref().and_then(|device| device.model.clone()));
    facts.join(" · ")
}

fn dictionary_words(dictionary: &Dictionary) -> String {
    let number = dictionary.id.map_or_else(|| "no number".to_owned(), |id| format!("number {id}"));
    format!("with the dictionary {}, {}, {number}", dictionary.path, Bytes(dictionary.size_bytes))
}

fn tree_words(tree: &TreeFacts) -> String {
    let TreeFacts { files, folders, order, is_metadata_cold, .. } = tree;
    let found = match tree.is_listed {
        true => "named by a list".to_owned(),
        false => format!("in {}", plural(usize::try_from(*folders).unwrap_or(usize::MAX), "folder")),
    };
    let names = if *is_metadata_cold { "cold before cold readings, too" } else { "always in memory" };
    let files = grouped_plural(*files, "file");
    format!("{files} {found}, {order} order; names and inodes {names}")
}

fn range_words(range: &RangeFacts) -> String {
    let RangeFacts { start_bytes, length_bytes, before_bytes, file_bytes } = range;
    let of_file = Bytes(*file_bytes);
    let before = match before_bytes {
        0 => String::new(),
        bytes => format!(", the first {} of them before the range, in its page", grouped(*bytes)),
    };
    format!(
        "{} bytes from byte {} of {of_file} in the file{before}",
        grouped(*length_bytes),
        grouped(*start_bytes)
    )
}

fn places_words(places: &PlacesFacts) -> String {
    let PlacesFacts { pattern, block_bytes, read_count: reads, distinct_blocks: distinct, file_bytes } =
        places;
    let again =
        if distinct < reads { format!(", {} of them different", grouped(*distinct)) } else { String::new() };
    format!(
        "{} reads of {}, {pattern}, of {} in the file{again}",
        grouped(*reads),
        Bytes(*block_bytes).exact_text(),
        Bytes(*file_bytes)
    )
}

fn ranges_words(ranges: &RangesFacts) -> String {
    let RangesFacts {
        list_path: list,
        is_sorted,
        read_count: reads,
        shortest_bytes,
        longest_bytes,
        repeated_bytes,
        pages_bytes: _,
        file_bytes,
    } = ranges;
    let order = if *is_sorted { "in the order of the file" } else { "in its order" };
    let again = match repeated_bytes {
        0 => String::new(),
        bytes => format!(", {} of it read again", Bytes(*bytes)),
    };
    format!(
        "{} ranges of {} to {}, listed by {list} and read {order}, of {} in the file{again}",
        grouped(*reads),
        Bytes(*shortest_bytes),
        Bytes(*longest_bytes),
        Bytes(*file_bytes)
    )
}

fn server_words(over: Transport, http: &Http) -> String {
    let over = over.word();
    match http {
        Http::Own => format!("over {over}, from readlab's own server on 127.0.0.1"),
        Http::Foreign { software, .. } => {
            let name = software.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
            format!("over {over}, from a server that is not readlab's{name}; {CACHE_UNKNOWN_WORDS}")
        }
    }
}

fn store_words(store: &StoreFacts) -> String {
    let StoreFacts { endpoint, region, style, is_signed: signed } = store;
    let signed = if *signed { "signed" } else { "not signed" };
    format!("store {endpoint}, region {region}, {} style, requests {signed}", style.word())
}

/// The meters that could not be read, grouped by reason.
pub(super) fn missing_meters(record: &Record) -> Vec<MeasurementGap> {
    let missing = record.trials.iter().flat_map(|trial| &trial.missing_meters);
    let reasons = count_each(missing.map(|(meter, reason)| (reason.as_str(), meter.as_str())));
    let mut merged: BTreeMap<(&str, usize), Vec<&str>> = BTreeMap::new();
    for ((reason, meter), trials) in reasons {
        merged.entry((reason, trials)).or_default().push(meter);
    }
    let missing_metric = |((reason, trials), meters): ((&str, usize), Vec<&str>)| MeasurementGap {
        subject: meters.join(", "),
        why_missing: reason.to_owned(),
        extent: format!("in {}", plural(trials, "trial")),
    };
    merged.into_iter().map(missing_metric).collect()
}

/// The rejected readings, grouped by reason.
pub(super) fn rejected_readings(record: &Record) -> Vec<MeasurementGap> {
    let trials = record.trials.iter();
    let rejected =
        trials.flat_map(|it| it.rejected_readings.iter().map(move |(_, why)| (why, it.trial.id.to_string())));
    let missing_metric = |((reason, what), readings): ((&String, String), usize)| MeasurementGap {
        subject: what,
        why_missing: reason.clone(),
        extent: plural(readings, "reading"),
    };
    count_each(rejected).into_iter().map(missing_metric).collect()
}

fn count_each<T: Ord>(things: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    things.for_each(|it| *counts.entry(it).or_default() += 1);
    counts
}

/// The kinds of counts, each with the ways in which it was counted.
pub(super) fn counting_methods(record: &Record) -> Vec<(String, Vec<String>)> {
    let mut ways: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (kind, count) in record.trials.iter().flat_map(|trial| &trial.counts) {
        ways.entry(kind).or_default().insert(&count.how);
    }
    ways.into_iter()
        .map(|(kind, ways)| (kind.to_owned(), ways.into_iter().map(str::to_owned).collect()))
        .collect()
}

/// The options that the user set for commands that are run without a contender, each once: how to
/// check their output, and what to run before and after them.
pub(super) fn command_options(record: &Record) -> Vec<String> {
    let others_must_match = |id: &TrialId| {
        let name = id.to_string();
        let must_match =
            |rules: &CommandRules| matches!(&rules.check, Check::Same { trial_name } if *trial_name == name);
        record.trials.iter().any(|it| it.trial.id != *id && must_match(&it.trial.command_rules))
    };
    let of_trial = |it: &TrialRecord| {
        command_option_lines(&it.trial.id, &it.trial.command_rules, others_must_match(&it.trial.id))
    };
    groups::firsts(record.trials.iter().flat_map(of_trial), String::clone)
}

fn command_option_lines(
    id: &TrialId,
    rules: &CommandRules,
    others_must_match: bool,
) -> impl Iterator<Item = String> + use<> {
    let checked = match &rules.check {
        Check::Count => None,
        Check::Same { trial_name: of } if *of == id.to_string() && others_must_match => {
            Some("its output is what the others must print".to_owned())
        }
        Check::Same { trial_name: of } if *of == id.to_string() => {
            Some("it must print the same in each reading".to_owned())
        }
        Check::Same { trial_name: of } => Some(format!("it must print what {of} prints")),
        Check::Accepted { accepting_program: by } => Some(format!("it must print what '{by}' accepted")),
        Check::Unchecked => Some("its output was not checked".to_owned()),
    };
    let codes: Vec<String> = rules.success_codes.iter().map(u8::to_string).collect();
    let accepted = match &codes[..] {
        [] => None,
        [only] => Some(format!("it must end with exit code {only}")),
        several => Some(format!("it may end with exit code {}", enumeration(several, "or"))),
    };
    let run = |when: &str, line: &Option<String>| line.as_ref().map(|line| format!("{when}: {line}"));
    let around = [
        run("before its first reading", &rules.setup),
        run("before each reading", &rules.prepare_command),
        run("after the last reading of the run", &rules.cleanup),
    ];
    let id = id.to_string();
    [checked, accepted].into_iter().chain(around).flatten().map(move |line| format!("{id}: {line}"))
}
