//! The targets of a run while it is prepared: served if contenders read them over HTTP, opened for
//! the control of their page cache, and read once by the oracle for the expected answers about
//! their bytes and, for archives, about their decoded content.

use super::deadline::Deadline;
use super::recorder::Recorder;
use super::target_spec::ExaminedTarget;
use crate::experiment::planner::TargetForm;
use anyhow::{Context, bail};
use readlab_corpus::archive::PackedFile;
use readlab_corpus::block_truth::truth_of_blocks;
use readlab_corpus::names_truth::truth_of_names;
use readlab_corpus::oracle::{self, ContinueCheck, Truth};
use readlab_corpus::tree_truth::{truth_of_files, truth_of_some_files};
use readlab_measure::cache::EvictionScope;
use readlab_measure::target::{CacheControl, MeasuredTarget};
use readlab_model::target::{DecodedContent, ServerOptions, Targets};
use readlab_model::trial::{Answer, Transport};
use readlab_protocol::Archive;
use readlab_roster::server::Server;
use readlab_system::filesystem;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::http::RequestVerb;
use readlab_targets::target::part::open_watched;
use readlab_targets::target::tree::{Tree, WalkDifference, cautions_of_reading};
use readlab_targets::target::{Place, Target, dictionary};
use std::fs;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What takes less time than reading a whole file once.
const RANGE_HINT: &str = "race --range reads a part of it";

/// What takes less time than reading a whole folder once.
const FOLDER_HINT: &str =
    "a folder below it takes less time, and commands with --check same or none need no answer";

/// The caution about an archive of which only the beginning was decoded.
const NOT_DECODED_TO_END: &str = "Only its beginning was decoded before the race, because no answer about its content is \
                                  compared: the size of its content, and so a rate of it, is not known.";

/// A target with control over its page cache.
#[derive(Debug)]
pub(super) struct OpenTarget {
    pub(super) form: TargetForm,
    pub(super) target: Target,
    pub(super) cache_control: CacheControl,
}

/// A target with its expected answers.
#[derive(Debug)]
pub(super) struct KnownTarget {
    pub(super) target: Target,
    pub(super) expected: ExpectedAnswers,
}

/// Starts a server for each file that contenders request from a server.
pub(super) fn start_servers(
    targets: &mut [ExaminedTarget],
    options: &ServerOptions,
) -> anyhow::Result<Vec<Server>> {
    let mut servers = Vec::new();
    for ExaminedTarget { form, target } in targets {
        let is_file = matches!(target.place, Place::File(_) | Place::Blocks(_));
        let Some(file) = target.file().filter(|_| is_file) else { continue };
        let server = match form.over {
            Transport::File | Transport::Tree | Transport::Places => continue,
            Transport::Http => Server::start(file)?,
            Transport::S3 => Server::start_s3(file)?,
        };
        target.use_own_server(server.source.clone(), options)?;
        servers.push(server);
    }
    Ok(servers)
}

impl OpenTarget {
    pub(super) fn open(
        examined: ExaminedTarget,
        drop_caches: bool,
        finds_names: bool,
    ) -> anyhow::Result<OpenTarget> {
        let ExaminedTarget { form, mut target } = examined;
        target.facts.tree_mut().into_iter().for_each(|tree| tree.is_metadata_cold = drop_caches);
        if finds_names {
            let of_reading = target.facts.tree().map(cautions_of_reading).unwrap_or_default();
            target.facts.cautions.retain(|it| !of_reading.contains(it));
        }
        let eviction = EvictionScope::of_run(drop_caches);
        let cache_control = match finds_names {
            true => CacheControl::for_names(walked_tree(&target)?, eviction),
            false => CacheControl::open_if_provable(&target, eviction)?,
        };
        if let CacheControl::Unknown { reason, .. } = &cache_control {
            target.facts.cautions.push(unknown_state_caution(reason));
        }
        Ok(OpenTarget { form, target, cache_control })
    }

