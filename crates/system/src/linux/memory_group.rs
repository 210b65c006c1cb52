//! Control groups that bound the memory of their processes, page cache included: where this process
//! may make them, their limits, and what the kernel counts in them. In version 1 the limit is
//! `memory.limit_in_bytes`, in version 2 `memory.max`.
//!
//! In version 2 a group that enables a controller for its child groups must have no processes of
//! its own (<https://docs.kernel.org/admin-guide/cgroup-v2.html#no-internal-process-constraint>).
//! The lab therefore uses the nearest enclosing group that enables the controller for its children.
//! If the lab is alone in a delegated group, it moves its own processes into a child group instead.

use super::control_group::{GroupFolder, folders_in};
use super::cpu;
use super::instance::SettingsLock;
use super::kernel_file::{number_after, read_number};
use super::machine_stalls::pressure_ns;
use super::memory::page_bytes;
use super::process;
use super::program::{CommandLine, launcher};
use super::system_root::SystemRoot;
use crate::unix::user::{check_writable, is_root};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const CONTROLLER: &str = "memory";
const PROCESSES_FILE: &str = "cgroup.procs";
const CONTROLLERS_FILE: &str = "cgroup.controllers";
const GIVEN_CONTROLLERS_FILE: &str = "cgroup.subtree_control";

/// The names of all groups begin with this word; the lab's process id follows.
const NAME_PREFIX: &str = "readlab-";

/// The name of the group of the lab's own processes ends with this word.
const LAB_SUFFIX: &str = "-lab";

/// Number of attempts to remove a group: the kernel may count its processes for some milliseconds
/// after they have ended.
const REMOVAL_TRIES: u32 = 40;
const REMOVAL_PAUSE: Duration = Duration::from_millis(5);

/// Removes every group whose path begins with the first argument, in the parent group that the
/// second argument names. If the lab moved its processes into a group of its own, the shell and the
/// launcher are in that group: the script first disables the controller for child groups of the
/// parent group, which could take no process otherwise, and then moves the processes back. The
/// controller stays enabled while another lab has groups there, which would lose their bounds.
const REMOVAL_SCRIPT: &str = r#"
if [ -d "$1lab" ]; then
    others=
    for group in "$2"/readlab-*-[0-9]*; do
        case "$group" in "$1"*) ;; *) if [ -d "$group" ]; then others=yes; fi ;; esac
    done
    [ "$others" ] || echo -memory >"$2/cgroup.subtree_control"
    while read -r process; do echo "$process" >"$2/cgroup.procs"; done <"$1lab/cgroup.procs"
fi
for group in "$1"*; do for try in 1 2 3 4 5; do [ -d "$group" ] || break; rmdir "$group" || sleep 0.1; done; done
"#;

/// The kernel lists this id for a process that is invisible to this process, such as one outside of
/// the container. The lab that started the invisible process may still be running.
const HIDDEN_PROCESS: u32 = 0;

/// Largest number of pages for each processor that the counts of a group may lack
/// (`MEMCG_CHARGE_BATCH`).
const UNSUMMED_PAGES_MAX: u64 = 64;

const ROOT_REMEDY: &str = "root may (sudo)";
const SYSTEMD_REMEDY: &str = "in a group that is delegated to you it works: systemd-run --user --scope --property=Delegate=yes readlab …";
const KERNEL_REMEDY: &str = "the kernel's command line can enable the controller: cgroup_enable=memory";
const PARENT_REMEDY: &str = "the group's owner can: echo +memory > cgroup.subtree_control in that folder";
const ENCLOSING_REMEDY: &str =
    "the owner of an enclosing group that has it can: echo +memory > cgroup.subtree_control there";
const MOUNT_REMEDY: &str =
    "a container may if it is started with a writable /sys/fs/cgroup, such as by docker run --privileged";
const OWNER_REMEDY: &str =
    "the folder's owner can give it to this user: chown it and the files cgroup.* in it";
const MOVING_REMEDY: &str = "in that folder, move them one group down, then give the controller: mkdir others; for process in $(cat cgroup.procs); do echo $process > others/cgroup.procs; done; echo +memory > cgroup.subtree_control";

/// Why no control group with a bound on memory can be made here, and what helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no control group can bound memory here: {reason}; {remedy}")]
pub struct MemoryGroupError {
    pub reason: String,
    pub remedy: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GroupVersion {
    One,
    Two,
}

/// Makes the control groups of this lab, all of them as children of one parent group.
#[derive(Debug)]
pub struct MemoryGroups {
    root: SystemRoot,
    parent: PathBuf,
    version: GroupVersion,
    /// Processes of this lab that must leave the parent group first; empty if none must.
    processes_to_move: BTreeSet<u32>,
    /// True after `begin`: the groups must be removed, and the launcher knows the command for it.
    has_begun: bool,
    /// The locked folder of the lab's own processes; `None` if they have not entered one.
    lab_lock: Option<File>,
    made_count: AtomicU32,
}

/// A control group for the processes of one contender. Dropping it removes the group, after its
/// processes have ended.
#[derive(Debug)]
pub struct MemoryGroup {
    root: SystemRoot,
    folder: PathBuf,
    version: GroupVersion,
    _lock: File,
}

/// Memory for which a group is charged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupMemory {
    /// Page cache of files, as the kernel last added up the counts of all processors.
    pub cache_bytes: u64,
    /// The most page cache that the group can be charged for: the kernel sums up the counts of the
    /// processors only when they have changed by some pages.
    pub cache_bytes_max: u64,
    /// All other memory: that of the processes, and kernel memory that serves them.
    pub other_bytes: u64,
}

/// What the kernel has counted in a group since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupCounters {
    /// Pages of files that were read again after they had been reclaimed; `None` before Linux 5.9.
    pub refaults: Option<u64>,
    /// Pages that were examined in order to reclaim memory.
    pub pages_scanned: Option<u64>,
    /// True if `pages_scanned` counts the pages of the whole machine, as in version 1.
    pub has_scans_of_machine: bool,
    /// Time in which at least one task of the group waited for memory; `None` in version 1, and if
    /// the kernel measures no pressure.
    pub stall_ns: Option<u64>,
    /// Processes of the group that were killed because it had no memory left.
    pub oom_kills: u64,
}

impl MemoryGroups {
    /// Finds the parent group in which this process may make groups. Changes nothing.
    pub fn find() -> Result<MemoryGroups, MemoryGroupError> {
        MemoryGroups::find_below(&SystemRoot::default(), &own_processes(), is_root())
    }

