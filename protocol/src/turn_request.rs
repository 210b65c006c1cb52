//! The lab's request for a turn. It is one short line of plain words, so that a contender needs no
//! JSON parser.

use std::fmt;
use std::str::FromStr;

/// One turn: `go LEAD COUNT`. The contender reads the target `lead` times untimed and then `count`
/// times timed, back to back. It prints nothing before the last reading is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnRequest {
    /// Number of untimed readings before the timed ones. They wake the processor and fill its
    /// caches, and are not reported.
    pub lead: u32,
    /// Number of timed readings. Each is answered by one line.
    pub count: u32,
}

/// The error for a line that is no turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected `go LEAD COUNT` with COUNT above 0, got {0:?}")]
pub struct AskError(String);

impl fmt::Display for TurnRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "go {} {}", self.lead, self.count)
    }
}

impl FromStr for TurnRequest {
    type Err = AskError;

    fn from_str(line: &str) -> Result<Self, AskError> {
        let wrong = || AskError(line.to_owned());
        let words: Vec<&str> = line.trim_end().split(' ').collect();
        let ["go", lead, count] = words[..] else { return Err(wrong()) };
        let request = TurnRequest {
            lead: lead.parse().map_err(|_| wrong())?,
            count: count.parse().map_err(|_| wrong())?,
        };
        if request.count == 0 { Err(wrong()) } else { Ok(request) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_parses_back_from_its_line() {
        let request = TurnRequest { lead: 3, count: 16 };
        assert_eq!(request.to_string().parse(), Ok(request));
    }

    #[test]
    fn a_line_that_is_no_turn_is_refused() {
        for line in ["", "go", "go 1", "go 0 0", "go -1 1", "go 1 1 1", "stop 1 1", "go  1 1"] {
            assert!(line.parse::<TurnRequest>().is_err(), "{line:?}");
        }
    }
}