    /// Reads the target once for the expected answers, and adds them to its facts. For an archive
    /// of a suite, the expected decoded content is the content of the suite's `first` target, so
    /// that no decoder has to be trusted. If `uncompared_time` is given, the run compares nothing
    /// with the answer, and the target is read for at most this time.
    pub(super) fn read_once(
        &mut self,
        first: Option<&ExpectedAnswers>,
        uncompared_time: Option<Duration>,
        deadline: &Deadline,
        recorder: &Recorder,
    ) -> anyhow::Result<ExpectedAnswers> {
        let path = &self.target.facts.path;
        let truth = if matches!(self.cache_control, CacheControl::Names { .. }) {
            recorder.display().show_activity(&format!("walking {path} once for the right answer"));
            let truth = find_names_truth(walked_tree(&self.target)?, deadline)?;
            if let Some(reason) = self.cache_control.give_up_if_names_expire()? {
                self.target.facts.cautions.push(unknown_state_caution(&reason));
            }
            truth
        } else {
            recorder.display().show_activity(&format!("reading {path} once for the right answer"));
            let (begun, size_bytes) = (Instant::now(), self.target.facts.size_bytes);
            let is_file = matches!(self.target.place, Place::File(_));
            let is_folder = self.target.tree().is_some_and(|tree| tree.folder().is_some());
            let way_out = match &self.target.place {
                Place::File(_) if self.target.part.is_none() => Some(RANGE_HINT),
                Place::Tree(_) if is_folder => Some(FOLDER_HINT),
                _ => None,
            };
            let check = |bytes| {
                recorder.display().show_activity_progress(bytes, size_bytes);
                // Only the bytes of a whole file arrive at an even rate.
                let checked = match uncompared_time {
                    None if is_file => deadline.check_reading(begun.elapsed(), bytes, size_bytes),
                    _ => deadline.check(),
                };
                checked.map_err(|error| match way_out {
                    Some(hint) => with_hint(error, hint),
                    None => error,
                })
            };
            find_truth(&mut self.target, uncompared_time, &check)?
        };
        let facts = &mut self.target.facts;
        facts.digest = truth.is_whole.then(|| truth.digest.clone());
        facts.answer = Some(truth.answer);
        if !truth.is_whole {
            let caution = unread_rest_caution(facts.tree().is_some());
            facts.cautions.push(caution);
        }
        facts.tar_files = truth.tar_files;
        let archive = self.form.archive.zip(first.map(|first| first.truth.clone()));
        facts.decoded = archive.as_ref().map(|(archive, content)| decoded_facts(*archive, content));
        Ok(ExpectedAnswers { truth, decoded_truth: archive.map(|(_, content)| content) })
    }

    /// Decodes the user's own archive once for the expected answers; an error says why it cannot be
    /// decoded. If `uncompared_time` is given, the run compares nothing with the answers, and only the
    /// size of the content is of use, for rates: the archive is decoded for at most this time.
    pub(super) fn decode_once(
        &mut self,
        expected: &mut ExpectedAnswers,
        archive: Archive,
        uncompared_time: Option<Duration>,
        deadline: &Deadline,
        recorder: &Recorder,
    ) -> Result<(), String> {
        let purpose = if uncompared_time.is_some() { "size of its content" } else { "right answer" };
        recorder
            .display()
            .show_activity(&format!("decoding {} once for the {purpose}", self.target.facts.path));
        let begun = Instant::now();
        let is_enough = || uncompared_time.is_some_and(|time| begun.elapsed() >= time);
        let check = |_: u64| match is_enough() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => deadline.check(),
        };
        let facts = &self.target.facts;
        let path = self.target.file().expect("an archive behind a foreign server is never decoded");
        let dictionary = facts.dictionary.as_ref().map_or_else(|| Ok(Vec::new()), dictionary::read_unchanged);
        let content = dictionary.and_then(|dictionary| {
            let packed = PackedFile { path, archive, dictionary: &dictionary };
            oracle::truth_of_content(&packed, &check)
        });
        match content {
            Ok(content) => {
                self.target.facts.decoded = Some(decoded_facts(archive, &content));
                self.target.facts.tar_files = content.tar_files;
                expected.decoded_truth = Some(content);
                Ok(())
            }
            Err(_) if deadline.timeout().is_none() && is_enough() => {
                let unknown = Truth::new(Answer::default(), String::new(), begun.elapsed());
                expected.decoded_truth = Some(Truth { is_whole: false, ..unknown });
                self.target.facts.cautions.push(NOT_DECODED_TO_END.to_owned());
                Ok(())
            }
            Err(cause) => {
                let is_like = expected.truth.archive == Some(archive);
                let how = if is_like { "begins like" } else { "is named like" };
                let (what, cause) = match deadline.timeout() {
                    Some(timeout) => ("takes too long to decode", timeout),
                    None => ("cannot be decoded", cause),
                };
                let reason = format!("it {how} {} and {what}: {cause}", archive.noun());
                self.target.facts.cautions.push(reason.clone());
                Err(reason)
            }
        }
    }
}

