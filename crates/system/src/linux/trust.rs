//! Whether only the user and root can have put at a path what is run with the user's rights.

use crate::user;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Links that are followed from one to the next, as the kernel does.
const LINKS_MAX: u32 = 40;

const STICKY: u32 = 0o1000;
const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}, so nothing is run from there", .path.display())]
pub struct Distrust {
    /// The file or folder, which may be above what was asked about.
    path: PathBuf,
    why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Why {
    #[error("belongs to user {0}, who is neither root nor you")]
    Owner(u32),
    #[error("group {0} may write there")]
    Group(u32),
    #[error("every user may write there")]
    Everybody,
    #[error("is a chain of links without end")]
    Links,
}

/// Refuses a path if it, a folder above it or a link on the way belongs to another user, or can be
/// changed by one. In a folder such as /tmp, where a user changes only what is their own, the owner
/// of the entry decides. What is not there is not refused.
///
/// `also` is a user whom the caller trusts beside root and itself.
pub fn check(path: &Path, also: Option<u32>) -> Result<(), Distrust> {
    let trusted: Vec<u32> = user::trusted().into_iter().chain(also).collect();
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    check_within(&path, &trusted, LINKS_MAX)
}

fn check_within(path: &Path, trusted: &[u32], links_max: u32) -> Result<(), Distrust> {
    let mut folders: Vec<&Path> = path.ancestors().collect();
    folders.reverse();
    for place in folders {
        let Ok(facts) = place.symlink_metadata() else { return Ok(()) };
        let refused = |why| Err(Distrust { path: place.to_owned(), why });
        if let Some(why) = objection(&facts, place, place == path, trusted) {
            return refused(why);
        }
        if facts.is_symlink() {
            let Some(links_max) = links_max.checked_sub(1) else { return refused(Why::Links) };
            let target = fs::read_link(place).unwrap_or_default();
            let folder = place.parent().unwrap_or(Path::new("/"));
            check_within(&folder.join(target), trusted, links_max)?;
        }
    }
    Ok(())
}

fn objection(facts: &Metadata, place: &Path, is_last: bool, trusted: &[u32]) -> Option<Why> {
    if !trusted.contains(&facts.uid()) {
        return Some(Why::Owner(facts.uid()));
    }
    // Everybody's rights on a link mean nothing.
    let is_guarded = facts.is_dir() && facts.mode() & STICKY != 0 && !is_last;
    if facts.is_symlink() || is_guarded {
        return None;
    }
    if facts.mode() & OTHERS_WRITE != 0 {
        return Some(Why::Everybody);
    }
    let is_of_group = facts.mode() & GROUP_WRITES != 0;
    let may_write = is_of_group && (has_list(place) || !user::is_alone_in_group(facts.gid(), trusted));
    may_write.then_some(Why::Group(facts.gid()))
}

/// Whether a list gives rights to further users; the group then has the rights of the list.
fn has_list(place: &Path) -> bool {
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

    /// Which entry of the folder is refused on the way to this one, and why.
    fn refused(folder: &Path, name: &str) -> Option<(String, Why)> {
        let Distrust { path, why } = check(&folder.join(name), None).err()?;
        Some((path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned(), why))
    }

    #[test]
    fn each_folder_above_and_each_link_must_be_the_users_or_roots_alone() {
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
            let found = Some((name.to_owned(), Why::Everybody));
            assert_eq!(refused(&folder, "a/b/program"), found);
            assert_eq!(refused(&folder, "link/program").map(|it| it.1), Some(Why::Everybody));
        }
        safe();
        set_mode(&folder.join("a"), 0o1777);
        assert_eq!(refused(&folder, "a/b/program"), None, "an entry of a sticky folder is its owner's");
        assert_eq!(refused(&folder, "a"), Some(("a".to_owned(), Why::Everybody)));
    }

    #[test]
    fn what_belongs_to_another_user_or_group_is_refused() {
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
        assert_eq!(refused(&folder, "a/program"), Some(("a/program".to_owned(), Why::Owner(4321))));
        assert_eq!(check(&program, Some(4321)), Ok(()));
        chown(&program, Some(0), None).unwrap();
        chown(folder.join("a"), Some(4321), None).unwrap();
        assert_eq!(refused(&folder, "a/program"), Some(("a".to_owned(), Why::Owner(4321))));
        chown(folder.join("a"), Some(0), Some(4321)).unwrap();
        set_mode(&folder.join("a"), 0o775);
        assert_eq!(refused(&folder, "a/program"), Some(("a".to_owned(), Why::Group(4321))));
    }
}
