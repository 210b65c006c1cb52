//! The list of all methods, in the order of reports: names, parameters and one sentence each.

use crate::failure::Failure;
use crate::objects;
use crate::request::{Request, Work};
use crate::tally::Tally;
use crate::urls;
use async_trait::async_trait;

/// A way of reading, as it is listed.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) reads: Reads,
    /// Whether the bytes come from first to last, so that lines can be found.
    pub(crate) in_order: bool,
    pub(crate) params: &'static [Param],
    /// Makes a reader; if its client is kept, makes that as well.
    pub(crate) open: fn(&Request) -> Result<Box<dyn Reader>, Failure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reads {
    Object,
    Url,
}

/// A setting of a method; the name carries its unit.
#[derive(serde::Serialize)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) default: u64,
    min: u64,
    max: u64,
}

/// A method with its settings, for any number of readings.
#[async_trait]
pub(crate) trait Reader {
    /// One whole reading: all of it is the window.
    async fn read(&self) -> Result<Reading, Failure>;
}

/// What came out of a reading.
pub(crate) struct Reading {
    pub(crate) tally: Tally,
    pub(crate) requests: u64,
    /// Repeated requests; `None` if the client does not say.
    pub(crate) retries: Option<u64>,
}

impl Param {
    const fn new(name: &'static str, default: u64, min: u64, max: u64) -> Param {
        Param { name, default, min, max }
    }
}

/// The size of a range.
pub(crate) const PART: Param = Param::new("part_bytes", 8 << 20, 64 << 10, 1 << 30);
/// Ranges that are requested at once.
pub(crate) const CONCURRENCY: Param = Param::new("concurrency", 8, 1, 256);
/// The size of the ranges of which object_store makes one request.
pub(crate) const SMALL_PART: Param = Param::new("part_bytes", 1 << 20, 64 << 10, 1 << 30);
/// As many bytes as a range of the method `ranged`: at their defaults both request the same ranges,
/// and here the size of the object before.
pub(crate) const COALESCE: Param = Param::new("coalesce_bytes", 8 << 20, 64 << 10, 1 << 30);
/// Whether the client and its connections stay open. A store is meant to be made once.
pub(crate) const KEPT: Param = Param::new("kept", 1, 0, 1);
/// A URL is read over a connection of its own, like by the other contenders.
pub(crate) const KEPT_URL: Param = Param::new("kept", 0, 0, 1);
/// The version of HTTP.
pub(crate) const HTTP: Param = Param::new("http", 1, 1, 2);

pub(crate) const ALL: [Method; 6] = [
    Method {
        name: "get",
        about: "object_store: get, then bytes of the result, the whole object in memory",
        reads: Reads::Object,
        in_order: true,
        params: &[KEPT],
        open: objects::open::<objects::Get>,
    },
    Method {
        name: "stream",
        about: "object_store: get, then into_stream of the result, visited piece by piece",
        reads: Reads::Object,
        in_order: true,
        params: &[KEPT],
        open: objects::open::<objects::Streamed>,
    },
    Method {
        name: "ranged",
        about: "object_store: get_opts of each range, several at once by buffer_unordered",
        reads: Reads::Object,
        in_order: false,
        params: &[CONCURRENCY, KEPT, PART],
        open: objects::open::<objects::Ranged>,
    },
    Method {
        name: "coalesced",
        about: "object_store: coalesce_ranges as in get_ranges, which makes one request of the ranges within \
                coalesce_bytes; several at once by buffer_unordered",
        reads: Reads::Object,
        in_order: false,
        params: &[COALESCE, CONCURRENCY, KEPT, SMALL_PART],
        open: objects::open::<objects::Coalesced>,
    },
    Method {
        name: "reqwest",
        about: "GET by the crate reqwest, the body visited piece by piece",
        reads: Reads::Url,
        in_order: true,
        params: &[HTTP, KEPT_URL],
        open: urls::open::<urls::Streamed>,
    },
    Method {
        name: "reqwest-ranged",
        about: "GET of each range by the crate reqwest in a task of its own, several at once, visited piece by piece",
        reads: Reads::Url,
        in_order: false,
        params: &[CONCURRENCY, HTTP, KEPT_URL, PART],
        open: urls::open::<urls::Ranged>,
    },
];

impl Method {
    pub(crate) fn does(&self, work: Work) -> bool {
        self.in_order || work != Work::Lines
    }

    /// The parameter and the value in name=value.
    pub(crate) fn setting(&self, word: &str) -> Result<(&'static str, u64), Failure> {
        let (name, digits) = word.split_once('=').unwrap_or((word, ""));
        let param = self.params.iter().find(|param| param.name == name);
        let param = param.ok_or_else(|| Failure::new(format!("{} has no parameter {name:?}", self.name)))?;
        match digits.parse() {
            Ok(value) if (param.min..=param.max).contains(&value) => Ok((param.name, value)),
            _ => Err(Failure::new(format!(
                "{name} must be an integer from {} to {}, got {digits:?}",
                param.min, param.max
            ))),
        }
    }
}
