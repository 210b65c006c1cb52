//! Checks that only the user and root can have created what is at a path, before it is executed
//! with the user's rights.

use crate::user;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Most symbolic links that are followed, as in the kernel.
const LINKS_MAX: u32 = 40;

const STICKY: u32 = 0o1000;
const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;

/// Files and folders that build tools and runtimes look for in every folder above the one in which
/// they start.
const NAMES_FOUND_ABOVE: [&str; 23] = [
    ".cargo",
    "Cargo.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    ".mvn",
    "go.mod",
    "go.work",
    "node_modules",
    "package.json",
    "tsconfig.json",
    "bunfig.toml",
    "deno.json",
    "deno.jsonc",
    "Directory.Build.props",
    "Directory.Build.rsp",
    "Directory.Build.targets",
    "Directory.Packages.props",
    "NuGet.Config",
    "NuGet.config",
    "nuget.config",
    "global.json",
    "Package.swift",
    ".git",
];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}, so nothing is run from there", .path.display())]
pub struct Distrust {
    /// The file or folder; it may be above the checked path.
    path: PathBuf,
    why: DistrustReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum DistrustReason {
    #[error("belongs to user {0}, who is neither root nor you")]
    Owner(u32),
    #[error("group {0} may write there")]
    Group(u32),
    #[error("every user may write there")]
    Everybody,
    #[error("is a chain of links without end")]
    Links,
}

/// Rejects a path if the file, a folder above it or a symbolic link in the path belongs to another
/// user or can be changed by one. In a sticky folder such as /tmp, where users can only change
/// their own entries, the owner of the entry decides. A path that does not exist is accepted.
pub fn check(path: &Path) -> Result<(), Distrust> {
    let trusted = user::trusted_user_ids();
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    check_with_links(&path, &trusted, LINKS_MAX)
}

/// Rejects configuration that another user could have placed in a folder above, for programs that start
/// in this folder. [`check`] lets sticky folders above pass, where every user may create entries.
pub fn check_configuration_above(folder: &Path) -> Result<(), Distrust> {
    // Tools look in the parents of the path that getcwd(2) returns, which has no symbolic links.
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let shared = folder.ancestors().skip(1).filter(|above| is_sticky(above));
    shared.flat_map(|above| NAMES_FOUND_ABOVE.map(|name| above.join(name))).try_for_each(|path| check(&path))
}

fn is_sticky(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|facts| facts.mode() & STICKY != 0)
}

fn check_with_links(path: &Path, trusted: &[u32], links_max: u32) -> Result<(), Distrust> {
    let mut folders: Vec<&Path> = path.ancestors().collect();
    folders.reverse();
    for place in folders {
        let Ok(facts) = place.symlink_metadata() else { return Ok(()) };
        let refused = |why| Err(Distrust { path: place.to_owned(), why });
        if let Some(why) = reason_to_distrust(&facts, place, place == path, trusted) {
            return refused(why);
        }
        if facts.is_symlink() {
            let Some(links_max) = links_max.checked_sub(1) else { return refused(DistrustReason::Links) };
            let target = fs::read_link(place).unwrap_or_default();
            let folder = place.parent().unwrap_or(Path::new("/"));
            check_with_links(&folder.join(target), trusted, links_max)?;
        }
    }
    Ok(())
}

fn reason_to_distrust(
    facts: &Metadata,
    place: &Path,
    is_last: bool,
    trusted: &[u32],
) -> Option<DistrustReason> {
    if !trusted.contains(&facts.uid()) {
        return Some(DistrustReason::Owner(facts.uid()));
    }
    // The permissions of a symbolic link have no effect.
    let is_guarded = facts.is_dir() && facts.mode() & STICKY != 0 && !is_last;
    if facts.is_symlink() || is_guarded {
        return None;
    }
    if facts.mode() & OTHERS_WRITE != 0 {
        return Some(DistrustReason::Everybody);
    }
    let is_of_group = facts.mode() & GROUP_WRITES != 0;
    let may_write =
        is_of_group && (has_access_control_list(place) || !user::has_only_members(facts.gid(), trusted));
    may_write.then_some(DistrustReason::Group(facts.gid()))
}