    fn find_below(
        root: &SystemRoot,
        own: &BTreeSet<u32>,
        is_root: bool,
    ) -> Result<MemoryGroups, MemoryGroupError> {
        let (unified, older): (Vec<GroupFolder>, Vec<GroupFolder>) =
            folders_in(root, CONTROLLER).into_iter().partition(|folder| folder.is_unified);
        let found = |parent: &Path, version, processes_to_move| MemoryGroups {
            root: root.clone(),
            parent: parent.to_owned(),
            version,
            processes_to_move,
            has_begun: false,
            lab_lock: None,
            made_count: AtomicU32::new(0),
        };
        let nothing = BTreeSet::new;
        if let Some(nearest) = older.first() {
            let writable = older.iter().find(|folder| is_writable(folder));
            return match writable {
                Some(folder) => Ok(found(&folder.path, GroupVersion::One, nothing())),
                None => Err(not_allowed_error(nearest, if is_root { OWNER_REMEDY } else { ROOT_REMEDY })),
            };
        }
        let Some(own_group) = unified.first() else {
            let reason = "no hierarchy of control groups with the memory controller is mounted".to_owned();
            return Err(MemoryGroupError { reason, remedy: KERNEL_REMEDY });
        };
        let nearest = own_group.path.as_path();
        let gives = |folder: &GroupFolder| has_word(&folder.path.join(GIVEN_CONTROLLERS_FILE), CONTROLLER);
        let is_ours = |folder: &GroupFolder| {
            is_writable(folder) && check_writable(&folder.path.join(PROCESSES_FILE)).is_ok()
        };
        if let Some(folder) = unified.iter().find(|folder| gives(folder) && is_ours(folder)) {
            return Ok(found(&folder.path, GroupVersion::Two, nothing()));
        }
        if !has_word(&nearest.join(CONTROLLERS_FILE), CONTROLLER) {
            let reason = format!("{} has no memory controller", nearest.display());
            let may_give =
                unified.iter().any(|folder| has_word(&folder.path.join(CONTROLLERS_FILE), CONTROLLER));
            let remedy = match may_give {
                false => KERNEL_REMEDY,
                true if own_group.is_read_only => MOUNT_REMEDY,
                true if is_root => ENCLOSING_REMEDY,
                true => SYSTEMD_REMEDY,
            };
            return Err(MemoryGroupError { reason, remedy });
        }
        if !is_ours(own_group) || check_writable(&nearest.join(GIVEN_CONTROLLERS_FILE)).is_err() {
            return Err(not_allowed_error(own_group, if is_root { OWNER_REMEDY } else { SYSTEMD_REMEDY }));
        }
        let inside = processes_in(nearest);
        if inside.is_subset(own) {
            return Ok(found(nearest, GroupVersion::Two, inside));
        }
        // Only the root group, which has no file `cgroup.type`, may have processes and give
        // controllers to its child groups.
        let is_outermost = !nearest.join("cgroup.type").exists();
        let reason = foreign_processes_reason(nearest);
        let remedy = match is_root {
            _ if is_outermost => PARENT_REMEDY,
            true => MOVING_REMEDY,
            false => SYSTEMD_REMEDY,
        };
        Err(MemoryGroupError { reason, remedy })
    }

    /// Removes groups of labs that were killed together with their launchers, in all groups that
    /// this process sees, as far as this user has the permission. Without this, a delegated group
    /// in which a killed lab moved its processes into a child group accepts no process, not even
    /// the next lab.
    pub fn remove_abandoned() {
        remove_abandoned_below(&SystemRoot::default());
    }

    /// Makes the launcher remove the groups of this lab if the lab is killed. The launcher first
    /// runs `other_undo`: commands that undo what the lab is about to change under `lock`. Also
    /// moves the lab's own processes out of the parent group if there are any in it.
    pub fn begin(&mut self, other_undo: &[CommandLine], lock: Option<&SettingsLock>) -> io::Result<()> {
        let undo = [other_undo, &[self.removal_command()][..]].concat();
        match lock {
            Some(lock) => launcher::set_undo_commands_holding(&undo, lock)?,
            None => launcher::set_undo_commands(&undo)?,
        }
        self.has_begun = true;
        self.enter_lab_folder()
    }

    /// Moves the lab's own processes out of the parent group, and enables the controller for its
    /// child groups. Fails if a process that is not readlab's has entered the parent group
    /// meanwhile.
    fn enter_lab_folder(&mut self) -> io::Result<()> {
        if self.processes_to_move.is_empty() {
            return Ok(());
        }
        let own = &self.processes_to_move | &own_processes();
        if !processes_in(&self.parent).is_subset(&own) {
            return Err(io::Error::other(foreign_processes_reason(&self.parent)));
        }
        fs::create_dir(self.lab_folder())?;
        self.lab_lock = Some(lock_folder(&self.lab_folder())?);
        move_processes(&self.parent, &self.lab_folder());
        fs::write(self.parent.join(GIVEN_CONTROLLERS_FILE), "+memory")
    }

    /// Makes a group without a limit. Its processes may not swap, so that the limit bounds all of
    /// their memory.
    pub fn make(&self) -> io::Result<MemoryGroup> {
        let number = self.made_count.fetch_add(1, Ordering::Relaxed);
        let folder = self.parent.join(format!("{}{number}", self.own_prefix()));
        fs::create_dir(&folder)?;
        let lock = lock_folder(&folder)?;
        let group = MemoryGroup { root: self.root.clone(), folder, version: self.version, _lock: lock };
        let (file, value) = match self.version {
            GroupVersion::One => ("memory.swappiness", "0"),
            GroupVersion::Two => ("memory.swap.max", "0"),
        };
        // Kernels without swap have no such file.
        let _ = fs::write(group.folder.join(file), value);
        Ok(group)
    }

    /// The version of control groups and the parent group, in words for reports.
    pub fn description(&self) -> String {
        let version = match self.version {
            GroupVersion::One => "version 1",
            GroupVersion::Two => "version 2",
        };
        format!("control groups of {version} below {}", self.parent.display())
    }

    fn own_prefix(&self) -> String {
        format!("{NAME_PREFIX}{}-", std::process::id())
    }

    /// The group for the lab's own processes, if they must leave the parent group.
    fn lab_folder(&self) -> PathBuf {
        self.parent.join(format!("{NAME_PREFIX}{}{LAB_SUFFIX}", std::process::id()))
    }

    /// True if another lab has groups in the parent group. These lose their bounds if the
    /// controller is disabled for child groups of the parent group.
    fn has_groups_of_other_labs(&self) -> bool {
        let entries = fs::read_dir(&self.parent).into_iter().flatten().flatten();
        let mut folders = entries.map(|entry| entry.path()).filter(|path| !is_lab_folder(path));
        folders.any(|folder| lab_pid_of(&folder).is_some_and(|lab| lab != std::process::id()))
    }

