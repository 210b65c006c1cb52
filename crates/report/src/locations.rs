//! The targets of a run as places of the same content: the speed of each method, and of all methods
//! together, at another place divided by that at the first place; in sentences, as tables, and for
//! programs.
//!
//! Texts for users say place. The code says location, because a place in the code is the position
//! of a block in a file.

use super::answer::rate_or_time_words;
use super::document::Column;
use super::markdown::{code_span, escape_markup};
use super::name::target_names;
use super::ranking::{self, Ranking, RankingRow};
use super::row_pairs::RowPairs;
use super::table::{Cell, Table};
use super::words::{self, Number};
use readlab_analysis::locations::{
    LocationComparisons, LocationRatios, MethodRatio, NotCompared, TargetContent, TrialPair, WhyNotCompared,
};
use readlab_analysis::stats::{SharedRatio, Significance};
use readlab_model::target::content::SameContentProof;
use readlab_model::target::{TargetFacts, TargetIndex, Targets};
use readlab_model::trial::{CacheState, TrialId, TrialIndex, Work};
use readlab_protocol::Archive;
use readlab_record::Record;
use schemars::JsonSchema;
use serde::Serialize;

/// Of the methods whose ratio differs from the others, the sentence names at most this many.
const NAMED_METHODS_MAX: usize = 3;

/// The comparisons of a record's locations, in words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LocationsView {
    pub tables: Vec<LocationTable>,
    /// A sentence for each location that is not compared, with the reason.
    pub not_compared_sentences: Vec<String>,
}

/// One location compared with the first one, for one work and in one state of the cache.
#[derive(Debug, Clone, PartialEq)]
pub struct LocationTable {
    /// State, work and decoded archives, such as `warm · newlines`.
    pub condition: String,
    pub names: [String; 2],
    pub sentence: String,
    pub ratios: LocationRatios,
}

impl LocationsView {
    pub fn from_record(record: &Record, rankings: &[Ranking]) -> LocationsView {
        let LocationComparisons { compared, not_compared } = LocationComparisons::from_record(record);
        let names = location_names(record);
        let table = |ratios: LocationRatios| {
            let settings = settings_words(record, [&ratios.first, &ratios.other]);
            LocationTable::new(ratios, settings.as_deref(), &names, rankings)
        };
        LocationsView {
            tables: compared.into_iter().map(table).collect(),
            not_compared_sentences: not_compared
                .into_iter()
                .map(|it| why_not_compared(record, it, &names))
                .collect(),
        }
    }

    /// All sentences, one in each line.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let sentences = self.tables.iter().map(|it| &it.sentence);
        sentences.chain(&self.not_compared_sentences).map(|line| format!("places: {line}"))
    }
}

/// The names of the targets, with their file systems if these differ.
fn location_names(record: &Record) -> Targets<String> {
    let first = record.targets.first().map(|facts| &facts.filesystem);
    let is_one = record.targets.iter().all(|facts| Some(&facts.filesystem) == first);
    let name = |(facts, name): (&TargetFacts, String)| match facts.filesystem.as_ref().filter(|_| !is_one) {
        Some(filesystem) => format!("{name} ({filesystem})"),
        None => name,
    };
    record.targets.iter().zip(target_names(&record.targets)).map(name).collect()
}

/// The settings of the system under which both locations are read; `None` if the run compares no
/// settings. The values that were found at the start may differ between the two devices.
fn settings_words(record: &Record, both: [&TargetContent; 2]) -> Option<String> {
    let [first, there] = both.map(|it| record.targets.get(it.target)?.settings_words());
    let (first, there) = (first?, there?);
    let has_found =
        |it: &TargetContent| record.targets.get(it.target).is_some_and(TargetFacts::has_initial_settings);
    let why = if both.into_iter().all(has_found) { ", as they were found" } else { "" };
    Some(if first == there { first } else { format!("{there} beside {first}{why}") })
}

