//! What a run reads, as the user named it: a path, a URL or an object, examined before anything
//! else happens.

use super::config::RunConfig;
use super::deadline::{ASKING, Deadline};
use crate::experiment::planner::TargetForm;
use anyhow::{Context, anyhow, bail};
use readlab_measure::rights;
use readlab_model::corpus::Form;
use readlab_model::target::{ServerOptions, TargetFacts};
use readlab_model::trial::Transport;
use readlab_record::TargetRef;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::places::PlacesRequest;
use readlab_targets::target::source::Source;
use readlab_targets::target::tree::TreeRequest;
use readlab_targets::target::{Accept, Target, TargetError, check_answers, s3, secret, url};
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What one run reads, the plain file first.
pub type TargetSpecs = Vec<TargetSpec>;

/// One target as the user named it. `Debug` shows no secret of a URL.
#[derive(Clone)]
pub struct TargetSpec {
    /// A path, a URL or an object.
    word: PathBuf,
    form: TargetForm,
    /// Who reads which part of it; `None` where all of it is read.
    split: Option<Split>,
    /// How its files are found, if it is a tree.
    tree: Option<TreeRequest>,
    /// How the places are picked that are read of it; `None` where all of it is read.
    places: Option<PlacesRequest>,
    /// The dictionary with which it is decoded.
    dictionary: Option<PathBuf>,
}

/// One of several readers that split a file among themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Its number, from 0.
    pub reader: u32,
    pub readers: NonZero<u32>,
}

#[derive(Debug)]
pub struct ExaminedTarget {
    /// What is read of it, and over which transport.
    pub form: TargetForm,
    pub target: Target,
}

/// The targets of one run, with the time that examining them took.
#[derive(Debug)]
pub struct ExaminedTargets {
    pub(super) targets: Vec<ExaminedTarget>,
    pub(super) took: Duration,
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
}

impl TargetSpec {
    /// A path, a URL or an object, whose bytes are read as they are.
    pub fn plain(word: &Path, over: Transport) -> TargetSpec {
        let over = match word.as_os_str() {
            word if url::is_url(word) => Transport::Http,
            word if s3::is_object(word) => Transport::S3,
            _ => over,
        };
        TargetSpec::from_word(word, TargetForm { archive: None, over })
    }

    /// What is read as it is, whole.
    fn from_word(word: &Path, form: TargetForm) -> TargetSpec {
        TargetSpec { word: word.to_owned(), form, split: None, tree: None, places: None, dictionary: None }
    }

    /// A file, plain or an archive.
    pub fn of_form(archive: Form, path: &Path) -> TargetSpec {
        TargetSpec::from_word(path, TargetForm { archive, over: Transport::File })
    }

    /// The files of a tree.
    pub fn of_tree(request: TreeRequest) -> TargetSpec {
        let whole =
            TargetSpec::from_word(request.source.path(), TargetForm { archive: None, over: Transport::Tree });
        TargetSpec { tree: Some(request), ..whole }
    }

    /// Only what one of several readers reads of it.
    pub fn split(self, split: Split) -> TargetSpec {
        TargetSpec { split: Some(split), ..self }
    }

    /// Only blocks of it, at places.
    pub fn at_places(self, request: PlacesRequest) -> TargetSpec {
        let form = TargetForm { archive: None, over: Transport::Places };
        TargetSpec { form, places: Some(request), ..self }
    }

    /// Decoded with a dictionary, if there is one.
    pub fn decoded_with(self, dictionary: Option<&Path>) -> TargetSpec {
        TargetSpec { dictionary: dictionary.map(Path::to_owned), ..self }
    }

    /// A target of a record, with the seed of its run.
    pub(super) fn of_record(facts: &TargetFacts, target: &TargetRef, seed: u64) -> TargetSpec {
        let form = TargetForm { archive: target.form, over: target.over };
        let word = facts.place();
        let tree = facts.tree().map(|tree| TreeRequest::of_facts(tree, &word, seed));
        let places = facts.places().map(|places| PlacesRequest::of_facts(places, seed));
        let dictionary = facts.dictionary.as_ref().map(|it| PathBuf::from(&it.path));
        TargetSpec { word, form, split: None, tree, places, dictionary }
    }

    /// Finds out what is known of it. A server is waited for until the deadline.
    pub(super) fn examine(&self, examination: &Examination) -> anyhow::Result<ExaminedTarget> {
        let Examination { allow_device, server, deadline } = *examination;
        if self.dictionary.is_some() && self.form.over != Transport::File {
            let word = secret::redact_url(&display_path(&self.word));
            bail!("{word}: only single files are decoded, and --dictionary is for what is decoded");
        }
        // The targets of a record are not on the command line.
        check_answers(&[&self.word])?;
        if let Some(request) = &self.tree {
            return Ok(ExaminedTarget { form: self.form, target: Target::examine_tree(request)? });
        }
        let word = self.word.as_os_str();
        let mut target = if url::is_url(word) || s3::is_object(word) {
            let word = self
                .word
                .to_str()
                .with_context(|| format!("{}: not a URL", secret::redact_url(&display_path(&self.word))))?;
            let source = Source::parse(word, server).map_err(TargetError::from)?;
            Target::ask(source, server, &|| deadline.check())?
        } else {
            Target::examine_as(&self.word, if allow_device { Accept::Devices } else { Accept::Files })?
        };
        if let Some(Split { reader, readers }) = self.split {
            target.split(reader, readers)?;
        }
        if let Some(request) = &self.places {
            target.pick_places(request)?;
        }
        if let Some(dictionary) = &self.dictionary {
            target.decode_with(dictionary)?;
        }
        Ok(ExaminedTarget { form: self.form, target })
    }
}

#[derive(Clone, Copy)]
pub(super) struct Examination<'a> {
    pub(super) allow_device: bool,
    pub(super) server: &'a ServerOptions,
    pub(super) deadline: &'a Deadline,
}

/// Examines the targets of every run, and refuses what the options demand of them in vain.
pub fn examine_all(config: &RunConfig, specs: &[TargetSpecs]) -> anyhow::Result<Vec<ExaminedTargets>> {
    let examined = specs.iter().map(|specs| examine(config, specs)).collect::<anyhow::Result<Vec<_>>>()?;
    for target in examined.iter().flat_map(|run| &run.targets) {
        config.check_state_option(&target.target.facts)?;
    }
    if config.user.sampling.drop_caches {
        check_drop_caches()?;
    }
    Ok(examined)
}

fn examine(config: &RunConfig, specs: &TargetSpecs) -> anyhow::Result<ExaminedTargets> {
    let begun = Instant::now();
    let deadline = Deadline::of_step(ASKING, &config.rules, begun);
    let (allow_device, server) = (config.user.sampling.allow_device, &config.user.server);
    let examination = Examination { allow_device, server, deadline: &deadline };
    let targets = specs.iter().map(|spec| spec.examine(&examination)).collect::<anyhow::Result<_>>()?;
    Ok(ExaminedTargets { targets, took: begun.elapsed() })
}

pub fn transports(examined: &[ExaminedTargets]) -> BTreeSet<Transport> {
    examined.iter().flat_map(|run| &run.targets).map(|target| target.form.over).collect()
}

/// Refuses `--drop-caches` where the kernel would not allow it to this user.
pub(super) fn check_drop_caches() -> anyhow::Result<()> {
    rights::drop_caches().map_err(|reason| anyhow!("--drop-caches: {reason}"))
}
