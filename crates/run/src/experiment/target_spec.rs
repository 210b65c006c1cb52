//! Targets of a run as the user named them: paths, URLs or objects, examined before anything else
//! happens.

use super::config::RunConfig;
use super::deadline::{ASKING_STEP, Deadline};
use super::together::ReaderGroup;
use super::{memory, settings};
use crate::experiment::planner::TargetForm;
use anyhow::{Context, anyhow, bail};
use readlab_measure::rights;
use readlab_measure::settings::SettingControl;
use readlab_model::corpus::FileForm;
use readlab_model::target::places::RangesFacts;
use readlab_model::target::range::{FileRange, RangeFacts};
use readlab_model::target::{ServerOptions, TargetFacts};
use readlab_model::trial::Transport;
use readlab_record::TargetRef;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::places::{PlacesRequest, RangesRequest};
use readlab_targets::target::source::Source;
use readlab_targets::target::tree::TreeRequest;
use readlab_targets::target::{
    AcceptedKinds, Target, TargetError, check_filesystems_respond, s3, secret, url,
};
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// All targets of one run, the plain file first.
pub type TargetSpecs = Vec<TargetSpec>;

/// One target as the user named it. Its `Debug` output shows no secret of a URL.
#[derive(Clone)]
pub struct TargetSpec {
    /// A path, a URL or an object.
    word: PathBuf,
    form: TargetForm,
    /// The reader, if several readers split the target; `None` if the whole target is read.
    split_reader: Option<SplitReader>,
    /// How the files of a tree are found; `None` if the target is no tree.
    tree: Option<TreeRequest>,
    /// The range that is read; `None` if all of the target is read.
    range: Option<RangeSpec>,
    /// How the blocks that are read are picked; `None` if no blocks are read.
    places: Option<PlacesRequest>,
    /// The ranges that are read; `None` if no list of ranges is read.
    ranges: Option<RangesSpec>,
    /// The dictionary that decodes the target; `None` if it needs none.
    dictionary: Option<PathBuf>,
}

/// One of several readers that split a file among themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitReader {
    /// Number of the reader, from 0.
    pub reader_number: u32,
    /// Number of readers among which the file is split.
    pub reader_count: NonZero<u32>,
}

/// A range of a file, as the user wrote it or as a record keeps it.
#[derive(Debug, Clone, Copy)]
enum RangeSpec {
    Requested(FileRange),
    Recorded(RangeFacts),
}

/// The ranges of a list that the user gave or that a record names.
#[derive(Debug, Clone)]
enum RangesSpec {
    Requested(RangesRequest),
    Recorded(RangesFacts),
}

#[derive(Debug)]
pub struct ExaminedTarget {
    /// The form in which the target is read, and its transport.
    pub form: TargetForm,
    pub target: Target,
}

/// The targets of one run, with the time that examining them took.
#[derive(Debug)]
pub struct ExaminedTargets {
    pub(super) targets: Vec<ExaminedTarget>,
    pub(super) examination_time: Duration,
    /// The control of the settings that are raced; `None` before their values are tried.
    pub(super) setting_control: Option<SettingControl>,
}

impl fmt::Debug for TargetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = secret::redact_url(&self.word.to_string_lossy());
        f.debug_struct("TargetSpec").field("word", &word).field("form", &self.form).finish_non_exhaustive()
    }
}

impl ExaminedTargets {
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().map(|examined| &examined.target)
    }

    /// Tries the values of the settings that are raced, unless they were tried already, and keeps
    /// their control for the run.
    pub fn begin_settings(&mut self, config: &RunConfig) -> anyhow::Result<()> {
        if let (ReaderGroup::Settings(raced), None) = (&config.user.reader_group, &self.setting_control) {
            let facts = self.targets.iter().map(|it| &it.target.facts);
            self.setting_control = Some(settings::try_values(raced, facts)?);
        }
        Ok(())
    }
}

impl TargetSpec {
    /// A path, a URL or an object, whose bytes are read without decoding.
    pub fn plain(word: &Path, over: Transport) -> TargetSpec {
        let over = match word.as_os_str() {
            word if url::is_url(word) => Transport::Http,
            word if s3::is_object_name(word) => Transport::S3,
            _ => over,
        };
        TargetSpec::from_word(word, TargetForm { archive: None, over })
    }

