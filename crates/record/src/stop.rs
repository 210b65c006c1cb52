//! Why a trial has no more readings, although more were possible. How a trial ended is its
//! [`super::Outcome`]; why the whole run ended is [`super::EndReason`].

use serde::{Deserialize, Serialize};

/// Why a trial was read no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Its median is as precise as requested.
    Precise,
    /// It has the requested number of readings.
    MostReadings,
    /// Its readings took the time that one trial may take.
    MostTime,
    /// Another trial is clearly faster.
    NotFirst,
    /// One is left that is the fastest, or as good by the indifference zone; without one, the fastest is
    /// known, or the fastest trials tie.
    Decided,
    /// The time of the run was used up.
    Budget,
}

/// The stop of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    pub why: StopReason,
    /// How many rounds have a reading of it.
    pub rounds: u32,
}
