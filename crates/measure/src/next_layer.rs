//! Bytes of the next layer, which is a server or the program behind a FUSE file system: the bytes
//! that the layer read for its users, and all bytes that arrived from the server, or at the
//! program, during a reading.
//!
//! The counters are read right before and right after a turn. They count the bytes of all users of
//! the layer during that time, not of one contender. A low count proves that bytes did not come; a
//! high count does not prove that bytes came for this reading. If a layer has no counters, the
//! result is a reason, never 0.

use readlab_model::target::cold_bytes::min_fetched_bytes;
use readlab_model::target::layers::{self, Layer, LayerKind};
use readlab_system::next_layer;
use readlab_targets::target::filesystem::{RemoteCounter, remote_counter};

/// Divisor of a file's size. A program may decode its input, so it may read fewer bytes than the
/// file has. If it got fewer bytes than the quotient, it answered from its memory.
const PROGRAM_BYTES_DIVISOR: u64 = 100;

/// Divisor of a file's size. If at least the quotient arrived during a warm reading, the bytes did
/// not come from the cache. The quotient is large, because network interfaces also count bytes that
/// other programs receive.
const WARM_BYTES_DIVISOR: u64 = 2;

/// The countable layer below a target's file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextLayer {
    /// The process that serves a FUSE file system. The bytes that it read are its `read_bytes` in
    /// `/proc/PID/io`. The bytes that arrived are the sum of `read_bytes`, of `rchar`, and of bytes
    /// received by network interfaces, because `rchar` does not include every kind of receiving.
    Program { pid: u32 },
    /// A server, or another layer with a cache. `counter` is what counts its bytes, and `source`
    /// its name, such as `nas:/x`.
    Remote { counter: RemoteCounter, source: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerBytes {
    /// Bytes that the layer read for its users, from devices or a server.
    pub read_bytes: Result<u64, String>,
    pub arrived_bytes: Result<u64, String>,
}

impl LayerBytes {
    pub fn increase_until(self, after: LayerBytes) -> LayerBytes {
        LayerBytes {
            read_bytes: count_difference(self.read_bytes, after.read_bytes),
            arrived_bytes: count_difference(self.arrived_bytes, after.arrived_bytes),
        }
    }
}

impl NextLayer {
    /// Finds the layer in a chain; `None` if no layer of the chain has bytes to count.
    pub fn find(chain: &[Layer]) -> Option<NextLayer> {
        if let Some(pid) = layers::serving_process(chain) {
            return Some(NextLayer::Program { pid });
        }
        let at = chain.iter().position(|it| matches!(it.kind, LayerKind::Program | LayerKind::Server))?;
        let filesystem = at.checked_sub(1).map_or("", |at| chain[at].name.as_str());
        let counter = remote_counter(filesystem).unwrap_or(RemoteCounter::Nothing);
        Some(NextLayer::Remote { counter, source: chain[at].name.clone() })
    }

    /// The layer's counters now; a counter that cannot be read gives the reason.
    pub fn read_counters(&self) -> LayerBytes {
        let same = |read: Result<u64, String>| LayerBytes { arrived_bytes: read.clone(), read_bytes: read };
        let (counter, source) = match self {
            NextLayer::Program { pid } => return read_program_counters(*pid),
            NextLayer::Remote { counter, source } => (counter, source),
        };
        match counter {
            RemoteCounter::Nfs => same(next_layer::bytes_sent_by_nfs_server(source)),
            RemoteCounter::Lustre => with_received_estimate(next_layer::bytes_read_from_lustre()),
            RemoteCounter::Ceph => with_received_estimate(next_layer::bytes_read_from_ceph()),
            RemoteCounter::Interfaces => with_received_estimate(Err(no_counters(source))),
            RemoteCounter::Nothing => same(Err(no_counters(source))),
        }
    }

    /// Why a reading of `size_bytes` was not cold: too few bytes arrived. `None` if enough arrived,
    /// or if the number is not known.
    pub fn why_not_cold(&self, size_bytes: u64, counted: &LayerBytes) -> Option<String> {
        let least = match self {
            NextLayer::Program { .. } => size_bytes.div_ceil(PROGRAM_BYTES_DIVISOR),
            NextLayer::Remote { counter: RemoteCounter::Nothing, .. } => return None,
            NextLayer::Remote { .. } => min_fetched_bytes(size_bytes),
        };
        let arrived = *counted.arrived_bytes.as_ref().ok()?;
        (arrived < least).then(|| match self {
            NextLayer::Program { pid } => format!(
                "the program that serves the file, process {pid}, got {arrived} bytes of {size_bytes}: it has a cache of its own"
            ),
            _ if counted.read_bytes.is_err() => format!(
                "the network's interfaces received {arrived} bytes of {size_bytes} (an estimate): the rest came from a cache"
            ),
            _ => format!("{arrived} bytes of {size_bytes} came over the network: the rest came from a cache"),
        })
    }

    /// Why a reading of `size_bytes` was not warm: too many bytes arrived. `None` if few arrived,
    /// or if the number is not known.
    pub fn why_not_warm(&self, size_bytes: u64, counted: &LayerBytes) -> Option<String> {
        let arrived = *counted.arrived_bytes.as_ref().ok()?;
        (arrived >= size_bytes.div_ceil(WARM_BYTES_DIVISOR)).then(|| match self {
            NextLayer::Program { pid } => format!(
                "the program that serves the file, process {pid}, got {arrived} bytes during the reading of {size_bytes}"
            ),
            _ => format!("{arrived} bytes came over the network during the reading of {size_bytes}"),
        })
    }
}

/// A count of read bytes is also the number of bytes that arrived. Without a count, all bytes that
/// the network interfaces received are an estimate of that number.
fn with_received_estimate(read: Result<u64, String>) -> LayerBytes {
    let arrived = read.clone().or_else(|_| next_layer::bytes_received_by_interfaces(None));
    LayerBytes { read_bytes: read, arrived_bytes: arrived }
}

/// Counters of a program. The arrived bytes are the sum over all kinds of I/O that bring bytes to a
/// process.
fn read_program_counters(pid: u32) -> LayerBytes {
    let io = next_layer::io_bytes_of_process(pid);
    let read = io.clone().map(|io| io.read_from_devices);
    let received = next_layer::bytes_received_by_interfaces(Some(pid));
    let arrived = io.and_then(|io| Ok(io.read_by_calls + io.read_from_devices + received?));
    LayerBytes { read_bytes: read, arrived_bytes: arrived }
}

pub(super) fn count_difference(
    before: Result<u64, String>,
    after: Result<u64, String>,
) -> Result<u64, String> {
    Ok(after?.saturating_sub(before?))
}

fn no_counters(name: &str) -> String {
    format!("{name} counts nothing that can be seen from here")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_program_are_counted_or_there_is_a_reason() {
        let own = NextLayer::Program { pid: std::process::id() }.read_counters();
        assert!(own.read_bytes.is_ok() && own.arrived_bytes.is_ok(), "{own:?}");
        assert!(NextLayer::Program { pid: u32::MAX >> 1 }.read_counters().arrived_bytes.is_err());
    }

    fn remote_layer(counter: RemoteCounter) -> NextLayer {
        NextLayer::Remote { counter, source: "nas:/x".to_owned() }
    }

    #[test]
    fn the_countable_layer_follows_from_the_chain() {
        let chain = |text: &str| serde_json::from_str::<Vec<Layer>>(text).unwrap();
        let plain = chain(r#"[{"kind":"filesystem","name":"ext4"},{"kind":"device","name":"vda"}]"#);
        assert_eq!(NextLayer::find(&plain), None);
        let served = |filesystem: &str, process: &str| {
            let below = format!(r#"{{"kind":"server","name":"nas:/x"{process}}}"#);
            NextLayer::find(&chain(&format!(r#"[{{"kind":"filesystem","name":"{filesystem}"}},{below}]"#)))
        };
        assert_eq!(served("nfs", ""), Some(remote_layer(RemoteCounter::Nfs)));
        assert_eq!(served("lustre", ""), Some(remote_layer(RemoteCounter::Lustre)));
        assert_eq!(served("ceph", ""), Some(remote_layer(RemoteCounter::Ceph)));
        let cifs = served("cifs", "").unwrap().read_counters();
        assert!(cifs.read_bytes.unwrap_err().starts_with("nas:/x counts nothing"));
        assert!(cifs.arrived_bytes.is_ok(), "interfaces count");
        // A virtiofs host is not reached by a network interface.
        assert_eq!(served("virtiofs", ""), Some(remote_layer(RemoteCounter::Nothing)));
        assert_eq!(served("fuse", r#","process":12"#), Some(NextLayer::Program { pid: 12 }));
    }

    fn layer_bytes(arrived: u64) -> LayerBytes {
        LayerBytes { read_bytes: Ok(0), arrived_bytes: Ok(arrived) }
    }

    #[test]
    fn too_few_cold_or_too_many_warm_bytes_are_reported_with_both_numbers() {
        let nfs = remote_layer(RemoteCounter::Nfs);
        assert_eq!(nfs.why_not_cold(1000, &layer_bytes(990)), None);
        let why = nfs.why_not_cold(1000, &layer_bytes(989)).unwrap();
        assert_eq!(why, "989 bytes of 1000 came over the network: the rest came from a cache");
        let program = NextLayer::Program { pid: 7 };
        assert_eq!(program.why_not_cold(1000, &layer_bytes(10)), None, "it may decode what it reads");
        assert!(program.why_not_cold(1000, &layer_bytes(9)).unwrap().contains("it has a cache of its own"));
        let estimate = LayerBytes { read_bytes: Err(String::new()), ..layer_bytes(5) };
        let network = remote_layer(RemoteCounter::Interfaces);
        assert!(network.why_not_cold(1000, &estimate).unwrap().contains("5 bytes of 1000 (an estimate)"));
        assert_eq!(program.why_not_warm(1000, &layer_bytes(499)), None);
        let why = program.why_not_warm(1000, &layer_bytes(500)).unwrap();
        assert!(why.ends_with("process 7, got 500 bytes during the reading of 1000"), "{why}");
        let unknown = LayerBytes { arrived_bytes: Err(String::new()), ..layer_bytes(0) };
        assert_eq!((nfs.why_not_cold(1000, &unknown), program.why_not_warm(1000, &unknown)), (None, None));
    }

    #[test]
    fn the_difference_of_two_counts_is_what_was_added() {
        let gone = || Err("gone".to_owned());
        let before = LayerBytes { read_bytes: Ok(5), arrived_bytes: Ok(7) };
        let between = before.increase_until(LayerBytes { read_bytes: Ok(8), arrived_bytes: gone() });
        assert_eq!(between, LayerBytes { read_bytes: Ok(3), arrived_bytes: gone() });
    }
}
