//! Names for addresses: of programs and libraries by their symbols, of the kernel by kallsyms, of
//! code that a runtime compiled by the map that the runtime writes to /tmp for profilers.

use super::folded::{COMPILED_MARK, INLINED_MARK, KERNEL_MARK};
use blazesym::MaybeDefault;
use blazesym::symbolize::source::{Elf, Kernel, Source};
use blazesym::symbolize::{Input, Sym, Symbolized, Symbolizer};
use readlab_system::folder::scratch::perf_map_of;
use readlab_system::own_file::read_own;
use readlab_system::process::VDSO;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Frame {
    Kernel(u64),
    File(PathBuf, u64),
    /// Address in anonymous memory of a process: code that a runtime made.
    RuntimeCode(u32, u64),
    /// Address where no code is known: the mapping was not seen, or the stack was walked wrongly.
    Unmapped(u32, u64),
}

/// The names of each frame. If functions were inlined, there are several names, outermost first.
pub(super) type FrameNames = BTreeMap<Frame, Vec<String>>;

/// Largest map of a runtime that is read.
const MAP_BYTES_MAX: u64 = 64 << 20;

/// Variables that make runtimes write the names of the code that they compile, and the text
/// appended to each variable. Other programs ignore these variables.
const RUNTIME_VARIABLES: [(&str, &str); 3] = [
    (
        "JAVA_TOOL_OPTIONS",
        "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit",
    ),
    ("NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack"),
    ("PYTHONPERFSUPPORT", "1"),
];

