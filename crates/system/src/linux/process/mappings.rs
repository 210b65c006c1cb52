//! The executable mappings of a process, from /proc/PID/maps.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The name of the code that the kernel maps into every process.
pub const VDSO: &str = "[vdso]";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeMapping {
    pub start: u64,
    /// First address after the mapping.
    pub end: u64,
    /// Offset in the file at which the mapping begins.
    pub offset: u64,
    /// The mapped file; `None` for anonymous memory, such as code that a runtime generates.
    pub file: Option<PathBuf>,
}

/// The executable mappings of a process at this moment; none if it has ended.
pub fn code_mappings(pid: u32) -> Vec<CodeMapping> {
    let text = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    text.split(|&byte| byte == b'\n').filter_map(parse_line).collect()
}

impl CodeMapping {
    /// A mapping with the name that the kernel gives it.
    pub fn with_name(start: u64, end: u64, offset: u64, name: &[u8]) -> CodeMapping {
        // A name with two leading slashes means anonymous memory, and a deleted file cannot be
        // opened by its name.
        let of_file = name.starts_with(b"/") && !name.starts_with(b"//") && !name.ends_with(b" (deleted)");
        if name == VDSO.as_bytes() {
            // No file with this path exists, so the mapping has a name but nothing can be read from
            // it.
            return CodeMapping { start, end, offset, file: Some(Path::new("/proc/self/fdinfo").join(VDSO)) };
        }
        CodeMapping { start, end, offset, file: of_file.then(|| PathBuf::from(OsStr::from_bytes(name))) }
    }
}

/// Parses a line of /proc/PID/maps; `None` if the mapping is not executable.
fn parse_line(line: &[u8]) -> Option<CodeMapping> {
    let mut words = line.splitn(6, |&byte| byte == b' ');
    let range = std::str::from_utf8(words.next()?).ok()?;
    let (start, end) = range.split_once('-')?;
    let rights = words.next()?;
    let offset = std::str::from_utf8(words.next()?).ok()?;
    let name = words.nth(2).unwrap_or_default().trim_ascii_start();
    let number = |text| u64::from_str_radix(text, 16).ok();
    (rights.get(2) == Some(&b'x')).then_some(CodeMapping::with_name(
        number(start)?,
        number(end)?,
        number(offset)?,
        name,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(start: u64, end: u64, offset: u64, name: &str) -> CodeMapping {
        CodeMapping::with_name(start, end, offset, name.as_bytes())
    }

    #[test]
    fn lines_of_maps_are_parsed_and_only_executable_mappings_kept() {
        let code = b"7f00-7f10 r-xp 00000200 fe:00 1234                       /usr/lib/with a blank.so";
        assert_eq!(parse_line(code), Some(mapping(0x7f00, 0x7f10, 0x200, "/usr/lib/with a blank.so")));
        assert_eq!(parse_line(b"7f00-7f10 r--p 00000200 fe:00 1234 /x"), None);
        assert_eq!(parse_line(b"7f00-7f10 r-xp 00000000 00:00 0 "), Some(mapping(0x7f00, 0x7f10, 0, "")));
        for no_file in ["", "[anon:code]", "//anon", "/memfd:x (deleted)"] {
            assert_eq!(mapping(0, 1, 0, no_file).file, None, "{no_file}");
        }
        assert_eq!(parse_line(b"nonsense"), None);
    }
}