/// The targets for the sampler, each with its number in the record and its cache control.
pub(super) fn measured_targets(
    targets: &Targets<KnownTarget>,
    caches: Vec<CacheControl>,
) -> Vec<MeasuredTarget<'_>> {
    let known = targets.numbered().zip(caches);
    let measured = known.map(|((index, KnownTarget { target, expected }), cache_control)| {
        let decoded = expected.decoded_truth.as_ref();
        MeasuredTarget { index, target, truth: &expected.truth, decoded_truth: decoded, cache_control }
    });
    measured.collect()
}

/// Splits open targets into targets with their expected answers, and their cache controls, which
/// the sampler takes over.
pub(super) fn split_known_targets(
    targets: Vec<OpenTarget>,
    expected: Vec<ExpectedAnswers>,
) -> (Targets<KnownTarget>, Vec<CacheControl>) {
    let both = targets.into_iter().zip(expected);
    both.map(|(OpenTarget { target, cache_control, .. }, expected)| {
        (KnownTarget { target, expected }, cache_control)
    })
    .unzip()
}

/// The right answers about a target.
#[derive(Debug, Clone)]
pub(super) struct ExpectedAnswers {
    /// The answers about the bytes as they are.
    pub(super) truth: Truth,
    /// The answers about the decoded content; `None` if the target is not decoded.
    pub(super) decoded_truth: Option<Truth>,
}

impl ExpectedAnswers {
    /// Whether the bytes are text; for an archive that is decoded, whether its content is text.
    pub(super) fn is_text(&self) -> bool {
        self.decoded_truth.as_ref().unwrap_or(&self.truth).is_text
    }
}

fn decoded_facts(archive: Archive, content: &Truth) -> DecodedContent {
    DecodedContent { archive, digest: content.digest.clone(), answer: content.answer }
}

/// The tree of the folder whose names are found. A folder in which readlab writes is refused,
/// because contenders would find the names of these files, too.
fn walked_tree(target: &Target) -> anyhow::Result<&Arc<Tree>> {
    let path = &target.facts.path;
    let Some(tree) = target.tree() else {
        bail!("{path}: --work names and stat are about what is below a folder, and this is none");
    };
    let why = match tree.walk_difference() {
        None => return Ok(tree),
        Some(WalkDifference::Listed) => {
            "--work names and stat are about what is below a folder, and this is a list"
        }
        Some(WalkDifference::FollowedLinks) => {
            "--work names and stat find links and follow none: leave --follow out"
        }
        Some(WalkDifference::OwnFilesLeftOut) => {
            let places: Vec<String> = tree.own_places().iter().map(ToString::to_string).collect();
            bail!(
                "{path}: readlab writes below it, and --work names and stat count every name: {}; or name a folder \
                 below it",
                places.join(", ")
            );
        }
        Some(WalkDifference::EntriesLeftOut) => {
            "this user may not read every folder below it, and --work names and stat count every name: race it as \
             root, or name a folder below it"
        }
    };
    bail!("{path}: {why}")
}

