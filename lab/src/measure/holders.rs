//! Which processes have a file mapped or open, looked up in /proc as far as this user may look.
//!
//! Pages that a process has mapped, or has locked into memory through a mapping, cannot be evicted.
//! A process that only has the file open does not hinder eviction, but PROTOCOL.md forbids both
//! between turns. A process whose /proc files this user may not read is not looked into. What
//! becomes of a holder is decided by [`super::sampler`].

use crate::target::identity::Identity;
use procfs::process::{MMapPath, Process};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How a process holds a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// A part of its memory is the file.
    Mapped,
    /// One of its descriptors is the file.
    Open,
}

/// A process that holds a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) pid: u32,
    /// The program's name, of at most 15 bytes; it is chosen by the process.
    pub(super) program: String,
    pub(super) hold: Hold,
}

/// The processes of the system at one moment, by their numbers.
pub(super) struct Processes {
    all: BTreeMap<u32, Kin>,
}

/// What relates a process to others.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kin {
    parent: u32,
    group: u32,
    session: u32,
    program: String,
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Hold::Mapped => "mapped",
            Hold::Open => "open",
        })
    }
}

impl fmt::Display for Holder {
    /// `process 4711 (postgres)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, self.program)
    }
}

impl Holder {
    /// Ends the process, whose number was found just now.
    pub(super) fn kill(&self) {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            // It may have ended by itself, which is as good.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

impl Processes {
    /// All that this user can see. Processes that end meanwhile are left out.
    pub(super) fn now() -> Processes {
        let stats = procfs::process::all_processes().into_iter().flatten().flatten();
        let stats = stats.filter_map(|process| process.stat().ok());
        let kin = |stat: procfs::process::Stat| {
            let number = |id: i32| u32::try_from(id).unwrap_or(0);
            let (parent, group, session) = (number(stat.ppid), number(stat.pgrp), number(stat.session));
            (number(stat.pid), Kin { parent, group, session, program: stat.comm })
        };
        Processes { all: stats.map(kin).collect() }
    }

    /// A process, all that descends from it, and what is left of its process group or session.
    pub(super) fn family(&self, head: u32) -> BTreeSet<u32> {
        let belongs = |(&pid, kin): (&u32, &Kin)| {
            let is_of = kin.group == head || kin.session == head || self.descends(pid, head);
            is_of.then_some(pid)
        };
        self.all.iter().filter_map(belongs).collect()
    }

    fn descends(&self, pid: u32, head: u32) -> bool {
        let mut at = pid;
        // As many steps as there are processes: numbers that were given anew while the table was
        // read could make a ring.
        for _ in 0..self.all.len() {
            if at == head {
                return true;
            }
            let Some(kin) = self.all.get(&at) else { return false };
            at = kin.parent;
        }
        false
    }

    /// Those of some processes that have the file mapped, or open; a mapping is told first.
    pub(super) fn holders(&self, among: &BTreeSet<u32>, file: &Identity) -> Vec<Holder> {
        let hold = |pid: u32| {
            if has_mapped(pid, file) { Some(Hold::Mapped) } else { has_open(pid, file).then_some(Hold::Open) }
        };
        self.of_hold(among, hold)
    }

    /// All processes but these that have the file mapped.
    pub(super) fn others_that_map(&self, but: &BTreeSet<u32>, file: &Identity) -> Vec<Holder> {
        let others = self.all.keys().copied().filter(|pid| !but.contains(pid)).collect();
        self.of_hold(&others, |pid| has_mapped(pid, file).then_some(Hold::Mapped))
    }

    fn of_hold(&self, among: &BTreeSet<u32>, hold: impl Fn(u32) -> Option<Hold>) -> Vec<Holder> {
        let program = |pid: u32| self.all.get(&pid).map_or_else(String::new, |kin| kin.program.clone());
        let holder = |&pid: &u32| Some(Holder { pid, hold: hold(pid)?, program: program(pid) });
        among.iter().filter_map(holder).collect()
    }
}

/// Whether this user may look into a process at all.
pub(super) fn can_be_seen(pid: u32) -> bool {
    Process::new(pid.cast_signed()).is_ok_and(|process| process.maps().is_ok())
}

fn has_mapped(pid: u32, file: &Identity) -> bool {
    let Ok(maps) = Process::new(pid.cast_signed()).and_then(|process| process.maps()) else { return false };
    // A file system may give its maps another device number than its stat, as btrfs and overlay do:
    // then the path decides.
    let is_it = |dev: (i32, i32), path: &MMapPath| {
        let number = |part: i32| u32::try_from(part).unwrap_or(u32::MAX);
        rustix::fs::makedev(number(dev.0), number(dev.1)) == file.dev
            || matches!(path, MMapPath::Path(path) if is_file(&seen_from(pid, path), file))
    };
    maps.iter().any(|map| map.inode == file.ino && is_it(map.dev, &map.pathname))
}

/// A path of another process, which may have another root.
fn seen_from(pid: u32, path: &Path) -> PathBuf {
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn has_open(pid: u32, file: &Identity) -> bool {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors.into_iter().any(|descriptor| is_file(&descriptor.path(), file))
}

fn is_file(path: &Path, file: &Identity) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| (meta.dev(), meta.ino()) == (file.dev, file.ino))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::process::{Child, Command, Stdio};

    /// A shell that says a line when the words before are done, and then waits for its input to
    /// end.
    fn waiting(script: &str, path: &Path) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{script} echo; read -r _")]).arg("sh").arg(path);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let said = std::io::Read::read(&mut child.stdout.take().unwrap(), &mut [0]);
        assert_eq!(said.unwrap(), 1);
        child
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn who_has_a_file_open_is_found_among_its_family_and_nobody_else() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let identity = Identity::of_path(file.path()).unwrap();
        let holder = waiting("exec 7<\"$1\";", file.path());
        let other = waiting("", file.path());
        let now = Processes::now();
        let found = now.holders(&now.family(holder.id()), &identity);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].pid, found[0].hold, found[0].program.as_str()), (holder.id(), Hold::Open, "sh"));
        assert_eq!(found[0].to_string(), format!("process {} (sh)", holder.id()));
        assert!(now.holders(&now.family(other.id()), &identity).is_empty());
        found[0].kill();
        end(other);
        let mut holder = holder;
        holder.wait().unwrap();
        assert!(now.holders(&now.family(holder.id()), &identity).is_empty());
    }

    #[test]
    fn children_are_of_the_family_and_so_is_this_process_of_its_parents() {
        let child = waiting("", Path::new("/"));
        let now = Processes::now();
        assert!(now.family(std::process::id()).contains(&child.id()));
        assert!(!now.family(child.id()).contains(&std::process::id()));
        end(child);
    }

    #[test]
    fn a_mapping_is_found_by_the_file_and_not_by_its_name() {
        let program = std::env::current_exe().unwrap();
        let identity = Identity::of_path(&program).unwrap();
        let me = BTreeSet::from([std::process::id()]);
        let now = Processes::now();
        let found = now.holders(&me, &identity);
        assert_eq!((found.len(), found[0].hold), (1, Hold::Mapped));
        assert!(now.others_that_map(&me, &identity).iter().all(|it| it.pid != std::process::id()));
        let other = tempfile::NamedTempFile::new().unwrap();
        let _open = File::open(other.path()).unwrap();
        let found = now.holders(&me, &Identity::of_path(other.path()).unwrap());
        assert_eq!((found.len(), found[0].hold), (1, Hold::Open));
        assert!(can_be_seen(std::process::id()) && !can_be_seen(u32::MAX >> 1));
    }
}
