//! Checks the requests of a method, as the server received them.

use super::pages::{LoggedRequest, Pages};
use readlab_protocol::{Part, SampleLine};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Number of turns after the first in which a client that keeps connections may open mostly new
/// ones. The client may not notice in time that a connection is free, and then opens another
/// connection.
const NEW_CONNECTION_TURNS_MAX: usize = 1;

/// How long to wait until a server notices that a connection was closed. The client of Java before
/// JDK 21 cannot be closed. It checks every 3 s whether it can be collected, and may miss two
/// checks on a busy machine.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(15);

const CHECK_PAUSE: Duration = Duration::from_millis(5);

/// The expected properties of the requests of a turn.
pub(super) struct ExpectedRequests<'a> {
    /// The version that the requests must ask for.
    pub etag: Option<&'a str>,
    /// True if there are credentials, so that requests may be signed.
    pub may_be_signed: bool,
    pub reading_count: u32,
    /// The size of the content; `None` if only ranges of the page are read.
    pub size_bytes: Option<u64>,
}

/// The connections of a session, over all its turns.
#[derive(Default)]
pub(super) struct ConnectionHistory {
    turn_count: usize,
    used_connections: BTreeSet<u64>,
    /// Number of turns after the first in which most connections were new.
    new_connection_turns: usize,
}

/// What is wrong with the requests of a turn; `None` if they are correct.
pub(super) fn conduct_fault(
    requests: &[LoggedRequest],
    samples: &[SampleLine],
    expected: &ExpectedRequests,
) -> Option<String> {
    if requests.is_empty() {
        return Some("it requested nothing".to_owned());
    }
    let of_each = requests.iter().find_map(|logged| request_fault(logged, expected));
    let of_all = || ranges_fault(requests, expected.size_bytes?, expected.reading_count);
    of_each.or_else(|| counts_fault(requests, samples)).or_else(of_all)
}

