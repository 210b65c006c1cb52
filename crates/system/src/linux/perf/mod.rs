//! Events of the kernel's perf subsystem on all threads of a process, counted or recorded in ring
//! buffers.
//!
//! `stacks` samples stacks, and `syscalls` counts system calls. This file opens events and explains
//! why one may not be opened. `perf_event_open(2)` defines all layouts.
//!
//! No crate reads these records as safely: perf-event-open 0.7 does not check their lengths,
//! perf-event2 0.7 panics at a malformed one and misreads a sample without registers.

mod records;
mod registers;
mod ring;
mod stacks;
mod syscalls;

pub use records::{PerfRecord, PerfRecordBody, StackSample};
pub use registers::Registers;
pub use stacks::{PerfRecords, SAMPLES_PER_S, SamplingEvent, StackSampler};
pub use syscalls::SyscallCounter;

use super::kernel_file::read_line;
use super::process::threads;
use perf_event_open_sys::bindings::{self, perf_event_attr};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;

/// An event that counts CPU cycles.
fn cycles() -> perf_event_attr {
    attr(bindings::PERF_TYPE_HARDWARE, bindings::PERF_COUNT_HW_CPU_CYCLES.into())
}

/// A software event that counts time on a processor.
fn cpu_clock() -> perf_event_attr {
    attr(bindings::PERF_TYPE_SOFTWARE, bindings::PERF_COUNT_SW_CPU_CLOCK.into())
}

fn tracepoint(id: u64) -> perf_event_attr {
    attr(bindings::PERF_TYPE_TRACEPOINT, id)
}

fn attr(kind: u32, config: u64) -> perf_event_attr {
    // An older kernel accepts the larger structure if all fields that it does not know are zero.
    let size = u32::try_from(size_of::<perf_event_attr>()).expect("some hundred bytes");
    perf_event_attr { type_: kind, size, config, ..perf_event_attr::default() }
}

/// Opens an event on one thread, on one processor or on all processors.
fn open_event(attr: &perf_event_attr, tid: u32, cpu: Option<u32>) -> io::Result<File> {
    let mut attr = *attr;
    let (tid, cpu) = (tid.cast_signed(), cpu.map_or(-1, u32::cast_signed));
    let no_group = -1;
    let flags = bindings::PERF_FLAG_FD_CLOEXEC.into();
    // SAFETY: the attributes are `size` bytes long and outlive the call, which only writes a size
    // back into this copy of them.
    match unsafe { perf_event_open_sys::perf_event_open(&raw mut attr, tid, cpu, no_group, flags) } {
        // SAFETY: the kernel has just made this descriptor for us alone.
        fd @ 0.. => Ok(unsafe { File::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Calls `open` for every thread of a process until no new thread appears. Threads that have ended
/// are skipped.
fn for_each_thread(pid: u32, mut open: impl FnMut(u32) -> io::Result<()>) -> io::Result<()> {
    let mut opened = BTreeSet::new();
    loop {
        let new: Vec<u32> = threads(pid)?.into_iter().filter(|tid| opened.insert(*tid)).collect();
        if new.is_empty() {
            return Ok(());
        }
        for tid in new {
            match open(tid) {
                Err(cause) if cause.raw_os_error() != Some(libc::ESRCH) => return Err(cause),
                Ok(()) | Err(_) => {}
            }
        }
    }
}

/// The setting `kernel.perf_event_paranoid`, which limits perf events for ordinary users; `None`
/// without perf events.
pub fn paranoid_level() -> Option<i32> {
    read_line("/proc/sys/kernel/perf_event_paranoid")?.parse().ok()
}

/// True if this user may read the addresses of the kernel's functions.
pub fn kernel_symbols_are_readable() -> bool {
    let listed = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    listed.lines().take(100).any(|line| !line.trim_start_matches('0').starts_with(' '))
}

/// Explains why an event was refused, and names the command that would allow it. `needs` is the
/// highest `kernel.perf_event_paranoid` at which an ordinary user may open the event.
fn refusal(cause: &io::Error, needs: i32) -> String {
    match (cause.raw_os_error(), paranoid_level()) {
        (Some(libc::ENOSYS), _) | (_, None) => {
            "this kernel has no perf events, or this container forbids them".to_owned()
        }
        (Some(libc::EACCES | libc::EPERM), Some(is)) if is > needs => format!(
            "kernel.perf_event_paranoid is {is}: `sudo sysctl kernel.perf_event_paranoid={needs}` allows it"
        ),
        (Some(libc::EACCES | libc::EPERM), _) => {
            "perf events are forbidden here: in a container, `docker run --cap-add PERFMON` allows them"
                .to_owned()
        }
        (Some(libc::EMFILE), _) => {
            "too many threads and processors for the limit of open files: `ulimit -n 65536` allows it"
                .to_owned()
        }
        _ => format!("perf_event_open: {cause}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_perf_event_names_the_command_that_allows_it() {
        let forbidden = io::Error::from_raw_os_error(libc::EACCES);
        if let Some(is) = paranoid_level() {
            let message = refusal(&forbidden, is - 1);
            assert!(message.contains(&format!("sysctl kernel.perf_event_paranoid={}", is - 1)), "{message}");
            assert!(refusal(&forbidden, is).contains("--cap-add PERFMON"));
        }
        assert!(refusal(&io::Error::from_raw_os_error(libc::ENOSYS), 2).contains("no perf events"));
        assert!(refusal(&io::Error::from_raw_os_error(libc::EMFILE), 2).contains("ulimit"));
    }

    #[test]
    fn every_thread_is_opened_once_and_ended_threads_are_skipped() {
        let mut met = Vec::new();
        for_each_thread(std::process::id(), |tid| {
            met.push(tid);
            Err(io::Error::from_raw_os_error(libc::ESRCH))
        })
        .unwrap();
        assert!(met.contains(&std::process::id()));
        let once: BTreeSet<u32> = met.iter().copied().collect();
        assert_eq!(once.len(), met.len());
        let refused =
            for_each_thread(std::process::id(), |_| Err(io::Error::from_raw_os_error(libc::EACCES)));
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EACCES));
    }
}