    fn removal_command(&self) -> CommandLine {
        let prefix = OsString::from(self.parent.join(self.own_prefix()));
        let parent = OsString::from(&self.parent);
        let args = vec!["-c".into(), REMOVAL_SCRIPT.into(), "sh".into(), prefix, parent];
        CommandLine { program: "sh".into(), args, ..CommandLine::default() }
    }
}

impl Drop for MemoryGroups {
    fn drop(&mut self) {
        if !self.has_begun {
            return;
        }
        if self.lab_lock.is_some() && !self.has_groups_of_other_labs() {
            leave_lab_folder(&self.parent, &self.lab_folder());
        }
        let is_own = |name: &OsString| name.to_str().is_some_and(|name| name.starts_with(&self.own_prefix()));
        let remain = fs::read_dir(&self.parent).into_iter().flatten().flatten();
        if !remain.map(|entry| entry.file_name()).any(|name| is_own(&name)) {
            // If this fails, the launcher finds nothing to remove.
            let _ = launcher::set_undo_commands(&[]);
        }
    }
}

impl MemoryGroup {
    /// The file to which a process writes `0` to enter the group.
    pub fn processes_file(&self) -> PathBuf {
        self.folder.join(PROCESSES_FILE)
    }

    /// Bounds the memory of the group; the kernel reclaims what exceeds the limit.
    pub fn set_limit(&self, bytes: u64) -> io::Result<()> {
        let file = match self.version {
            GroupVersion::One => "memory.limit_in_bytes",
            GroupVersion::Two => "memory.max",
        };
        fs::write(self.folder.join(file), bytes.to_string())
    }

    pub fn memory(&self) -> io::Result<GroupMemory> {
        let (usage, cache) = match self.version {
            GroupVersion::One => ("memory.usage_in_bytes", "cache "),
            GroupVersion::Two => ("memory.current", "file "),
        };
        let lacks = || io::Error::new(io::ErrorKind::InvalidData, format!("no {usage}, or no {cache}"));
        let usage_bytes = || read_number(self.folder.join(usage)).ok_or_else(lacks);
        let before_bytes = usage_bytes()?;
        let statistics = self.statistics()?;
        let after_bytes = usage_bytes()?;
        let with_shared_bytes = number_after(&statistics, cache).ok_or_else(lacks)?;
        // Control groups of both versions count shared memory and files of tmpfs as page cache.
        let cache_bytes = with_shared_bytes.saturating_sub(number_after(&statistics, "shmem ").unwrap_or(0));
        let unsummed_bytes =
            UNSUMMED_PAGES_MAX * page_bytes() * cpu::online_processors(&self.root).len() as u64;
        Ok(GroupMemory::from_readings([before_bytes, after_bytes], cache_bytes, unsummed_bytes))
    }

    pub fn counters(&self) -> io::Result<GroupCounters> {
        let statistics = self.statistics()?;
        let text = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
        let kills = text(self.folder.join(match self.version {
            GroupVersion::One => "memory.oom_control",
            GroupVersion::Two => "memory.events",
        }));
        let (pages_scanned, stall_ns) = match self.version {
            GroupVersion::One => {
                let machine = text(self.root.join("proc/vmstat"));
                let scanned = |what: &str| number_after(&machine, what);
                let both = scanned("pgscan_file ").zip(scanned("pgscan_anon "));
                (both.map(|(file, anonymous)| file.saturating_add(anonymous)), None)
            }
            GroupVersion::Two => {
                let pressure = text(self.folder.join("memory.pressure"));
                (number_after(&statistics, "pgscan "), pressure_ns(&pressure))
            }
        };
        Ok(GroupCounters {
            refaults: number_after(&statistics, "workingset_refault_file "),
            pages_scanned,
            has_scans_of_machine: self.version == GroupVersion::One,
            stall_ns,
            oom_kills: number_after(&kills, "oom_kill ").unwrap_or(0),
        })
    }

    fn statistics(&self) -> io::Result<String> {
        fs::read_to_string(self.folder.join("memory.stat"))
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        for _ in 0..REMOVAL_TRIES {
            match fs::remove_dir(&self.folder) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(REMOVAL_PAUSE);
                }
                // A group that cannot be removed now is removed when the lab ends.
                _ => return,
            }
        }
    }
}

impl GroupMemory {
    /// Computes the memory from the page cache and from two readings of the total usage, one before
    /// and one after the page cache was read. A contender that reads files meanwhile changes the
    /// page cache by megabytes between the readings. The smaller usage is used, so that these bytes
    /// are not counted as memory of its processes.
    fn from_readings(usage_bytes: [u64; 2], cache_bytes: u64, unsummed_bytes: u64) -> GroupMemory {
        let [before_bytes, after_bytes] = usage_bytes;
        GroupMemory {
            cache_bytes,
            cache_bytes_max: cache_bytes.saturating_add(unsummed_bytes).min(before_bytes.max(after_bytes)),
            other_bytes: before_bytes.min(after_bytes).saturating_sub(cache_bytes),
        }
    }
}

impl GroupCounters {
    /// What was counted since `before`.
    pub fn since(self, before: GroupCounters) -> GroupCounters {
        let difference = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        GroupCounters {
            refaults: difference(self.refaults, before.refaults),
            pages_scanned: difference(self.pages_scanned, before.pages_scanned),
            has_scans_of_machine: self.has_scans_of_machine,
            stall_ns: difference(self.stall_ns, before.stall_ns),
            oom_kills: self.oom_kills.saturating_sub(before.oom_kills),
        }
    }
}

fn is_writable(folder: &GroupFolder) -> bool {
    !folder.is_read_only && check_writable(&folder.path).is_ok()
}

/// The error that no group can be made in this folder. If the folder is mounted read-only, the error
/// has the remedy for that instead of `remedy`.
fn not_allowed_error(folder: &GroupFolder, remedy: &'static str) -> MemoryGroupError {
    let path = folder.path.display();
    if folder.is_read_only {
        return MemoryGroupError { reason: format!("{path} is mounted read-only"), remedy: MOUNT_REMEDY };
    }
    MemoryGroupError { reason: format!("this user may not make groups in {path}"), remedy }
}

/// Moves the processes of a lab back into the parent group and removes their group. The controller
/// is disabled for child groups first, because the parent group accepts no processes before that.
fn leave_lab_folder(parent: &Path, lab_folder: &Path) {
    let _ = fs::write(parent.join(GIVEN_CONTROLLERS_FILE), "-memory");
    move_processes(lab_folder, parent);
    let _ = fs::remove_dir(lab_folder);
}

