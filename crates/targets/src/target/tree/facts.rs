//! The facts that a record keeps about the files of a tree.

use super::list::STANDARD_INPUT;
use super::walk::WalkResult;
use super::{FoundFiles, ListSource, TreeRequest};
use crate::target::caution;
use crate::target::filesystem::Filesystem;
use readlab_model::target::tree::TreeFacts;
use readlab_system::folder::own_paths::OwnPaths;
use readlab_system::terminal::printable::display_path;
use std::path::{Path, PathBuf};

impl TreeRequest {
    /// The request that finds the files of a record again, in the same folder or list.
    pub fn from_facts(facts: &TreeFacts, place: &Path, seed: u64) -> TreeRequest {
        let place = place.to_owned();
        let source = match facts.is_listed {
            false => ListSource::Folder(place),
            true if place.as_os_str() == STANDARD_INPUT => ListSource::StandardInput,
            true => ListSource::List(place),
        };
        let own = OwnPaths::of_paths(facts.own_folders.iter().map(PathBuf::from)).with_streams();
        let (order, follows_links) = (facts.order, facts.follows_links);
        TreeRequest { order, seed, follows_links, own_paths: own, ..TreeRequest::by_name(source) }
    }
}

impl WalkResult {
    /// The facts that are known before the files are examined.
    pub(super) fn facts(&self, request: &TreeRequest) -> TreeFacts {
        TreeFacts {
            folders: self.folder_count,
            order: request.order,
            is_listed: !matches!(request.source, ListSource::Folder(_)),
            duplicates: self.duplicate_count,
            follows_links: request.follows_links,
            own_folders: self
                .own_paths
                .paths()
                .iter()
                .map(|path| path.to_string_lossy().into_owned())
                .collect(),
            ..TreeFacts::default()
        }
    }
}

impl FoundFiles {
    pub(super) fn cautions(&self, filesystem: Filesystem, own: &OwnPaths) -> Vec<String> {
        let stored_bytes = self.size_bytes.saturating_sub(self.facts.repeated_bytes);
        let mut cautions = caution::cautions_of_files(stored_bytes, filesystem, self.extents.as_ref());
        cautions.extend(cautions_of_reading(&self.facts));
        cautions.extend(self.left_out.caution(self.facts.is_listed));
        let own: Vec<String> = own.paths().iter().map(|path| display_path(path)).collect();
        if !own.is_empty() {
            cautions.push(format!(
                "Not read, for readlab writes there: {}. Contenders that walk the folder would read it and do \
                 not take part; to race them, write outputs and exports outside the folder.",
                own.join(", ")
            ));
        }
        let duplicates = self.facts.duplicates;
        if duplicates > 0 {
            cautions.push(format!("The list names files more than once: {duplicates} names were left out."));
        }
        cautions
    }
}

/// The cautions about names that are not read, and about files that are read under several names. They
/// do not apply to a race that only finds names.
pub fn cautions_of_reading(tree: &TreeFacts) -> Vec<String> {
    let way_out = tree.skipped.link_hint(tree.follows_links);
    let skipped = tree.skipped.words();
    let skipped = skipped.map(|words| format!("Not read, for they are no files: {words}{way_out}."));
    let repeated = (tree.repeated_bytes > 0).then(|| {
        "Some files have several names in the tree: the second reading of one finds its pages in the cache."
            .to_owned()
    });
    skipped.into_iter().chain(repeated).collect()
}
