//! The plan in a record's header: everything that it takes to resume the run if it is interrupted.

use super::config::RunConfig;
use super::participants::requested;
use super::targets::OpenTarget;
use readlab_measure::plan::Plan;
use readlab_measure::sampler::InspectPlan;
use readlab_model::target::ServerOptions;
use readlab_record::{ResumePlan, TargetRef};
use readlab_system::machine;
use std::path::PathBuf;

/// The plan of a run; `None` for one that cannot be resumed.
pub(super) fn plan(
    config: &RunConfig,
    plan: &Plan,
    targets: &[OpenTarget],
    inspect: &InspectPlan,
) -> Option<ResumePlan> {
    if !config.kind.is_resumable() {
        return None;
    }
    Some(ResumePlan {
        boot: machine::boot(),
        folder: text(std::env::current_dir()),
        targets: targets.iter().map(target_ref).collect(),
        states: plan.states.clone(),
        rules: plan.rules,
        trials: plan.trials.iter().map(|planned| planned.trial.clone()).collect(),
        absent: plan.absent.clone(),
        rosters: config.rosters.iter().map(|roster| text(std::path::absolute(roster))).collect(),
        flame_graphs: inspect.flame_graphs.as_ref().map(|it| it.folder.to_string_lossy().into_owned()),
        trace: inspect.trace,
        drop_caches: config.drop_caches,
        allow_device: config.allow_device,
        server: ServerOptions {
            cacert: config
                .server
                .cacert
                .as_ref()
                .map(|file| std::path::absolute(file).unwrap_or(file.clone())),
            ..config.server.clone()
        },
        requested: requested(config),
    })
}

fn target_ref(target: &OpenTarget) -> TargetRef {
    TargetRef { form: target.form.archive, over: target.form.over, identity: target.cache.identity() }
}

/// A path as text. One that is not UTF-8 is not found when the run is resumed, which is then an
/// error.
fn text(path: std::io::Result<PathBuf>) -> String {
    path.map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned())
}
