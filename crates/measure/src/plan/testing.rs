//! Plans for tests.

use super::{Budget, Focus, Plan, PlannedTrial, Role, Rules};
use readlab_catalog::roster::Warmup;
use readlab_model::trial::{CacheState, Params};
use readlab_model::units::Nanos;
use readlab_protocol::{Cache, MethodLine};
use readlab_record::{Line, testing};
use readlab_roster::methods::ResolvedMethod;

pub const WARM: CacheState = CacheState::Warm;
pub const COLD: CacheState = CacheState::Cold;

/// Rules by which a trial is settled after exactly `n` readings.
pub fn rules_for_readings(n: u32) -> Rules {
    Rules {
        warmup_readings: 1,
        min_readings: n,
        max_readings: n,
        max_time: Nanos(u64::MAX),
        precision: -1.0,
        min_fills: 1,
        budget: Budget::Firm(Nanos(u64::MAX)),
        seed: 42,
        counting_runs: 1,
        focus: Focus::Everything,
        indifference: 0.0,
    }
}

/// A plan of these trials; trials called `null`, `resident` and `device` are controls.
pub fn plan(rules: Rules, trials: &[(&str, CacheState)]) -> Plan {
    let mut states: Vec<CacheState> = trials.iter().map(|(_, state)| *state).collect();
    states.dedup();
    let planned = |(index, &(name, state))| planned_trial(index, name, state);
    let trials = trials.iter().enumerate().map(planned).collect();
    Plan { trials, absent_trials: Vec::new(), states, rules }
}

fn planned_trial(index: usize, name: &str, state: CacheState) -> PlannedTrial {
    let cache = match name {
        "null" | "resident" | "device" => Cache::None,
        _ => Cache::Through,
    };
    let Line::Trial(trial) = testing::trial_line(index, &format!("rust/{name}"), state, cache) else {
        unreachable!("it is the line of a trial")
    };
    let method = MethodLine { cache, ..MethodLine::plain(name, "") };
    let choice = ResolvedMethod { id: trial.id.method.clone(), params: Params::default(), method };
    let (trial, warmup, role) = (*trial, Warmup::Readings, Role::Candidate);
    PlannedTrial {
        trial,
        resolved_method: choice,
        warmup,
        collects_garbage: false,
        role,
        is_own_command: false,
        block_index: 0,
        is_first_named: false,
        wait_reason: None,
    }
}