fn why_not_compared(record: &Record, it: NotCompared, names: &Targets<String>) -> String {
    let [first, there] = [it.first, it.target].map(|target| names[target].as_str());
    let settings = record.targets[it.target].settings_words();
    let under = settings.map_or_else(String::new, |settings| format!(" under {settings}"));
    match it.why {
        WhyNotCompared::Content => format!(
            "{there} is not compared with {first}: neither their bytes nor the right answers about these, or about the \
             files in a tar, are the same; compare their rates, or assert with --same-content that both have the same content"
        ),
        WhyNotCompared::State => {
            format!(
                "{there} is not compared with {first}{under}: no work was measured at both in the same state of the cache"
            )
        }
    }
}

impl LocationTable {
    fn new(
        ratios: LocationRatios,
        settings: Option<&str>,
        names: &Targets<String>,
        rankings: &[Ranking],
    ) -> LocationTable {
        let LocationRatios { state, work, first, other: there, .. } = ratios;
        let names = [first, there].map(|source| names[source.target].clone());
        let decoded = decoded_words(first, there);
        let parts = [Some(state.to_string()), Some(work.to_string()), decoded, settings.map(str::to_owned)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let sentence = format!("{}: {}", parts.join(", "), sentence(&ratios, &names, rankings));
        LocationTable { condition: parts.join(" · "), names, sentence, ratios }
    }

    /// The title in a terminal, such as `warm · newlines · overlay/f beside ext4/f`.
    pub(super) fn title(&self) -> String {
        let [first, there] = &self.names;
        format!("{} · {there} beside {first}", self.condition)
    }

    pub(super) fn markdown_title(&self) -> String {
        let [first, there] = self.names.each_ref().map(|name| code_span(name));
        format!("### Places, {}, {there} beside {first}", escape_markup(&self.condition))
    }

    /// A table with a row for each method; `None` if no method reads both locations.
    pub(super) fn table(&self, rankings: &[Ranking]) -> Option<Table> {
        let numbers = ["first", "there", "there ÷ first"].map(Column::text);
        let row = |it: &MethodRatio| {
            let [first, there] = trial_rows(&it.pair, rankings)?;
            let mark = if it.is_unlike_others { " (unlike others)" } else { "" };
            let figures = [first, there].map(|row| Cell::text(rate_or_time_words(row)));
            let name = Cell::Name(there.name.clone(), mark.to_owned());
            let ratio = Cell::number(Number::ratio(it.pair.ratio));
            Some([name].into_iter().chain(figures).chain([ratio]).collect::<Vec<Cell>>())
        };
        let columns = [Column::text("method")].into_iter().chain(numbers);
        Table::with_content(columns, self.ratios.methods.iter().filter_map(row))
    }

    /// The rows of the methods that read both locations, from which the page draws dumbbells.
    pub(super) fn pairs<'a>(&self, rankings: &'a [Ranking]) -> Option<RowPairs<'a>> {
        let [first, there] = &self.names;
        let title = format!("From {first} to {there} · {}", self.condition);
        let both = self.ratios.methods.iter().filter_map(|it| trial_rows(&it.pair, rankings));
        RowPairs::from_rows(title, self.names.clone(), both.collect())
    }
}

/// The decoded archives in words; `None` if both locations are read as plain bytes.
fn decoded_words(first: TargetContent, there: TargetContent) -> Option<String> {
    match (first.decoded_format, there.decoded_format) {
        (None, None) => None,
        (Some(one), Some(other)) if one == other => Some(format!("out of the {one}")),
        (Some(one), Some(other)) => Some(format!("out of the {other} beside out of the {one}")),
        (None, Some(other)) => Some(format!("out of the {other}")),
        (Some(one), None) => Some(format!("beside out of the {one}")),
    }
}

/// The rows of both trials, the trial at the first location first.
fn trial_rows<'a>(pair: &TrialPair, rankings: &'a [Ranking]) -> Option<[&'a RankingRow; 2]> {
    ranking::rows_of_pair(rankings, [pair.first, pair.other])
}