/// Opens and locks the folder of a group, so that labs in other PID namespaces see that the group
/// is in use. If the file system has no locks, the other labs cannot lock the folder either, and
/// keep it.
fn lock_folder(folder: &Path) -> io::Result<File> {
    let file = File::open(folder)?;
    let _ = file.lock_shared();
    Ok(file)
}

/// Opens and locks the folder of a group that no lab holds; `None` if one may hold it.
fn lock_unheld(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

fn foreign_processes_reason(folder: &Path) -> String {
    format!("{} has processes that are not readlab's", folder.display())
}

fn remove_abandoned_below(root: &SystemRoot) {
    let folders = folders_in(root, CONTROLLER);
    let is_top = |inner: &&GroupFolder| {
        !folders.iter().any(|outer| outer.path != inner.path && inner.path.starts_with(&outer.path))
    };
    folders.iter().filter(is_top).for_each(|top| remove_abandoned_in(root, &top.path));
}

/// Removes groups of labs that have ended, in a group and in all groups below it. A lab in another
/// PID namespace may be running although no process here has its id; the lock shows that its group
/// is in use.
fn remove_abandoned_in(root: &SystemRoot, parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let (mut of_running, mut abandoned) = (0, Vec::new());
    for folder in folders.map(|entry| entry.path()) {
        match lab_pid_of(&folder) {
            None => remove_abandoned_in(root, &folder),
            Some(lab) if root.join(format!("proc/{lab}")).exists() => of_running += 1,
            Some(_) => match lock_unheld(&folder) {
                Some(lock) => abandoned.push((folder, lock)),
                None => of_running += 1,
            },
        }
    }
    for (folder, _lock) in abandoned {
        if !is_lab_folder(&folder) {
            // A group that still has processes stays.
            let _ = fs::remove_dir(folder);
        } else if of_running == 0 && !processes_in(&folder).contains(&HIDDEN_PROCESS) {
            leave_lab_folder(parent, &folder);
        }
    }
}

/// The process id of the lab that made a group, by the name of the group; `None` for other groups.
fn lab_pid_of(group: &Path) -> Option<u32> {
    let (lab, _) = group.file_name()?.to_str()?.strip_prefix(NAME_PREFIX)?.split_once('-')?;
    lab.parse().ok()
}

/// True if the name of the group is that of a group for a lab's own processes.
fn is_lab_folder(group: &Path) -> bool {
    group.as_os_str().as_encoded_bytes().ends_with(LAB_SUFFIX.as_bytes())
}

/// The lab and all processes that it has started.
fn own_processes() -> BTreeSet<u32> {
    let all = process::all_processes();
    let mut own = BTreeSet::from([std::process::id()]);
    loop {
        let before = own.len();
        let children: Vec<u32> =
            all.iter().filter(|process| own.contains(&process.parent)).map(|process| process.pid).collect();
        own.extend(children);
        if own.len() == before {
            return own;
        }
    }
}

/// Moves all processes of a group into another group, except processes that have ended meanwhile.
fn move_processes(from: &Path, to: &Path) {
    for process in processes_in(from) {
        let _ = fs::write(to.join(PROCESSES_FILE), process.to_string());
    }
}

fn processes_in(folder: &Path) -> BTreeSet<u32> {
    let text = fs::read_to_string(folder.join(PROCESSES_FILE)).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

fn has_word(file: &Path, word: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|it| it == word))
}

#[cfg(test)]
mod tests {
    use super::super::open_file::make_pipe;
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;
    use std::process::Command;

    const LAB_PID: u32 = 4711;

    /// The controllers of the root group in version 2, in the kernel's order.
    const ALL_CONTROLLERS: &str = "cpuset cpu io memory hugetlb pids rdma misc";

    /// A tree of /proc and /sys in a temporary folder. A user who may not move processes into a group
    /// is simulated by a group without `cgroup.procs`, because root, who may run the tests, may write
    /// every file.
    struct FakeMachine {
        folder: tempfile::TempDir,
    }

    impl FakeMachine {
        fn new(mounts: &str, groups: &str) -> FakeMachine {
            let machine = FakeMachine { folder: tempfile::tempdir().unwrap() };
            machine.write("proc/self/mountinfo", mounts);
            machine.write("proc/self/cgroup", groups);
            machine
        }

        /// A machine with version 2 alone, and the lab in this group.
        fn unified(group: &str) -> FakeMachine {
            let mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";
            FakeMachine::new(mounts, &format!("0::{group}\n"))
        }

        /// A machine where the lab and another process of its own are alone in a delegated group.
        fn scope() -> FakeMachine {
            let machine = FakeMachine::unified("/run.scope");
            machine.write_group("/run.scope", "memory pids", "", Some("4711\n4712\n"));
            machine.write_group("", ALL_CONTROLLERS, "memory pids", None);
            machine
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        /// Writes a group of version 2: the controllers that it has, the controllers that it gives to
        /// its child groups, and its processes. `None` if this user may not move processes into it.
        fn write_group(&self, path: &str, has: &str, gives: &str, processes: Option<&str>) -> &FakeMachine {
            let file = |name: &str| format!("sys/fs/cgroup{path}/{name}");
            let line = |words: &str| if words.is_empty() { String::new() } else { format!("{words}\n") };
            self.write(&file(CONTROLLERS_FILE), &line(has));
            self.write(&file(GIVEN_CONTROLLERS_FILE), &line(gives));
            if !path.is_empty() {
                self.write(&file("cgroup.type"), "domain\n");
            }
            processes.iter().for_each(|processes| self.write(&file(PROCESSES_FILE), processes));
            self
        }

        /// A machine with version 2 alone, as a container in its own cgroup namespace sees it.
        fn container(mount_option: &str, processes: Option<&str>) -> FakeMachine {
            // The files that docker shows with --cgroupns=private.
            let mounts = format!(
                "1032 1027 0:26 / /sys/fs/cgroup {mount_option},nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate,memory_recursiveprot\n"
            );
            let machine = FakeMachine::new(&mounts, "0::/\n");
            machine.write_group("", ALL_CONTROLLERS, "", processes);
            // Only the root of the whole hierarchy has no such file.
            machine.write("sys/fs/cgroup/cgroup.type", "domain\n");
            machine
        }

        fn root(&self) -> SystemRoot {
            SystemRoot::below(self.folder.path())
        }

        fn at(&self, path: &str) -> PathBuf {
            self.folder.path().join(path)
        }

        fn text(&self, path: &str) -> String {
            fs::read_to_string(self.at(path)).unwrap()
        }

        /// Asserts that a kernel can show this tree: each group has the controllers that its parent
        /// gives, and no group but the root both gives controllers and has processes.
        #[track_caller]
        fn assert_possible(folder: &Path) {
            let text = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
            let given = text(folder.join(GIVEN_CONTROLLERS_FILE));
            let is_inner = folder.join("cgroup.type").exists();
            let is_without_processes = text(folder.join(PROCESSES_FILE)).is_empty();
            assert!(given.is_empty() || !is_inner || is_without_processes, "{}", folder.display());
            let is_unified = folder.join(CONTROLLERS_FILE).exists();
            for inner in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
                if is_unified && inner.join(CONTROLLERS_FILE).exists() {
                    assert_eq!(text(inner.join(CONTROLLERS_FILE)), given, "{}", inner.display());
                }
                if inner.is_dir() {
                    FakeMachine::assert_possible(&inner);
                }
            }
        }