    /// A whole target that is read in this form.
    fn from_word(word: &Path, form: TargetForm) -> TargetSpec {
        TargetSpec {
            word: word.to_owned(),
            form,
            split_reader: None,
            tree: None,
            range: None,
            places: None,
            ranges: None,
            dictionary: None,
        }
    }

    /// A file, plain or an archive.
    pub fn file_in_form(archive: FileForm, path: &Path) -> TargetSpec {
        TargetSpec::from_word(path, TargetForm { archive, over: Transport::File })
    }

    pub fn of_tree(request: TreeRequest) -> TargetSpec {
        let whole =
            TargetSpec::from_word(request.source.path(), TargetForm { archive: None, over: Transport::Tree });
        TargetSpec { tree: Some(request), ..whole }
    }

    /// Restricts the target to the part of one of several readers.
    pub fn split(self, split: SplitReader) -> TargetSpec {
        TargetSpec { split_reader: Some(split), ..self }
    }

    pub fn in_range(self, range: FileRange) -> TargetSpec {
        TargetSpec { range: Some(RangeSpec::Requested(range)), ..self }
    }

    /// Restricts the target to blocks at random places.
    pub fn at_places(self, request: PlacesRequest) -> TargetSpec {
        let form = TargetForm { archive: None, over: Transport::Places };
        TargetSpec { form, places: Some(request), ..self }
    }

    /// Restricts the target to the ranges of a list.
    pub fn in_ranges(self, request: RangesRequest) -> TargetSpec {
        let over = if self.form.over.has_server() { self.form.over } else { Transport::Places };
        let form = TargetForm { archive: None, over };
        TargetSpec { form, ranges: Some(RangesSpec::Requested(request)), ..self }
    }

    pub fn decoded_with(self, dictionary: Option<&Path>) -> TargetSpec {
        TargetSpec { dictionary: dictionary.map(Path::to_owned), ..self }
    }

    pub(super) fn of_record(facts: &TargetFacts, target: &TargetRef, seed: u64) -> TargetSpec {
        let form = TargetForm { archive: target.archive, over: target.transport };
        let word = facts.exact_path();
        let tree = facts.tree().map(|tree| TreeRequest::from_facts(tree, &word, seed));
        let places = facts.places().map(|places| PlacesRequest::from_facts(places, seed));
        let dictionary = facts.dictionary.as_ref().map(|it| PathBuf::from(&it.path));
        let range = facts.range.map(RangeSpec::Recorded);
        let ranges = facts.ranges.clone().map(RangesSpec::Recorded);
        TargetSpec { word, form, split_reader: None, tree, range, places, ranges, dictionary }
    }

    /// Finds the facts about the target. Waits for the answer of a server until the deadline.
    pub(super) fn examine(&self, examination: &ExaminationOptions) -> anyhow::Result<ExaminedTarget> {
        let ExaminationOptions { allows_device: allow_device, only_finds_names, server, deadline } =
            *examination;
        if self.dictionary.is_some() && self.form.over != Transport::File {
            let word = secret::redact_url(&display_path(&self.word));
            bail!("{word}: only single files are decoded, and --dictionary is for what is decoded");
        }
        // The targets of a record were not checked by the command line.
        check_filesystems_respond(&[&self.word])?;
        if let Some(request) = &self.tree {
            let request = TreeRequest { only_finds_names, ..request.clone() };
            return Ok(ExaminedTarget { form: self.form, target: Target::examine_tree(&request)? });
        }
        let word = self.word.as_os_str();
        let mut target = if url::is_url(word) || s3::is_object_name(word) {
            let word = self
                .word
                .to_str()
                .with_context(|| format!("{}: not a URL", secret::redact_url(&display_path(&self.word))))?;
            let source = Source::parse(word, server).map_err(TargetError::from)?;
            Target::examine_remote(source, server, &|| deadline.check())?
        } else {
            Target::examine_accepting(
                &self.word,
                if allow_device { AcceptedKinds::FilesAndBlockDevices } else { AcceptedKinds::Files },
            )?
        };
        if let Some(SplitReader { reader_number: reader, reader_count: readers }) = self.split_reader {
            target.restrict_to_part_of_reader(reader, readers)?;
        }
        match self.range {
            Some(RangeSpec::Requested(range)) => target.restrict_to_range(range)?,
            Some(RangeSpec::Recorded(range)) => target.restrict_to_recorded_range(range)?,
            None => {}
        }
        if let Some(request) = &self.places {
            target.pick_places(request)?;
        }
        match &self.ranges {
            Some(RangesSpec::Requested(request)) => target.restrict_to_ranges(request)?,
            Some(RangesSpec::Recorded(facts)) => {
                target.restrict_to_ranges(&RangesRequest::from_facts(facts)?)?
            }
            None => {}
        }
        if let Some(dictionary) = &self.dictionary {
            target.set_dictionary(dictionary)?;
        }
        Ok(ExaminedTarget { form: self.form, target })
    }
}