fn sentence(ratios: &LocationRatios, names: &[String; 2], rankings: &[Ranking]) -> String {
    let [first, there] = names;
    let mut sentence = match ratios.overall {
        Some(overall) => overall_words(overall, ratios.methods.len(), names),
        None => format!("no method reads both {there} and {first}"),
    };
    sentence += &unlike_methods_words(&ratios.methods, rankings);
    if let Some(fastest) = &ratios.fastest
        && let Some([own, other]) = trial_rows(fastest, rankings)
    {
        let (other, own, times) = (&other.name, &own.name, words::ratio_words(fastest.ratio));
        sentence += &format!("; the fastest there, {other}, is {times} × {own}, the fastest at {first}");
    }
    sentence += content_proof_words(ratios.same_by);
    if let Some(times) = ratios.size_ratio {
        sentence += &format!("; the bytes there are {times:.3} times as many: times are compared by byte");
    }
    sentence
}

/// The clause that names the evidence that both contents are the same; empty for a digest.
fn content_proof_words(same_by: SameContentProof) -> &'static str {
    match same_by {
        SameContentProof::Digest => "",
        SameContentProof::Answers => {
            "; the content is the same by the right answers (numbers of bytes and newlines, sum of the bytes modulo 256), not by a digest"
        }
        SameContentProof::TarFiles => {
            "; the files are the same by the right answers (numbers of bytes and newlines, sum of the bytes modulo 256), not by a digest; the headers of \
             a tar are read, too"
        }
        SameContentProof::Assertion => "; the user asserts that both have the same content",
    }
}

/// The ratio over all methods in words, such as
/// `over 12 methods overlay/f reads at 0.83 [0.81, 0.85] × ext4/f, slower`.
fn overall_words(overall: SharedRatio, methods: usize, [first, there]: &[String; 2]) -> String {
    let verdict = match overall.significance() {
        Some(Significance::Faster) => ", faster",
        Some(Significance::Slower) => ", slower",
        Some(Significance::Tie) => ", no difference is seen",
        None => "",
    };
    let methods = words::plural(methods, "method");
    format!("over {methods} {there} reads at {} × {first}{verdict}", words::ratio_words(overall))
}

/// The clause that names the methods whose ratio differs from the others; empty if there is none.
fn unlike_methods_words(methods: &[MethodRatio], rankings: &[Ranking]) -> String {
    let unlike: Vec<&MethodRatio> = methods.iter().filter(|it| it.is_unlike_others).collect();
    if unlike.is_empty() {
        return String::new();
    }
    let named = unlike.iter().take(NAMED_METHODS_MAX).filter_map(|it| {
        let [_, there] = trial_rows(&it.pair, rankings)?;
        Some(format!("{} {}", there.name, words::ratio_words(it.pair.ratio)))
    });
    let mut named: Vec<String> = named.collect();
    let more = unlike.len().saturating_sub(NAMED_METHODS_MAX);
    named.extend((more > 0).then(|| format!("{more} more")));
    format!("; it differs by method: {}", named.join(", "))
}

/// The comparisons of a record's targets as places of the same content, as the JSON export has
/// them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Locations")]
pub(super) struct LocationsExport<'a> {
    compared: Vec<LocationExport<'a>>,
    not_compared: Vec<NotComparedExport<'a>>,
}

