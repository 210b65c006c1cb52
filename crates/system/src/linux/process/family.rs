//! The living family of a program: its process, the processes below it, and processes whose parent
//! ended and that were inherited by the program's supervisor. Each has its open counters.
//!
//! The counts of a process include those of children that it has reaped. So the difference between
//! the sums over all living members at two moments is what the family did between them, even if
//! some of its processes ended: the counts of a reaped member are in those of its parent. A process
//! that lost its parent is a child of the supervisor, which reaps it only after the later moment.

use super::counters::{FaultsAndTicks, IoBytes, ProcessCounters, tick_ns};
use super::proc_file::CounterError;
use super::table;
use super::thread_waits::CountsByThread;
use super::{may_see_processes_of_others, threads};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FamilyError {
    #[error(transparent)]
    Program(CounterError),
    #[error("process {pid} of its family: {cause}")]
    Member { pid: u32, cause: CounterError },
    #[error("the processes that it started are not visible: {0}")]
    NotListed(String),
}

#[derive(Debug)]
pub struct ProcessFamily {
    program_pid: u32,
    supervisor: Option<u32>,
    members: BTreeMap<u32, ProcessCounters>,
    /// The living members, children before their parents.
    pids_children_first: Vec<u32>,
    /// The error if the processes below the program could not be listed.
    listing_result: Result<(), String>,
}

#[derive(Debug, Clone)]
pub struct FamilyCounts {
    /// CPU time of the living members, without that of their reaped children.
    pub cpu_ns: Result<u64, FamilyError>,
    pub io: Result<IoBytes, FamilyError>,
    pub faults_and_ticks: Result<FaultsAndTicks, FamilyError>,
    pub counts_by_thread: Result<CountsByThread, FamilyError>,
    pub process_count: usize,
}

impl ProcessFamily {
    /// The family of a program. With the id of its supervisor, processes that the supervisor
    /// inherited are included.
    pub fn of_program(program: u32, supervisor: Option<u32>) -> ProcessFamily {
        let mut family = ProcessFamily {
            program_pid: program,
            supervisor,
            members: BTreeMap::new(),
            pids_children_first: Vec::new(),
            listing_result: Ok(()),
        };
        family.update_members();
        family
    }

    pub fn program_pid(&self) -> u32 {
        self.program_pid
    }

    /// Finds the members that are alive now, and opens counters for new ones.
    pub fn update_members(&mut self) {
        let mut order = Vec::new();
        let mut seen = BTreeSet::from([self.program_pid]);
        self.listing_result = child_source().map(|children| {
            for parent in self.supervisor.into_iter().chain([self.program_pid]) {
                add_descendants(parent, &children, &mut seen, &mut order);
            }
            order.push(self.program_pid);
        });
        let is_open = |counters: &ProcessCounters| {
            !matches!(counters.faults_and_ticks(), Err(CounterError::Ended { .. }))
        };
        // A process id may have been reused for another process.
        self.members.retain(|pid, counters| seen.contains(pid) && is_open(counters));
        for pid in &order {
            self.members.entry(*pid).or_insert_with(|| ProcessCounters::open(*pid));
        }
        self.pids_children_first = order;
    }

    pub fn counts(&self) -> FamilyCounts {
        FamilyCounts {
            cpu_ns: self.sum(ProcessCounters::cpu_ns, |sum, ns| sum + ns),
            io: self.sum(ProcessCounters::io_bytes, IoBytes::plus),
            faults_and_ticks: self.sum(ProcessCounters::faults_and_ticks, FaultsAndTicks::plus),
            counts_by_thread: self.sum(|member| CountsByThread::read(member.pid()), CountsByThread::plus),
            process_count: self.pids_children_first.len(),
        }
    }

    /// The sum of the high-water marks of resident memory. Shared pages are counted in each
    /// process.
    pub fn peak_rss_bytes(&self) -> Result<u64, FamilyError> {
        self.sum(ProcessCounters::peak_rss_bytes, |sum, bytes| sum + bytes)
    }

    pub fn reset_peak_memory(&self) -> Result<(), FamilyError> {
        self.sum(ProcessCounters::reset_peak_memory, |(), ()| ())
    }