        #[track_caller]
        fn find_as(&self, is_root: bool) -> Result<MemoryGroups, MemoryGroupError> {
            FakeMachine::assert_possible(&self.at("sys/fs/cgroup"));
            MemoryGroups::find_below(&self.root(), &BTreeSet::from([LAB_PID, LAB_PID + 1]), is_root)
        }

        fn find(&self) -> Result<MemoryGroups, MemoryGroupError> {
            self.find_as(false)
        }

        /// The texts that `act` writes to the group's files `cgroup.procs` and
        /// `cgroup.subtree_control`, in this order.
        fn writes_to(&self, group: &str, act: impl FnOnce()) -> String {
            let pipe = self.at("pipe");
            make_pipe(&pipe).unwrap();
            // The test opens both ends of the pipe, so that no opening of the pipe waits.
            let mut ends = fs::File::options().read(true).write(true).open(&pipe).unwrap();
            for name in [PROCESSES_FILE, GIVEN_CONTROLLERS_FILE] {
                let file = self.at(group).join(name);
                fs::remove_file(&file).unwrap();
                symlink(&pipe, file).unwrap();
            }
            act();
            ends.write_all(b"end").unwrap();
            let mut written = [0; 512];
            let length = ends.read(&mut written).unwrap();
            String::from_utf8_lossy(&written[..length]).into_owned()
        }

        /// The group in which groups are made, and the processes that must leave it.
        fn parent(&self) -> (String, Vec<u32>) {
            let found = self.find().unwrap();
            let parent = found.parent.strip_prefix(self.folder.path()).unwrap().display().to_string();
            (parent, found.processes_to_move.iter().copied().collect())
        }

        fn error(&self) -> MemoryGroupError {
            self.find().unwrap_err()
        }
    }

    #[test]
    fn in_version_1_groups_are_made_in_the_own_group() {
        // Recorded on a machine where both versions are mounted, and version 1 has the controllers.
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let machine = FakeMachine::new(mounts, "8:pids:/\n4:memory:/process_api/4c45\n0::/\n");
        machine.write("sys/fs/cgroup/memory/process_api/4c45/cgroup.procs", "1\n");
        machine.write("sys/fs/cgroup/unified/cgroup.controllers", "hugetlb\n");
        let found = machine.find().unwrap();
        assert_eq!(found.version, GroupVersion::One);
        assert_eq!(machine.parent(), ("sys/fs/cgroup/memory/process_api/4c45".to_owned(), Vec::new()));
    }

    #[test]
    fn where_systemd_mounts_both_versions_the_one_with_the_controller_counts() {
        let session = "/user.slice/user-1000.slice/session-3.scope";
        let mounts = "24 19 0:22 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755\n\
                      25 24 0:23 / /sys/fs/cgroup/unified rw,nosuid,nodev,noexec,relatime shared:10 - cgroup2 cgroup2 rw,nsdelegate\n\
                      26 24 0:24 / /sys/fs/cgroup/systemd rw,nosuid,nodev,noexec,relatime shared:11 - cgroup cgroup rw,xattr,name=systemd\n";
        let of_memory = "33 24 0:31 / /sys/fs/cgroup/memory rw,nosuid,nodev,noexec,relatime shared:18 - cgroup cgroup rw,memory\n";
        let groups = format!("1:name=systemd:{session}\n0::{session}\n");
        let machine =
            FakeMachine::new(&format!("{mounts}{of_memory}"), &format!("9:memory:{session}\n{groups}"));
        machine.write(&format!("sys/fs/cgroup/memory{session}/{PROCESSES_FILE}"), "4711\n");
        machine.write("sys/fs/cgroup/unified/cgroup.controllers", "");
        machine.write_group(&format!("/unified{session}"), "", "", Some("4711\n"));
        assert_eq!(machine.find().unwrap().version, GroupVersion::One);
        assert_eq!(machine.parent(), (format!("sys/fs/cgroup/memory{session}"), Vec::new()));
        // With cgroup_no_v1=memory on the kernel's command line, version 2 has the controller, which
        // systemd gives to no group.
        let machine = FakeMachine::new(mounts, &groups);
        machine.write("sys/fs/cgroup/unified/cgroup.controllers", "memory\n");
        machine.write_group(&format!("/unified{session}"), "", "", Some("4711\n"));
        let error = machine.find_as(true).unwrap_err();
        assert!(error.reason.ends_with("session-3.scope has no memory controller"), "{error}");
        assert_eq!(error.remedy, ENCLOSING_REMEDY);
    }

    #[test]
    fn in_a_container_of_version_1_the_mount_shows_the_own_group_alone() {
        let container = |mount_option: &str| {
            let mounts = format!(
                "35 31 0:32 /docker/ab12 /sys/fs/cgroup/memory {mount_option},nosuid,nodev,noexec,relatime master:11 - cgroup memory rw,memory\n"
            );
            let machine = FakeMachine::new(&mounts, "4:memory:/docker/ab12\n");
            machine.write("sys/fs/cgroup/memory/cgroup.procs", "1\n");
            machine
        };
        assert_eq!(container("rw").parent().0, "sys/fs/cgroup/memory");
        for is_root in [true, false] {
            let error = container("ro").find_as(is_root).unwrap_err();
            assert!(error.reason.ends_with("is mounted read-only"), "{error}");
            assert_eq!(error.remedy, MOUNT_REMEDY);
        }
    }

