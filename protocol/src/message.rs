//! The messages from a contender to the lab: one flat JSON object a line. Its field `say` is the
//! kind of the message.
//!
//! Unknown words and unknown fields are errors, because a contender that sends them was written for
//! another lab, and its numbers may have another meaning.

use crate::archive::Archive;
use crate::scheduling::Scheduling;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line from a contender.
#[expect(clippy::large_enum_variant, reason = "a message is taken apart where it is parsed")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// The receipt: name, version, compiler and runtime of the contender. It is the first line of
    /// every session.
    Hello {
        /// The protocol's number, [`crate::VERSION`].
        protocol: u32,
        /// The contender's name, as in the roster.
        contender: String,
        /// The contender's own version.
        version: String,
        /// Compiler, runtime, flags: all that is needed to build the same contender.
        runtime: String,
    },
    /// One method that this contender offers.
    Method(MethodLine),
    /// The session is ready for turns.
    Ready {
        /// Every parameter in force, defaults included: its name with the unit, and its value.
        params: BTreeMap<String, u64>,
    },
    /// One timed reading.
    Sample(SampleLine),
    /// A number that the contender's runtime counted during all readings of the turn, untimed ones
    /// included.
    Count(CountLine),
    /// The latencies of single reads in all timed readings of the turn.
    Latencies(LatenciesLine),
    /// The turn is over.
    Done {
        /// Number of samples in the turn.
        count: u32,
    },
    /// The method cannot work here, because the kernel, the processor or the file system lacks a
    /// feature. This message ends the session.
    Unavailable {
        /// The reason, in one line.
        reason: String,
    },
    /// A reading failed. This message ends the session.
    Failed {
        /// The reason, in one line.
        reason: String,
    },
}

/// One method that a contender offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodLine {
    /// Name of the method, for example `mmap`.
    pub method: String,
    /// For each work that the method can do, the scans (ways of visiting bytes), best first.
    pub scans: BTreeMap<String, Vec<String>>,
    /// Parameters of the method.
    #[serde(default)]
    pub params: Vec<ParamLine>,
    /// One sentence: which calls read the bytes.
    pub about: String,
    /// How the method uses the page cache.
    pub cache: Cache,
    /// The kinds of target that the method can read.
    #[serde(default, skip_serializing_if = "Reads::is_default")]
    pub reads: Reads,
    /// Archive formats that the method decodes. With any, it reads nothing else, and its answers
    /// are about the decoded content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decodes: Vec<Archive>,
    /// Whether the method decodes a zstd with a dictionary too
    /// ([`crate::archive::DICTIONARY_VARIABLE`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dictionary: bool,
    /// Whether the method reads a part of a target too ([`crate::Part`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub parts: bool,
    /// Whether the method reads the ranges of a list from a server, and nothing else
    /// ([`crate::places::RANGES_VARIABLE`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ranges: bool,
    /// Whether the method reads the files of a list too ([`crate::files`]), one after the other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lists: bool,
    /// Whether the method reads URLs with encryption too. Methods that read objects always do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tls: bool,
    /// The reason why the method cannot work on this machine, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

impl MethodLine {
    /// A method that reads whole files through the page cache, without scans or parameters.
    #[must_use]
    pub fn plain(method: &str, about: &str) -> MethodLine {
        MethodLine {
            method: method.to_owned(),
            scans: BTreeMap::new(),
            params: Vec::new(),
            about: about.to_owned(),
            cache: Cache::Through,
            reads: Reads::File,
            decodes: Vec::new(),
            dictionary: false,
            parts: false,
            ranges: false,
            lists: false,
            tls: false,
            unavailable: None,
        }
    }
}

/// How a method uses the page cache, which decides what the lab can prove about its samples.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Reads through the page cache.
    Through,
    /// Reads from the device even when the file is cached. The method is ranked among cold ones.
    Bypass,
    /// Reads through or past the page cache, depending on the parameter `direct`.
    ByParam,
    /// A control. It shows what the machine or the lab does, and reads no file in any usual way.
    None,
}

