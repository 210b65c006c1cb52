//! Whole runs against a script, grouped by what they test.

mod budgets;
mod failures;
mod limits;
mod order;
mod qualifying;

use crate::interface::TrialEnd;
use crate::plan::{Budget, Plan, PlannedTrial, Rules};
use crate::round::testing::{
    COLD, RecordedRun, ScriptedSampler, WARM, failed_end, plan, play, play_resumed, play_trials,
    play_until_full, record_from_lines, refused_outcome, rules_for_readings, unproven_turns,
};
use readlab_model::sample::Sample;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_model::units::Nanos;
use readlab_record::{EndReason, Line, Outcome};