/// One place compared with the first one.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Location")]
struct LocationExport<'a> {
    /// The path or URL of the first place.
    #[serde(rename = "first")]
    first_path: &'a str,
    /// The path or URL of this place.
    #[serde(rename = "there")]
    there_path: &'a str,
    /// The archive that is decoded at the first place.
    #[serde(rename = "first_decodes")]
    first_archive: Option<Archive>,
    /// The archive that is decoded at this place.
    #[serde(rename = "there_decodes")]
    there_archive: Option<Archive>,
    work: Work,
    state: CacheState,
    /// The settings of the system under which both places are read, such as `read-ahead=4MiB`.
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<String>,
    /// What shows that both places have the same content.
    same_by: SameContentProof,
    /// How many times as many bytes this place has as the first one, if times are compared by byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "bytes_times")]
    size_ratio: Option<f64>,
    /// The ratio over all methods that read both places.
    overall: Option<LocationRatioExport>,
    methods: Vec<LocationMethod<'a>>,
    /// The fastest trials of both places, if they are different methods.
    fastest: Option<LocationFastestExport>,
}

/// How many times as fast this place is as the first one.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LocationTimes")]
struct LocationRatioExport {
    #[serde(flatten)]
    factor: SharedRatio,
    /// Number of rounds or fills with readings at both places.
    pairs: usize,
}

#[derive(Serialize, JsonSchema)]
struct LocationMethod<'a> {
    id: &'a TrialId,
    first_trial: TrialIndex,
    there_trial: TrialIndex,
    #[serde(rename = "times")]
    ratio: LocationRatioExport,
    /// Whether the ratio differs from the ratios of the other methods.
    is_unlike_others: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LocationFastest")]
struct LocationFastestExport {
    first_trial: TrialIndex,
    there_trial: TrialIndex,
    #[serde(rename = "times")]
    ratio: LocationRatioExport,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NotCompared")]
struct NotComparedExport<'a> {
    /// The path or URL of the location that is not compared.
    #[serde(rename = "there")]
    there_path: &'a str,
    reason: String,
}

impl<'a> LocationsExport<'a> {
    /// `None` for a record whose targets are not raced as locations.
    pub(super) fn from_record(record: &'a Record) -> Option<LocationsExport<'a>> {
        record.header.locations?;
        let LocationComparisons { compared, not_compared } = LocationComparisons::from_record(record);
        let names = location_names(record);
        let not_compared = not_compared.into_iter().map(|it| NotComparedExport {
            there_path: target_path(record, it.target),
            reason: why_not_compared(record, it, &names),
        });
        Some(LocationsExport {
            compared: compared.iter().map(|it| LocationExport::new(record, it)).collect(),
            not_compared: not_compared.collect(),
        })
    }
}

impl<'a> LocationExport<'a> {
    fn new(record: &'a Record, ratios: &LocationRatios) -> LocationExport<'a> {
        let method = |it: &MethodRatio| {
            let TrialPair { first, other: there, ratio } = it.pair;
            let (times, is_unlike_others) = (LocationRatioExport::from(ratio), it.is_unlike_others);
            let id = &record.trial(first)?.trial.id;
            Some(LocationMethod {
                id,
                first_trial: first,
                there_trial: there,
                ratio: times,
                is_unlike_others,
            })
        };
        let fastest = |it: TrialPair| LocationFastestExport {
            first_trial: it.first,
            there_trial: it.other,
            ratio: LocationRatioExport::from(it.ratio),
        };
        LocationExport {
            first_path: target_path(record, ratios.first.target),
            there_path: target_path(record, ratios.other.target),
            first_archive: ratios.first.decoded_format,
            there_archive: ratios.other.decoded_format,
            work: ratios.work,
            state: ratios.state,
            settings: settings_words(record, [&ratios.first, &ratios.other]),
            same_by: ratios.same_by,
            size_ratio: ratios.size_ratio,
            overall: ratios.overall.map(LocationRatioExport::from),
            methods: ratios.methods.iter().filter_map(method).collect(),
            fastest: ratios.fastest.map(fastest),
        }
    }
}

fn target_path(record: &Record, target: TargetIndex) -> &str {
    record.targets.get(target).map_or("", |facts| &facts.path)
}

impl From<SharedRatio> for LocationRatioExport {
    fn from(ratio: SharedRatio) -> LocationRatioExport {
        LocationRatioExport { factor: ratio, pairs: ratio.unit_count }
    }
}
