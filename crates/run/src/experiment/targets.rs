//! The targets of a run while it is prepared: served where contenders read them over HTTP, opened
//! for the control of their page cache, and read once for the right answers.

use super::deadline::Deadline;
use super::expected_answers::ExpectedAnswers;
use super::recorder::Recorder;
use super::target_spec::ExaminedTarget;
use crate::experiment::planner::TargetForm;
use readlab_measure::cache::Eviction;
use readlab_measure::target::{CacheControl, CacheControlError, MeasuredTarget};
use readlab_model::target::ServerOptions;
use readlab_model::trial::Transport;
use readlab_protocol::Archive;
use readlab_roster::server::Server;
use readlab_targets::target::{Place, Target};

/// A target whose page cache is under control.
#[derive(Debug)]
pub(super) struct OpenTarget {
    pub(super) form: TargetForm,
    pub(super) target: Target,
    pub(super) cache: CacheControl,
}

/// A target with the right answers about it.
#[derive(Debug)]
pub(super) struct KnownTarget {
    pub(super) target: Target,
    pub(super) expected: ExpectedAnswers,
}

/// Starts a server for each file that contenders request from one.
pub(super) fn serve(targets: &mut [ExaminedTarget], options: &ServerOptions) -> anyhow::Result<Vec<Server>> {
    let mut servers = Vec::new();
    for ExaminedTarget { form, target } in targets {
        let Place::File(file) = &target.place else { continue };
        let server = match form.over {
            Transport::File | Transport::Tree | Transport::Places => continue,
            Transport::Http => Server::start(file)?,
            Transport::S3 => Server::start_s3(file)?,
        };
        target.serve(server.source.clone(), options)?;
        servers.push(server);
    }
    Ok(servers)
}

impl OpenTarget {
    /// Opens a target for the control of its page cache.
    pub(super) fn open(examined: ExaminedTarget, drop_caches: bool) -> Result<OpenTarget, CacheControlError> {
        let ExaminedTarget { form, mut target } = examined;
        target.facts.tree_mut().into_iter().for_each(|tree| tree.is_metadata_cold = drop_caches);
        let cache = CacheControl::open(&target, Eviction::of_run(drop_caches))?;
        Ok(OpenTarget { form, target, cache })
    }

    /// Reads it once for the right answers, and adds them to its facts. What comes out of an
    /// archive of a suite is the content of the suite's `first` target: no decoder is trusted.
    pub(super) fn read_once(
        &mut self,
        first: Option<&ExpectedAnswers>,
        deadline: &Deadline,
        recorder: &Recorder,
    ) -> anyhow::Result<ExpectedAnswers> {
        recorder.note(&format!("reading {} once for the right answer", self.target.facts.path));
        let size_bytes = self.target.facts.size_bytes;
        let check = |bytes| {
            recorder.note_done(bytes, size_bytes);
            deadline.check()
        };
        ExpectedAnswers::find(self, first, &check)
    }

    /// Decodes the user's own archive once for the right answers; if it cannot be decoded, the
    /// error says why.
    pub(super) fn decode_once(
        &mut self,
        expected: &mut ExpectedAnswers,
        archive: Archive,
        deadline: &Deadline,
        recorder: &Recorder,
    ) -> Result<(), String> {
        recorder.note(&format!("decoding {} once for the right answer", self.target.facts.path));
        expected.decode(&mut self.target, archive, &|_| deadline.check())
    }
}

impl KnownTarget {
    /// It as the sampler reads it, by its number in the record.
    pub(super) fn measured(&self, index: usize, cache: CacheControl) -> MeasuredTarget<'_> {
        let ExpectedAnswers { truth, decoded } = &self.expected;
        MeasuredTarget { index, target: &self.target, truth, decoded: decoded.as_ref(), cache_control: cache }
    }
}

/// Targets with the right answers about them, and apart the control of their caches, which the
/// sampler takes over.
pub(super) fn known(
    targets: Vec<OpenTarget>,
    expected: Vec<ExpectedAnswers>,
) -> (Vec<KnownTarget>, Vec<CacheControl>) {
    let both = targets.into_iter().zip(expected);
    both.map(|(OpenTarget { target, cache, .. }, expected)| (KnownTarget { target, expected }, cache)).unzip()
}
