//! Bytes of the next layer: what a program behind a FUSE file system has fetched from devices, what
//! a server has sent, and what has arrived there at all for a reading.
//!
//! Counted right before and right after a turn. All counts hold what all users of that layer read
//! in that time, not one contender: they show that bytes did not come, never that they came for
//! this reading alone. A layer that cannot be counted gives a reason, never 0.

use readlab_model::target::cold_bytes::least_fetched;
use readlab_model::target::layers::{self, Layer, LayerKind};
use readlab_system::next_layer;

/// A program may decode what it reads: with less than a hundredth of a file read from files,
/// devices and the network, it answered from its memory.
const PROGRAM_SHARE: u64 = 100;

/// With half of a file arriving during a warm reading, it was not read from the cache. Interfaces
/// count what others receive, too.
const WARM_SHARE: u64 = 2;

/// What can be counted of the layer below a target's file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextLayer {
    /// `read_bytes` of a process. What reached it at all is the sum of that, of `rchar`, and of
    /// what the interfaces of the network received: not every way of receiving is in `rchar`.
    Program { pid: u32 },
    /// `serverreadbytes` of the mounts of an NFS export.
    Nfs { source: String },
    /// `read_bytes` of the clients of Lustre's object storage.
    Lustre,
    /// The size of what CephFS has read from its storage.
    Ceph,
    /// Another network file system, of which only the network's interfaces show something.
    Network { source: String },
    /// A layer with a cache that counts nothing that can be seen.
    Uncounted { name: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerBytes {
    /// What it read for its users, from devices or a server.
    pub read: Result<u64, String>,
    /// Everything that has arrived there, from wherever.
    pub arrived: Result<u64, String>,
}

impl LayerBytes {
    pub fn until(self, after: LayerBytes) -> LayerBytes {
        LayerBytes { read: since(self.read, after.read), arrived: since(self.arrived, after.arrived) }
    }
}

impl NextLayer {
    /// Of a chain; `None` where nothing in it has bytes of its own to count.
    pub fn find(chain: &[Layer]) -> Option<NextLayer> {
        if let Some(pid) = layers::process(chain) {
            return Some(NextLayer::Program { pid });
        }
        let at = chain.iter().position(|it| matches!(it.kind, LayerKind::Program | LayerKind::Server))?;
        let name = chain[at].name.clone();
        let filesystem = at.checked_sub(1).map_or("", |at| chain[at].name.as_str());
        Some(match filesystem {
            "nfs" => NextLayer::Nfs { source: name },
            "lustre" => NextLayer::Lustre,
            "ceph" => NextLayer::Ceph,
            "cifs" | "smb2" | "smb" | "afs" | "coda" => NextLayer::Network { source: name },
            _ => NextLayer::Uncounted { name },
        })
    }

    /// What it has counted until now; each count may have a reason instead.
    pub fn count(&self) -> LayerBytes {
        let same = |read: Result<u64, String>| LayerBytes { arrived: read.clone(), read };
        match self {
            NextLayer::Program { pid } => count_program(*pid),
            NextLayer::Nfs { source } => same(next_layer::sent_by_nfs_server(source)),
            NextLayer::Lustre => or_received(next_layer::read_by_lustre()),
            NextLayer::Ceph => or_received(next_layer::read_by_ceph()),
            NextLayer::Network { source } => or_received(Err(nothing_seen(source))),
            NextLayer::Uncounted { name } => same(Err(nothing_seen(name))),
        }
    }

    /// Why a cold reading of so many bytes is none: less arrived here than must have; `None` if
    /// enough did, or nothing is known.
    pub fn too_little(&self, size_bytes: u64, counted: &LayerBytes) -> Option<String> {
        let least = match self {
            NextLayer::Program { .. } => size_bytes.div_ceil(PROGRAM_SHARE),
            NextLayer::Uncounted { .. } => return None,
            _ => least_fetched(size_bytes),
        };
        let arrived = *counted.arrived.as_ref().ok()?;
        (arrived < least).then(|| match self {
            NextLayer::Program { pid } => format!(
                "the program that serves the file, process {pid}, got {arrived} bytes of {size_bytes}: it has a cache of its own"
            ),
            _ if counted.read.is_err() => format!(
                "the network's interfaces received {arrived} bytes of {size_bytes} (an estimate): the rest came from a cache"
            ),
            _ => format!("{arrived} bytes of {size_bytes} came over the network: the rest came from a cache"),
        })
    }

    /// Why a warm reading of so many bytes is none: they arrived here meanwhile.
    pub fn too_much(&self, size_bytes: u64, counted: &LayerBytes) -> Option<String> {
        let arrived = *counted.arrived.as_ref().ok()?;
        (arrived >= size_bytes.div_ceil(WARM_SHARE)).then(|| match self {
            NextLayer::Program { pid } => format!(
                "the program that serves the file, process {pid}, got {arrived} bytes during the reading of {size_bytes}"
            ),
            _ => format!("{arrived} bytes came over the network during the reading of {size_bytes}"),
        })
    }
}

/// A count, or where there is none, an estimate of what arrived: all that the interfaces of the
/// network received.
fn or_received(read: Result<u64, String>) -> LayerBytes {
    let arrived = read.clone().or_else(|_| next_layer::received_by_interfaces(None));
    LayerBytes { read, arrived }
}

/// The sum of all ways by which bytes reach a process, so that none of them is missed.
fn count_program(pid: u32) -> LayerBytes {
    let io = next_layer::read_by_process(pid);
    let read = io.clone().map(|io| io.from_devices);
    let received = next_layer::received_by_interfaces(Some(pid));
    let arrived = io.and_then(|io| Ok(io.through_calls + io.from_devices + received?));
    LayerBytes { read, arrived }
}

/// Between two counts.
pub(super) fn since(before: Result<u64, String>, after: Result<u64, String>) -> Result<u64, String> {
    Ok(after?.saturating_sub(before?))
}

fn nothing_seen(name: &str) -> String {
    format!("{name} counts nothing that can be seen from here")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_program_are_counted_or_there_is_a_reason() {
        let own = NextLayer::Program { pid: std::process::id() }.count();
        assert!(own.read.is_ok() && own.arrived.is_ok(), "{own:?}");
        assert!(NextLayer::Program { pid: u32::MAX >> 1 }.count().arrived.is_err());
    }

    #[test]
    fn what_is_counted_follows_from_the_chain() {
        let chain = |text: &str| serde_json::from_str::<Vec<Layer>>(text).unwrap();
        let plain = chain(r#"[{"kind":"filesystem","name":"ext4"},{"kind":"device","name":"vda"}]"#);
        assert_eq!(NextLayer::find(&plain), None);
        let served = |filesystem: &str, process: &str| {
            let below = format!(r#"{{"kind":"server","name":"nas:/x"{process}}}"#);
            NextLayer::find(&chain(&format!(r#"[{{"kind":"filesystem","name":"{filesystem}"}},{below}]"#)))
        };
        assert_eq!(served("nfs", ""), Some(NextLayer::Nfs { source: "nas:/x".to_owned() }));
        assert_eq!(served("lustre", ""), Some(NextLayer::Lustre));
        assert_eq!(served("ceph", ""), Some(NextLayer::Ceph));
        let cifs = served("cifs", "").unwrap().count();
        assert!(cifs.read.unwrap_err().starts_with("nas:/x counts nothing"));
        assert!(cifs.arrived.is_ok(), "interfaces count");
        // The host's folders come over no interface.
        assert_eq!(served("virtiofs", ""), Some(NextLayer::Uncounted { name: "nas:/x".to_owned() }));
        assert_eq!(served("fuse", r#","process":12"#), Some(NextLayer::Program { pid: 12 }));
    }

    fn counted(arrived: u64) -> LayerBytes {
        LayerBytes { read: Ok(0), arrived: Ok(arrived) }
    }

    #[test]
    fn less_or_more_than_must_have_arrived_is_told_with_both_numbers() {
        let nfs = NextLayer::Nfs { source: "nas:/x".to_owned() };
        assert_eq!(nfs.too_little(1000, &counted(990)), None);
        let why = nfs.too_little(1000, &counted(989)).unwrap();
        assert_eq!(why, "989 bytes of 1000 came over the network: the rest came from a cache");
        let program = NextLayer::Program { pid: 7 };
        assert_eq!(program.too_little(1000, &counted(10)), None, "it may decode what it reads");
        assert!(program.too_little(1000, &counted(9)).unwrap().contains("it has a cache of its own"));
        let estimate = LayerBytes { read: Err(String::new()), ..counted(5) };
        let network = NextLayer::Network { source: "nas".to_owned() };
        assert!(network.too_little(1000, &estimate).unwrap().contains("5 bytes of 1000 (an estimate)"));
        assert_eq!(program.too_much(1000, &counted(499)), None);
        let why = program.too_much(1000, &counted(500)).unwrap();
        assert!(why.ends_with("process 7, got 500 bytes during the reading of 1000"), "{why}");
        let unknown = LayerBytes { arrived: Err(String::new()), ..counted(0) };
        assert_eq!((nfs.too_little(1000, &unknown), program.too_much(1000, &unknown)), (None, None));
    }

    #[test]
    fn between_two_counts_is_what_was_added() {
        let gone = || Err("gone".to_owned());
        let before = LayerBytes { read: Ok(5), arrived: Ok(7) };
        let between = before.until(LayerBytes { read: Ok(8), arrived: gone() });
        assert_eq!(between, LayerBytes { read: Ok(3), arrived: gone() });
    }
}
