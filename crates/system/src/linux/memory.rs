//! Memory of the machine: how much there is and may be used by this process, and what reclaims it.

use super::control_group::{self, GroupFolder};
use super::kernel_file::{field, line, number, selected};
use procfs::{Current, Meminfo};
use std::fs;

/// All memory (`MemTotal`) and what needs no swapping (`MemAvailable`), in bytes; 0 without /proc.
pub fn total_and_available() -> (u64, u64) {
    // Kernels before 3.14 have no estimate; free memory is then the lower bound.
    let numbers = |found: Meminfo| (found.mem_total, found.mem_available.unwrap_or(found.mem_free));
    Meminfo::current().map_or((0, 0), numbers)
}

pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// How many processes the kernel has killed for lack of memory since it started, in control groups
/// or outside (`oom_kill` of /proc/vmstat, since Linux 4.13); `None` where it does not count them.
pub fn oom_kills() -> Option<u64> {
    field(&fs::read_to_string("/proc/vmstat").ok()?, "oom_kill ")
}

/// Whether any swap is on: /proc/swaps has a line below its heading.
pub fn is_swap_on() -> bool {
    fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().nth(1).is_some())
}

/// The mode of transparent huge pages: `always`, `madvise` or `never`.
pub fn transparent_huge_pages() -> Option<String> {
    line("/sys/kernel/mm/transparent_hugepage/enabled").map(|all| selected(&all).to_owned())
}

/// Whether a DAMON context may reclaim memory: by modules, administration files or kernel threads.
pub fn is_reclaimed_proactively() -> bool {
    if is_module_enabled("damon_reclaim") || is_module_enabled("damon_lru_sort") {
        return true;
    }
    if any_entry("/sys/kernel/mm/damon/admin/kdamonds", "state", |state| state == "on") {
        return true;
    }
    // The module `damon_stat` only watches, by a thread that looks like the others.
    !is_module_enabled("damon_stat") && any_entry("/proc", "comm", |name| name.starts_with("kdamond"))
}

fn is_module_enabled(module: &str) -> bool {
    let enabled = line(format!("/sys/module/{module}/parameters/enabled"));
    enabled.is_some_and(|enabled| enabled == "Y" || enabled == "1")
}

/// Whether in any entry of `folder` the line of this file matches.
fn any_entry(folder: &str, file: &str, matches: fn(&str) -> bool) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| line(entry.path().join(file))).any(|text| matches(&text))
}

/// The lowest memory limit of this process's control groups, of version 1 or 2.
pub fn control_group_limit() -> Option<u64> {
    // `memory.high` reclaims the page cache before `memory.max` does.
    let files = |is_unified: bool| match is_unified {
        true => ["memory.max", "memory.high"].as_slice(),
        false => &["memory.limit_in_bytes"],
    };
    // `max` is no number: there is no limit then.
    let limits = |group: &GroupFolder| -> Vec<u64> {
        files(group.is_unified).iter().filter_map(|file| number(group.path.join(file))).collect()
    };
    control_group::folders("memory").iter().flat_map(limits).min()
}