    #[test]
    fn in_a_container_of_version_2_the_lab_must_be_alone_and_the_mount_writable() {
        // The lab is the container's first process.
        let alone = FakeMachine::container("rw", Some("4711\n4712\n"));
        assert_eq!(alone.parent(), ("sys/fs/cgroup".to_owned(), vec![LAB_PID, LAB_PID + 1]));
        // A shell is the container's first process.
        let beside_others = FakeMachine::container("rw", Some("1\n4711\n4712\n"));
        let error = beside_others.find_as(true).unwrap_err();
        assert!(error.reason.ends_with("has processes that are not readlab's"), "{error}");
        assert_eq!(error.remedy, MOVING_REMEDY);
        // The state after the commands of the remedy.
        beside_others.write("proc/self/cgroup", "0::/others\n");
        beside_others.write_group("", ALL_CONTROLLERS, "memory", Some(""));
        beside_others.write_group("/others", "memory", "", Some("1\n4711\n4712\n"));
        assert_eq!(beside_others.parent(), ("sys/fs/cgroup".to_owned(), Vec::new()));
        let read_only = FakeMachine::container("ro", Some("4711\n4712\n"));
        for is_root in [true, false] {
            let error = read_only.find_as(is_root).unwrap_err();
            assert!(error.reason.ends_with("is mounted read-only"), "{error}");
            assert_eq!(error.remedy, MOUNT_REMEDY);
        }
    }

    #[test]
    fn the_nearest_enclosing_group_that_gives_the_controller_is_used() {
        // Root in a service: the service's slice gives the controller.
        let machine = FakeMachine::unified("/system.slice/ssh.service");
        machine
            .write_group("/system.slice/ssh.service", "memory pids", "", Some("900\n4711\n"))
            .write_group("/system.slice", "cpu memory pids", "memory pids", Some(""))
            .write_group("", ALL_CONTROLLERS, "cpu memory pids", Some("2\n3\n"));
        assert_eq!(machine.parent(), ("sys/fs/cgroup/system.slice".to_owned(), Vec::new()));
        // A user below the user's own manager, whose groups are delegated.
        let session = "/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope";
        let machine = FakeMachine::unified(session);
        machine
            .write_group(session, "memory pids", "", Some("4000\n4711\n"))
            .write_group(
                "/user.slice/user-1000.slice/user@1000.service/app.slice",
                "memory pids",
                "memory pids",
                Some(""),
            )
            .write_group(
                "/user.slice/user-1000.slice/user@1000.service",
                "memory pids",
                "memory pids",
                Some(""),
            )
            .write_group("/user.slice/user-1000.slice", "memory pids", "memory pids", None)
            .write_group("/user.slice", "cpu memory pids", "memory pids", None)
            .write_group("", ALL_CONTROLLERS, "cpu memory pids", None);
        let own = "sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice";
        assert_eq!(machine.parent().0, own);
    }

    #[test]
    fn in_a_scope_of_systemd_run_the_slice_around_it_is_used() {
        // The groups under systemd-run --user --scope --property=Delegate=yes in a session.
        let app = "/user.slice/user-1000.slice/user@1000.service/app.slice";
        let scope = format!("{app}/run-r6a1f0c.scope");
        let machine = FakeMachine::unified(&scope);
        machine
            .write_group(&scope, "cpu memory pids", "", Some("4711\n4712\n"))
            .write_group(app, "cpu memory pids", "cpu memory pids", Some(""))
            .write_group(
                "/user.slice/user-1000.slice/user@1000.service",
                "cpu memory pids",
                "cpu memory pids",
                Some(""),
            )
            .write_group("/user.slice/user-1000.slice", "cpu memory pids", "cpu memory pids", None)
            .write_group("/user.slice", "cpu memory pids", "cpu memory pids", None)
            .write_group("", ALL_CONTROLLERS, "cpu memory pids", None);
        assert_eq!(machine.parent(), (format!("sys/fs/cgroup{app}"), Vec::new()));
        // As under systemd-run --uid=1000 --scope --property=Delegate=yes by root: the slice is root's,
        // and the scope is the lab's own.
        let machine = FakeMachine::unified("/system.slice/run-r6a1f0c.scope");
        machine
            .write_group("/system.slice/run-r6a1f0c.scope", "cpu memory pids", "", Some("4711\n4712\n"))
            .write_group("/system.slice", "cpu memory pids", "cpu memory pids", None)
            .write_group("", ALL_CONTROLLERS, "cpu memory pids", None);
        let own = "sys/fs/cgroup/system.slice/run-r6a1f0c.scope";
        assert_eq!(machine.parent(), (own.to_owned(), vec![LAB_PID, LAB_PID + 1]));
    }

    #[test]
    fn in_a_delegated_group_of_its_own_the_lab_moves_one_group_down() {
        let machine = FakeMachine::scope();
        assert_eq!(machine.parent(), ("sys/fs/cgroup/run.scope".to_owned(), vec![LAB_PID, LAB_PID + 1]));
        machine.write_group("/run.scope", "memory pids", "", Some("4000\n4711\n"));
        let error = machine.error();
        assert!(error.reason.ends_with("run.scope has processes that are not readlab's"), "{error}");
        assert_eq!(error.remedy, SYSTEMD_REMEDY);
        assert_eq!(machine.find_as(true).unwrap_err().remedy, MOVING_REMEDY);
        // In the outermost group, whose processes can stay.
        let machine = FakeMachine::unified("/");
        machine.write_group("", ALL_CONTROLLERS, "pids", Some("1\n2\n4711\n"));
        assert_eq!(machine.error().remedy, PARENT_REMEDY);
    }

    /// A machine where the lab has moved into this group, out of the group that was delegated to it.
    fn delegated_machine(lab_folder: &str) -> FakeMachine {
        let lab_group = format!("/run.scope/{lab_folder}");
        let machine = FakeMachine::unified(&lab_group);
        machine
            .write_group(&lab_group, "memory", "", Some("4711\n4712\n"))
            .write_group("/run.scope", "memory pids", "memory", Some(""))
            .write_group("", ALL_CONTROLLERS, "memory pids", None);
        machine
    }

    /// The same machine, as seen by a lab that starts in another group.
    fn delegated_machine_from_other_group(lab_folder: &str) -> FakeMachine {
        let machine = delegated_machine(lab_folder);
        machine.write("proc/self/cgroup", "0::/other.scope\n");
        machine.write_group("/other.scope", "memory pids", "", Some("4711\n"));
        machine
    }

    /// A machine where the parent of the lab's group gives the controller, and is writable.
    fn lab_in_given_group() -> FakeMachine {
        let machine = FakeMachine::unified("/a/lab.scope");
        machine
            .write_group("/a/lab.scope", "memory", "", Some("4711\n"))
            .write_group("/a", "memory pids", "memory", Some(""))
            .write_group("", ALL_CONTROLLERS, "memory pids", None);
        machine
    }

