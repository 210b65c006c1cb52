//! Small text files of /proc and /sys: single lines, numbers after a name, the selected word of a
//! list, and files that cannot be read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A folder of the kernel with a file that not even root can read, because it is write-only; `None`
/// if there is none.
pub fn folder_with_unreadable_file() -> Option<PathBuf> {
    let buses = fs::read_dir("/sys/bus").into_iter().flatten().flatten();
    let is_write_only = |folder: &PathBuf| {
        let probe = folder.join("drivers_probe").metadata();
        probe.is_ok_and(|meta| meta.permissions().mode() & 0o444 == 0)
    };
    buses.map(|bus| bus.path()).find(is_write_only)
}

/// The text of a file with one line; `None` if it is empty or cannot be read.
pub(super) fn read_line(path: impl AsRef<Path>) -> Option<String> {
    let text = String::from_utf8_lossy(&fs::read(path).ok()?).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The number in a file with one line; `None` if it has none or cannot be read.
pub(super) fn read_number(path: impl AsRef<Path>) -> Option<u64> {
    read_line(path)?.parse().ok()
}

/// The number that follows a name at the start of a line.
pub(super) fn number_after(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The word in brackets in a list such as `none [mq-deadline] kyber`; without brackets the whole
/// list.
pub(super) fn selected_word(list: &str) -> &str {
    let inside = list.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(list, |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_word_is_the_one_in_brackets() {
        assert_eq!(selected_word("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(selected_word("none"), "none");
    }
}
