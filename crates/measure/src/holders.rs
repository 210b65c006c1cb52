//! Finds the processes that hold a file, which means that they have the file mapped or open.
//!
//! Pages that a process has mapped, or has locked into memory through a mapping, cannot be evicted.
//! A process that only has the file open does not hinder eviction. Between turns, PROTOCOL.md
//! forbids contenders to have the file mapped or open. Processes that this user may not inspect
//! count as holding nothing. [`super::sampler`] decides what happens to a holder.

use readlab_model::target::identity::Identity;
use readlab_system::process::{
    self, FileId, ProcessEntry, ProcessHandle, UsedFile, has_mapped, has_open, mapped_files, open_files,
};
use readlab_targets::target::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    Mapped,
    Open,
}

#[derive(Debug)]
pub(super) struct Holder {
    pub(super) pid: u32,
    /// Handle by which the process can be killed; `None` if it has ended since it was seen.
    pub(super) handle: Option<ProcessHandle>,
    /// The program's name, at most 15 bytes; the process may set any name.
    pub(super) program: String,
    pub(super) hold: Hold,
    /// The held file of a target of several files; `None` for a target of one file.
    pub(super) file: Option<PathBuf>,
}

/// The processes of the system at one moment, by process id.
pub struct Processes {
    all: BTreeMap<u32, ProcessEntry>,
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
    /// Kills this process, and never another process that has got the same process id since.
    pub(super) fn kill(&self) {
        self.handle.iter().for_each(ProcessHandle::kill);
    }
}

impl Processes {
    /// All processes that this user can see. Processes that end meanwhile are left out.
    pub fn now() -> Processes {
        Processes { all: process::all_processes().into_iter().map(|entry| (entry.pid, entry)).collect() }
    }

    /// A process, all its descendants, and the other members of its process group or session.
    pub fn family(&self, head: u32) -> BTreeSet<u32> {
        let belongs = |process: &&ProcessEntry| {
            process.group == head || process.session == head || self.descends_from(process.pid, head)
        };
        self.all.values().filter(belongs).map(|process| process.pid).collect()
    }

    /// All processes except these.
    pub(super) fn all_except(&self, excluded: &BTreeSet<u32>) -> BTreeSet<u32> {
        self.all.keys().filter(|pid| !excluded.contains(pid)).copied().collect()
    }

    fn descends_from(&self, pid: u32, head: u32) -> bool {
        let mut at = pid;
        // At most as many steps as there are processes: numbers that were reused while the table
        // was read could form a cycle.
        for _ in 0..self.all.len() {
            if at == head {
                return true;
            }
            let Some(process) = self.all.get(&at) else { return false };
            at = process.parent;
        }
        false
    }

    /// The processes among `among` that hold the file. A process that has the file both mapped and
    /// open counts as [`Hold::Mapped`].
    pub(super) fn holders(&self, among: &BTreeSet<u32>, file: &Identity) -> Vec<Holder> {
        let file = file_id(file);
        // The maps are read after the handle is opened, so that they are of the process that the
        // handle can kill.
        let of_one = |&pid: &u32| {
            let handle = self.all.get(&pid).and_then(ProcessHandle::open);
            let is_mapped = has_mapped(pid, file).then_some(Hold::Mapped);
            let hold = is_mapped.or_else(|| has_open(pid, file).then_some(Hold::Open))?;
            Some(Holder { handle, ..self.holder(pid, hold) })
        };
        among.iter().filter_map(of_one).collect()
    }