    #[test]
    fn the_lab_moves_one_group_down_and_back_in_reverse() {
        let machine = FakeMachine::scope();
        let mut groups = machine.find().unwrap();
        groups.enter_lab_folder().unwrap();
        let lab_folder = format!("readlab-{}-lab", std::process::id());
        assert_eq!(machine.text(&format!("sys/fs/cgroup/run.scope/{lab_folder}/{PROCESSES_FILE}")), "4712");
        assert_eq!(machine.text("sys/fs/cgroup/run.scope/cgroup.subtree_control"), "+memory");
        groups.processes_to_move.clear();
        groups.enter_lab_folder().expect("processes that need not move are not moved twice");
        let machine = delegated_machine(&lab_folder);
        let groups = machine.find().unwrap();
        let back = || leave_lab_folder(&groups.parent, &groups.lab_folder());
        assert_eq!(machine.writes_to("sys/fs/cgroup/run.scope", back), "-memory47114712end");
    }

    #[test]
    fn the_lab_moves_nothing_if_another_process_has_entered_its_group() {
        let machine = FakeMachine::scope();
        let mut groups = machine.find().unwrap();
        machine.write_group("/run.scope", "memory pids", "", Some("1\n4711\n4712\n"));
        let error = groups.enter_lab_folder().unwrap_err();
        assert!(error.to_string().ends_with("run.scope has processes that are not readlab's"), "{error}");
        assert!(!groups.lab_folder().exists());
        assert_eq!(machine.text("sys/fs/cgroup/run.scope/cgroup.subtree_control"), "");
    }

    #[test]
    fn a_group_gives_its_controllers_on_while_another_lab_has_groups_in_it() {
        let machine = delegated_machine(&format!("readlab-{}-lab", std::process::id()));
        let groups = machine.find().unwrap();
        assert!(!groups.has_groups_of_other_labs());
        fs::create_dir(machine.at("sys/fs/cgroup/run.scope/readlab-1-lab")).unwrap();
        assert!(!groups.has_groups_of_other_labs(), "without a bound");
        fs::create_dir(machine.at("sys/fs/cgroup/run.scope/readlab-1-0")).unwrap();
        assert!(groups.has_groups_of_other_labs());
        let CommandLine { program, args, .. } = groups.removal_command();
        let run = || assert!(Command::new(&program).args(&args).output().is_ok());
        assert_eq!(machine.writes_to("sys/fs/cgroup/run.scope", run), "4711\n4712\nend");
    }

