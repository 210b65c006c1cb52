//! The line that says that a run was cut short and resumed, and where.

use readlab_model::trial::{CacheState, TrialIndex};
use serde::{Deserialize, Serialize};

/// A line between what was measured before a run was cut short and what was measured when it went
/// on: in new processes, from new fills of the cache, by the same plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumption {
    /// When it went on, RFC 3339 in UTC.
    pub at: String,
    /// Time that the run had taken until it was cut short; the rest counts from there.
    pub elapsed_ns: u64,
    /// The state of the cache in which it continued.
    pub state: CacheState,
    /// The round of that state with which it continued, from 0: the first round that had not begun.
    pub round: u32,
    /// The trials that an interruption had ended as measured: they continue, and have no outcome
    /// until their next one.
    pub reopen: Vec<TrialIndex>,
}
