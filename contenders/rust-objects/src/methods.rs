//! The list of all methods, in the order of reports: names, parameters and one sentence each.

use crate::{objects, urls};
use object_store::OBJECT_STORE_COALESCE_DEFAULT;
use readlab_protocol::contender::{Job, Method, ReadTarget};
use readlab_protocol::serve::Refusal;
use readlab_protocol::setting::Param;
use readlab_protocol::{Cache, Reads, Work};

/// The size of a range.
pub(crate) const PART: Param = Param::new("part_bytes", 8 << 20, 64 << 10, 1 << 30);
/// Number of ranges that are requested at once.
pub(crate) const CONCURRENCY: Param = Param::new("concurrency", 8, 1, 256);
/// The size of the ranges that object_store joins into one request.
pub(crate) const SMALL_PART: Param = Param::new("part_bytes", 1 << 20, 64 << 10, 1 << 30);
/// The largest size of a joined request. It is that of a range of the method `ranged`. So with the
/// defaults both methods request the same ranges, and this one first requests the size of the
/// object.
pub(crate) const COALESCE: Param = Param::new("coalesce_bytes", 8 << 20, 64 << 10, 1 << 30);
/// Largest gap between two ranges of a list that object_store joins into one request; the default is
/// that of `get_ranges`.
pub(crate) const MERGE: Param = Param::new("merge_bytes", OBJECT_STORE_COALESCE_DEFAULT, 0, 1 << 30);
/// Whether the client and its connections stay open. A store is meant to be made once.
pub(crate) const KEPT: Param = Param::new("kept", 1, 0, 1);
/// By default a URL is read over a new connection, as by the other contenders.
pub(crate) const KEPT_URL: Param = Param::new("kept", 0, 0, 1);
pub(crate) const HTTP: Param = Param::new("http", 1, 1, 2);

/// All works but lines, which may begin before a range.
const IN_ANY_ORDER: &[Work] = &[Work::Newlines, Work::Sum, Work::Discard];

/// Makes a method for objects or for URLs. Objects are always read with encryption, too.
fn method(
    name: &'static str,
    about: &'static str,
    reads: Reads,
    works: &'static [Work],
    params: Vec<Param>,
    open: fn(Job) -> Result<Box<dyn ReadTarget>, Refusal>,
) -> Method {
    let (cache, tls) = (Cache::Through, reads == Reads::Url);
    Method { name, about, works, cache, reads, ranges: false, tls, params, available: || Ok(()), open }
}

pub(crate) fn all() -> Vec<Method> {
    vec![
        method(
            "get",
            "object_store: get, then bytes of the result, the whole object in memory",
            Reads::Object,
            &Work::OF_BYTES,
            vec![KEPT],
            objects::open::<objects::Get>,
        ),
        method(
            "stream",
            "object_store: get, then into_stream of the result, visited piece by piece",
            Reads::Object,
            &Work::OF_BYTES,
            vec![KEPT],
            objects::open::<objects::StreamedReader>,
        ),
        method(
            "ranged",
            "object_store: get_opts of each range, several at once by buffer_unordered",
            Reads::Object,
            IN_ANY_ORDER,
            vec![CONCURRENCY, KEPT, PART],
            objects::open::<objects::RangedReader>,
        ),
        method(
            "coalesced",
            "object_store: coalesce_ranges as in get_ranges, which makes one request of the ranges within \
             coalesce_bytes; several at once by buffer_unordered",
            Reads::Object,
            IN_ANY_ORDER,
            vec![COALESCE, CONCURRENCY, KEPT, SMALL_PART],
            objects::open::<objects::CoalescedReader>,
        ),
        Method {
            ranges: true,
            ..method(
                "get_ranges",
                "object_store: coalesce_ranges as in get_ranges of the ranges of a list, which makes one request of \
                 those with at most merge between them, up to 10 at once",
                Reads::Object,
                IN_ANY_ORDER,
                vec![KEPT, MERGE],
                objects::open::<objects::ListedRangesReader>,
            )
        },
        method(
            "reqwest",
            "GET by the crate reqwest, the body visited piece by piece",
            Reads::Url,
            &Work::OF_BYTES,
            vec![HTTP, KEPT_URL],
            urls::open::<urls::StreamedReader>,
        ),
        method(
            "reqwest-ranged",
            "GET of each range by the crate reqwest in a task of its own, several at once, visited piece by piece",
            Reads::Url,
            IN_ANY_ORDER,
            vec![CONCURRENCY, HTTP, KEPT_URL, PART],
            urls::open::<urls::RangedReader>,
        ),
    ]
}
