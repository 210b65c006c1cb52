//! Mounts, from /proc/self/mountinfo: which mount shows a path, and the folders of an overlay.
//!
//! The lines are parsed here and not into a map of options, for two reasons: recent kernels repeat
//! an option of an overlay for each layer, and a path in an option is escaped twice.

use super::file_status::{DeviceNumber, FileKind, FileStatus};
use super::system_root::SystemRoot;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Most symbolic links that are followed in one path, as in the kernel.
const LINKS_MAX: u32 = 40;

/// One mounted file system, from one line of mountinfo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The device number, such as `254:0`.
    device_number: String,
    /// The folder inside the file system that is mounted.
    pub(super) root: PathBuf,
    pub point: PathBuf,
    /// The type of the file system, such as `fuse.sshfs`.
    pub kind: String,
    /// The mounted source: a device, a server's folder, or a name.
    pub source: PathBuf,
    /// True if the mount is read-only for all users, root included.
    pub(super) is_read_only: bool,
    /// The options of the file system, still escaped.
    options: String,
}

impl Mount {
    /// The mount that shows a file with this device number; the path must be absolute and without
    /// symbolic links.
    pub fn find(system: &SystemRoot, path: &Path, device: DeviceNumber) -> Option<Mount> {
        let text = fs::read(system.join("proc/self/mountinfo")).ok()?;
        Mount::find_in_text(&String::from_utf8_lossy(&text), path, &device.to_string())
    }

    fn find_in_text(mountinfo: &str, path: &Path, number: &str) -> Option<Mount> {
        let above = mountinfo.lines().filter_map(Mount::parse).filter(|mount| path.starts_with(&mount.point));
        // Files of overlays and btrfs have other device numbers than their mounts, so the number is
        // only a preference. If several mounts have the same mount point, the last one hides the
        // others.
        above.max_by_key(|mount| (mount.device_number == number, mount.point.components().count()))
    }

    /// The mount points below a folder, outer ones before inner ones; the folder's path must have
    /// no symbolic links. No file system is accessed, because one that does not respond would block
    /// the caller.
    pub fn points_below(system: &SystemRoot, folder: &Path) -> Vec<PathBuf> {
        let text = fs::read(system.join("proc/self/mountinfo")).unwrap_or_default();
        Mount::points_in_text(&String::from_utf8_lossy(&text), folder)
    }

    /// All mounts; none if they cannot be read.
    pub fn all(system: &SystemRoot) -> Vec<Mount> {
        let text = fs::read(system.join("proc/self/mountinfo")).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().filter_map(Mount::parse).collect()
    }

    fn points_in_text(mountinfo: &str, folder: &Path) -> Vec<PathBuf> {
        let points = mountinfo.lines().filter_map(Mount::parse).map(|mount| mount.point);
        let below: BTreeSet<PathBuf> =
            points.filter(|point| point.starts_with(folder) && point != folder).collect();
        below.into_iter().collect()
    }

    /// The device number of the mounted block device; `None` if the source is not a block device.
    pub fn source_device(&self) -> Option<DeviceNumber> {
        match FileStatus::of_path(&self.source).ok()?.kind {
            FileKind::BlockDevice(number) => Some(number),
            _ => None,
        }
    }

    fn parse(line: &str) -> Option<Mount> {
        // 42 27 0:39 / /mnt rw,relatime shared:1 - fuse source rw,user_id=0
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(2);
        let (number, root, point) = (mount.next()?.to_owned(), mount.next()?, mount.next()?);
        let is_read_only = mount.next().is_some_and(|options| options.split(',').any(|it| it == "ro"));
        let mut filesystem = filesystem.split(' ');
        let (kind, source) = (filesystem.next()?.to_owned(), filesystem.next()?);
        Some(Mount {
            device_number: number,
            root: unescaped(root),
            point: unescaped(point),
            kind,
            source: unescaped(source),
            is_read_only,
            options: filesystem.next().unwrap_or_default().to_owned(),
        })
    }

    /// The path of a file relative to the root of its file system.
    pub fn path_in_filesystem(&self, path: &Path) -> Option<PathBuf> {
        let root = self.root.strip_prefix("/").ok()?;
        Some(root.join(path.strip_prefix(&self.point).ok()?))
    }

