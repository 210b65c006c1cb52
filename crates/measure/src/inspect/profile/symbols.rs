//! Names for addresses: of programs and libraries by their symbols, of the kernel by kallsyms, of
//! code that a runtime made by the map that it writes to /tmp for profilers.

use super::folded::{COMPILED, INLINED, KERNEL};
use blazesym::MaybeDefault;
use blazesym::symbolize::source::{Elf, Kernel, Source};
use blazesym::symbolize::{Input, Sym, Symbolized, Symbolizer};
use readlab_system::folder::scratch::map_of;
use readlab_system::own_file::read_own;
use readlab_system::process::VDSO;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Frame {
    Kernel(u64),
    /// At a place of a file.
    File(PathBuf, u64),
    /// In memory of no file of a process.
    Made(u32, u64),
    /// Where no code is known: the mapping was not seen, or the stack was walked wrongly.
    Unmapped(u32, u64),
}

/// The names of frames, outermost first where several functions were inlined into one.
pub(super) type FrameNames = BTreeMap<Frame, Vec<String>>;

/// Largest map of a runtime that is read.
const MAP_BYTES_MAX: u64 = 64 << 20;

/// Variables that make runtimes write the names of the code that they make, and what is added to
/// each. Other programs ignore them.
const VARIABLES: [(&str, &str); 3] = [
    (
        "JAVA_TOOL_OPTIONS",
        "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit",
    ),
    ("NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack"),
    ("PYTHONPERFSUPPORT", "1"),
];

/// The variables with their values; the user's own values stay in front.
pub(super) fn environment() -> Vec<(OsString, OsString)> {
    let mut variables = Vec::new();
    for (name, added) in VARIABLES {
        let mut value = std::env::var_os(name).filter(|own| !own.is_empty() && name.ends_with("OPTIONS"));
        if let Some(value) = &mut value {
            value.push(" ");
        }
        let mut value = value.unwrap_or_default();
        value.push(added);
        variables.push((name.into(), value));
    }
    variables
}

/// The names of all frames. A frame without one is named by its file, or by the kind of its memory.
pub(super) fn names(frames: &BTreeSet<Frame>, maps: &Maps) -> FrameNames {
    let symbolizer = Symbolizer::new();
    let mut names = FrameNames::new();
    let mut of_files = BTreeMap::<&PathBuf, Vec<u64>>::new();
    let mut of_kernel = Vec::new();
    for frame in frames {
        match frame {
            Frame::Kernel(address) => of_kernel.push(*address),
            Frame::File(path, offset) => of_files.entry(path).or_default().push(*offset),
            Frame::Made(pid, address) => {
                names.insert(frame.clone(), vec![maps.name(*pid, *address, UNNAMED)]);
            }
            Frame::Unmapped(pid, address) => {
                names.insert(frame.clone(), vec![maps.name(*pid, *address, UNMAPPED)]);
            }
        }
    }
    for (path, offsets) in of_files {
        let source = Source::Elf(Elf::new(path));
        // A file that cannot be read has no names; its frames are named by the file.
        let found = symbolizer.symbolize(&source, Input::FileOffset(&offsets)).unwrap_or_default();
        let mut found = found.iter().map(Symbolized::as_sym);
        for offset in offsets {
            let name = found.next().flatten().map_or_else(|| vec![bracketed(path)], of_function);
            names.insert(Frame::File(path.clone(), offset), name);
        }
    }
    let kernel = Kernel { vmlinux: MaybeDefault::None, ..Kernel::default() };
    let found = symbolizer.symbolize(&Source::Kernel(kernel), Input::AbsAddr(&of_kernel)).unwrap_or_default();
    let mut found = found.iter().map(Symbolized::as_sym);
    for address in of_kernel {
        let name = found.next().flatten().map_or("[kernel]", |symbol| &symbol.name);
        names.insert(Frame::Kernel(address), vec![format!("{name}{KERNEL}")]);
    }
    names
}

fn of_function(symbol: &Sym) -> Vec<String> {
    let inlined = symbol.inlined.iter().map(|function| format!("{}{INLINED}", function.name));
    std::iter::once(symbol.name.to_string()).chain(inlined).collect()
}

/// `[libc.so.6]`
fn bracketed(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name == VDSO { VDSO.to_owned() } else { format!("[{name}]") }
}

/// The maps that runtimes wrote for the code they made, `/tmp/perf-PID.map`; removed with this
/// value.
#[derive(Debug, Default)]
pub struct Maps {
    pids: BTreeSet<u32>,
    functions: BTreeMap<u32, Vec<MapEntry>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct MapEntry {
    start: u64,
    end: u64,
    name: String,
}

impl Maps {
    pub fn of_process(pid: u32) -> Maps {
        Maps::from_pids(BTreeSet::from([pid]))
    }

