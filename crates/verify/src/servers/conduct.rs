//! Whether a method requested what it should, by what the server saw.

use super::pages::{Logged, Pages};
use readlab_protocol::SampleLine;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Turns after the first in which most connections of a client that keeps them may be new: it may
/// need a moment to see that one is free, and open another.
const NEW_TURNS_MAX: usize = 1;

/// How long it may take until a server sees that a connection was closed. Within the window it is
/// closed, but on a busy machine the thread of the server must get its turn first.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Pause between two looks.
const STEP: Duration = Duration::from_millis(5);

/// What is expected of the requests of a turn.
pub(super) struct Expected<'a> {
    /// The version that they ask for.
    pub etag: Option<&'a str>,
    /// Whether there are credentials.
    pub may_be_signed: bool,
    pub readings: u32,
    pub size_bytes: u64,
}

/// The connections of a session, turn by turn.
#[derive(Default)]
pub(super) struct Connections {
    turns: usize,
    used: BTreeSet<u64>,
    /// Turns after the first in which most connections were new.
    new_turns: usize,
}

/// What is wrong with the requests of a turn.
pub(super) fn conduct(requests: &[Logged], samples: &[SampleLine], expected: &Expected) -> Option<String> {
    if requests.is_empty() {
        return Some("it requested nothing".to_owned());
    }
    let of_each = requests.iter().find_map(|logged| of_request(logged, expected));
    of_each.or_else(|| of_counts(requests, samples)).or_else(|| of_ranges(requests, expected))
}

fn of_request(logged: &Logged, expected: &Expected) -> Option<String> {
    if let Some(refusal) = &logged.refusal {
        return Some(format!("the server refused a request: {refusal}"));
    }
    if logged.is_of_proxy {
        return Some("it requested through a proxy of the user's".to_owned());
    }
    if let Some(encodings) = logged.accept_encoding.as_ref().filter(|it| it.as_str() != "identity") {
        return Some(format!("it accepts encodings, which change the bytes: {encodings}"));
    }
    if logged.is_signed && !expected.may_be_signed {
        return Some("it signed a request, and has no credentials".to_owned());
    }
    let asks_for_other = |etag: &str| !logged.is_head && logged.if_match.as_deref() != Some(etag);
    expected.etag.filter(|etag| asks_for_other(etag)).map(|etag| {
        format!(
            "a request has the If-Match {:?} instead of {etag:?}",
            logged.if_match.as_deref().unwrap_or("")
        )
    })
}

/// What samples say of requests is what the server saw.
fn of_counts(requests: &[Logged], samples: &[SampleLine]) -> Option<String> {
    if samples.iter().any(|sample| sample.retries.is_some_and(|retries| retries > 0)) {
        return Some("it counts retries, and no request failed".to_owned());
    }
    let claimed: Option<u64> = samples.iter().map(|sample| sample.requests).sum();
    claimed
        .filter(|claimed| *claimed != requests.len() as u64)
        .map(|claimed| format!("it counts {claimed} requests, and the server saw {}", requests.len()))
}

/// Every byte is requested once a reading.
fn of_ranges(requests: &[Logged], expected: &Expected) -> Option<String> {
    let size = expected.size_bytes;
    let mut changes: BTreeMap<u64, i64> = BTreeMap::from([(0, 0), (size, 0)]);
    for logged in requests.iter().filter(|logged| !logged.is_head) {
        let (start, end) = match &logged.range {
            None => (0, size),
            Some(range) => match bounds(range, size) {
                Some(bounds) => bounds,
                None => return Some(format!("a request has the range {range:?}")),
            },
        };
        *changes.entry(start.min(size)).or_default() += 1;
        *changes.entry(end.min(size)).or_default() -= 1;
    }
    let mut requested = 0;
    changes.into_iter().find_map(|(from, change)| {
        requested += change;
        (from < size && requested != i64::from(expected.readings)).then(|| {
            format!(
                "of {size} bytes, those from {from} on were requested {requested} times in {} readings",
                expected.readings
            )
        })
    })
}

/// The first byte of a range, and the one after its last.
fn bounds(range: &str, size: u64) -> Option<(u64, u64)> {
    let (first, last) = range.trim().strip_prefix("bytes=")?.split_once('-')?;
    match (first, last) {
        ("", last) => Some((size.saturating_sub(last.parse().ok()?), size)),
        (first, "") => Some((first.parse().ok()?, size)),
        (first, last) => Some((first.parse().ok()?, last.parse::<u64>().ok()?.checked_add(1)?)),
    }
}

impl Connections {
    /// What is wrong with the connections of a turn of so many readings, after those before it.
    pub(super) fn refusal(
        &mut self,
        requests: &[Logged],
        readings: u32,
        are_kept: Option<bool>,
    ) -> Option<String> {
        let own: BTreeSet<u64> = requests.iter().map(|logged| logged.connection).collect();
        let are_kept = are_kept?;
        let count = own.len();
        let used_before = own.intersection(&self.used).count();
        self.turns += 1;
        self.new_turns += usize::from(self.turns > 1 && used_before * 2 < count);
        self.used.extend(own);
        match are_kept {
            false if used_before > 0 || count < readings as usize => {
                Some("readings share a connection, which each must make for itself".to_owned())
            }
            true if self.new_turns > NEW_TURNS_MAX => Some(format!(
                "it keeps no connection: of {count} in turn {}, {} are new",
                self.turns,
                count - used_before
            )),
            _ => None,
        }
    }
}

