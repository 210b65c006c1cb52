//! The first lines of a record: the header, with everything needed to resume the run if it is
//! interrupted; the targets; the contenders that take part and those that do not.

use super::config::RunConfig;
use super::fleet::JoinedFleet;
use super::options::UserOptions;
use super::participants::requested_names;
use super::targets::OpenTarget;
use super::together::ReaderGroup;
use readlab_measure::plan::Plan;
use readlab_measure::sampler::InspectPlan;
use readlab_model::target::{ServerOptions, TargetFacts, TargetIndex, Targets};
use readlab_model::trial::{CacheState, TrialId};
use readlab_record::{
    Check, Header, Line, ReferenceCandidate, ResumePlan, RunKind, SCHEMA, SCHEMA_VERSION, TargetRef,
};
use readlab_roster::discovery::Contenders;
use readlab_system::machine::{self, Machine};
use readlab_targets::target::secret;
use std::path::PathBuf;

/// The lines that are written before anything is measured.
#[derive(Debug)]
pub(super) enum OpeningLines {
    New(Box<NewRecord>),
    /// The lines with which an interrupted run is resumed.
    Resumed(Vec<Line>),
}

#[derive(Debug)]
pub(super) struct NewRecord {
    pub(super) header: Header,
    pub(super) targets: Targets<TargetFacts>,
    /// The lines after those of the targets.
    pub(super) other_lines: Vec<Line>,
}

impl OpeningLines {
    /// The lines; in a fleet they describe the bytes that all ranks read together.
    pub(super) fn lines(&self, fleet: Option<&JoinedFleet>, states: &[CacheState]) -> Vec<Line> {
        let NewRecord { header, targets, other_lines } = match self {
            OpeningLines::New(new) => &**new,
            OpeningLines::Resumed(lines) => return lines.clone(),
        };
        let header = fleet.map_or_else(|| header.clone(), |fleet| fleet.joint_header(header));
        let target = |(index, own): (TargetIndex, &TargetFacts)| {
            let facts = fleet.map_or_else(|| own.clone(), |fleet| fleet.joint_facts(own));
            Line::Target { index, facts: Box::new(facts) }
        };
        let mut lines = vec![Line::Header(Box::new(header))];
        lines.extend(targets.numbered().map(target));
        lines.extend(fleet.map(JoinedFleet::fleet_line));
        lines.extend(other_lines.iter().cloned());
        lines.extend(fleet.and_then(|fleet| fleet.shared_cache_warning(states)).map(warning_line));
        lines
    }
}

pub(super) fn new_header(
    kind: RunKind,
    seed: u64,
    reference: Option<TrialId>,
    references: Vec<ReferenceCandidate>,
    resume_plan: Option<ResumePlan>,
) -> Header {
    Header {
        schema: SCHEMA.to_owned(),
        version: SCHEMA_VERSION,
        lab_version: env!("CARGO_PKG_VERSION").to_owned(),
        revision: env!("READLAB_REVISION").to_owned(),
        kind,
        command: std::env::args_os().map(|word| secret::redact_command(&word.to_string_lossy())).collect(),
        started: jiff::Timestamp::now().to_string(),
        seed,
        reference,
        reference_candidates: references,
        machine: Machine::probe(),
        locations: None,
        resume_plan,
    }
}

pub(super) fn participant_lines(contenders: &Contenders, plan: &Plan) -> Vec<Line> {
    let mut lines: Vec<Line> = absence_warnings(contenders).collect();
    if plan.trials.iter().any(|planned| planned.trial.command_rules.check == Check::Unchecked) {
        lines.push(warning_line("what the commands printed was not checked (--check none)".to_owned()));
    }
    for contender in contenders.present() {
        let name = &contender.receipt.contender;
        if plan.trials.iter().any(|planned| planned.trial.contender() == *name) {
            lines.push(Line::Contender(contender.receipt.clone()));
        }
    }
    lines
}

/// A warning for each contender that does not take part.
pub(super) fn absence_warnings(contenders: &Contenders) -> impl Iterator<Item = Line> {
    let absent = contenders.absent().iter();
    absent.map(|(name, reason)| warning_line(format!("{name} does not take part: {reason}")))
}

pub(super) fn warning_line(text: String) -> Line {
    Line::Warning { text }
}

/// The plan of a run for its resumption; `None` if the run cannot be resumed.
pub(super) fn new_resume_plan(
    config: &RunConfig,
    plan: &Plan,
    targets: &[OpenTarget],
    inspect: &InspectPlan,
) -> Option<ResumePlan> {
    let UserOptions { sampling, selection, server, reader_group, .. } = &config.user;
    // The plan does not contain which ranks measure which trial.
    let has_ranks_by_turns = matches!(reader_group, ReaderGroup::Ranks(counts) if !counts.is_empty());
    if !config.kind.is_resumable() || has_ranks_by_turns {
        return None;
    }
    let target = |it: &OpenTarget| TargetRef {
        archive: it.form.archive,
        transport: it.form.over,
        identity: it.cache_control.identity(),
    };
    Some(ResumePlan {
        boot_id: machine::boot_id(),
        folder: path_text(std::env::current_dir()),
        targets: targets.iter().map(target).collect(),
        states: plan.states.clone(),
        rules: plan.rules,
        trials: plan.trials.iter().map(|planned| planned.trial.clone()).collect(),
        absent_trials: plan.absent_trials.clone(),
        roster_paths: selection.rosters.iter().map(|roster| path_text(std::path::absolute(roster))).collect(),
        flame_graph_folder: inspect.flame_graphs.as_ref().map(|it| it.folder.to_string_lossy().into_owned()),
        has_trace: inspect.takes_trace,
        may_drop_caches: sampling.drop_caches,
        may_read_block_device: sampling.allow_device,
        server: ServerOptions {
            ca_certificates_path: server
                .ca_certificates_path
                .as_ref()
                .map(|file| std::path::absolute(file).unwrap_or(file.clone())),
            ..server.clone()
        },
        requested_names: requested_names(config),
    })
}

/// A path as text; empty if the path is unknown. A path that is not UTF-8 is changed, so a run that
/// needs it cannot be resumed.
fn path_text(path: std::io::Result<PathBuf>) -> String {
    path.map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned())
}