    /// Of these processes, nothing read yet.
    pub(super) fn from_pids(pids: BTreeSet<u32>) -> Maps {
        Maps { pids, functions: BTreeMap::new() }
    }

    pub(super) fn read(&mut self) {
        for &pid in &self.pids {
            // An empty one was made for a runtime that wrote none.
            let text = read_own(&map_of(pid), MAP_BYTES_MAX).filter(|text| !text.is_empty());
            if let Some(text) = text {
                self.functions.insert(pid, functions(&text));
            }
        }
    }

    pub(super) fn any(&self) -> bool {
        !self.functions.is_empty()
    }

    /// The function's name, or the other word where no map has one.
    fn name(&self, pid: u32, address: u64, otherwise: &str) -> String {
        let functions = self.functions.get(&pid).map_or(&[][..], Vec::as_slice);
        let after = functions.partition_point(|function| function.start <= address);
        let function = after.checked_sub(1).map(|at| &functions[at]).filter(|it| address < it.end);
        function.map_or_else(|| otherwise.to_owned(), |function| format!("{}{COMPILED}", function.name))
    }
}

/// A frame in memory of no file without a name.
pub(super) const UNNAMED: &str = "[made at run time]";

pub(super) const UNMAPPED: &str = "[unknown]";

impl Drop for Maps {
    fn drop(&mut self) {
        for &pid in &self.pids {
            let path = map_of(pid);
            if read_own(&path, MAP_BYTES_MAX).is_some() {
                // It may have been removed meanwhile.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// The functions of a map: a start, a size and a name a line, numbers in hexadecimal.
fn functions(text: &str) -> Vec<MapEntry> {
    let function = |line: &str| {
        let (start, rest) = line.split_once(' ')?;
        let (size, name) = rest.split_once(' ')?;
        let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let start = hex(start)?;
        Some(MapEntry { start, end: start.checked_add(hex(size)?)?, name: name.to_owned() })
    };
    let mut functions: Vec<MapEntry> = text.lines().filter_map(function).collect();
    // For code that replaced other code, the last entry is valid.
    functions.reverse();
    functions.sort_by_key(|function| function.start);
    functions.dedup_by_key(|function| function.start);
    functions
}

#[cfg(test)]
mod tests {
    use super::super::mappings::Mappings;
    use super::*;

    #[test]
    fn maps_of_runtimes_name_their_functions() {
        let text = "7f10 20 LReader;::count\nnonsense\n0x7f40 10 stub with blanks\n7f10 18 again\n";
        let functions = functions(text);
        let maps = Maps { pids: BTreeSet::new(), functions: BTreeMap::from([(7, functions)]) };
        assert_eq!(maps.name(7, 0x7f11, UNNAMED), "again_[j]", "the last that was made there");
        assert_eq!(maps.name(7, 0x7f4f, UNNAMED), "stub with blanks_[j]");
        for (pid, address) in [(7, 0x7f50), (7, 0x7f0f), (8, 0x7f11)] {
            assert_eq!(maps.name(pid, address, UNMAPPED), UNMAPPED);
        }
    }

    #[test]
    fn maps_are_removed_and_what_is_no_file_of_ours_stays() {
        // No process has this number: the kernel's largest is 2^22.
        let pid = (1 << 22) + std::process::id();
        let path = map_of(pid);
        std::fs::write(&path, "10 10 f\n").unwrap();
        let mut maps = Maps::of_process(pid);
        maps.read();
        assert!(maps.any() && maps.name(pid, 0x11, UNNAMED) == "f_[j]");
        drop(maps);
        assert!(!path.exists());
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        let mut maps = Maps::of_process(pid);
        maps.read();
        assert!(!maps.any(), "a link leads anywhere");
        drop(maps);
        assert!(path.is_symlink());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_function_of_this_program_has_its_name() {
        let mut mappings = Mappings::default();
        let pid = std::process::id();
        mappings.read(pid);
        let here = a_function_of_this_program_has_its_name as *const () as u64;
        let mapping = mappings.find(pid, here).unwrap();
        let frame = Frame::File(mapping.file.clone().unwrap(), here - mapping.start + mapping.offset);
        let nameless = [
            (Frame::File("/no/such/library.so".into(), 7), "[library.so]"),
            (Frame::Made(pid, 1), UNNAMED),
            (Frame::Unmapped(pid, 1), UNMAPPED),
            (Frame::Kernel(1), "[kernel]_[k]"),
        ];
        let mut frames = BTreeSet::from([frame.clone()]);
        frames.extend(nameless.iter().map(|(frame, _)| frame.clone()));
        let names = names(&frames, &Maps::default());
        assert!(names[&frame][0].contains("a_function_of_this_program_has_its_name"), "{names:?}");
        for (frame, name) in &nameless {
            assert_eq!(names[frame], [*name]);
        }
    }
}