    /// The layers of an overlay, the uppermost first; none for other file systems.
    pub fn overlay_layers(&self) -> Vec<PathBuf> {
        if self.kind != "overlay" {
            return Vec::new();
        }
        let upper = self.option_values(&["upperdir"]).map(unescaped);
        let lower = self.option_values(&["lowerdir"]).flat_map(split_folders);
        upper.chain(lower).chain(self.option_values(&["lowerdir+", "datadir+"]).map(unescaped)).collect()
    }

    /// True if the mount has this option without a value, such as `rw`.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.split(',').any(|option| option == name)
    }

    fn option_values(&self, names: &'static [&str]) -> impl Iterator<Item = &str> {
        let options = self.options.split(',').filter_map(|option| option.split_once('='));
        options.filter(|(name, _)| names.contains(name)).map(|(_, value)| value)
    }
}

/// True if a path is one of these folders, or inside one, or has one below it. Symbolic links in
/// the path are followed, but the folders themselves are not accessed, because their file systems
/// may not respond.
pub fn leads_to(path: &Path, points: &[PathBuf]) -> bool {
    let Ok(path) = std::path::absolute(path) else { return false };
    let mut names: VecDeque<OsString> = path.iter().map(OsString::from).collect();
    let (mut at, mut links) = (PathBuf::new(), 0);
    while let Some(name) = names.pop_front() {
        match name.as_bytes() {
            b"." => {}
            b".." => {
                at.pop();
            }
            _ => at.push(&name),
        }
        if points.contains(&at) {
            return true;
        }
        if let Ok(link) = fs::read_link(&at) {
            links += 1;
            if links > LINKS_MAX {
                return false;
            }
            at.pop();
            link.iter().rev().for_each(|name| names.push_front(name.to_owned()));
        }
    }
    points.iter().any(|point| point.starts_with(&at))
}

/// The first byte of an escaped field, and its length in the field: a backslash with three octal
/// digits is one byte.
fn unescaped_byte(field: &[u8]) -> Option<(u8, usize)> {
    let octal = field
        .get(1..4)
        .filter(|digits| field[0] == b'\\' && digits.iter().all(|it| (b'0'..b'8').contains(it)));
    let value = |digits: &[u8]| digits.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
    match octal.map(|digits| u8::try_from(value(digits))) {
        Some(Ok(byte)) => Some((byte, 4)),
        _ => field.first().map(|byte| (*byte, 1)),
    }
}

/// Removes the escapes of a field.
fn unescaped(field: &str) -> PathBuf {
    let (mut rest, mut bytes) = (field.as_bytes(), Vec::new());
    while let Some((byte, len)) = unescaped_byte(rest) {
        bytes.push(byte);
        rest = &rest[len..];
    }
    OsString::from_vec(bytes).into()
}