fn request_fault(logged: &LoggedRequest, expected: &ExpectedRequests) -> Option<String> {
    if let Some(refusal) = &logged.refusal {
        return Some(format!("the server refused a request: {refusal}"));
    }
    if logged.was_sent_to_proxy {
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

/// Checks that the counts in samples equal what the server received.
fn counts_fault(requests: &[LoggedRequest], samples: &[SampleLine]) -> Option<String> {
    if samples.iter().any(|sample| sample.retries.is_some_and(|retries| retries > 0)) {
        return Some("it counts retries, and no request failed".to_owned());
    }
    let claimed: Option<u64> = samples.iter().map(|sample| sample.requests).sum();
    claimed
        .filter(|claimed| *claimed != requests.len() as u64)
        .map(|claimed| format!("it counts {claimed} requests, and the server saw {}", requests.len()))
}

/// Checks that every byte is requested exactly once for each reading.
fn ranges_fault(requests: &[LoggedRequest], size: u64, readings: u32) -> Option<String> {
    let mut changes: BTreeMap<u64, i64> = BTreeMap::from([(0, 0), (size, 0)]);
    for logged in requests.iter().filter(|logged| !logged.is_head) {
        let (start, end) = match &logged.range {
            None => (0, size),
            Some(range) => match range_bounds(range, size) {
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
        (from < size && requested != i64::from(readings)).then(|| {
            format!(
                "of {size} bytes, those from {from} on were requested {requested} times in {readings} readings"
            )
        })
    })
}

/// What is wrong with a request of a reading of only this part; `None` if it requests no other bytes.
pub(super) fn part_fault(logged: &LoggedRequest, part: Part) -> Option<String> {
    let asked = part.range();
    let is_within = |range: &String| {
        let bounds = range_bounds(range, u64::MAX);
        bounds.is_some_and(|(start, end)| start >= asked.start && end <= asked.end)
    };
    if logged.is_head || logged.range.as_ref().is_some_and(is_within) {
        return None;
    }
    let range = logged.range.as_deref().unwrap_or("no range");
    Some(format!("of the bytes from {} to {} it requests {range}", asked.start, asked.end))
}

/// The first byte of a range, and the byte after its last.
fn range_bounds(range: &str, size: u64) -> Option<(u64, u64)> {
    let (first, last) = range.trim().strip_prefix("bytes=")?.split_once('-')?;
    match (first, last) {
        ("", last) => Some((size.saturating_sub(last.parse().ok()?), size)),
        (first, "") => Some((first.parse().ok()?, size)),
        (first, last) => Some((first.parse().ok()?, last.parse::<u64>().ok()?.checked_add(1)?)),
    }
}

impl ConnectionHistory {
    /// What is wrong with the connections of a turn with this number of readings, after the earlier
    /// turns of the session. `are_kept` is `None` if the protocol permits kept and new connections.
    /// `count_open` returns how many of the given connections are open.
    pub(super) fn turn_fault(
        &mut self,
        requests: &[LoggedRequest],
        readings: u32,
        are_kept: Option<bool>,
        count_open: impl Fn(&BTreeSet<u64>) -> usize,
    ) -> Option<String> {
        let own: BTreeSet<u64> = requests.iter().map(|logged| logged.connection_number).collect();
        let are_kept = are_kept?;
        let count = own.len();
        let used_before = own.intersection(&self.used_connections).count();
        self.turn_count += 1;
        // A client that keeps and uses its earlier connections may open more connections if it has
        // not noticed yet that one of the earlier connections is free.
        let are_lost =
            used_before == 0 || count_open(&self.used_connections) * 2 < self.used_connections.len();
        self.new_connection_turns += usize::from(self.turn_count > 1 && used_before * 2 < count && are_lost);
        self.used_connections.extend(own);
        match are_kept {
            false if used_before > 0 || count < readings as usize => {
                Some("readings share a connection, which each must make for itself".to_owned())
            }
            true if self.new_connection_turns > NEW_CONNECTION_TURNS_MAX => Some(format!(
                "it keeps no connection: of {count} in turn {}, {} are new",
                self.turn_count,
                count - used_before
            )),
            _ => None,
        }
    }
}

/// Waits until all connections of these requests are closed; `false` if some are still open after
/// [`CLOSE_TIMEOUT`].
pub(super) fn wait_until_closed(pages: &Pages, requests: &[LoggedRequest]) -> bool {
    let own = requests.iter().map(|logged| logged.connection_number).collect();
    let deadline = Instant::now() + CLOSE_TIMEOUT;
    loop {
        if pages.open_connection_count(&own) == 0 {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(CHECK_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETAG: &str = "\"the-etag-1\"";

    fn logged(connection: u64, range: Option<&str>) -> LoggedRequest {
        LoggedRequest {
            connection_number: connection,
            is_head: false,
            range: range.map(str::to_owned),
            if_match: Some(ETAG.to_owned()),
            accept_encoding: None,
            is_signed: false,
            was_sent_to_proxy: false,
            followed_redirect: false,
            refusal: None,
            was_answered_wrongly: false,
        }
    }

    /// What is wrong with one reading of ten bytes by these requests; the sample counts `counted`
    /// requests.
    fn fault_of(requests: &[LoggedRequest], counted: u64) -> Option<String> {
        let sample = format!(r#"{{"say":"sample","wall_ns":1,"requests":{counted},"retries":0}}"#);
        let Ok(readlab_protocol::Message::Sample(sample)) = readlab_protocol::Message::parse(&sample) else {
            panic!("it is a sample")
        };
        let expected = ExpectedRequests {
            etag: Some(ETAG),
            may_be_signed: false,
            reading_count: 1,
            size_bytes: Some(10),
        };
        conduct_fault(requests, &[sample], &expected)
    }

    fn ranges_fault(ranges: &[&str]) -> Option<String> {
        let requests: Vec<LoggedRequest> = ranges.iter().map(|range| logged(0, Some(range))).collect();
        fault_of(&requests, requests.len() as u64)
    }

    #[test]
    fn every_byte_must_be_requested_exactly_once() {
        assert_eq!(fault_of(&[logged(0, None)], 1), None);
        for right in
            [&["bytes=0-9"][..], &["bytes=5-", "bytes=0-4"], &["bytes=0-3", "bytes=4-99"], &["bytes=-10"]]
        {
            assert_eq!(ranges_fault(right), None, "{right:?}");
        }
        let left_out = ranges_fault(&["bytes=0-3", "bytes=5-9"]).unwrap();
        assert!(left_out.contains("from 4 on were requested 0 times in 1 readings"), "{left_out}");
        let twice = ranges_fault(&["bytes=0-5", "bytes=5-9"]).unwrap();
        assert!(twice.contains("from 5 on were requested 2 times"), "{twice}");
        for none in ["bytes=x-", "lines=0-9", "bytes=0-3,5-9"] {
            assert!(ranges_fault(&[none]).unwrap().contains(none));
        }
        // A HEAD request asks for no bytes.
        let head = LoggedRequest { is_head: true, if_match: None, ..logged(0, None) };
        assert_eq!(fault_of(&[head, logged(0, None)], 2), None);
    }

    #[test]
    fn a_request_must_be_direct_unencoded_and_for_the_version() {
        let of = |change: &dyn Fn(&mut LoggedRequest)| {
            let mut request = logged(0, None);
            change(&mut request);
            fault_of(&[request], 1).unwrap_or_default()
        };
        assert!(of(&|it| it.if_match = None).contains("If-Match"));
        assert!(of(&|it| it.accept_encoding = Some("gzip".to_owned())).contains("gzip"));
        assert_eq!(of(&|it| it.accept_encoding = Some("identity".to_owned())), "");
        assert!(of(&|it| it.was_sent_to_proxy = true).contains("proxy"));
        assert!(of(&|it| it.is_signed = true).contains("signed"));
        assert!(of(&|it| it.refusal = Some("why".to_owned())).contains("why"));
        assert!(fault_of(&[logged(0, None)], 2).unwrap().contains("counts 2 requests, and the server saw 1"));
        assert!(fault_of(&[], 0).unwrap().contains("nothing"));
    }

    /// What is wrong with the last of these turns. Each turn has one reading and these connections,
    /// which are closed before the next turn.
    fn connections_fault(turns: &[&[u64]], are_kept: Option<bool>) -> Option<String> {
        last_fault(turns, are_kept, |_| 0)
    }

    fn last_fault(
        turns: &[&[u64]],
        are_kept: Option<bool>,
        count_open: impl Fn(&BTreeSet<u64>) -> usize,
    ) -> Option<String> {
        let mut connections = ConnectionHistory::default();
        let requests = |turn: &[u64]| turn.iter().map(|it| logged(*it, None)).collect::<Vec<_>>();
        let faults =
            turns.iter().map(|turn| connections.turn_fault(&requests(turn), 1, are_kept, &count_open));
        faults.last().flatten()
    }

    #[test]
    fn connections_must_be_kept_or_separate() {
        assert_eq!(connections_fault(&[&[0], &[1, 2], &[3]], Some(false)), None);
        assert!(connections_fault(&[&[0], &[1], &[0]], Some(false)).unwrap().contains("share"));
        assert_eq!(connections_fault(&[&[0], &[0, 1], &[1]], Some(true)), None);
        assert_eq!(connections_fault(&[&[0], &[0], &[0], &[1]], Some(true)), None);
        assert_eq!(connections_fault(&[&[0, 1, 2], &[0, 1, 2, 3], &[1, 3, 4]], Some(true)), None);
        assert_eq!(connections_fault(&[&[0, 1, 2, 3, 4, 5, 6, 7]], Some(true)), None);
        let growing: &[&[u64]] = &[&[0], &[0, 1, 2], &[1, 3, 4]];
        assert!(connections_fault(growing, Some(true)).unwrap().contains("2 are new"));
        assert_eq!(last_fault(growing, Some(true), BTreeSet::len), None, "the earlier ones are open");
        let left_open = last_fault(&[&[0], &[1], &[2]], Some(true), BTreeSet::len).unwrap();
        assert!(left_open.contains("keeps no connection"), "they are open, and not used");
        assert!(connections_fault(&[&[0], &[1], &[2]], Some(true)).unwrap().contains("keeps no connection"));
        assert_eq!(connections_fault(&[&[0], &[1], &[2], &[0]], None), None);
    }
}
