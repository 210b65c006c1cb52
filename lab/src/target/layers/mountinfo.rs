//! /proc/self/mountinfo as text: which mount shows a path, and where the layers of an overlay lie.
//!
//! Parsing only. The lines are read here rather than through a map of options, because an overlay of today's kernels may name
//! the same option once for each layer, and because a path in an option is escaped twice.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One line: a mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountLine {
    /// Its device number, as `254:0`.
    pub number: String,
    /// The folder of the file system that is mounted.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Its type, such as `fuse.sshfs`.
    pub kind: String,
    /// What is mounted.
    pub source: PathBuf,
    /// The options of the file system, as they are written there.
    options: String,
}

impl MountLine {
    /// The mount that shows `path`, which must be absolute and without links; `number` is the device number of the file.
    #[must_use]
    pub fn of(mountinfo: &str, path: &Path, number: &str) -> Option<MountLine> {
        let above =
            mountinfo.lines().filter_map(MountLine::parse).filter(|line| path.starts_with(&line.point));
        // Overlays and btrfs give files other numbers than their mounts. Of mounts on one point the last hides the others.
        above.max_by_key(|line| (line.number == number, line.point.components().count()))
    }

    fn parse(line: &str) -> Option<MountLine> {
        // 42 27 0:39 / /mnt rw,relatime shared:1 - fuse source rw,user_id=0
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(2);
        let (number, root, point) = (mount.next()?.to_owned(), mount.next()?, mount.next()?);
        let mut filesystem = filesystem.split(' ');
        let (kind, source) = (filesystem.next()?.to_owned(), filesystem.next()?);
        Some(MountLine {
            number,
            root: unescaped(root),
            point: unescaped(point),
            kind,
            source: unescaped(source),
            options: filesystem.next().unwrap_or_default().to_owned(),
        })
    }

    /// Where the file at `path` lies within the file system, from its root.
    #[must_use]
    pub fn inside(&self, path: &Path) -> Option<PathBuf> {
        let root = self.root.strip_prefix("/").ok()?;
        Some(root.join(path.strip_prefix(&self.point).ok()?))
    }

    /// The folders whose files an overlay shows, the uppermost first.
    #[must_use]
    pub fn overlaid(&self) -> Vec<PathBuf> {
        let values = |wanted: &'static [&str]| {
            let options = self.options.split(',').filter_map(|option| option.split_once('='));
            options.filter(|(name, _)| wanted.contains(name)).map(|(_, value)| value)
        };
        let upper = values(&["upperdir"]).map(unescaped);
        let lower = values(&["lowerdir"]).flat_map(listed);
        upper.chain(lower).chain(values(&["lowerdir+", "datadir+"]).map(unescaped)).collect()
    }
}

/// The byte that begins a field, with its length: three octal digits behind a backslash stand for one.
fn byte(field: &[u8]) -> Option<(u8, usize)> {
    let octal = field
        .get(1..4)
        .filter(|digits| field[0] == b'\\' && digits.iter().all(|it| (b'0'..b'8').contains(it)));
    let value = |digits: &[u8]| digits.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
    match octal.map(|digits| u8::try_from(value(digits))) {
        Some(Ok(byte)) => Some((byte, 4)),
        _ => field.first().map(|byte| (*byte, 1)),
    }
}

/// A field as it was before it was written into a line.
fn unescaped(field: &str) -> PathBuf {
    let (mut rest, mut bytes) = (field.as_bytes(), Vec::new());
    while let Some((byte, len)) = byte(rest) {
        bytes.push(byte);
        rest = &rest[len..];
    }
    OsString::from_vec(bytes).into()
}

/// The folders of a list with colons between. A colon within a name is written as octal digits, or behind a backslash that is.
fn listed(field: &str) -> Vec<PathBuf> {
    let (mut rest, mut folders) = (field.as_bytes(), vec![Vec::new()]);
    while let Some((byte_here, len)) = byte(rest) {
        let after = &rest[len..];
        let escaped = (byte_here == b'\\').then(|| byte(after)).flatten();
        rest = escaped.map_or(after, |(_, len)| &after[len..]);
        match escaped {
            None if byte_here == b':' && len == 1 => folders.push(Vec::new()),
            None => folders.last_mut().into_iter().for_each(|folder| folder.push(byte_here)),
            Some((literal, _)) => folders.last_mut().into_iter().for_each(|folder| folder.push(literal)),
        }
    }
    // Layers of data alone stand behind two colons.
    folders.into_iter().filter(|folder| !folder.is_empty()).map(|it| OsString::from_vec(it).into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
44 27 0:39 / /m rw,relatime - overlay overlay ro,lowerdir=/l\\134:a\\040b:/low,upperdir=/up,workdir=/work,redirect_dir=on
45 27 0:40 /sub /bind\\040here rw - overlay none rw,lowerdir+=/one,lowerdir+=/two,datadir+=/three,metacopy=on
46 27 0:41 / /new rw - overlay overlay ro,lowerdir=/a\\072b:/c::/data
47 27 0:42 / /home/mnt rw - fuse.sshfs me@host:/x rw,user_id=0,group_id=0
a line that is none
";

    fn of(path: &str, number: &str) -> MountLine {
        MountLine::of(TEXT, Path::new(path), number).unwrap()
    }

    #[test]
    fn the_innermost_mount_is_found_and_its_words_are_unescaped() {
        assert_eq!(of("/m/file", "0:39").point, Path::new("/m"));
        assert_eq!(of("/moved/file", "254:0").kind, "ext4");
        let ssh = of("/home/mnt/a", "0:42");
        assert_eq!((ssh.kind.as_str(), ssh.source.as_path()), ("fuse.sshfs", Path::new("me@host:/x")));
        let bind = of("/bind here/a", "9:9");
        assert_eq!(bind.inside(Path::new("/bind here/a")).unwrap(), Path::new("sub/a"));
    }

    #[test]
    fn the_layers_of_an_overlay_are_listed_however_the_kernel_writes_them() {
        let folders =
            |mount: MountLine| mount.overlaid().iter().map(|it| it.display().to_string()).collect::<Vec<_>>();
        assert_eq!(folders(of("/m/x", "0:39")), ["/up", "/l:a b", "/low"]);
        assert_eq!(folders(of("/bind here/x", "0:40")), ["/one", "/two", "/three"]);
        assert_eq!(folders(of("/new/x", "0:41")), ["/a:b", "/c", "/data"]);
        assert!(folders(of("/x", "254:0")).is_empty());
    }

    #[test]
    fn what_is_no_mountinfo_has_no_mounts() {
        for text in ["", " - ", "1 2 3 - ", "\\", "1 2 0:1 \\40 \\777 x - ext4"] {
            assert!(MountLine::of(text, Path::new("/a"), "0:1").is_none(), "{text}");
        }
        assert_eq!(unescaped("a\\04"), Path::new("a\\04"));
        assert_eq!(unescaped("a\\777"), Path::new("a\\777"));
    }
}
