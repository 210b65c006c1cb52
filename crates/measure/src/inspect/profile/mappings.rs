//! The executable mappings of processes over time: a fork copies them, and an exec ends them.

use readlab_system::process::{CodeMapping, code_mappings};
use std::collections::HashMap;

#[derive(Debug, Default)]
pub(super) struct Mappings(HashMap<u32, Vec<CodeMapping>>);

impl Mappings {
    pub(super) fn read(&mut self, pid: u32) {
        for mapping in code_mappings(pid) {
            self.add_mapping(pid, mapping);
        }
    }

    /// Adds a mapping, and removes the parts of older mappings that it overlaps.
    pub(super) fn add_mapping(&mut self, pid: u32, new: CodeMapping) {
        let mappings = self.0.entry(pid).or_default();
        let mut kept: Vec<CodeMapping> = Vec::with_capacity(mappings.len() + 2);
        for old in mappings.drain(..) {
            if old.start < new.start {
                kept.push(CodeMapping { end: old.end.min(new.start), ..old.clone() });
            }
            if old.end > new.end {
                let cut = new.end.max(old.start) - old.start;
                kept.push(CodeMapping { start: old.start + cut, offset: old.offset + cut, ..old });
            }
        }
        kept.push(new);
        kept.sort_by_key(|mapping| mapping.start);
        *mappings = kept;
    }

    /// Gives a child the mappings of its parent.
    pub(super) fn copy_to_child(&mut self, parent: u32, child: u32) {
        if parent != child {
            let copied = self.0.get(&parent).cloned().unwrap_or_default();
            self.0.insert(child, copied);
        }
    }

    /// Forgets the mappings of a process, because execve(2) ends them.
    pub(super) fn forget_process(&mut self, pid: u32) {
        self.0.insert(pid, Vec::new());
    }

    pub(super) fn find(&self, pid: u32, address: u64) -> Option<&CodeMapping> {
        let mappings = self.0.get(&pid)?;
        let after = mappings.partition_point(|mapping| mapping.start <= address);
        mappings.get(after.checked_sub(1)?).filter(|mapping| address < mapping.end)
    }

    pub(super) fn of_process(&self, pid: u32) -> &[CodeMapping] {
        self.0.get(&pid).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn mapping(start: u64, end: u64, offset: u64, name: &str) -> CodeMapping {
        CodeMapping::with_name(start, end, offset, name.as_bytes())
    }

    #[test]
    fn a_new_mapping_cuts_the_mappings_that_it_overlaps() {
        let mut all = Mappings::default();
        all.add_mapping(1, mapping(100, 200, 0, "/a"));
        all.add_mapping(1, mapping(140, 160, 7, "/b"));
        assert_eq!(
            all.of_process(1),
            [mapping(100, 140, 0, "/a"), mapping(140, 160, 7, "/b"), mapping(160, 200, 60, "/a")]
        );
        all.add_mapping(1, mapping(90, 170, 0, "/c"));
        assert_eq!(all.of_process(1), [mapping(90, 170, 0, "/c"), mapping(170, 200, 70, "/a")]);
        assert_eq!(all.find(1, 169).unwrap().file.as_deref(), Some(Path::new("/c")));
        assert_eq!((all.find(1, 200), all.find(1, 89), all.find(2, 100)), (None, None, None));
    }

    #[test]
    fn children_have_the_mappings_of_their_parents_until_they_execute() {
        let mut all = Mappings::default();
        all.add_mapping(1, mapping(100, 200, 0, "/a"));
        all.copy_to_child(1, 2);
        all.copy_to_child(1, 1);
        assert_eq!(all.of_process(2), all.of_process(1));
        all.forget_process(2);
        assert_eq!((all.of_process(2).len(), all.of_process(1).len()), (0, 1));
    }
}
