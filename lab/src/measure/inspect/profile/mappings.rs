//! Which file lies where in the memory of a process, over its life: what is mapped, what a fork
//! copies, what an exec ends.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The kernel's code that lies in every process.
pub(super) const VDSO: &str = "[vdso]";

/// An executable mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Where in the file it begins.
    pub(super) offset: u64,
    /// The file; `None` for memory of no file, such as code that a runtime makes.
    pub(super) file: Option<PathBuf>,
}

/// The mappings of every process that was seen.
#[derive(Debug, Default)]
pub(super) struct Mappings(HashMap<u32, Vec<Mapping>>);

impl Mapping {
    /// One with the name that the kernel gives it.
    pub(super) fn named(start: u64, end: u64, offset: u64, name: &[u8]) -> Mapping {
        // Two slashes are for memory of no file, and a file that was deleted cannot be opened by
        // its name.
        let of_file = name.starts_with(b"/") && !name.starts_with(b"//") && !name.ends_with(b" (deleted)");
        if name == VDSO.as_bytes() {
            // A file that is nowhere: it has a name and nothing to read.
            return Mapping { start, end, offset, file: Some(Path::new("/proc/self/fdinfo").join(VDSO)) };
        }
        Mapping { start, end, offset, file: of_file.then(|| PathBuf::from(OsStr::from_bytes(name))) }
    }
}

impl Mappings {
    /// What a process has mapped by now, as it tells in /proc. Of one that has ended, nothing.
    pub(super) fn look(&mut self, pid: u32) {
        let text = std::fs::read(Path::new("/proc").join(pid.to_string()).join("maps")).unwrap_or_default();
        for mapping in text.split(|&byte| byte == b'\n').filter_map(line) {
            self.map(pid, mapping);
        }
    }

    /// A new mapping takes the place of those that it lies over.
    pub(super) fn map(&mut self, pid: u32, new: Mapping) {
        let mappings = self.0.entry(pid).or_default();
        let mut kept: Vec<Mapping> = Vec::with_capacity(mappings.len() + 2);
        for old in mappings.drain(..) {
            if old.start < new.start {
                kept.push(Mapping { end: old.end.min(new.start), ..old.clone() });
            }
            if old.end > new.end {
                let cut = new.end.max(old.start) - old.start;
                kept.push(Mapping { start: old.start + cut, offset: old.offset + cut, ..old });
            }
        }
        kept.push(new);
        kept.sort_by_key(|mapping| mapping.start);
        *mappings = kept;
    }

    /// A child begins with what its parent has.
    pub(super) fn fork(&mut self, parent: u32, child: u32) {
        if parent != child {
            let copied = self.0.get(&parent).cloned().unwrap_or_default();
            self.0.insert(child, copied);
        }
    }

    /// An exec ends all mappings.
    pub(super) fn exec(&mut self, pid: u32) {
        self.0.insert(pid, Vec::new());
    }

    /// The mapping that holds an address.
    pub(super) fn find(&self, pid: u32, address: u64) -> Option<&Mapping> {
        let mappings = self.0.get(&pid)?;
        let after = mappings.partition_point(|mapping| mapping.start <= address);
        mappings.get(after.checked_sub(1)?).filter(|mapping| address < mapping.end)
    }

    /// All mappings of a process.
    pub(super) fn of(&self, pid: u32) -> &[Mapping] {
        self.0.get(&pid).map_or(&[], Vec::as_slice)
    }
}

/// An executable mapping in a line of /proc/PID/maps.
fn line(line: &[u8]) -> Option<Mapping> {
    let mut words = line.splitn(6, |&byte| byte == b' ');
    let range = std::str::from_utf8(words.next()?).ok()?;
    let (start, end) = range.split_once('-')?;
    let rights = words.next()?;
    let offset = std::str::from_utf8(words.next()?).ok()?;
    let name = words.nth(2).unwrap_or_default().trim_ascii_start();
    let number = |text| u64::from_str_radix(text, 16).ok();
    (rights.get(2) == Some(&b'x')).then_some(Mapping::named(
        number(start)?,
        number(end)?,
        number(offset)?,
        name,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(start: u64, end: u64, offset: u64, name: &str) -> Mapping {
        Mapping::named(start, end, offset, name.as_bytes())
    }

    #[test]
    fn lines_of_the_kernel_are_read_and_only_code_counts() {
        let code = b"7f00-7f10 r-xp 00000200 fe:00 1234                       /usr/lib/with a blank.so";
        assert_eq!(line(code), Some(mapping(0x7f00, 0x7f10, 0x200, "/usr/lib/with a blank.so")));
        assert_eq!(line(b"7f00-7f10 r--p 00000200 fe:00 1234 /x"), None);
        assert_eq!(line(b"7f00-7f10 r-xp 00000000 00:00 0 "), Some(mapping(0x7f00, 0x7f10, 0, "")));
        for no_file in ["", "[anon:code]", "//anon", "/memfd:x (deleted)"] {
            assert_eq!(mapping(0, 1, 0, no_file).file, None, "{no_file}");
        }
        assert_eq!(line(b"nonsense"), None);
    }

    #[test]
    fn a_new_mapping_cuts_what_it_lies_over() {
        let mut all = Mappings::default();
        all.map(1, mapping(100, 200, 0, "/a"));
        all.map(1, mapping(140, 160, 7, "/b"));
        assert_eq!(
            all.of(1),
            [mapping(100, 140, 0, "/a"), mapping(140, 160, 7, "/b"), mapping(160, 200, 60, "/a")]
        );
        all.map(1, mapping(90, 170, 0, "/c"));
        assert_eq!(all.of(1), [mapping(90, 170, 0, "/c"), mapping(170, 200, 70, "/a")]);
        assert_eq!(all.find(1, 169).unwrap().file.as_deref(), Some(Path::new("/c")));
        assert_eq!((all.find(1, 200), all.find(1, 89), all.find(2, 100)), (None, None, None));
    }

    #[test]
    fn children_have_what_their_parents_have_until_they_execute() {
        let mut all = Mappings::default();
        all.map(1, mapping(100, 200, 0, "/a"));
        all.fork(1, 2);
        all.fork(1, 1);
        assert_eq!(all.of(2), all.of(1));
        all.exec(2);
        assert_eq!((all.of(2).len(), all.of(1).len()), (0, 1));
    }

    #[test]
    fn this_process_has_its_own_program_mapped() {
        let mut all = Mappings::default();
        all.look(std::process::id());
        let here = this_process_has_its_own_program_mapped as *const () as u64;
        let found = all.find(std::process::id(), here).and_then(|mapping| mapping.file.clone());
        assert_eq!(found, std::env::current_exe().ok());
    }
}
