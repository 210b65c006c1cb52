//! The layers below a file: file systems, overlays, mapped and loop devices, the files that back
//! them, programs and servers. Some layers have a cache below the page cache of the file.
//!
//! This file defines the layers and their descriptions. `targets` finds the layers, and
//! `measure::cache` evicts those caches that it can evict.

use super::device::IoQuota;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One layer below a file. The first layer of a chain is the file system of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Layer {
    pub kind: LayerKind,
    pub name: String,
    /// What happens to the layer's cache before a cold reading; `None` if the layer has no known
    /// cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<LayerCache>,
    /// The process that serves the layer, if it is visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "process")]
    pub process_id: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// A file system that stores files itself.
    Filesystem,
    /// A file system that shows the files of others.
    Overlay,
    /// A file that backs a loop device, or a file in a layer of an overlay.
    File,
    /// A block device made of others: device mapper, RAID.
    Mapped,
    /// A loop device: a block device whose content is a file.
    Loop,
    /// A block device, or a part of one.
    Device,
    /// Memory, for example tmpfs; there is no device behind it.
    Memory,
    /// A program of this machine that serves a file system or a block device.
    Program,
    /// Another machine, or the host of this one.
    Server,
    /// A layer that is not visible from here.
    #[serde(rename = "unseen")]
    NotVisible,
}

/// What happens to a layer's cache before a cold reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "before_cold", rename_all = "snake_case")]
pub enum LayerCache {
    /// The cache is evicted, and the eviction is proven as for the file's own pages.
    Evicted,
    Remains {
        /// The cache by name, such as `the page cache of /images/a (loop0, no direct I/O)`.
        what: String,
        why: String,
    },
}

impl Layer {
    pub fn new(kind: LayerKind, name: impl Into<String>) -> Layer {
        Layer { kind, name: name.into(), cache: None, process_id: None }
    }

    /// Marks the layer as having a cache that readlab cannot evict.
    pub fn with_unevictable_cache(self, what: impl Into<String>, why: impl Into<String>) -> Layer {
        Layer { cache: Some(LayerCache::Remains { what: what.into(), why: why.into() }), ..self }
    }

    pub fn with_evicted_cache(self) -> Layer {
        Layer { cache: Some(LayerCache::Evicted), ..self }
    }

    /// True for a file system or a device without a cache. Every file has such layers below it.
    fn is_plain(&self) -> bool {
        matches!(self.kind, LayerKind::Filesystem | LayerKind::Device) && self.cache.is_none()
    }

    fn words(&self) -> String {
        match self.cache {
            Some(LayerCache::Evicted) => format!("{} (evicted too)", self.name),
            Some(LayerCache::Remains { .. }) => format!("{} (not evicted)", self.name),
            None => self.name.clone(),
        }
    }
}

/// The layer that holds the bytes of a file, behind any overlays that show the file: an overlay has no
/// cached pages beside those of the file that it shows.
pub fn layer_of_bytes(layers: &[Layer]) -> Option<&Layer> {
    layers.iter().find(|layer| !matches!(layer.kind, LayerKind::Overlay | LayerKind::File))
}

/// The names of the caches that stay filled when a file is made cold; `None` if there are none.
pub fn unevictable_cache_names(layers: &[Layer]) -> Option<String> {
    let remaining: Vec<&str> =
        layers.iter().filter_map(|layer| layer.cache.as_ref()?.unevictable_name()).collect();
    (!remaining.is_empty()).then(|| remaining.join(" and "))
}

pub fn cautions(layers: &[Layer]) -> Vec<String> {
    layers.iter().filter_map(|layer| layer.cache.as_ref()?.caution()).collect()
}

impl LayerCache {
    /// The cache's name if it stays filled before a cold reading; `None` if it is evicted.
    fn unevictable_name(&self) -> Option<&str> {
        match self {
            LayerCache::Remains { what, .. } => Some(what),
            LayerCache::Evicted => None,
        }
    }

    fn caution(&self) -> Option<String> {
        let LayerCache::Remains { what, why } = self else { return None };
        Some(format!(
            "Cold is cold above a cache here, {what}, which is not evicted ({why}): cold readings may come from there, \
             so none of them is compared with a device."
        ))
    }
}

/// The chain in one line, such as `ext4 → loop0 → /images/a (evicted too) → ext4 → vda`; `None` if
/// there is nothing between the file system and its device.
pub fn words(layers: &[Layer]) -> Option<String> {
    let words = || layers.iter().map(Layer::words).collect::<Vec<_>>().join(" → ");
    (!layers.iter().all(Layer::is_plain)).then(words)
}

/// The quotas that apply to a device of the chain.
pub fn io_quotas(layers: &[Layer], all: Vec<IoQuota>) -> Vec<IoQuota> {
    // A layer's name may continue with words after the device's name, so only its first word is
    // compared.
    let is_below = |quota: &IoQuota| {
        layers.iter().any(|layer| layer.name.split(' ').next() == Some(quota.device.as_str()))
    };
    all.into_iter().filter(is_below).collect()
}

