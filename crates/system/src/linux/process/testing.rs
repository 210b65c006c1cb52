//! For tests: a fork of the test process that does exactly what it is commanded to do, with system
//! calls only; and access to the memory of the test itself.

use super::counters::cpu_ns;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// The commands to the process, one byte each.
#[derive(Clone, Copy)]
pub enum ForkCommand {
    /// Touch 64 MiB of memory, then free it.
    Touch64MiB = b'm' as isize,
    /// Read the file from beginning to end.
    ReadFile = b'r' as isize,
    ReadFileInChild = b'c' as isize,
    /// Fork a child process that executes the following commands, as long as both processes live.
    Fork = b'f' as isize,
    /// Spend 250 ms of CPU time in user mode.
    Burn = b'b' as isize,
    Exit = b'x' as isize,
}

/// A forked process that executes commands; killed and reaped when dropped.
pub struct ForkedProcess {
    pid: i32,
    command_socket: UnixStream,
}

impl ForkedProcess {
    /// Forks a process whose commands read this file.
    pub fn start(file: &Path) -> ForkedProcess {
        let (link, far) = UnixStream::pair().unwrap();
        let path = std::ffi::CString::new(file.as_os_str().as_encoded_bytes()).unwrap();
        // SAFETY: the child makes only system calls through async-signal-safe functions, on memory
        // that the fork copied, and ends with _exit.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0, "fork: {}", io::Error::last_os_error());
        if pid == 0 {
            // SAFETY: as above; the descriptor and the path are this process's copies.
            unsafe { execute_commands(far.as_raw_fd(), &path) }
        }
        ForkedProcess { pid, command_socket: link }
    }

    pub fn pid(&self) -> u32 {
        self.pid.cast_unsigned()
    }

    pub fn execute(&mut self, deed: ForkCommand) {
        self.command_socket.write_all(&[deed as u8]).unwrap();
        self.command_socket.read_exact(&mut [0]).unwrap();
    }

    /// Commands the process to exit and waits until it is a zombie.
    pub fn exit(&mut self) {
        self.command_socket.write_all(&[ForkCommand::Exit as u8]).unwrap();
        // SAFETY: the information is written to a place of its type; WNOWAIT leaves the zombie.
        unsafe {
            let mut info = std::mem::zeroed();
            libc::waitid(libc::P_PID, self.pid(), &raw mut info, libc::WEXITED | libc::WNOWAIT);
        }
    }

    pub fn kill_and_reap(&mut self) {
        // SAFETY: the number is that of our unreaped child, or of none when it was reaped before.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

impl Drop for ForkedProcess {
    fn drop(&mut self) {
        self.kill_and_reap();
    }
}

/// Executes commands until the link is closed; the body of the forked process.
///
/// # Safety
/// Only in a process that was just forked.
unsafe fn execute_commands(link: i32, path: &std::ffi::CStr) -> ! {
    let mut deed = 0u8;
    // SAFETY: calls get valid descriptors, and addresses within live objects of the stated sizes.
    unsafe {
        while libc::read(link, (&raw mut deed).cast(), 1) == 1 {
            match deed {
                b'm' => touch_memory(),
                b'r' => read_file(path),
                b'c' => {
                    let child = libc::fork();
                    if child == 0 {
                        read_file(path);
                        libc::_exit(0);
                    }
                    libc::waitpid(child, std::ptr::null_mut(), 0);
                }
                // The parent waits, and only the child answers.
                b'f' => {
                    if libc::fork() != 0 {
                        loop {
                            libc::pause();
                        }
                    }
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                }
                b'b' => burn_cpu(),
                _ => break,
            }
            libc::write(link, (&raw const deed).cast(), 1);
        }
        libc::_exit(0)
    }
}

unsafe fn touch_memory() {
    let bytes = 64 << 20;
    // SAFETY: a fresh private mapping, used within its length and unmapped once.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let at = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_WRITE, flags, -1, 0);
        for page in (0..bytes).step_by(4096) {
            at.cast::<u8>().add(page).write_volatile(1);
        }
        libc::munmap(at, bytes);
    }
}

unsafe fn read_file(path: &std::ffi::CStr) {
    let mut buffer = [0u8; 65_536];
    // SAFETY: the buffer is as long as stated.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_RDONLY);
        while libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) > 0 {}
        libc::close(fd);
    }
}

fn burn_cpu() {
    let now = || cpu_ns(libc::CLOCK_PROCESS_CPUTIME_ID, 0).unwrap_or(u64::MAX);
    let until = now() + 250_000_000;
    while now() < until {
        for step in 0..100_000u64 {
            std::hint::black_box(step);
        }
    }
}

/// Restricts a process, or this thread, to the first processor of this thread's affinity mask.
pub fn use_one_processor(process: Option<Pid>) {
    let allowed = sched_getaffinity(None).unwrap();
    let mut one = CpuSet::new();
    one.set((0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)).unwrap());
    sched_setaffinity(process, &one).unwrap();
}

pub fn read_own_memory(address: u64, into: &mut [u8]) {
    let memory = std::fs::File::open("/proc/self/mem").unwrap();
    std::os::unix::fs::FileExt::read_exact_at(&memory, into, address).unwrap();
}