/// The expected answers about names. Writing dirty data may change the sizes that `du` adds up, so
/// everything is written first.
fn find_names_truth(tree: &Tree, deadline: &Deadline) -> anyhow::Result<Truth> {
    let folder = tree.folder().context("what is walked is a folder")?;
    filesystem::sync(folder, &|| deadline.check()).with_context(|| display_path(folder))?;
    Ok(truth_of_names(folder, &|_| deadline.check())?)
}

fn unknown_state_caution(reason: &str) -> String {
    format!("The state of the page cache is unknown: {reason}.")
}

/// The caution about a target of which only a part was read, because no answer is compared.
fn unread_rest_caution(is_tree: bool) -> String {
    let read = if is_tree { "some of its files were" } else { "its beginning was" };
    format!(
        "Only {read} read before the race, because no answer about its bytes is compared: its digest and the right \
         answers are not known."
    )
}

/// Adds to a timeout of reading a target how less of it is read.
fn with_hint(error: io::Error, hint: &str) -> io::Error {
    match error.kind() {
        io::ErrorKind::TimedOut => io::Error::new(error.kind(), format!("{error}; {hint}")),
        _ => error,
    }
}

/// The expected answer about a file, or about the response of a server. Reading a URL also finds
/// its size, which servers need not declare. If `uncompared_time` is given, the target is read for
/// at most this time, except content of which the server does not declare the size.
fn find_truth(
    target: &mut Target,
    uncompared_time: Option<Duration>,
    check: ContinueCheck,
) -> anyhow::Result<Truth> {
    if let Place::Tree(tree) = &target.place {
        let (paths, size_bytes) = (tree.paths()?, target.facts.size_bytes);
        let truth = match uncompared_time {
            Some(time) => truth_of_some_files(paths, size_bytes, time, check),
            None => truth_of_files(paths, check),
        };
        return truth.map_err(anyhow::Error::from);
    }
    let wait_check = || check(0);
    match (target.blocks(), &target.place) {
        // The whole content is requested, because a server might answer requests for ranges
        // wrongly.
        (Some(blocks), Place::Web(remote)) => {
            let content = remote.ask(RequestVerb::Get, &wait_check);
            let places = blocks.copy_from(content.with_context(|| remote.source.to_string())?)?;
            let truth = truth_of_blocks(&places, check).with_context(|| display_path(&places.file));
            // A file that cannot be removed now is removed later, with the folder of the list.
            let _ = fs::remove_file(&places.file);
            return truth;
        }
        (Some(blocks), _) => {
            return truth_of_blocks(&blocks.places, check).with_context(|| display_path(blocks.file()));
        }
        (None, _) => {}
    }
    let Place::Web(remote) = &target.place else {
        let file = target.file().expect("what is not behind a foreign server is a file");
        let open = || open_watched(file, target.part);
        let truth = match uncompared_time {
            Some(time) => oracle::truth_of_beginning(open, target.facts.size_bytes, time, check),
            None => oracle::truth_of(open, check),
        };
        return truth.with_context(|| display_path(file));
    };
    let (start_bytes, length_bytes) =
        target.part.map_or((0, u64::MAX), |part| (part.start_bytes, part.length_bytes));
    // The bytes before a part are read, too, because a server might answer requests for ranges
    // wrongly.
    let opened = || -> io::Result<_> {
        let mut content = remote.ask(RequestVerb::Get, &wait_check).map_err(io::Error::other)?;
        io::copy(&mut content.by_ref().take(start_bytes), &mut io::sink())?;
        Ok(content.take(length_bytes))
    };
    let declared_bytes = target.facts.size_bytes;
    let found = match uncompared_time.filter(|_| declared_bytes > 0) {
        Some(time) => oracle::truth_of_beginning(opened, declared_bytes, time, check),
        None => oracle::truth_of(opened, check),
    };
    let found = found.with_context(|| remote.source.to_string())?;
    target.facts.size_bytes = found.answer.bytes.unwrap_or(0);
    Ok(found)
}
