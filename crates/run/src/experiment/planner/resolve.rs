//! Resolves the name of a trial against what its contender offers. This happens once for each trial
//! of a plan, and nowhere else in an experiment.

use readlab_catalog::roster::{Roster, Warmup};
use readlab_catalog::snippet;
use readlab_measure::plan::{Planned, Role};
use readlab_model::trial::{COMMAND, MethodId, Params, Work};
use readlab_record::{Start, Trial};
use readlab_roster::discovery::Contenders;
use readlab_roster::methods::{ResolveError, ResolvedMethod};
use readlab_suite::NamedBy;

/// What a contender offers for a trial, and how it is started.
#[derive(Debug)]
pub(in crate::experiment) struct ResolvedTrial {
    pub(in crate::experiment) choice: ResolvedMethod,
    warmup: Warmup,
    collects: bool,
}

impl ResolvedTrial {
    pub(in crate::experiment) fn planned(self, trial: Trial, by: NamedBy) -> Planned {
        let ResolvedTrial { choice, warmup, collects } = self;
        let role = role(&choice.id, by);
        // What it reads first is what is measured.
        let warmup = if trial.start == Start::EachReading { Warmup::Readings } else { warmup };
        Planned { trial, choice, warmup, collects, role, is_first_named: false, waits: None }
    }
}

/// What the readings of a method are for: the user's own programs and commands are what others are
/// compared with.
fn role(method: &MethodId, by: NamedBy) -> Role {
    if method.contender == COMMAND && by == NamedBy::Suite {
        Role::Common
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
    let choice = contender.choose(method, params, work)?;
    Ok(ResolvedTrial { choice, warmup: contender.warmup, collects: contender.collects })
}