/// Whether the connections of these requests are closed.
pub(super) fn are_closed(pages: &Pages, requests: &[Logged]) -> bool {
    let own = requests.iter().map(|logged| logged.connection).collect();
    let deadline = Instant::now() + CLOSE_TIMEOUT;
    loop {
        if !pages.is_any_open(&own) {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETAG: &str = "\"the-etag-1\"";

    fn logged(connection: u64, range: Option<&str>) -> Logged {
        Logged {
            connection,
            is_head: false,
            range: range.map(str::to_owned),
            if_match: Some(ETAG.to_owned()),
            accept_encoding: None,
            is_signed: false,
            is_of_proxy: false,
            is_elsewhere: false,
            refusal: None,
            is_wrong: false,
        }
    }

    /// What is wrong with one reading of ten bytes by these requests, of which it counts so many.
    fn wrong(requests: &[Logged], counted: u64) -> Option<String> {
        let sample = format!(r#"{{"say":"sample","wall_ns":1,"requests":{counted},"retries":0}}"#);
        let Ok(readlab_protocol::Message::Sample(sample)) = readlab_protocol::Message::parse(&sample) else {
            panic!("it is a sample")
        };
        let expected = Expected { etag: Some(ETAG), may_be_signed: false, readings: 1, size_bytes: 10 };
        conduct(requests, &[sample], &expected)
    }

    fn of_ranges(ranges: &[&str]) -> Option<String> {
        let requests: Vec<Logged> = ranges.iter().map(|range| logged(0, Some(range))).collect();
        wrong(&requests, requests.len() as u64)
    }

    #[test]
    fn every_byte_is_requested_once() {
        assert_eq!(wrong(&[logged(0, None)], 1), None);
        for right in
            [&["bytes=0-9"][..], &["bytes=5-", "bytes=0-4"], &["bytes=0-3", "bytes=4-99"], &["bytes=-10"]]
        {
            assert_eq!(of_ranges(right), None, "{right:?}");
        }
        let left_out = of_ranges(&["bytes=0-3", "bytes=5-9"]).unwrap();
        assert!(left_out.contains("from 4 on were requested 0 times in 1 readings"), "{left_out}");
        let twice = of_ranges(&["bytes=0-5", "bytes=5-9"]).unwrap();
        assert!(twice.contains("from 5 on were requested 2 times"), "{twice}");
        for none in ["bytes=x-", "lines=0-9", "bytes=0-3,5-9"] {
            assert!(of_ranges(&[none]).unwrap().contains(none));
        }
        // A HEAD requests no byte.
        let head = Logged { is_head: true, if_match: None, ..logged(0, None) };
        assert_eq!(wrong(&[head, logged(0, None)], 2), None);
    }

    #[test]
    fn a_request_is_direct_plain_and_of_the_version() {
        let of = |change: &dyn Fn(&mut Logged)| {
            let mut request = logged(0, None);
            change(&mut request);
            wrong(&[request], 1).unwrap_or_default()
        };
        assert!(of(&|it| it.if_match = None).contains("If-Match"));
        assert!(of(&|it| it.accept_encoding = Some("gzip".to_owned())).contains("gzip"));
        assert_eq!(of(&|it| it.accept_encoding = Some("identity".to_owned())), "");
        assert!(of(&|it| it.is_of_proxy = true).contains("proxy"));
        assert!(of(&|it| it.is_signed = true).contains("signed"));
        assert!(of(&|it| it.refusal = Some("why".to_owned())).contains("why"));
        assert!(wrong(&[logged(0, None)], 2).unwrap().contains("counts 2 requests, and the server saw 1"));
        assert!(wrong(&[], 0).unwrap().contains("nothing"));
    }

    /// What is wrong with the last of these turns, of a reading each.
    fn of_connections(turns: &[&[u64]], are_kept: Option<bool>) -> Option<String> {
        let mut connections = Connections::default();
        let requests = |turn: &[u64]| turn.iter().map(|it| logged(*it, None)).collect::<Vec<_>>();
        turns.iter().map(|turn| connections.refusal(&requests(turn), 1, are_kept)).last().flatten()
    }

    #[test]
    fn connections_are_kept_or_separate() {
        assert_eq!(of_connections(&[&[0], &[1, 2], &[3]], Some(false)), None);
        assert!(of_connections(&[&[0], &[1], &[0]], Some(false)).unwrap().contains("share"));
        assert_eq!(of_connections(&[&[0], &[0, 1], &[1]], Some(true)), None);
        assert_eq!(of_connections(&[&[0], &[0], &[0], &[1]], Some(true)), None);
        assert_eq!(of_connections(&[&[0, 1, 2], &[0, 1, 2, 3], &[1, 3, 4]], Some(true)), None);
        assert_eq!(of_connections(&[&[0, 1, 2, 3, 4, 5, 6, 7]], Some(true)), None);
        let growing: &[&[u64]] = &[&[0], &[0, 1, 2], &[1, 3, 4]];
        assert!(of_connections(growing, Some(true)).unwrap().contains("2 are new"));
        assert!(of_connections(&[&[0], &[1], &[2]], Some(true)).unwrap().contains("keeps no connection"));
        assert_eq!(of_connections(&[&[0], &[1], &[2], &[0]], None), None);
    }
}