/// The options and the deadline for examining targets.
#[derive(Clone, Copy)]
pub(super) struct ExaminationOptions<'a> {
    pub(super) allows_device: bool,
    /// True if the run finds the names below folders and reads no file.
    pub(super) only_finds_names: bool,
    pub(super) server: &'a ServerOptions,
    pub(super) deadline: &'a Deadline,
}

/// Examines the targets of every run, and refuses options that cannot work with them.
pub fn examine_all(config: &RunConfig, specs: &[TargetSpecs]) -> anyhow::Result<Vec<ExaminedTargets>> {
    let examined = specs.iter().map(|specs| examine(config, specs)).collect::<anyhow::Result<Vec<_>>>()?;
    for target in examined.iter().flat_map(|run| &run.targets) {
        config.check_state_option(&target.target.facts)?;
    }
    if config.user.sampling.drop_caches {
        check_drop_caches()?;
    }
    if let ReaderGroup::Settings(raced) = &config.user.reader_group {
        for run in &examined {
            settings::check_settings(raced, run.targets.iter().map(|it| &it.target.facts))?;
        }
    }
    if config.memory_bounds.is_given() && !config.memory_bounds.is_optional {
        let targets = examined.iter().flat_map(|run| &run.targets);
        memory::check_memory_bounds(targets.map(|it| &it.target)).context("--memory")?;
    }
    Ok(examined)
}

fn examine(config: &RunConfig, specs: &TargetSpecs) -> anyhow::Result<ExaminedTargets> {
    let begun = Instant::now();
    let deadline = Deadline::for_step(ASKING_STEP, &config.rules, begun);
    let (allow_device, server) = (config.user.sampling.allow_device, &config.user.server);
    let examination = ExaminationOptions {
        allows_device: allow_device,
        only_finds_names: config.finds_names(),
        server,
        deadline: &deadline,
    };
    let targets = specs.iter().map(|spec| spec.examine(&examination)).collect::<anyhow::Result<_>>()?;
    Ok(ExaminedTargets { targets, examination_time: begun.elapsed(), setting_control: None })
}

/// Tries the values of the settings that are raced, before contenders are built, so that a value
/// that cannot be set is refused within seconds. Must run after the check of all options, because it
/// changes the system. Each of several runs tries the values again when it begins, because settings
/// have one control at a time.
pub fn try_settings(config: &RunConfig, examined: &mut [ExaminedTargets]) -> anyhow::Result<()> {
    let is_only_run = examined.len() == 1;
    for run in examined {
        run.begin_settings(config)?;
        run.setting_control = run.setting_control.take().filter(|_| is_only_run);
    }
    Ok(())
}

pub fn transports(examined: &[ExaminedTargets]) -> BTreeSet<Transport> {
    examined.iter().flat_map(|run| &run.targets).map(|target| target.form.over).collect()
}

/// Refuses `--drop-caches` if the kernel does not allow it to this user.
pub(super) fn check_drop_caches() -> anyhow::Result<()> {
    rights::may_drop_caches().map_err(|reason| anyhow!("--drop-caches: {reason}"))
}