/// The variables with their values; the user's own values stay in front.
pub(super) fn naming_variables() -> Vec<(OsString, OsString)> {
    let mut variables = Vec::new();
    for (name, added) in RUNTIME_VARIABLES {
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

/// The names of all frames. A frame without a symbol is named by its file, or by the kind of its
/// memory.
pub(super) fn frame_names(frames: &BTreeSet<Frame>, maps: &RuntimeMaps) -> FrameNames {
    let symbolizer = Symbolizer::new();
    let mut names = FrameNames::new();
    let mut of_files = BTreeMap::<&PathBuf, Vec<u64>>::new();
    let mut of_kernel = Vec::new();
    for frame in frames {
        match frame {
            Frame::Kernel(address) => of_kernel.push(*address),
            Frame::File(path, offset) => of_files.entry(path).or_default().push(*offset),
            Frame::RuntimeCode(pid, address) => {
                names.insert(frame.clone(), vec![maps.name(*pid, *address, UNNAMED_CODE)]);
            }
            Frame::Unmapped(pid, address) => {
                names.insert(frame.clone(), vec![maps.name(*pid, *address, UNMAPPED_CODE)]);
            }
        }
    }
    for (path, offsets) in of_files {
        let source = Source::Elf(Elf::new(path));
        // A file that cannot be read has no names; its frames are named by the file.
        let found = symbolizer.symbolize(&source, Input::FileOffset(&offsets)).unwrap_or_default();
        let mut found = found.iter().map(Symbolized::as_sym);
        for offset in offsets {
            let name = found.next().flatten().map_or_else(|| vec![bracketed_file_name(path)], symbol_names);
            names.insert(Frame::File(path.clone(), offset), name);
        }
    }
    let kernel = Kernel { vmlinux: MaybeDefault::None, ..Kernel::default() };
    let found = symbolizer.symbolize(&Source::Kernel(kernel), Input::AbsAddr(&of_kernel)).unwrap_or_default();
    let mut found = found.iter().map(Symbolized::as_sym);
    for address in of_kernel {
        let name = found.next().flatten().map_or("[kernel]", |symbol| &symbol.name);
        names.insert(Frame::Kernel(address), vec![format!("{name}{KERNEL_MARK}")]);
    }
    names
}

fn symbol_names(symbol: &Sym) -> Vec<String> {
    let inlined = symbol.inlined.iter().map(|function| format!("{}{INLINED_MARK}", function.name));
    std::iter::once(symbol.name.to_string()).chain(inlined).collect()
}

/// The file's name in brackets, such as `[libc.so.6]`.
fn bracketed_file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name == VDSO { VDSO.to_owned() } else { format!("[{name}]") }
}

/// Maps that runtimes wrote for the code they compiled, `/tmp/perf-PID.map`. Dropping this value
/// removes the files.
#[derive(Debug, Default)]
pub struct RuntimeMaps {
    pids: BTreeSet<u32>,
    functions: BTreeMap<u32, Vec<MapEntry>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct MapEntry {
    start: u64,
    end: u64,
    name: String,
}

impl RuntimeMaps {
    pub fn of_process(pid: u32) -> RuntimeMaps {
        RuntimeMaps::from_pids(BTreeSet::from([pid]))
    }

    /// The maps of these processes; no map is read yet.
    pub(super) fn from_pids(pids: BTreeSet<u32>) -> RuntimeMaps {
        RuntimeMaps { pids, functions: BTreeMap::new() }
    }

    pub(super) fn read(&mut self) {
        for &pid in &self.pids {
            // An empty file was created by readlab; its runtime wrote no names.
            let text = read_own(&perf_map_of(pid), MAP_BYTES_MAX).filter(|text| !text.is_empty());
            if let Some(text) = text {
                self.functions.insert(pid, parse_map(&text));
            }
        }
    }

    pub(super) fn has_functions(&self) -> bool {
        !self.functions.is_empty()
    }

    /// The function's name, or `otherwise` where no map contains the address.
    fn name(&self, pid: u32, address: u64, otherwise: &str) -> String {
        let functions = self.functions.get(&pid).map_or(&[][..], Vec::as_slice);
        let after = functions.partition_point(|function| function.start <= address);
        let function = after.checked_sub(1).map(|at| &functions[at]).filter(|it| address < it.end);
        function.map_or_else(|| otherwise.to_owned(), |function| format!("{}{COMPILED_MARK}", function.name))
    }
}

/// Name of a frame in anonymous memory that no map names.
pub(super) const UNNAMED_CODE: &str = "[made at run time]";

pub(super) const UNMAPPED_CODE: &str = "[unknown]";

impl Drop for RuntimeMaps {
    fn drop(&mut self) {
        for &pid in &self.pids {
            let path = perf_map_of(pid);
            if read_own(&path, MAP_BYTES_MAX).is_some() {
                // The file may have been removed meanwhile.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Parses the functions of a map: each line has a start, a size and a name; numbers are
/// hexadecimal.
fn parse_map(text: &str) -> Vec<MapEntry> {
    let function = |line: &str| {
        let (start, rest) = line.split_once(' ')?;
        let (size, name) = rest.split_once(' ')?;
        let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let start = hex(start)?;
        Some(MapEntry { start, end: start.checked_add(hex(size)?)?, name: name.to_owned() })
    };
    let mut functions: Vec<MapEntry> = text.lines().filter_map(function).collect();
    // Code may have been replaced: the last entry of an address is valid.
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
        let functions = parse_map(text);
        let maps = RuntimeMaps { pids: BTreeSet::new(), functions: BTreeMap::from([(7, functions)]) };
        assert_eq!(maps.name(7, 0x7f11, UNNAMED_CODE), "again_[j]", "the last that was made there");
        assert_eq!(maps.name(7, 0x7f4f, UNNAMED_CODE), "stub with blanks_[j]");
        for (pid, address) in [(7, 0x7f50), (7, 0x7f0f), (8, 0x7f11)] {
            assert_eq!(maps.name(pid, address, UNMAPPED_CODE), UNMAPPED_CODE);
        }
    }

    #[test]
    fn maps_are_removed_and_files_of_others_stay() {
        // No process can have this number, because the kernel's largest is 2^22.
        let pid = (1 << 22) + std::process::id();
        let path = perf_map_of(pid);
        std::fs::write(&path, "10 10 f\n").unwrap();
        let mut maps = RuntimeMaps::of_process(pid);
        maps.read();
        assert!(maps.has_functions() && maps.name(pid, 0x11, UNNAMED_CODE) == "f_[j]");
        drop(maps);
        assert!(!path.exists());
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        let mut maps = RuntimeMaps::of_process(pid);
        maps.read();
        assert!(!maps.has_functions(), "a link leads anywhere");
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
            (Frame::RuntimeCode(pid, 1), UNNAMED_CODE),
            (Frame::Unmapped(pid, 1), UNMAPPED_CODE),
            (Frame::Kernel(1), "[kernel]_[k]"),
        ];
        let mut frames = BTreeSet::from([frame.clone()]);
        frames.extend(nameless.iter().map(|(frame, _)| frame.clone()));
        let names = frame_names(&frames, &RuntimeMaps::default());
        assert!(names[&frame][0].contains("a_function_of_this_program_has_its_name"), "{names:?}");
        for (frame, name) in &nameless {
            assert_eq!(names[frame], [*name]);
        }
    }
}
