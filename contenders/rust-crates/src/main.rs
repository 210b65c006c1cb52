//! The Rust contender of readlab that reads files with well-known crates: runtimes, maps, and
//! readers of records and lines. This file parses the command line and starts one session
//! (PROTOCOL.md); it reads nothing itself.

mod failure;
mod heap;
mod message;
mod method;
mod readers;
mod request;
mod session;
mod tally;

use failure::Failure;
use request::Request;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    heap::return_large_blocks();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let ended = match words.split_first() {
        Some((word, [])) if word == "hello" => message::hello(),
        Some((word, [])) if word == "methods" => {
            message::hello().and_then(|()| method::all().iter().try_for_each(message::method))
        }
        Some((word, rest)) if word == "read" => message::hello().and_then(|()| read(rest)),
        _ => {
            eprintln!(
                "usage: readlab-rust-crates hello | methods | read METHOD SCAN WORK TARGET [name=value …]"
            );
            return ExitCode::from(2);
        }
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // If the lab is gone, nothing can be said to it.
            let _ = message::refusal(&why);
            ExitCode::FAILURE
        }
    }
}

fn read(words: &[OsString]) -> Result<(), Failure> {
    session::serve(&Request::parse(words)?)
}
