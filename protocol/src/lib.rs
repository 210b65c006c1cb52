//! The messages between the lab and a contender, as types.
//!
//! PROTOCOL.md at the root of the project is the contract in words. A test here parses its
//! examples. This crate is the same contract as types: the lab sends a [`TurnRequest`], and a
//! contender sends a [`Message`]. Both sides and the tests use these types. [`serve`] is the
//! contender's side of a session, for contenders in Rust. With the feature `contender`, the module
//! of that name has the rest of a contender that consists of a list of methods.

#![deny(missing_docs)]

mod archive;
pub mod command_line;
#[cfg(feature = "contender")]
pub mod contender;
pub mod files;
mod message;
mod names;
mod part;
pub mod places;
pub mod placing;
pub mod quoting;
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
pub use names::NameCounts;
pub use part::Part;
pub use places::{BlockBytes, BlockProof, Places};
pub use scheduling::{Policy, Scheduling};
pub use turn_request::{AskError, TurnRequest};
pub use work::{Answer, UnknownWork, Work};

/// The version of the protocol, which both sides must agree on. It grows when an old contender
/// would misunderstand a new lab.
pub const VERSION: u32 = 1;

/// The length limit for a line of either side, including the newline. A longer line ends the
/// session.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// The scan of a method that visits bytes in a fixed way, or visits none.
pub const NO_SCAN: &str = "-";

/// The environment variable in which the lab passes the user's check of a command's output. Its
/// value is a line for a shell, for one session whose only reading is not timed.
pub const CHECK_VARIABLE: &str = "READLAB_CHECK";

/// The environment variable in which the lab passes the exit codes that are no failure of a command:
/// integers from 0 to 255, separated by commas. Without the variable, only 0 is no failure.
pub const SUCCESS_VARIABLE: &str = "READLAB_SUCCESS";

/// Environment variable with the path prefix of a perf map, such as `/tmp/perf-`: the file to which a
/// runtime writes the names of the functions that it compiles. The child process appends its process
/// id and [`MAP_SUFFIX`], and creates the file before it executes the command. If something exists at
/// this path, the command is not run: the runtime would write even to another user's file or through
/// a link.
pub const MAP_VARIABLE: &str = "READLAB_MAP";

/// The prefix of variables that a command gets, without this prefix, if it makes that file.
pub const MAP_VARIABLE_PREFIX: &str = "READLAB_MAP_";

/// The suffix of the name of this file.
pub const MAP_SUFFIX: &str = ".map";

/// The environment variable with the path of the list, for a command that reads many files.
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
    fn every_example_in_the_protocol_page_parses() {
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
    fn the_protocol_page_and_the_code_have_the_same_version() {
        let page = include_str!("../../PROTOCOL.md");
        assert!(page.lines().next().unwrap().ends_with(&format!("version {VERSION}")));
        assert!(page.contains(&format!("\"protocol\":{VERSION},")));
    }

    #[test]
    fn unknown_message_kinds_and_fields_are_refused() {
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
