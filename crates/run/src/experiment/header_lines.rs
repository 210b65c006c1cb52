//! The first lines of a record: the header, with everything that it takes to resume the run if it is
//! interrupted; the targets, who takes part and who does not.

use super::config::RunConfig;
use super::options::UserOptions;
use super::participants::requested;
use super::targets::OpenTarget;
use readlab_measure::plan::Plan;
use readlab_measure::sampler::InspectPlan;
use readlab_model::target::ServerOptions;
use readlab_model::trial::TrialId;
use readlab_record::{Check, Header, Line, ResumePlan, RunKind, SCHEMA, SCHEMA_VERSION, TargetRef};
use readlab_roster::discovery::Contenders;
use readlab_system::machine::{self, Machine};
use readlab_targets::target::secret;
use std::path::PathBuf;

pub(super) fn header(kind: RunKind, seed: u64, reference: Option<TrialId>) -> Header {
    Header {
        schema: SCHEMA.to_owned(),
        version: SCHEMA_VERSION,
        lab: env!("CARGO_PKG_VERSION").to_owned(),
        revision: env!("READLAB_REVISION").to_owned(),
        kind,
        command: std::env::args_os().map(|word| secret::shown_in(&word.to_string_lossy())).collect(),
        started: jiff::Timestamp::now().to_string(),
        seed,
        reference,
        references: Vec::new(),
        machine: Machine::probe(),
        agenda: None,
    }
}

pub(super) fn lines(
    header: Header,
    targets: &[OpenTarget],
    contenders: &Contenders,
    plan: &Plan,
) -> Vec<Line> {
    let mut lines = vec![Line::Header(Box::new(header))];
    for (index, OpenTarget { target, .. }) in targets.iter().enumerate() {
        lines.push(Line::Target { index, facts: Box::new(target.facts.clone()) });
    }
    lines.extend(absent(contenders));
    if plan.trials.iter().any(|planned| planned.trial.command.check == Check::Unchecked) {
        lines.push(warning("what the commands printed was not checked (--check none)".to_owned()));
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
pub(super) fn absent(contenders: &Contenders) -> impl Iterator<Item = Line> {
    let absent = contenders.absent().iter();
    absent.map(|(name, reason)| warning(format!("{name} does not take part: {reason}")))
}

pub(super) fn warning(text: String) -> Line {
    Line::Warning { text }
}

/// The plan of a run; `None` for one that cannot be resumed.
pub(super) fn resume_plan(
    config: &RunConfig,
    plan: &Plan,
    targets: &[OpenTarget],
    inspect: &InspectPlan,
) -> Option<ResumePlan> {
    if !config.kind.is_resumable() {
        return None;
    }
    let UserOptions { sampling, selection, server, .. } = &config.user;
    let target = |it: &OpenTarget| TargetRef {
        form: it.form.archive,
        over: it.form.over,
        identity: it.cache.identity(),
    };
    Some(ResumePlan {
        boot: machine::boot(),
        folder: text(std::env::current_dir()),
        targets: targets.iter().map(target).collect(),
        states: plan.states.clone(),
        rules: plan.rules,
        trials: plan.trials.iter().map(|planned| planned.trial.clone()).collect(),
        absent: plan.absent.clone(),
        rosters: selection.rosters.iter().map(|roster| text(std::path::absolute(roster))).collect(),
        flame_graphs: inspect.flame_graphs.as_ref().map(|it| it.folder.to_string_lossy().into_owned()),
        trace: inspect.trace,
        drop_caches: sampling.drop_caches,
        allow_device: sampling.allow_device,
        server: ServerOptions {
            cacert: server.cacert.as_ref().map(|file| std::path::absolute(file).unwrap_or(file.clone())),
            ..server.clone()
        },
        requested: requested(config),
    })
}

/// A path as text. One that is not UTF-8 is not found when the run is resumed, which is then an
/// error.
fn text(path: std::io::Result<PathBuf>) -> String {
    path.map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned())
}
