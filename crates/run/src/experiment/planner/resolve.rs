//! Resolves the name of a trial against the methods of its contender. In an experiment this happens
//! once for each trial of a plan.

use readlab_catalog::roster::{Roster, Warmup};
use readlab_catalog::snippet;
use readlab_measure::plan::{PlannedTrial, Role};
use readlab_model::trial::{COMMAND, MethodId, Params, Work};
use readlab_record::{StartMode, Trial};
use readlab_roster::discovery::Contenders;
use readlab_roster::methods::{ResolveError, ResolvedMethod};
use readlab_suite::NamedBy;

/// The method of a contender for a trial, and how the contender is started.
#[derive(Debug)]
pub(in crate::experiment) struct ResolvedTrial {
    pub(in crate::experiment) choice: ResolvedMethod,
    warmup: Warmup,
    collects_garbage: bool,
}

impl ResolvedTrial {
    pub(in crate::experiment) fn planned_trial(self, trial: Trial, by: NamedBy) -> PlannedTrial {
        let ResolvedTrial { choice, warmup, collects_garbage: collects } = self;
        let role = role(&choice.id, by);
        let is_own_command = choice.id.contender == COMMAND && by == NamedBy::User;
        // The first reading after each start is measured, so reading until times are steady is of no
        // use.
        let warmup = if trial.start_session == StartMode::EachReading { Warmup::Readings } else { warmup };
        PlannedTrial {
            trial,
            resolved_method: choice,
            warmup,
            collects_garbage: collects,
            role,
            is_own_command,
            block_index: 0,
            is_first_named: false,
            wait_reason: None,
        }
    }
}

/// The purpose of a method's readings: the user's own programs and commands serve as baselines, a
/// suite's commands as the suite's baselines; a usual method is `Usual`, any other a candidate.
fn role(method: &MethodId, by: NamedBy) -> Role {
    if method.contender == COMMAND && by == NamedBy::Suite {
        Role::SuiteBaseline
    } else if method.contender == COMMAND || Roster::built_in().entry(&method.contender).is_none() {
        Role::Baseline
    } else if snippet::is_usual(method) {
        Role::Usual
    } else {
        Role::Candidate
    }
}

/// The method that a name means, with its scan decided and its settings checked.
pub(in crate::experiment) fn resolve(
    contenders: &Contenders,
    method: &MethodId,
    params: &Params,
    work: Work,
) -> Result<ResolvedTrial, ResolveError> {
    let contender = contenders
        .contender(&method.contender)
        .ok_or_else(|| ResolveError::NoContender(method.contender.clone()))?;
    let choice = contender.resolve(method, params, work)?;
    Ok(ResolvedTrial { choice, warmup: contender.warmup, collects_garbage: contender.collects_garbage })
}
