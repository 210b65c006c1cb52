//! Whole runs against a script, cut by what they show.

mod budgets;
mod failures;
mod limits;
mod order;
mod qualifying;
mod recounting;
mod settling;

use crate::measure::interface::{SampleError, TrialEnd};
use crate::measure::plan::{Budget, Plan, Planned, Rules};
use crate::measure::round::testing::{
    COLD, RecordedRun, ScriptedSampler, WARM, failed, plan, play, play_rest, play_until_full, refused, runs,
    unproven,
};
use crate::record::{EndReason, Line, Outcome, Sample};
use crate::trial::CacheState;
use crate::units::Nanos;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
