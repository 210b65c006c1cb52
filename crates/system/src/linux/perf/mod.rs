//! Events of the kernel's perf subsystem on every thread of a process, counted or put into rings.
//!
//! `stacks` samples stacks, `syscalls` counts system calls. This file opens events and explains
//! why one may not be opened. `perf_event_open(2)` has all layouts.

mod records;
mod registers;
mod ring;
mod stacks;
mod syscalls;

pub use records::{PerfEvent, PerfRecord, PerfSample};
pub use registers::Registers;
pub use stacks::{Event, FREQUENCY, StackRecords, StackSampler};
pub use syscalls::SyscallCounter;

use super::process::threads;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;

/// The kernel's `struct perf_event_attr`, as far as its fourth published size.
#[repr(C)]
#[derive(Debug, Clone, Default)]
struct Attr {
    kind: u32,
    size: u32,
    config: u64,
    /// A period, or with [`flag::FREQ`] samples per second.
    sample_period: u64,
    /// What a sample holds, of [`sample`].
    sample_type: u64,
    read_format: u64,
    /// Of [`flag`].
    flags: u64,
    /// Bytes in the ring after which a reader is woken, with [`flag::WATERMARK`].
    wakeup: u32,
    bp_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    /// Registers of user mode in a sample, by their numbers in the kernel.
    sample_regs_user: u64,
    /// Bytes of the user's stack in a sample.
    sample_stack_user: u32,
    clockid: i32,
}

const ATTR_BYTES: u32 = 96;
const _: () = assert!(size_of::<Attr>() == ATTR_BYTES as usize);

/// Bits of `Attr::flags`.
mod flag {
    /// Threads and children that come later too.
    pub(super) const INHERIT: u64 = 1 << 1;
    /// Nothing of the kernel.
    pub(super) const EXCLUDE_KERNEL: u64 = 1 << 5;
    /// Nothing of a hypervisor.
    pub(super) const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    pub(super) const COMM: u64 = 1 << 9;
    /// The period is a frequency.
    pub(super) const FREQ: u64 = 1 << 10;
    /// Forks and exits.
    pub(super) const TASK: u64 = 1 << 13;
    /// Readers are woken by bytes.
    pub(super) const WATERMARK: u64 = 1 << 14;
    /// Every record has its thread and time.
    pub(super) const SAMPLE_ID_ALL: u64 = 1 << 18;
    /// No user frames in call chains.
    pub(super) const EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
    /// Executable mappings.
    pub(super) const MMAP2: u64 = 1 << 23 | 1 << 8;
    /// Names that come from an exec are marked.
    pub(super) const COMM_EXEC: u64 = 1 << 24;
    /// Times are of the clock that the lab reads.
    pub(super) const USE_CLOCKID: u64 = 1 << 25;
}

/// Bits of `Attr::sample_type`.
mod sample {
    /// Process and thread.
    pub(super) const TID: u64 = 1 << 1;
    pub(super) const TIME: u64 = 1 << 2;
    /// The kernel's call chain.
    pub(super) const CALLCHAIN: u64 = 1 << 5;
    pub(super) const REGS_USER: u64 = 1 << 12;
    pub(super) const STACK_USER: u64 = 1 << 13;
}

const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;

impl Attr {
    /// An event of the processor's or the kernel's own: processor cycles.
    fn cycles() -> Attr {
        Attr::new(0, 0)
    }

    /// An event of the kernel's own: time on a processor.
    fn cpu_clock() -> Attr {
        Attr::new(1, 0)
    }

    fn tracepoint(id: u64) -> Attr {
        Attr::new(2, id)
    }

    fn new(kind: u32, config: u64) -> Attr {
        Attr { kind, size: ATTR_BYTES, config, clockid: libc::CLOCK_MONOTONIC, ..Attr::default() }
    }

    /// Opens the event on one thread, on one processor or on all.
    fn open(&self, tid: u32, cpu: Option<u32>) -> io::Result<File> {
        let cpu = cpu.map_or(-1, u32::cast_signed);
        let no_group = -1;
        let mut attr = self.clone();
        if attr.flags & flag::USE_CLOCKID == 0 {
            attr.clockid = 0;
        }
        // SAFETY: the attributes are `size` bytes long and outlive the call, which only reads them.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attr,
                tid.cast_signed(),
                cpu,
                no_group,
                PERF_FLAG_FD_CLOEXEC,
            )
        };
        match i32::try_from(fd) {
            // SAFETY: the kernel has just made this descriptor for us alone.
            Ok(fd) if fd >= 0 => Ok(unsafe { File::from_raw_fd(fd) }),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Opens something on every thread of a process, until there is no new one; ended ones are skipped.
fn on_threads(pid: u32, mut open: impl FnMut(u32) -> io::Result<()>) -> io::Result<()> {
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

/// How far ordinary users may use perf events, as the kernel is set; `None` where it has none.
pub fn paranoid() -> Option<i32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

/// Whether this user may read the names of the kernel's functions.
pub fn kernel_symbols_are_readable() -> bool {
    let listed = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    listed.lines().take(100).any(|line| !line.trim_start_matches('0').starts_with(' '))
}

/// What a refused event means, and the command that would allow it; `needs` is the greatest
/// `kernel.perf_event_paranoid` with which an ordinary user may.
fn refusal(cause: &io::Error, needs: i32) -> String {
    match (cause.raw_os_error(), paranoid()) {
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
    fn a_refusal_names_the_command_that_mends_it() {
        let forbidden = io::Error::from_raw_os_error(libc::EACCES);
        if let Some(is) = paranoid() {
            let message = refusal(&forbidden, is - 1);
            assert!(message.contains(&format!("sysctl kernel.perf_event_paranoid={}", is - 1)), "{message}");
            assert!(refusal(&forbidden, is).contains("--cap-add PERFMON"));
        }
        assert!(refusal(&io::Error::from_raw_os_error(libc::ENOSYS), 2).contains("no perf events"));
        assert!(refusal(&io::Error::from_raw_os_error(libc::EMFILE), 2).contains("ulimit"));
    }

    #[test]
    fn every_thread_is_met_once_and_those_that_ended_are_passed_over() {
        let mut met = Vec::new();
        on_threads(std::process::id(), |tid| {
            met.push(tid);
            Err(io::Error::from_raw_os_error(libc::ESRCH))
        })
        .unwrap();
        assert!(met.contains(&std::process::id()));
        let once: BTreeSet<u32> = met.iter().copied().collect();
        assert_eq!(once.len(), met.len());
        let refused = on_threads(std::process::id(), |_| Err(io::Error::from_raw_os_error(libc::EACCES)));
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EACCES));
    }
}
