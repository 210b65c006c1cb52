//! Everything metered around one turn of a contender, from outside, by its process id.
//!
//! Most files of /proc stay open and are read again with pread: a turn costs one write, seven
//! reads, one more for each thread and two looks at a clock, none of them inside the contender's
//! window. A meter that cannot be read is a [`Missing`] with its reason; nothing here panics and
//! nothing becomes 0.
//!
//! Verified on Linux 6.18: `read_bytes` holds the reads of dead threads, of io_uring's kernel
//! workers and poll thread, and those of a child from the moment it is reaped; the high-water mark
//! of a child can be reset by the ordinary user who owns it; a zombie's `stat` and `io` stay
//! readable, its peak memory does not, and a reset is then accepted without effect; after the
//! reaping every open file answers ESRCH. The CPU clock of a process holds its living and dead
//! threads, never its children; peak memory is that of the process alone. What is judged by, rather
//! than told, is in `whole`.

mod lab_self;
mod whole;

pub use lab_self::{LabSelf, lab_self};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
pub use whole::Whole;
pub(super) use whole::tick_ns;
use whole::{DELAY, Delays, Io, Living, delay_ns};

/// A meter's reading, or why there is none.
pub type MeterReading = Result<u64, Missing>;

/// Clock ticks of CPU time below which their proportion says too little to split a total by.
const TICKS_MIN: u64 = 10;

/// Longest of the files that are read; /proc/PID/status has about 1.5 KiB.
const PROC_FILE_BYTES_MAX: usize = 8192;

/// The file that resets the high-water mark: write only, and only by the owner of the process.
const CLEAR_REFS: &str = "clear_refs";

/// Why a meter has no reading.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// The process is another user's, or has changed its identity.
    #[error("{file}: permission denied (the process is not this user's)")]
    NotPermitted {
        /// What was to be opened or read.
        file: String,
    },
    /// The process lives, and this user may not see it.
    #[error("/proc/{pid} is hidden from this user (proc is mounted with hidepid)")]
    Hidden {
        /// The process.
        pid: u32,
    },
    /// The process has ended.
    #[error("process {pid} has ended")]
    Ended {
        /// The process.
        pid: u32,
    },
    /// The system refused in another way.
    #[error("{file}: {cause}")]
    Unreadable {
        /// What was to be opened, read or written.
        file: String,
        /// What the system said.
        cause: String,
    },
    /// This kernel does not tell.
    #[error("{file} has no {field} on this kernel")]
    NoField {
        /// The file.
        file: String,
        /// What was looked for.
        field: &'static str,
    },
    /// The high-water mark still holds what came before.
    #[error("the high-water mark could not be reset: {0}")]
    NotReset(Box<Missing>),
    /// The process ran other programs, and this meter shows the process alone.
    #[error("it ran other programs, of which this meter knows nothing")]
    OtherPrograms,
    /// Too little CPU time to be split.
    #[error("only {ticks} clock ticks passed: too few to tell user from system time (at least {TICKS_MIN})")]
    TooFewTicks {
        /// How many passed.
        ticks: u64,
    },
}

/// CPU time by where it was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuSplit {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

/// What passed between [`Meters::begin`] and [`Meters::end`], summed over all readings of the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metered {
    /// CPU time of the process and its threads, by its own CPU clock, in nanoseconds.
    pub cpu_total_ns: MeterReading,
    /// The same total split in the proportion of the kernel's clock ticks, for contenders that
    /// cannot ask it.
    pub cpu_split: Result<CpuSplit, Missing>,
    /// High-water mark of resident memory since `begin`, mapped file pages included.
    pub peak_rss_bytes: MeterReading,
    /// Page faults served without the device, those of reaped children included.
    pub minor_faults: MeterReading,
    /// Those of reaped children alone: of what starts a program for each reading, the program's
    /// own.
    pub child_minor_faults: MeterReading,
    /// Page faults that waited for the device, those of reaped children included.
    pub major_faults: MeterReading,
    /// Bytes fetched from the device, those of reaped children included.
    pub device_read_bytes: MeterReading,
    /// What claims are held against.
    pub whole: Whole,
}

/// The meters of one process. The caller holds the process unreaped for as long as it uses them, so
/// that its number cannot come to mean another process.
#[derive(Debug)]
pub struct Meters {
    stat: ProcFile,
    status: ProcFile,
    io: ProcFile,
    clear_refs: ProcFile,
    lab_schedstat: ProcFile,
    living: Living,
    cpu_clock: Result<libc::clockid_t, Missing>,
    before: Counters,
}

/// One reading of every counter.
#[derive(Debug)]
struct Counters {
    cpu_ns: MeterReading,
    io: Result<Io, Missing>,
    delays: Result<Delays, Missing>,
    lab_delayed_ns: MeterReading,
    living_ns: MeterReading,
    stat: Result<Stat, Missing>,
    reset: Result<(), Missing>,
}