/// True if the file has an access control list, which may give further users rights. The group bits
/// then show the rights of the list.
fn has_access_control_list(place: &Path) -> bool {
    rustix::fs::lgetxattr(place, "system.posix_acl_access", &mut [0_u8; 0][..]).is_ok_and(|bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// The entry of the folder that is rejected when this path is checked, and the reason.
    fn refused(folder: &Path, name: &str) -> Option<(String, DistrustReason)> {
        let Distrust { path, why } = check(&folder.join(name)).err()?;
        Some((path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned(), why))
    }

    #[test]
    fn only_the_user_or_root_may_be_able_to_change_each_folder_and_link_of_a_path() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().canonicalize().unwrap();
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::write(folder.join("a/b/program"), "").unwrap();
        symlink("a/b", folder.join("link")).unwrap();
        symlink("loop", folder.join("loop")).unwrap();
        let all = ["a", "a/b", "a/b/program"];
        let safe = || all.iter().for_each(|name| set_mode(&folder.join(name), 0o755));
        safe();
        assert_eq!(refused(&folder, "a/b/program"), None);
        assert_eq!(refused(&folder, "link/program"), None);
        assert_eq!(refused(&folder, "link/not-there"), None);
        assert!(refused(&folder, "loop").is_some());
        for name in all {
            safe();
            set_mode(&folder.join(name), 0o757);
            let found = Some((name.to_owned(), DistrustReason::Everybody));
            assert_eq!(refused(&folder, "a/b/program"), found);
            assert_eq!(refused(&folder, "link/program").map(|it| it.1), Some(DistrustReason::Everybody));
        }
        safe();
        set_mode(&folder.join("a"), 0o1777);
        assert_eq!(refused(&folder, "a/b/program"), None, "an entry of a sticky folder is its owner's");
        assert_eq!(refused(&folder, "a"), Some(("a".to_owned(), DistrustReason::Everybody)));
    }

    #[test]
    fn configuration_of_others_in_a_sticky_folder_above_is_rejected() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().canonicalize().unwrap();
        fs::create_dir_all(folder.join("shared/own/cache")).unwrap();
        set_mode(&folder.join("shared"), 0o1777);
        symlink("shared/own", folder.join("link")).unwrap();
        let found = |name: &str| check_configuration_above(&folder.join(name));
        assert_eq!(found("shared/own/cache"), Ok(()));
        for name in [".cargo", ".mvn", "node_modules", "Directory.Build.props"] {
            let planted = folder.join("shared").join(name);
            fs::create_dir(&planted).unwrap();
            set_mode(&planted, 0o755);
            assert_eq!(found("shared/own/cache"), Ok(()), "the user's own");
            set_mode(&planted, 0o777);
            let distrust = Distrust { path: planted.clone(), why: DistrustReason::Everybody };
            assert_eq!(found("shared/own/cache"), Err(distrust.clone()));
            assert_eq!(found("link/cache"), Err(distrust));
            fs::remove_dir(&planted).unwrap();
        }
    }

    #[test]
    fn a_path_of_another_user_or_group_is_rejected() {
        if !user::is_root() {
            eprintln!("SKIPPED: trust in other users: only root gives files away");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().canonicalize().unwrap();
        fs::create_dir(folder.join("a")).unwrap();
        let program = folder.join("a/program");
        fs::write(&program, "").unwrap();
        chown(&program, Some(4321), None).unwrap();
        assert_eq!(
            refused(&folder, "a/program"),
            Some(("a/program".to_owned(), DistrustReason::Owner(4321)))
        );
        chown(&program, Some(0), None).unwrap();
        chown(folder.join("a"), Some(4321), None).unwrap();
        assert_eq!(refused(&folder, "a/program"), Some(("a".to_owned(), DistrustReason::Owner(4321))));
        chown(folder.join("a"), Some(0), Some(4321)).unwrap();
        set_mode(&folder.join("a"), 0o775);
        assert_eq!(refused(&folder, "a/program"), Some(("a".to_owned(), DistrustReason::Group(4321))));
    }
}
