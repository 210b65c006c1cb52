//! Bytes that the next layer reads for a contender: what a program behind a FUSE file system has
//! fetched from devices, and what an NFS server has sent.
//!
//! Counted right before and right after a turn. Both counts hold what all users of that layer read
//! in that time, not one contender. A layer that cannot be counted gives a reason, never 0.

use crate::linux::next_layer;
use crate::target::layers::{self, Layer, LayerKind};

/// What can be counted of the layer below a target's file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextLayer {
    /// `read_bytes` of a process.
    Program {
        /// The process.
        pid: u32,
    },
    /// `serverreadbytes` of the mounts of an NFS export.
    Nfs {
        /// What is mounted.
        source: String,
    },
    /// A layer with a cache that counts nothing that can be seen.
    Uncounted {
        /// Its name.
        name: String,
    },
}

impl NextLayer {
    /// Of a chain; `None` where nothing in it has bytes of its own to count.
    #[must_use]
    pub fn of(chain: &[Layer]) -> Option<NextLayer> {
        if let Some(pid) = layers::process(chain) {
            return Some(NextLayer::Program { pid });
        }
        let at = chain.iter().position(|it| matches!(it.kind, LayerKind::Program | LayerKind::Server))?;
        let name = chain[at].name.clone();
        let is_nfs = at > 0 && chain[at - 1].name == "nfs";
        Some(if is_nfs { NextLayer::Nfs { source: name } } else { NextLayer::Uncounted { name } })
    }

    /// What it has read until now.
    ///
    /// # Errors
    /// Why that is not known, in words.
    pub fn read_bytes(&self) -> Result<u64, String> {
        match self {
            NextLayer::Program { pid } => next_layer::read_by_process(*pid),
            NextLayer::Nfs { source } => next_layer::sent_by_nfs_server(source),
            NextLayer::Uncounted { name } => Err(format!("{name} counts nothing that can be seen from here")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_program_are_counted_or_there_is_a_reason() {
        let own = NextLayer::Program { pid: std::process::id() };
        assert!(own.read_bytes().is_ok());
        assert!(NextLayer::Program { pid: u32::MAX >> 1 }.read_bytes().is_err());
    }

    #[test]
    fn what_is_counted_follows_from_the_chain() {
        let chain = |text: &str| serde_json::from_str::<Vec<Layer>>(text).unwrap();
        let plain = chain(r#"[{"kind":"filesystem","name":"ext4"},{"kind":"device","name":"vda"}]"#);
        assert_eq!(NextLayer::of(&plain), None);
        let served = |filesystem: &str, process: &str| {
            let below = format!(r#"{{"kind":"server","name":"nas:/x"{process}}}"#);
            chain(&format!(r#"[{{"kind":"filesystem","name":"{filesystem}"}},{below}]"#))
        };
        let nfs = NextLayer::Nfs { source: "nas:/x".to_owned() };
        assert_eq!(NextLayer::of(&served("nfs", "")), Some(nfs));
        let cifs = NextLayer::of(&served("cifs", "")).unwrap();
        assert!(cifs.read_bytes().unwrap_err().starts_with("nas:/x counts nothing"));
        let program = served("fuse", r#","process":12"#);
        assert_eq!(NextLayer::of(&program), Some(NextLayer::Program { pid: 12 }));
    }
}