/// The counters of /proc/PID/stat that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    zombie: bool,
    minor_faults: u64,
    child_minor_faults: u64,
    major_faults: u64,
    child_major_faults: u64,
    user_ticks: u64,
    system_ticks: u64,
    child_ticks: u64,
}

/// A file of /proc/PID, open for good, or why it is not.
#[derive(Debug)]
struct ProcFile {
    pid: u32,
    path: String,
    file: Result<File, Missing>,
}

impl Meters {
    /// Opens the meters of a process. What cannot be opened becomes the reason of every reading
    /// that needs it.
    #[must_use]
    pub fn open(pid: u32) -> Meters {
        let mut meters = Meters {
            stat: ProcFile::open(pid, "stat"),
            status: ProcFile::open(pid, "status"),
            io: ProcFile::open(pid, "io"),
            clear_refs: ProcFile::open(pid, CLEAR_REFS),
            lab_schedstat: ProcFile::open(std::process::id(), "schedstat"),
            living: Living::of(pid),
            cpu_clock: cpu_clock_of(pid),
            before: Counters::none(pid),
        };
        meters.begin();
        meters
    }

    /// Resets the high-water mark and reads all counters; the clock comes last. Called before "go".
    pub fn begin(&mut self) {
        let reset = self.clear_refs.write(b"5").map_err(|why| Missing::NotReset(Box::new(why)));
        self.before = self.read(reset);
    }

    /// Reads all counters again. Called after the contender has answered; `begin` comes before the
    /// next turn.
    #[must_use]
    pub fn end(&self) -> Metered {
        let after = self.read(self.before.reset.clone());
        let before = &self.before;
        let stat = both(&before.stat, &after.stat).map(|(before, after)| after.since(before));
        let alone = match &stat {
            Ok(stat) if stat.child_minor_faults > 0 => Err(Missing::OtherPrograms),
            Ok(_) => Ok(()),
            Err(why) => Err(why.clone()),
        };
        let cpu = both(&before.cpu_ns, &after.cpu_ns).map(|(before, after)| after.saturating_sub(*before));
        let whole = Whole::between(before, &after, (&cpu, &stat));
        let cpu_total_ns = alone.clone().and(cpu);
        let io = both(&before.io, &after.io).map(|(before, after)| after.since(before));
        Metered {
            cpu_split: both(&cpu_total_ns, &stat).and_then(|(total_ns, stat)| stat.split(*total_ns)),
            peak_rss_bytes: alone.and_then(|()| self.peak(&after)),
            minor_faults: stat.clone().map(|stat| stat.minor_faults + stat.child_minor_faults),
            child_minor_faults: stat.clone().map(|stat| stat.child_minor_faults),
            major_faults: stat.map(|stat| stat.major_faults + stat.child_major_faults),
            device_read_bytes: io.map(|io| io.device_read_bytes),
            cpu_total_ns,
            whole,
        }
    }

    /// Reads every counter, in the same order at both ends of a turn.
    fn read(&self, reset: Result<(), Missing>) -> Counters {
        Counters {
            cpu_ns: self.cpu_clock.clone().and_then(|clock| cpu_ns(clock, self.stat.pid)),
            io: self.io.read(Io::parse, "read_bytes"),
            delays: Delays::read(self.stat.pid),
            lab_delayed_ns: self.lab_schedstat.read(delay_ns, DELAY),
            living_ns: self.living.cpu_ns(),
            stat: self.stat.read(Stat::parse, "fault and tick counters"),
            reset,
        }
    }

    /// The high-water mark, which is only worth telling when it was reset.
    fn peak(&self, after: &Counters) -> MeterReading {
        after.reset.clone()?;
        if after.stat.as_ref().is_ok_and(|stat| stat.zombie) {
            return Err(Missing::Ended { pid: self.status.pid });
        }
        self.status.read(peak_rss_bytes, "VmHWM")
    }
}

impl Counters {
    /// Before anything was read.
    fn none(pid: u32) -> Counters {
        let none = Missing::Ended { pid };
        Counters {
            cpu_ns: Err(none.clone()),
            io: Err(none.clone()),
            delays: Err(none.clone()),
            lab_delayed_ns: Err(none.clone()),
            living_ns: Err(none.clone()),
            stat: Err(none.clone()),
            reset: Err(none),
        }
    }
}