    #[test]
    fn when_the_lab_was_killed_its_launcher_leaves_a_group_that_processes_can_enter() {
        let machine = delegated_machine(&format!("readlab-{}-lab", std::process::id()));
        let groups = machine.find().unwrap();
        let folder = machine.at(&format!("sys/fs/cgroup/run.scope/readlab-{}-0", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let CommandLine { program, args, .. } = groups.removal_command();
        let run = || assert!(Command::new(&program).args(&args).output().is_ok());
        assert_eq!(machine.writes_to("sys/fs/cgroup/run.scope", run), "-memory\n4711\n4712\nend");
        assert!(!folder.exists());
        // If the parent group already gives the controller, the lab has not moved its processes, and
        // the command changes nothing in the parent group.
        let machine = lab_in_given_group();
        let CommandLine { program, args, .. } = machine.find().unwrap().removal_command();
        let run = || assert!(Command::new(&program).args(&args).output().is_ok());
        assert_eq!(machine.writes_to("sys/fs/cgroup/a", run), "end");
    }

    #[test]
    fn the_next_start_opens_a_group_of_which_lab_and_launcher_were_killed() {
        // The next lab starts in another group, because no process can enter this one.
        let machine = delegated_machine_from_other_group("readlab-76-lab");
        let next = || remove_abandoned_below(&machine.root());
        assert_eq!(machine.writes_to("sys/fs/cgroup/run.scope", next), "-memory47114712end");
        // The lab with this process id runs.
        let machine = delegated_machine_from_other_group("readlab-77-lab");
        machine.write("proc/77/stat", "");
        let next = || remove_abandoned_below(&machine.root());
        assert_eq!(machine.writes_to("sys/fs/cgroup/run.scope", next), "end");
        // The lab runs in another PID namespace, and holds its lock.
        let machine = delegated_machine_from_other_group("readlab-76-lab");
        let _lock = lock_folder(&machine.at("sys/fs/cgroup/run.scope/readlab-76-lab")).unwrap();
        let next = || remove_abandoned_below(&machine.root());
        assert_eq!(machine.writes_to("sys/fs/cgroup/run.scope", next), "end");
        // Another lab, which runs, has a group in the same parent group.
        let machine = delegated_machine_from_other_group("readlab-76-lab");
        machine.write("proc/77/stat", "");
        fs::create_dir(machine.at("sys/fs/cgroup/run.scope/readlab-77-0")).unwrap();
        let next = || remove_abandoned_below(&machine.root());
        assert_eq!(machine.writes_to("sys/fs/cgroup/run.scope", next), "end");
        // The processes in the group are outside of this container, so the lab may be, too.
        let machine = delegated_machine_from_other_group("readlab-76-lab");
        machine.write("sys/fs/cgroup/run.scope/readlab-76-lab/cgroup.procs", "0\n0\n");
        let next = || remove_abandoned_below(&machine.root());
        assert_eq!(machine.writes_to("sys/fs/cgroup/run.scope", next), "end");
    }

    #[test]
    fn a_user_without_a_delegated_group_is_told_how_to_get_one() {
        let machine = FakeMachine::unified("/user.slice/user-1000.slice/session-3.scope");
        machine
            .write_group("/user.slice/user-1000.slice/session-3.scope", "memory pids", "", None)
            .write_group("/user.slice/user-1000.slice", "memory pids", "memory pids", None)
            .write_group("/user.slice", "memory pids", "memory pids", None)
            .write_group("", "memory pids", "memory pids", None);
        let error = machine.error();
        assert!(error.to_string().contains("this user may not make groups in"), "{error}");
        assert!(error.to_string().contains("systemd-run --user --scope"), "{error}");
        // Root in a user namespace may lack the permission; only the folder's owner can give it.
        assert_eq!(machine.find_as(true).unwrap_err().remedy, OWNER_REMEDY);
        let machine = FakeMachine::unified("/a");
        machine.write_group("/a", "cpu", "", Some("4711\n")).write_group("", "cpu memory", "cpu", Some(""));
        assert!(machine.error().reason.ends_with("/a has no memory controller"));
        assert_eq!(machine.error().remedy, SYSTEMD_REMEDY);
        assert_eq!(machine.find_as(true).unwrap_err().remedy, ENCLOSING_REMEDY);
    }

    #[test]
    fn in_version_1_root_may_and_a_root_who_may_not_needs_the_owner() {
        // A folder that is not there cannot be written, whoever the user is.
        let mounts = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
        let machine = FakeMachine::new(mounts, "4:memory:/\n");
        assert_eq!(machine.error().remedy, ROOT_REMEDY);
        assert_eq!(machine.find_as(true).unwrap_err().remedy, OWNER_REMEDY);
    }

    #[test]
    fn a_kernel_without_the_memory_controller_is_named() {
        let machine = FakeMachine::unified("/");
        machine.write_group("", "cpuset cpu pids", "cpu", Some("1\n"));
        assert_eq!(machine.error().remedy, KERNEL_REMEDY);
        assert_eq!(FakeMachine::new("", "").error().remedy, KERNEL_REMEDY);
    }

    #[test]
    fn the_counters_of_both_versions_are_read() {
        let machine = FakeMachine::new("", "");
        let group = |version| MemoryGroup {
            root: SystemRoot::below(machine.folder.path()),
            folder: machine.folder.path().join("group"),
            version,
            _lock: File::open(machine.folder.path()).unwrap(),
        };
        machine.write(
            "proc/vmstat",
            "pgscan_kswapd 2\npgscan_direct 1\npgscan_direct_throttle 0\npgscan_anon 5\npgscan_file 70\n",
        );
        machine.write(
            "group/memory.stat",
            "cache 4096000\nrss 8192\nrss_huge 0\nshmem 96000\nmapped_file 4096\nworkingset_refault_anon 1\n\
             workingset_refault_file 12\ntotal_cache 9\ntotal_shmem 9\ntotal_workingset_refault_file 99\n",
        );
        machine.write("group/memory.usage_in_bytes", "4200000\n");
        machine.write("group/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
        let older = group(GroupVersion::One);
        let memory = GroupMemory { cache_bytes: 4_000_000, cache_bytes_max: 4_200_000, other_bytes: 200_000 };
        assert_eq!(older.memory().unwrap(), memory);
        let counted = GroupCounters {
            refaults: Some(12),
            pages_scanned: Some(75),
            has_scans_of_machine: true,
            stall_ns: None,
            oom_kills: 2,
        };
        assert_eq!(older.counters().unwrap(), counted);
        machine.write(
            "group/memory.stat",
            "anon 8192\nfile 4096000\nkernel 24576\npagetables 8192\nshmem 96000\nfile_mapped 4096\nshmem_thp 0\n\
             inactive_file 4000000\nworkingset_refault_anon 2\nworkingset_refault_file 30\n\
             workingset_activate_file 7\npgscan 64\npgsteal 60\npgscan_kswapd 4\npgscan_direct 60\n",
        );
        machine.write("group/memory.current", "4200000\n");
        machine.write("group/memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 3\noom_group_kill 0\n");
        machine.write(
            "group/memory.pressure",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n",
        );
        let newer = group(GroupVersion::Two);
        machine.write("group/memory.current", "90000000\n");
        machine.write("sys/devices/system/cpu/online", "0-1,4\n");
        let unsummed_bytes = 3 * 64 * page_bytes();
        assert_eq!(newer.memory().unwrap().cache_bytes_max, 4_000_000 + unsummed_bytes);
        machine.write("group/memory.current", "4200000\n");
        assert_eq!(newer.memory().unwrap(), memory);
        let later = newer.counters().unwrap();
        let counted = GroupCounters {
            refaults: Some(30),
            pages_scanned: Some(64),
            has_scans_of_machine: false,
            stall_ns: Some(1_500_000),
            oom_kills: 3,
        };
        assert_eq!(later, counted);
        let since = later.since(GroupCounters { refaults: Some(10), ..counted });
        assert_eq!((since.refaults, since.pages_scanned, since.oom_kills), (Some(20), Some(0), 0));
        newer.set_limit(1 << 20).unwrap();
        older.set_limit(1 << 21).unwrap();
        let text = |name: &str| fs::read_to_string(machine.folder.path().join("group").join(name)).unwrap();
        assert_eq!((text("memory.max"), text("memory.limit_in_bytes")), ("1048576".into(), "2097152".into()));
    }

    #[test]
    fn page_cache_that_changes_while_it_is_read_is_no_memory_of_the_processes() {
        const MIB: u64 = 1 << 20;
        // The processes have 4 MiB. The page cache grows from 20 to 28 MiB, or falls from 28 to
        // 20 MiB, and is read in between.
        let growing = GroupMemory::from_readings([24 * MIB, 32 * MIB], 21 * MIB, MIB / 2);
        assert_eq!(growing.other_bytes, 3 * MIB, "at most the memory of the processes");
        assert_eq!(growing.cache_bytes_max, 21 * MIB + MIB / 2);
        let falling = GroupMemory::from_readings([32 * MIB, 24 * MIB], 27 * MIB, MIB / 2);
        assert_eq!(falling.other_bytes, 0);
        let resting = GroupMemory::from_readings([24 * MIB; 2], 20 * MIB, 8 * MIB);
        let expected = GroupMemory { cache_bytes: 20 * MIB, cache_bytes_max: 24 * MIB, other_bytes: 4 * MIB };
        assert_eq!(resting, expected);
    }

    #[test]
    fn groups_of_labs_that_have_ended_are_removed_and_no_others() {
        let machine = lab_in_given_group();
        machine.write("proc/77/stat", "");
        let names =
            ["readlab-76-0", "readlab-76-lab", "readlab-77-0", "readlab-78-0", "readlab-x", "other-76-0"];
        for name in names {
            fs::create_dir(machine.at("sys/fs/cgroup/a").join(name)).unwrap();
        }
        let _lock = lock_folder(&machine.at("sys/fs/cgroup/a/readlab-78-0")).unwrap();
        let groups = machine.find().unwrap();
        let elsewhere =
            ["readlab-76-3", "readlab-76-lab"].map(|name| machine.at("sys/fs/cgroup/b/c").join(name));
        elsewhere.iter().for_each(|group| fs::create_dir_all(group).unwrap());
        remove_abandoned_below(&machine.root());
        assert!(elsewhere.iter().all(|group| !group.exists()) && machine.at("sys/fs/cgroup/b/c").exists());
        let entries = fs::read_dir(&groups.parent).unwrap().map(|entry| entry.unwrap());
        let folders = entries.filter(|entry| entry.path().is_dir());
        let mut left: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
        left.sort();
        let expected =
            ["lab.scope", "other-76-0", "readlab-76-lab", "readlab-77-0", "readlab-78-0", "readlab-x"];
        assert_eq!(left, expected, "77 and 78 need the group");
        let made = groups.make().unwrap();
        let folder = made.folder.clone();
        assert!(lock_unheld(&folder).is_none(), "it is in use");
        assert_eq!(fs::read_to_string(folder.join("memory.swap.max")).unwrap(), "0");
        assert_eq!(made.processes_file(), folder.join(PROCESSES_FILE));
    }
}
