//! Cautions: sentences about properties of a target that affect its numbers.

use super::filesystem::{Backing, Filesystem};
use readlab_model::target::extents::Extents;
use readlab_model::units::Bytes;
use readlab_system::file_status::is_dax;
use readlab_system::machine::memory::MachineMemory;
use std::fs::File;

/// A file is expected to stay cached if it is at most this percentage of the available memory.
const CACHED_PERCENT_MAX: u64 = 80;

/// The cautions about one file.
pub fn cautions_of_file(
    file: &File,
    size_bytes: u64,
    filesystem: Filesystem,
    extents: Option<&Extents>,
) -> Vec<String> {
    let empty = "The file is empty: only the cost of opening and closing it can be measured.";
    let direct = "The file is mapped straight from its device (DAX): it is never in the page cache.";
    let empty = (size_bytes == 0).then(|| empty.to_owned()).into_iter();
    let direct = is_dax(file).then(|| direct.to_owned());
    let cautions = empty.chain(backing_caution(filesystem)).chain(direct);
    cautions.chain(byte_cautions(size_bytes, extents)).collect()
}

/// The cautions about the files of a tree, which have this size together, each counted once.
pub fn cautions_of_files(size_bytes: u64, filesystem: Filesystem, extents: Option<&Extents>) -> Vec<String> {
    backing_caution(filesystem).into_iter().chain(byte_cautions(size_bytes, extents)).collect()
}

fn byte_cautions(size_bytes: u64, extents: Option<&Extents>) -> impl Iterator<Item = String> {
    let memory = memory_caution(size_bytes, &MachineMemory::read());
    extents.into_iter().flat_map(extent_cautions).chain(memory)
}

fn backing_caution(filesystem: Filesystem) -> Option<String> {
    match filesystem.backing {
        Backing::Device => None,
        Backing::Memory => Some(format!("The file is in memory ({filesystem}): it cannot be cold.")),
        // The chain of layers already names the cache that stays.
        Backing::OwnCache | Backing::Remote | Backing::Program => None,
        Backing::Stacked => Some(format!(
            "The file system ({filesystem}) is a stack: extents and device are those underneath."
        )),
        Backing::Kernel => Some(format!(
            "The kernel makes this file up ({filesystem}): no device is read, and there are no pages that could be cold or warm."
        )),
    }
}

/// Cautions about bytes that are not stored on the device as they are read.
fn extent_cautions(extents: &Extents) -> Vec<String> {
    let mut cautions = Vec::new();
    for (bytes, text) in [
        (extents.hole_bytes, "are holes: they read as zeros and come from no device."),
        (
            extents.unwritten_bytes,
            "were reserved and never written: they read as zeros and come from no device.",
        ),
        (
            extents.encoded_bytes,
            "are compressed or encrypted: fewer bytes may come from the device than are read.",
        ),
        (extents.inline_bytes, "are in the file system's own tables, which may stay cached."),
    ] {
        if bytes > 0 {
            cautions.push(format!("{} of the file {text}", Bytes(bytes)));
        }
    }
    cautions
}

/// A caution about a file that may not fit into memory; `None` if it fits.
fn memory_caution(size_bytes: u64, memory: &MachineMemory) -> Option<String> {
    let larger = excess_of_memory_words(size_bytes, memory)?;
    Some(format!("The file ({}) is {larger}: warm may be impossible.", Bytes(size_bytes).binary_text()))
}

/// A caution about targets that may not fit into memory together, although each of them fits.
pub fn joint_memory_caution(sizes_bytes: &[u64], memory: &MachineMemory) -> Option<String> {
    let all_bytes = sizes_bytes.iter().fold(0, |all: u64, size_bytes| all.saturating_add(*size_bytes));
    let larger = excess_of_memory_words(all_bytes, memory)?;
    let has_large_one = sizes_bytes.iter().any(|bytes| excess_of_memory_words(*bytes, memory).is_some());
    (!has_large_one).then(|| {
        format!(
            "the targets together ({}) are {larger}: warm may be impossible; --apart reads one after the other",
            Bytes(all_bytes).binary_text()
        )
    })
}

/// States that this many bytes are more than can stay cached; `None` if they fit.
fn excess_of_memory_words(size_bytes: u64, memory: &MachineMemory) -> Option<String> {
    let available = memory.cacheable_now_bytes();
    let is_larger = u128::from(size_bytes) * 100 > u128::from(available) * u128::from(CACHED_PERCENT_MAX);
    let available = Bytes(available).binary_text();
    is_larger.then(|| format!("larger than {CACHED_PERCENT_MAX} % of the memory available ({available})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_system::filesystem::FilesystemType;

    #[test]
    fn a_plain_file_that_fits_needs_no_caution() {
        let memory = MachineMemory { total_bytes: 1000, available_bytes: 1000, limit_bytes: None };
        assert_eq!(memory_caution(800, &memory), None);
        assert!(memory_caution(801, &memory).unwrap().contains("80 %"));
        assert_eq!(joint_memory_caution(&[400, 400], &memory), None);
        assert!(joint_memory_caution(&[401, 400], &memory).unwrap().contains("--apart"));
        assert_eq!(joint_memory_caution(&[801, 1], &memory), None, "the large target has its own caution");
        let group = MachineMemory { limit_bytes: Some(100), ..memory };
        assert!(memory_caution(81, &group).unwrap().contains("100 B"));
        assert!(extent_cautions(&Extents { count: 3, ..Extents::default() }).is_empty());
        let ext4 = FilesystemType { magic_number: 0xef53, name: Some("ext4") };
        assert_eq!(backing_caution(Filesystem::from(ext4)), None);
    }

    #[test]
    fn each_peculiar_extent_has_a_sentence() {
        let extents =
            Extents { count: 4, hole_bytes: 1, unwritten_bytes: 2, encoded_bytes: 3000, inline_bytes: 4 };
        let cautions = extent_cautions(&extents);
        assert_eq!(cautions.len(), 4);
        assert!(cautions[2].contains("3.00 kB") && cautions[2].contains("compressed"), "{}", cautions[2]);
    }
}
