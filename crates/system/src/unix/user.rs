//! The user of this process, and the user's permissions.

use rustix::fs::{Access, access};
use rustix::process::geteuid;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub fn is_root() -> bool {
    geteuid().is_root()
}

pub fn owns(file: &Metadata) -> bool {
    file.uid() == geteuid().as_raw()
}

/// True if no other users than these are in a group, by /etc/group and /etc/passwd. False for a group
/// that /etc/group does not list, because a directory service may give it any members.
pub fn has_only_members(group: u32, users: &[u32]) -> bool {
    let text = |path| std::fs::read_to_string(path).unwrap_or_default();
    has_only_members_in_files(group, users, &text("/etc/group"), &text("/etc/passwd"))
}

fn has_only_members_in_files(group: u32, users: &[u32], groups: &str, accounts: &str) -> bool {
    const ROOT_GROUP: u32 = 0;
    let number = |field: Option<&str>| field.and_then(|field| field.parse::<u32>().ok());
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let accounts: Vec<Vec<String>> = accounts.lines().map(fields).collect();
    let user = |account: &Vec<String>| number(account.get(2).map(String::as_str));
    let is_one_of_them = |account: &Vec<String>| user(account).is_some_and(|user| users.contains(&user));
    let Some(members) = groups.lines().map(fields).find_map(|it| {
        (number(it.get(2).map(String::as_str)) == Some(group)).then(|| it.get(3).cloned().unwrap_or_default())
    }) else {
        return false;
    };
    let named = members.split(',').filter(|name| !name.is_empty());
    let known = named.clone().all(|name| {
        accounts.iter().any(|account| account.first().is_some_and(|it| it == name) && is_one_of_them(account))
    });
    // System accounts such as `sync` are in root's group, but no person logs in with them.
    let has_others = accounts
        .iter()
        .any(|account| number(account.get(3).map(String::as_str)) == Some(group) && !is_one_of_them(account));
    known && (group == ROOT_GROUP || !has_others)
}

/// The ids of the users that are trusted: root, this user, and the user who became root by sudo.
pub fn trusted_user_ids() -> Vec<u32> {
    const ROOT: u32 = 0;
    let by_sudo = || std::env::var("SUDO_UID").ok()?.parse().ok();
    let invoker: Option<u32> = if is_root() { by_sudo() } else { None };
    [ROOT, geteuid().as_raw()].into_iter().chain(invoker).collect()
}

/// Checks whether the user may write to a file, or create files in a folder.
pub fn check_writable(path: &Path) -> io::Result<()> {
    Ok(access(path, Access::WRITE_OK)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_counts_as_the_users_own_if_it_has_no_other_members() {
        let groups = "root:x:0:\nme:x:1000:\nfriends:x:50:me,eve\nonly:x:51:me\nstaff:x:52:\n";
        let accounts = "root:x:0:0::/:\nsync:x:4:0::/:\nme:x:1000:1000::/:\neve:x:1001:52::/:\n";
        let alone = |group| has_only_members_in_files(group, &[0, 1000], groups, accounts);
        assert!(alone(0) && alone(1000) && alone(51));
        assert!(!alone(50) && !alone(52) && !alone(99));
    }
}