/// The process that serves the bytes, whose own reads are counted; `None` if no layer has a visible
/// process.
pub fn serving_process(layers: &[Layer]) -> Option<u32> {
    layers.iter().find_map(|layer| layer.process_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TargetFacts;
    use crate::target::device::Device;

    fn chain() -> Vec<Layer> {
        vec![
            Layer::new(LayerKind::Filesystem, "ext4"),
            Layer::new(LayerKind::Loop, "loop0"),
            Layer::new(LayerKind::File, "/images/a").with_evicted_cache(),
            Layer::new(LayerKind::Filesystem, "ext4"),
            Layer::new(LayerKind::Device, "vda"),
        ]
    }

    #[test]
    fn a_plain_file_system_on_its_device_needs_no_description_and_no_caution() {
        let plain = [Layer::new(LayerKind::Filesystem, "ext4"), Layer::new(LayerKind::Device, "vda")];
        assert_eq!((words(&plain), unevictable_cache_names(&plain), cautions(&plain)), (None, None, vec![]));
    }

    #[test]
    fn the_bytes_of_a_file_are_in_the_first_layer_that_does_not_only_show_it() {
        let [overlay, file, memory] =
            [LayerKind::Overlay, LayerKind::File, LayerKind::Memory].map(|kind| Layer::new(kind, ""));
        let shown = [overlay.clone(), file.clone(), overlay.clone(), file, memory.clone()];
        assert_eq!(layer_of_bytes(&shown), Some(&memory));
        assert_eq!(layer_of_bytes(&chain()).map(|layer| layer.name.as_str()), Some("ext4"));
        assert_eq!(layer_of_bytes(&[overlay]), None);
    }

    #[test]
    fn a_quota_applies_if_its_device_is_in_the_chain() {
        let quota = |device: &str| {
            let (device, setting) = (device.to_owned(), "io.max".to_owned());
            IoQuota { device, bytes_per_s: Some(1), reads_per_s: None, setting }
        };
        let mut chain = chain();
        chain[1] = Layer::new(LayerKind::Loop, "loop0 (direct I/O)");
        let found = io_quotas(&chain, ["vdb", "loop0", "vda"].map(quota).to_vec());
        assert_eq!(found, ["loop0", "vda"].map(quota));
    }

    #[test]
    fn a_cache_that_is_evicted_needs_no_caution_and_is_in_the_chain() {
        let chain = chain();
        assert_eq!(words(&chain).unwrap(), "ext4 → loop0 → /images/a (evicted too) → ext4 → vda");
        assert_eq!((unevictable_cache_names(&chain), cautions(&chain)), (None, vec![]));
    }

    #[test]
    fn a_cache_that_stays_is_named_with_its_reason() {
        let mut chain = chain();
        chain[2] = Layer::new(LayerKind::File, "/images/a")
            .with_unevictable_cache("the page cache of /images/a", "it was deleted");
        chain.push(
            Layer::new(LayerKind::Server, "nas")
                .with_unevictable_cache("the server of nas", "it is elsewhere"),
        );
        assert_eq!(
            unevictable_cache_names(&chain).unwrap(),
            "the page cache of /images/a and the server of nas"
        );
        let cautions = cautions(&chain);
        assert!(cautions.len() == 2 && cautions[0].contains("it was deleted"), "{cautions:?}");
        assert!(words(&chain).unwrap().contains("/images/a (not evicted)"));
    }

    #[test]
    fn a_chain_is_deserialized_as_it_was_serialized() {
        let chain = chain();
        let text = serde_json::to_string(&chain).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Layer>>(&text).unwrap(), chain);
    }

    #[test]
    fn a_file_in_an_overlay_is_stored_by_the_file_system_below() {
        let layers = vec![
            Layer::new(LayerKind::Overlay, "overlay"),
            Layer::new(LayerKind::File, "/lower/f").with_evicted_cache(),
            Layer::new(LayerKind::Filesystem, "squashfs"),
            Layer::new(LayerKind::Loop, "loop0"),
            Layer::new(LayerKind::File, "/images/a").with_evicted_cache(),
            Layer::new(LayerKind::Filesystem, "ext4"),
        ];
        let facts = TargetFacts { filesystem: Some("overlay".to_owned()), layers, ..TargetFacts::default() };
        assert_eq!(facts.storing_filesystem(), Some("squashfs"));
        let not_visible = TargetFacts { layers: Vec::new(), ..facts };
        assert_eq!(not_visible.storing_filesystem(), Some("overlay"));
    }

    #[test]
    fn the_bytes_of_a_file_system_in_a_file_come_from_the_device_below_that_file() {
        let image = [
            Layer::new(LayerKind::Filesystem, "erofs"),
            Layer::new(LayerKind::File, "/images/a").with_evicted_cache(),
            Layer::new(LayerKind::Filesystem, "ext4"),
            Layer::new(LayerKind::Device, "vda"),
        ];
        let mut facts = TargetFacts { layers: image.to_vec(), ..TargetFacts::default() };
        assert_eq!(facts.block_device(), Some("vda"));
        facts.device = Some(Device { name: "loop0".to_owned(), ..Device::default() });
        assert_eq!(facts.block_device(), Some("loop0"));
        assert_eq!(TargetFacts::default().block_device(), None);
    }
}
