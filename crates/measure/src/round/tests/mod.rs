//! Whole runs against a script, cut by what they show.

mod budgets;
mod failures;
mod limits;
mod order;
mod qualifying;

use crate::interface::TrialEnd;
use crate::plan::{Budget, Plan, Planned, Rules};
use crate::round::testing::{
    COLD, RecordedRun, ScriptedSampler, WARM, failed, plan, play, play_rest, play_trials, play_until_full,
    record_of, refused, runs, unproven,
};
use readlab_model::sample::Sample;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_model::units::Nanos;
use readlab_record::{EndReason, Line, Outcome};
