//! What a file's bytes pass through on their way from where they are stored: file systems, overlays, mapped and loop devices,
//! files behind those, programs and servers; and which of these have a cache below the page cache of the file itself.
//!
//! Data and its words. How the chain is found lives in `walk`, what /proc/self/mountinfo says in [`mountinfo`]; what can be
//! evicted is evicted in [`crate::measure::cache`].

pub mod mountinfo;
mod walk;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use walk::{Chain, System};

/// One thing that a file's bytes pass through. A chain begins with the file system of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// What it is.
    pub kind: LayerKind,
    /// Its name: `ext4`, `loop0`, a path.
    pub name: String,
    /// What becomes of its cache before a cold reading; `None` where it has none that is known of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<LayerCache>,
    /// The process that serves it, where that can be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
}

/// What a layer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// A file system that stores files itself.
    Filesystem,
    /// A file system that shows the files of others.
    Overlay,
    /// A file behind a loop device, or in a layer of an overlay.
    File,
    /// A block device made of others: device mapper, RAID.
    Mapped,
    /// A block device that is a file.
    Loop,
    /// A block device, or a part of one.
    Device,
    /// Memory, with nothing behind it.
    Memory,
    /// A program of this machine.
    Program,
    /// Another machine, or the host of this one.
    Server,
    /// Something that cannot be seen from here.
    Unseen,
}

/// What becomes of a layer's cache before a cold reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "before_cold", rename_all = "snake_case")]
pub enum LayerCache {
    /// It is evicted, and proven to be, as the file's own pages are.
    Evicted,
    /// It stays as it is.
    Remains {
        /// The cache by name, such as `the page cache of /images/a (loop0, no direct I/O)`.
        what: String,
        /// Why it cannot be evicted.
        why: String,
    },
}

impl Layer {
    fn new(kind: LayerKind, name: impl Into<String>) -> Layer {
        Layer { kind, name: name.into(), cache: None, process: None }
    }

    /// The same with a cache that stays.
    fn remains(self, what: impl Into<String>, why: impl Into<String>) -> Layer {
        Layer { cache: Some(LayerCache::Remains { what: what.into(), why: why.into() }), ..self }
    }

    /// The same with a cache that is evicted.
    fn evicted(self) -> Layer {
        Layer { cache: Some(LayerCache::Evicted), ..self }
    }
}

/// The caches that stay when a file is made cold, by name; `None` where there is none.
#[must_use]
pub fn cold_above(layers: &[Layer]) -> Option<String> {
    let remaining: Vec<&str> = remaining(layers).map(|(what, _)| what).collect();
    (!remaining.is_empty()).then(|| remaining.join(" and "))
}

/// A caution about each cache that stays.
#[must_use]
pub fn cautions(layers: &[Layer]) -> Vec<String> {
    let caution = |(what, why): (&str, &str)| {
        format!(
            "Cold is cold above a cache here, {what}, which is not evicted ({why}): cold readings may come from there, and \
             none of them is held against a device."
        )
    };
    remaining(layers).map(caution).collect()
}

fn remaining(layers: &[Layer]) -> impl Iterator<Item = (&str, &str)> {
    layers.iter().filter_map(|layer| match &layer.cache {
        Some(LayerCache::Remains { what, why }) => Some((what.as_str(), why.as_str())),
        _ => None,
    })
}

/// The chain in one line, such as `ext4 → loop0 → /images/a (evicted too) → ext4 → vda`; `None` where nothing lies between a
/// file system and its device.
#[must_use]
pub fn words(layers: &[Layer]) -> Option<String> {
    let plain = |layer: &Layer| {
        matches!(layer.kind, LayerKind::Filesystem | LayerKind::Device) && layer.cache.is_none()
    };
    let word = |layer: &Layer| match layer.cache {
        Some(LayerCache::Evicted) => format!("{} (evicted too)", layer.name),
        Some(LayerCache::Remains { .. }) => format!("{} (not evicted)", layer.name),
        None => layer.name.clone(),
    };
    let told = !layers.iter().all(plain);
    told.then(|| layers.iter().map(word).collect::<Vec<_>>().join(" → "))
}

/// What serves the bytes and can be asked how many of them it read itself.
#[must_use]
pub fn process(layers: &[Layer]) -> Option<u32> {
    layers.iter().find_map(|layer| layer.process)
}

/// The files whose pages in memory lie below those of a target, the nearest first.
pub type Evictable = Vec<PathBuf>;

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> Vec<Layer> {
        vec![
            Layer::new(LayerKind::Filesystem, "ext4"),
            Layer::new(LayerKind::Loop, "loop0"),
            Layer::new(LayerKind::File, "/images/a").evicted(),
            Layer::new(LayerKind::Filesystem, "ext4"),
            Layer::new(LayerKind::Device, "vda"),
        ]
    }

    #[test]
    fn a_plain_file_system_on_its_device_is_not_worth_a_line() {
        let plain = [Layer::new(LayerKind::Filesystem, "ext4"), Layer::new(LayerKind::Device, "vda")];
        assert_eq!((words(&plain), cold_above(&plain), cautions(&plain)), (None, None, vec![]));
    }

    #[test]
    fn what_is_evicted_too_needs_no_caution_and_stands_in_the_chain() {
        let chain = chain();
        assert_eq!(words(&chain).unwrap(), "ext4 → loop0 → /images/a (evicted too) → ext4 → vda");
        assert_eq!((cold_above(&chain), cautions(&chain)), (None, vec![]));
    }

    #[test]
    fn what_stays_is_named_with_its_reason() {
        let mut chain = chain();
        chain[2] =
            Layer::new(LayerKind::File, "/images/a").remains("the page cache of /images/a", "it was deleted");
        chain.push(Layer::new(LayerKind::Server, "nas").remains("the server of nas", "it is elsewhere"));
        assert_eq!(cold_above(&chain).unwrap(), "the page cache of /images/a and the server of nas");
        let cautions = cautions(&chain);
        assert!(cautions.len() == 2 && cautions[0].contains("it was deleted"), "{cautions:?}");
        assert!(words(&chain).unwrap().contains("/images/a (not evicted)"));
    }

    #[test]
    fn a_chain_is_read_back_as_it_was_written() {
        let chain = chain();
        let text = serde_json::to_string(&chain).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Layer>>(&text).unwrap(), chain);
    }
}