    /// The sum of a count over all members. A member that has ended meanwhile was reaped; its
    /// parent, which comes later in the order, includes its counts.
    fn sum<T>(
        &self,
        count: impl Fn(&ProcessCounters) -> Result<T, CounterError>,
        and: impl Fn(T, T) -> T,
    ) -> Result<T, FamilyError> {
        self.listing_result.clone().map_err(FamilyError::NotListed)?;
        let mut sum = None;
        for pid in &self.pids_children_first {
            let Some(member) = self.members.get(pid) else { continue };
            match count(member) {
                Ok(more) => {
                    sum = Some(match sum {
                        Some(sum) => and(sum, more),
                        None => more,
                    });
                }
                Err(cause) if *pid == self.program_pid => return Err(FamilyError::Program(cause)),
                Err(CounterError::Ended { .. }) => {}
                Err(cause) => return Err(FamilyError::Member { pid: *pid, cause }),
            }
        }
        sum.ok_or(FamilyError::Program(CounterError::Ended { pid: self.program_pid }))
    }
}

impl FamilyCounts {
    /// CPU time of the living members and of their reaped children; the time of the children is
    /// rounded to whole clock ticks.
    pub fn cpu_ns_with_reaped(&self) -> Result<u64, FamilyError> {
        let activity = self.faults_and_ticks.as_ref().map_err(FamilyError::clone)?;
        Ok(self.cpu_ns.clone()? + activity.child_ticks * tick_ns())
    }
}

/// Adds all processes below a parent that were not seen yet, children before their parents.
fn add_descendants(parent: u32, children: &ChildSource, seen: &mut BTreeSet<u32>, order: &mut Vec<u32>) {
    for child in children.children_of(parent) {
        if seen.insert(child) {
            add_descendants(child, children, seen, order);
            order.push(child);
        }
    }
}

/// Where the children of a process are found.
enum ChildSource {
    /// The kernel's list of children of each thread.
    Lists,
    /// The table of all processes, for kernels without these lists.
    Table(Vec<table::ProcessEntry>),
}

fn child_source() -> Result<ChildSource, String> {
    let own = std::process::id();
    if Path::new(&format!("/proc/self/task/{own}/children")).exists() {
        return Ok(ChildSource::Lists);
    }
    may_see_processes_of_others()?;
    Ok(ChildSource::Table(table::all_processes()))
}

impl ChildSource {
    fn children_of(&self, parent: u32) -> Vec<u32> {
        match self {
            ChildSource::Lists => {
                let of_thread = |thread: u32| {
                    let list = fs::read_to_string(format!("/proc/{parent}/task/{thread}/children"));
                    let list = list.unwrap_or_default();
                    list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()
                };
                threads(parent).unwrap_or_default().into_iter().flat_map(of_thread).collect()
            }
            ChildSource::Table(all) => {
                all.iter().filter(|entry| entry.parent == parent).map(|entry| entry.pid).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ForkCommand, ForkedProcess};
    use super::*;

    #[test]
    fn descendants_of_every_generation_are_listed_before_their_parents() {
        let mut process = ForkedProcess::start(Path::new("/dev/null"));
        let mut family = ProcessFamily::of_program(process.pid(), None);
        assert_eq!(family.counts().process_count, 1);
        process.execute(ForkCommand::Fork);
        process.execute(ForkCommand::Fork);
        family.update_members();
        assert_eq!(family.counts().process_count, 3);
        assert_eq!(family.pids_children_first.last(), Some(&process.pid()));
        let table = ChildSource::Table(table::all_processes());
        let by_lists: BTreeSet<u32> = ChildSource::Lists.children_of(process.pid()).into_iter().collect();
        assert_eq!(by_lists, table.children_of(process.pid()).into_iter().collect());
    }

    #[test]
    fn a_member_without_readable_counters_gives_a_reason_and_not_zero() {
        let process = ForkedProcess::start(Path::new("/dev/null"));
        let mut family = ProcessFamily::of_program(process.pid(), None);
        family.listing_result = Err("hidden".to_owned());
        let hidden = FamilyError::NotListed("hidden".to_owned());
        let counts = family.counts();
        assert_eq!((counts.io, counts.cpu_ns), (Err(hidden.clone()), Err(hidden.clone())));
        assert_eq!((family.peak_rss_bytes(), family.reset_peak_memory()), (Err(hidden.clone()), Err(hidden)));
    }
}
