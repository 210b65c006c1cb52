//! The messages of the protocol, one line of flat JSON each.

use crate::failure::Failure;
use crate::method::{Method, Param, Reads};
use crate::request::Work;
use crate::tally::Answer;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

const PROTOCOL: u32 = 1;
const CONTENDER: &str = "rust-objects";

#[derive(Serialize)]
#[serde(tag = "say", rename_all = "lowercase")]
enum Message<'a> {
    Hello {
        protocol: u32,
        contender: &'a str,
        version: &'a str,
        runtime: &'a str,
    },
    Method {
        method: &'a str,
        scans: BTreeMap<&'a str, [&'a str; 1]>,
        params: &'a [Param],
        about: &'a str,
        cache: &'a str,
        reads: Reads,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        tls: bool,
    },
    Ready {
        params: &'a BTreeMap<&'a str, u64>,
    },
    Sample(&'a Sample),
    Done {
        count: usize,
    },
    Failed {
        reason: String,
    },
}

/// One timed reading.
#[derive(Serialize)]
pub(crate) struct Sample {
    pub(crate) wall_ns: u64,
    pub(crate) cpu_user_ns: u64,
    pub(crate) cpu_system_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_byte_ns: Option<u64>,
    pub(crate) requests: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retries: Option<u64>,
    #[serde(flatten)]
    pub(crate) answer: Answer,
}

pub(crate) fn hello() -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    say(&[Message::Hello {
        protocol: PROTOCOL,
        contender: CONTENDER,
        version,
        runtime: env!("READLAB_RUNTIME"),
    }])
}

pub(crate) fn method(method: &Method) -> Result<(), Failure> {
    let works = Work::ALL.into_iter().filter(|work| method.does(*work));
    say(&[Message::Method {
        method: method.name,
        scans: works.map(|work| (work.word(), ["-"])).collect(),
        params: method.params,
        about: method.about,
        cache: "through",
        reads: method.reads,
        tls: method.reads == Reads::Url,
    }])
}

pub(crate) fn ready(params: &BTreeMap<&str, u64>) -> Result<(), Failure> {
    say(&[Message::Ready { params }])
}

/// A whole turn with one write.
pub(crate) fn turn(samples: &[Sample]) -> Result<(), Failure> {
    let messages = samples.iter().map(Message::Sample).chain([Message::Done { count: samples.len() }]);
    say(&messages.collect::<Vec<_>>())
}

pub(crate) fn failed(why: &Failure) -> Result<(), Failure> {
    say(&[Message::Failed { reason: why.line() }])
}

fn say(messages: &[Message]) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for message in messages {
        serde_json::to_writer(&mut lines, message).map_err(|error| Failure::from_error(&error))?;
        lines.push(b'\n');
    }
    let mut output = io::stdout().lock();
    output.write_all(&lines).and_then(|()| output.flush()).map_err(|error| Failure::from_error(&error))
}
