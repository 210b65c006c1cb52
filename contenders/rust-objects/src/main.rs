//! The Rust contender of readlab that reads objects of S3 stores and URLs, with the crates that
//! asynchronous programs use: `object_store` and `reqwest`, on Tokio. This file parses the command
//! line and starts one session (PROTOCOL.md); it reads nothing itself.

mod client;
mod environment;
mod failure;
mod message;
mod method;
mod objects;
mod parts;
mod request;
mod session;
mod tally;
mod urls;

use failure::Failure;
use request::Request;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let ended = match words.split_first() {
        Some((word, [])) if word == "hello" => message::hello(),
        Some((word, [])) if word == "methods" => {
            message::hello().and_then(|()| method::ALL.iter().try_for_each(message::method))
        }
        Some((word, rest)) if word == "read" => message::hello().and_then(|()| read(rest)),
        _ => {
            eprintln!(
                "usage: readlab-rust-objects hello | methods | read METHOD SCAN WORK TARGET [name=value …]"
            );
            return ExitCode::from(2);
        }
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // If the lab is gone, nothing can be said to it.
            let _ = message::failed(&why);
            ExitCode::FAILURE
        }
    }
}

fn read(words: &[OsString]) -> Result<(), Failure> {
    // A library of the transport asks for this choice when a client is made.
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| Failure::new("the encryption was chosen before"))?;
    session::serve(Request::parse(words)?)
}