impl Stat {
    /// The fields behind the command's name, which may itself hold spaces and parentheses
    /// (proc_pid_stat(5)).
    fn parse(text: &str) -> Option<Stat> {
        let fields: Vec<&str> = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at - 3)?.parse().ok();
        Some(Stat {
            zombie: *fields.first()? == "Z",
            minor_faults: number(10)?,
            child_minor_faults: number(11)?,
            major_faults: number(12)?,
            child_major_faults: number(13)?,
            user_ticks: number(14)?,
            system_ticks: number(15)?,
            child_ticks: number(16)? + number(17)?,
        })
    }

    /// What was counted since an earlier reading.
    fn since(&self, before: &Stat) -> Stat {
        Stat {
            zombie: self.zombie,
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            child_minor_faults: self.child_minor_faults.saturating_sub(before.child_minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            child_major_faults: self.child_major_faults.saturating_sub(before.child_major_faults),
            user_ticks: self.user_ticks.saturating_sub(before.user_ticks),
            system_ticks: self.system_ticks.saturating_sub(before.system_ticks),
            child_ticks: self.child_ticks.saturating_sub(before.child_ticks),
        }
    }

    /// Splits an exact total in the proportion of the ticks.
    fn split(&self, total_ns: u64) -> Result<CpuSplit, Missing> {
        let ticks = self.user_ticks + self.system_ticks;
        if ticks < TICKS_MIN {
            return Err(Missing::TooFewTicks { ticks });
        }
        let user_ns = u128::from(total_ns) * u128::from(self.user_ticks) / u128::from(ticks);
        let user_ns = u64::try_from(user_ns).expect("a share of a u64 fits");
        Ok(CpuSplit { user_ns, system_ns: total_ns - user_ns })
    }
}

impl ProcFile {
    fn open(pid: u32, name: &str) -> ProcFile {
        let path = format!("/proc/{pid}/{name}");
        let opened =
            if name == CLEAR_REFS { File::options().write(true).open(&path) } else { File::open(&path) };
        let file = opened.map_err(|cause| missing(&cause, pid, &path));
        ProcFile { pid, path, file }
    }

    /// Reads the file anew and takes one thing out of it; `what` names it should this kernel lack
    /// it.
    fn read<T>(&self, take: impl Fn(&str) -> Option<T>, what: &'static str) -> Result<T, Missing> {
        let file = self.file.as_ref().map_err(Missing::clone)?;
        let mut bytes = [0; PROC_FILE_BYTES_MAX];
        let length = file.read_at(&mut bytes, 0).map_err(|cause| missing(&cause, self.pid, &self.path))?;
        let text = String::from_utf8_lossy(&bytes[..length]);
        take(&text).ok_or_else(|| Missing::NoField { file: self.path.clone(), field: what })
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Missing> {
        let file = self.file.as_ref().map_err(Missing::clone)?;
        file.write_all_at(bytes, 0).map_err(|cause| missing(&cause, self.pid, &self.path))
    }
}

/// What it means that a file of /proc/PID cannot be opened, read or written.
fn missing(cause: &io::Error, pid: u32, path: &str) -> Missing {
    match cause.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => Missing::NotPermitted { file: path.to_owned() },
        Some(libc::ESRCH) => Missing::Ended { pid },
        Some(libc::ENOENT) if !Path::new("/proc/self").exists() => {
            Missing::Unreadable { file: "/proc".to_owned(), cause: "not mounted".to_owned() }
        }
        Some(libc::ENOENT) if lives(pid) => Missing::Hidden { pid },
        Some(libc::ENOENT) => Missing::Ended { pid },
        _ => Missing::Unreadable { file: path.to_owned(), cause: cause.to_string() },
    }
}

/// Whether a process has this number, even one that may not be signalled.
fn lives(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// The clock that runs while any thread of a process does; the kernel asks for no right over the
/// process.
fn cpu_clock_of(pid: u32) -> Result<libc::clockid_t, Missing> {
    let mut clock = 0;
    // SAFETY: the call writes one clockid_t to a place of that type that outlives it.
    let error = unsafe { libc::clock_getcpuclockid(pid.cast_signed(), &raw mut clock) };
    match error {
        0 => Ok(clock),
        libc::ESRCH => Err(Missing::Ended { pid }),
        _ => {
            let cause = io::Error::from_raw_os_error(error).to_string();
            Err(Missing::Unreadable { file: format!("CPU clock of process {pid}"), cause })
        }
    }
}

/// What a CPU clock shows.
fn cpu_ns(clock: libc::clockid_t, pid: u32) -> MeterReading {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec to a place of that type that outlives it.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return Err(Missing::Ended { pid });
    }
    Ok(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}

/// The number behind a name at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The high-water mark in /proc/PID/status, which the kernel writes in KiB.
fn peak_rss_bytes(status: &str) -> Option<u64> {
    Some(field(status, "VmHWM:")? * 1024)
}

/// Both readings, or the first reason that there is none.
fn both<'a, A, B>(
    left: &'a Result<A, Missing>,
    right: &'a Result<B, Missing>,
) -> Result<(&'a A, &'a B), Missing> {
    Ok((left.as_ref().map_err(Missing::clone)?, right.as_ref().map_err(Missing::clone)?))
}

#[cfg(test)]
mod tests;