    /// The processes among `among` that hold a file of a tree, each with one held file, preferably
    /// a mapped one. Empty if the tree's list cannot be read: other code ends the trials for that.
    pub(super) fn holders_of_tree_files(&self, among: &BTreeSet<u32>, tree: &Tree) -> Vec<Holder> {
        let used = |&pid: &u32| {
            let mapped = mapped_files(pid).into_iter().map(|file| (Hold::Mapped, file));
            let open = open_files(pid).into_iter().map(|file| (Hold::Open, file));
            (pid, mapped.chain(open).collect())
        };
        let used: Vec<(u32, Vec<(Hold, UsedFile)>)> = among.iter().map(used).collect();
        let name = |(_, file): &(Hold, UsedFile)| file.path.file_name().map(ToOwned::to_owned);
        let names = used.iter().flat_map(|(_, files)| files).filter_map(name);
        let held = tree.files_with_names(&names.collect()).unwrap_or_default();
        let of_one = |(pid, files): (u32, Vec<(Hold, UsedFile)>)| {
            let (hold, file) = files.into_iter().find(|(_, file)| held.contains(&file.id))?;
            Some(Holder { file: Some(file.path), ..self.holder(pid, hold) })
        };
        used.into_iter().filter_map(of_one).collect()
    }

    /// All processes that have the file mapped, except those in `excluded`.
    pub(super) fn others_that_map(&self, excluded: &BTreeSet<u32>, file: &Identity) -> Vec<Holder> {
        let others =
            self.all.keys().filter(|pid| !excluded.contains(pid) && has_mapped(**pid, file_id(file)));
        others.map(|&pid| self.holder(pid, Hold::Mapped)).collect()
    }

    fn holder(&self, pid: u32, hold: Hold) -> Holder {
        let program = self.all.get(&pid).map(|process| process.name.clone()).unwrap_or_default();
        Holder { pid, handle: None, program, hold, file: None }
    }
}

fn file_id(file: &Identity) -> FileId {
    FileId { device: file.dev, inode: file.ino }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree_target;
    use readlab_system::process::may_be_inspected;
    use std::fs::File;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    /// A shell that runs a script, prints a line, and then waits until its input ends.
    fn spawn_waiting_shell(script: &str, path: &Path) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{script} echo; read -r _")]).arg("sh").arg(path);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let read = std::io::Read::read(&mut child.stdout.take().unwrap(), &mut [0]);
        assert_eq!(read.unwrap(), 1);
        child
    }

    fn kill_and_wait(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_has_a_file_open_is_found_among_its_family_only() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let identity = Identity::of_path(file.path()).unwrap();
        let mut holder = spawn_waiting_shell("exec 7<\"$1\";", file.path());
        let other = spawn_waiting_shell("", file.path());
        let now = Processes::now();
        assert!(now.family(std::process::id()).contains(&holder.id()), "children are of the family");
        assert!(!now.family(holder.id()).contains(&std::process::id()), "parents are not");
        let found = now.holders(&now.family(holder.id()), &identity);
        assert_eq!((found.len(), found[0].pid, found[0].hold), (1, holder.id(), Hold::Open));
        assert_eq!(found[0].to_string(), format!("process {} (sh)", holder.id()));
        assert!(now.holders(&now.family(other.id()), &identity).is_empty());
        found[0].kill();
        kill_and_wait(other);
        holder.wait().unwrap();
        assert!(now.holders(&now.family(holder.id()), &identity).is_empty());
    }

    #[test]
    fn the_held_file_of_many_is_named_and_a_file_of_the_same_name_elsewhere_is_not() {
        let (tree, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for folder in [&tree, &elsewhere] {
            std::fs::write(folder.path().join("a"), "a").unwrap();
            std::fs::write(folder.path().join("b"), "b").unwrap();
        }
        let target = tree_target(tree.path());
        let files = target.tree().unwrap();
        let holder = spawn_waiting_shell("exec 7<\"$1\";", &tree.path().join("b"));
        let other = spawn_waiting_shell("exec 7<\"$1\";", &elsewhere.path().join("b"));
        let now = Processes::now();
        let found = now.holders_of_tree_files(&BTreeSet::from([holder.id(), other.id()]), files);
        assert_eq!((found.len(), found[0].pid, found[0].hold), (1, holder.id(), Hold::Open));
        assert_eq!(found[0].file.as_deref().and_then(Path::file_name), Some("b".as_ref()));
        kill_and_wait(holder);
        kill_and_wait(other);
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
        assert!(may_be_inspected(std::process::id()) && !may_be_inspected(u32::MAX >> 1));
    }
}
