//! The machine's memory: how much there is, how much this process may use, and what reclaims it.

use super::control_group::{self, GroupFolder};
use super::kernel_file::{number_after, read_line, read_number, selected_word};
use procfs::{Current, Meminfo};
use std::fs;

/// Total memory (`MemTotal`) and memory available without swapping (`MemAvailable`), in bytes; 0
/// without /proc.
pub fn total_and_available_bytes() -> (u64, u64) {
    // Kernels before 3.14 have no `MemAvailable`; free memory is a lower bound.
    let numbers = |found: Meminfo| (found.mem_total, found.mem_available.unwrap_or(found.mem_free));
    Meminfo::current().map_or((0, 0), numbers)
}

pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Number of processes that the kernel's OOM killer has killed since boot, inside or outside of
/// control groups (`oom_kill` of /proc/vmstat, since Linux 4.13); `None` if the kernel does not
/// count them.
pub fn oom_kills() -> Option<u64> {
    number_after(&fs::read_to_string("/proc/vmstat").ok()?, "oom_kill ")
}

/// True if swap is on: /proc/swaps has a line below its heading.
pub fn is_swap_on() -> bool {
    fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().nth(1).is_some())
}

/// The mode of transparent huge pages: `always`, `madvise` or `never`.
pub fn transparent_huge_page_mode() -> Option<String> {
    read_line("/sys/kernel/mm/transparent_hugepage/enabled").map(|all| selected_word(&all).to_owned())
}

/// True if DAMON may reclaim memory: a module that reclaims is enabled, an administration file says
/// that a DAMON thread is on, or a DAMON thread runs and the module that only observes is not enabled.
pub fn is_reclaimed_proactively() -> bool {
    if is_module_enabled("damon_reclaim") || is_module_enabled("damon_lru_sort") {
        return true;
    }
    if any_entry_matches("/sys/kernel/mm/damon/admin/kdamonds", "state", |state| state == "on") {
        return true;
    }
    // The module `damon_stat` only observes, but its kernel thread has the same name as the others.
    !is_module_enabled("damon_stat") && any_entry_matches("/proc", "comm", |name| name.starts_with("kdamond"))
}

fn is_module_enabled(module: &str) -> bool {
    let enabled = read_line(format!("/sys/module/{module}/parameters/enabled"));
    enabled.is_some_and(|enabled| enabled == "Y" || enabled == "1")
}

/// True if any folder in `folder` has this file and `matches` accepts the file's line.
fn any_entry_matches(folder: &str, file: &str, matches: fn(&str) -> bool) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| read_line(entry.path().join(file))).any(|text| matches(&text))
}

/// The lowest memory limit of this process's control groups, version 1 or 2.
pub fn control_group_limit_bytes() -> Option<u64> {
    // Above `memory.high` the kernel reclaims page cache, before `memory.max` is reached.
    let files = |is_unified: bool| match is_unified {
        true => ["memory.max", "memory.high"].as_slice(),
        false => &["memory.limit_in_bytes"],
    };
    // `max` does not parse as a number, and means that there is no limit.
    let limits = |group: &GroupFolder| -> Vec<u64> {
        files(group.is_unified).iter().filter_map(|file| read_number(group.path.join(file))).collect()
    };
    control_group::folders("memory").iter().flat_map(limits).min()
}
