//! The messages between the lab and a contender, as types.
//!
//! PROTOCOL.md at the root of the project is the contract in words; a test here parses its
//! examples. This crate is the same contract as types: the lab sends a [`TurnRequest`], a contender
//! sends a [`Message`]; both sides and the tests use them. [`serve`] is the contender's side of a
//! session, for contenders in Rust; with the feature `contender`, the module of that name has the
//! rest of a contender that is a list of methods.

#![deny(missing_docs)]

mod archive;
pub mod command_line;
#[cfg(feature = "contender")]
pub mod contender;
pub mod files;
mod message;
mod part;
pub mod places;
pub mod placing;
pub mod remote;
mod scheduling;
pub mod serve;
pub mod setting;
mod turn_request;
mod work;

pub use archive::{Archive, DICTIONARY_VARIABLE, UnknownArchive, first_frame};
pub use files::{FileList, FileProof};
pub use message::{
    Cache, CountLine, LatenciesLine, Message, MethodLine, ParamLine, Reads, SampleLine, SayError,
};
pub use part::Part;
pub use places::{BlockProof, Places};
pub use scheduling::{Policy, Scheduling};
pub use turn_request::{AskError, TurnRequest};
pub use work::{Answer, UnknownWork, Work};

/// The number that both sides must agree on. It grows when an old contender would misunderstand a
/// new lab.
pub const VERSION: u32 = 1;

/// The longest line either side may send, its newline included. A longer one ends the session.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// The word for the scan of a method that visits bytes in its own way, or not at all.
pub const NO_SCAN: &str = "-";

/// The variable of the environment in which the lab names the user's check of a command's output:
/// a line for a shell, for one session whose only reading is not timed.
pub const CHECK_VARIABLE: &str = "READLAB_CHECK";

/// The variable with the beginning of the name of a file that a command makes for itself before it
/// runs, with its number and [`MAP_SUFFIX`] behind that: its runtime writes to it whatever it is.
pub const MAP_VARIABLE: &str = "READLAB_MAP";

/// How the names of variables begin that a command gets, without this, if it makes that file.
pub const MAP_VARIABLE_PREFIX: &str = "READLAB_MAP_";

/// How the name of such a file ends.
pub const MAP_SUFFIX: &str = ".map";

/// The variable of the environment in which a command that reads many files finds the list of them.
pub const LIST_VARIABLE: &str = "READLAB_LIST";

#[cfg(test)]
mod tests {
    use super::*;

    /// The fenced blocks of one language in PROTOCOL.md, line by line.
    fn examples(language: &str) -> Vec<String> {
        let page = include_str!("../../PROTOCOL.md");
        let blocks = page.split("```").skip(1).step_by(2);
        let lines = blocks.filter_map(|block| block.strip_prefix(language)).flat_map(str::lines);
        lines.map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn every_example_on_the_page_is_understood() {
        let said = examples("json");
        assert!(said.len() >= 9, "the page shows every message: {said:?}");
        for line in &said {
            let say = Message::parse(line).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(Message::parse(&say.line()).unwrap(), say);
        }
        for line in examples("text") {
            assert_eq!(line.parse::<TurnRequest>().unwrap().to_string(), line);
        }
    }

    #[test]
    fn the_page_and_the_code_agree_on_the_number() {
        let page = include_str!("../../PROTOCOL.md");
        assert!(page.lines().next().unwrap().ends_with(&format!("version {VERSION}")));
        assert!(page.contains(&format!("\"protocol\":{VERSION},")));
    }

    #[test]
    fn unknown_words_and_fields_are_refused() {
        for line in [
            "",
            "null",
            r#"{"say":"bye"}"#,
            r#"{"wall_ns":1}"#,
            r#"{"say":"sample","wall_ns":-1}"#,
            r#"{"say":"sample","wall_ns":1,"bytez":2}"#,
            r#"{"say":"done","count":1,"extra":2}"#,
            r#"{"say":"done","count":1} trailing"#,
        ] {
            assert!(Message::parse(line).is_err(), "{line}");
        }
    }
}