/// The kinds of target that a method can read. Without the field, a method reads files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reads {
    /// A file by its path.
    #[default]
    File,
    /// A file by its URL.
    Url,
    /// A file by its path or its URL.
    Both,
    /// An object of an S3 store, by its bucket and key.
    Object,
    /// A list of files ([`crate::files`]).
    List,
    /// A folder: every file below it.
    Folder,
    /// Blocks of one file, by a list of their places ([`crate::places`]).
    Places,
}

impl Reads {
    /// Whether the field is omitted.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_default(&self) -> bool {
        *self == Reads::default()
    }
}

/// One parameter of a method: always an integer, with its unit in its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParamLine {
    /// Name with unit, for example `buffer_bytes`, `depth`, `threads`.
    pub name: String,
    /// Value when none is given.
    pub default: u64,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
}

/// One timed reading, by the contender's own monotonic clock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleLine {
    /// Wall time from before the open to after the close.
    pub wall_ns: u64,
    /// CPU time spent in user mode during the window, if the contender can get it from its kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_user_ns: Option<u64>,
    /// CPU time spent in the kernel during the window, if the contender can get it from its kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_system_ns: Option<u64>,
    /// Largest resident memory of a program that the contender started for this reading. Contenders
    /// that read themselves leave it out: the lab gets it from the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
    /// The scheduling of a program that the contender started for this reading, at the program's
    /// end, if it differs from the contender's. Contenders that read themselves leave it out: the
    /// lab gets it from the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Scheduling>,
    /// Time until the name of the server was resolved, for its first connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns_ns: Option<u64>,
    /// Time from the end of the resolution until the first connection to the server was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_ns: Option<u64>,
    /// Time from the first connection until its encryption was agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_ns: Option<u64>,
    /// Time from the beginning of the window until the first byte of the content arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ns: Option<u64>,
    /// Number of requests that were sent, repeated ones included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Number of requests that were repeated after a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u64>,
    /// Number of bytes that the reads of places requested: the bytes of the blocks, the gaps between
    /// blocks that one read covers, and the bytes around them if reads are rounded out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Proof of work: bytes that were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Proof of work: bytes equal to 0x0A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newlines: Option<u64>,
    /// Proof of work: lines, an unterminated last one included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// Proof of work: the wrapping sum of all bytes, 0 to 255.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<u64>,
    /// Proof of work: number of files that were read, if the target may have several, or found by
    /// name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// Proof of work: number of folders that were found below the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folders: Option<u64>,
    /// Proof of work: number of symbolic links that were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<u64>,
    /// Proof of work: number of names that were found of anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<u64>,
    /// Proof of work: number of all names that a command found, with or without the target itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<u64>,
    /// Proof of work: number of blocks that were read, if the target is a list of places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Proof of work: [`crate::FileProof::products`] of the files, or
    /// [`crate::BlockProof::products`] of the blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub products: Option<u64>,
    /// Proof of work: the highest 53 bits of the XXH3 digest of everything that a command printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
}

/// A number that a contender's runtime counted during the readings of a turn, outside every window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountLine {
    /// Name of the number with its unit, for example `allocated_bytes` or `gc_ns`.
    pub of: String,
    /// The number; omitted where it could not be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// How the number was counted, or why there is no value.
    pub how: String,
}

/// Why a line from a contender was not understood.
#[derive(Debug, thiserror::Error)]
#[error("not a line of protocol {}: {line:?}: {cause}", crate::VERSION)]
pub struct SayError {
    line: String,
    cause: serde_json::Error,
}

/// The latencies of single reads in all timed readings of a turn. They are sent outside every
/// window, but measured inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatenciesLine {
    /// Nanoseconds of each read, as a histogram of HdrHistogram in the compressed encoding of
    /// version 2, in Base64.
    pub histogram: String,
}

impl Message {
    /// Reads one line, with or without its newline.
    ///
    /// # Errors
    /// If the line is not exactly one known message.
    pub fn parse(line: &str) -> Result<Message, SayError> {
        serde_json::from_str(line).map_err(|cause| SayError { line: line.chars().take(200).collect(), cause })
    }

    /// The line to send, without its newline.
    #[must_use]
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("messages hold only strings and integers")
    }
}