/// Splits a list of folders at its colons. A colon in a name is escaped in octal or with a
/// backslash.
fn split_folders(field: &str) -> Vec<PathBuf> {
    let (mut rest, mut folders) = (field.as_bytes(), vec![Vec::new()]);
    while let Some((byte_here, len)) = unescaped_byte(rest) {
        let after = &rest[len..];
        let escaped = (byte_here == b'\\').then(|| unescaped_byte(after)).flatten();
        rest = escaped.map_or(after, |(_, len)| &after[len..]);
        match escaped {
            None if byte_here == b':' && len == 1 => folders.push(Vec::new()),
            None => folders.last_mut().into_iter().for_each(|folder| folder.push(byte_here)),
            Some((literal, _)) => folders.last_mut().into_iter().for_each(|folder| folder.push(literal)),
        }
    }
    // Two colons separate layers that hold data only; the empty name between them is dropped.
    folders.into_iter().filter(|folder| !folder.is_empty()).map(|it| OsString::from_vec(it).into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTINFO: &str = "\
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
44 27 0:39 / /m rw,relatime - overlay overlay ro,lowerdir=/l\\134:a\\040b:/low,upperdir=/up,workdir=/work,redirect_dir=on
45 27 0:40 /sub /bind\\040here rw - overlay none rw,lowerdir+=/one,lowerdir+=/two,datadir+=/three,metacopy=on
46 27 0:41 / /new rw - overlay overlay ro,lowerdir=/a\\072b:/c::/data
47 27 0:42 / /home/mnt rw - fuse.sshfs me@host:/x rw,user_id=0,group_id=0
a line that is none
";

    fn mount(path: &str, number: &str) -> Mount {
        Mount::find_in_text(MOUNTINFO, Path::new(path), number).unwrap()
    }

    #[test]
    fn the_innermost_mount_is_found_and_its_words_are_unescaped() {
        assert_eq!(mount("/m/file", "0:39").point, Path::new("/m"));
        assert_eq!(mount("/moved/file", "254:0").kind, "ext4");
        let ssh = mount("/home/mnt/a", "0:42");
        assert_eq!((ssh.kind.as_str(), ssh.source.as_path()), ("fuse.sshfs", Path::new("me@host:/x")));
        assert!(ssh.has_option("rw") && !ssh.has_option("user_id"));
        let bind = mount("/bind here/a", "9:9");
        assert_eq!(bind.path_in_filesystem(Path::new("/bind here/a")).unwrap(), Path::new("sub/a"));
    }

    #[test]
    fn mounts_below_a_folder_are_found_each_once() {
        let again = "48 27 0:43 / /home/mnt/in rw - tmpfs t rw\n49 27 0:44 / /home/mnt rw - tmpfs t rw\n";
        let below = |folder: &str| Mount::points_in_text(&format!("{MOUNTINFO}{again}"), Path::new(folder));
        assert_eq!(below("/home"), [Path::new("/home/mnt"), Path::new("/home/mnt/in")]);
        assert_eq!(below("/home/mnt"), [Path::new("/home/mnt/in")]);
        assert_eq!(below("/bind here").len() + below("/hom").len(), 0);
        assert_eq!(below("/").len(), 5);
    }

    #[test]
    fn a_path_reaches_mount_points_through_symbolic_links_and_below_itself() {
        let folder = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(folder.path()).unwrap();
        let at = |name: &str| real.join(name);
        fs::create_dir(at("a")).unwrap();
        for (link, target) in [("there", at("point/x")), ("up", "a/../point".into()), ("loop", "loop".into())]
        {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        let leads = |name: &str| leads_to(&at(name), &[at("point")]);
        assert!(["point", "point/x", "a/../point/y", "there", "up", "up/x", "."].into_iter().all(leads));
        assert!(!["a", "points", "a/point", "loop", "nothing"].into_iter().any(leads));
        assert!(leads_to(Path::new("/"), &[at("point")]) && !leads_to(&real, &[]));
    }

    #[test]
    fn the_mount_that_shows_proc_is_found() {
        let path = fs::canonicalize("/proc/self/status").unwrap();
        let device = FileStatus::from(&fs::metadata(&path).unwrap()).device;
        let mount = Mount::find(&SystemRoot::default(), &path, device).unwrap();
        assert_eq!((mount.point.as_path(), mount.kind.as_str()), (Path::new("/proc"), "proc"));
        assert_eq!(mount.source_device(), None);
    }

    #[test]
    fn the_layers_of_an_overlay_are_listed_in_every_syntax_of_kernels() {
        let folders = |mount: Mount| {
            mount.overlay_layers().iter().map(|it| it.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(folders(mount("/m/x", "0:39")), ["/up", "/l:a b", "/low"]);
        assert_eq!(folders(mount("/bind here/x", "0:40")), ["/one", "/two", "/three"]);
        assert_eq!(folders(mount("/new/x", "0:41")), ["/a:b", "/c", "/data"]);
        assert!(folders(mount("/x", "254:0")).is_empty());
    }

    #[test]
    fn text_that_is_not_mountinfo_has_no_mounts() {
        for text in ["", " - ", "1 2 3 - ", "\\", "1 2 0:1 \\40 \\777 x - ext4"] {
            assert!(Mount::find_in_text(text, Path::new("/a"), "0:1").is_none(), "{text}");
        }
        assert_eq!(unescaped("a\\04"), Path::new("a\\04"));
        assert_eq!(unescaped("a\\777"), Path::new("a\\777"));
    }
}
