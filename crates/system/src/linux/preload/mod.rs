//! Libraries that are loaded into programs by LD_PRELOAD, and memory that these share with the lab.
//!
//! Both are files in memory, which other processes open by a path under /proc with the lab's
//! process id. Nothing is left behind, and child processes of the program find them too.

pub mod testing;

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, ftruncate, memfd_create};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// The library that counts allocations; empty if the build could not make it.
pub static COUNTING_LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/counting.so"));

/// The library that traces read calls; empty if the build could not make it.
pub static TRACING_LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tracing.so"));

pub type EnvironmentVariable = (OsString, OsString);

#[derive(Debug)]
pub struct PreloadedLibrary(File);

/// Memory of the lab that programs can map.
#[derive(Debug)]
pub struct SharedMemory(File);

impl PreloadedLibrary {
    pub fn new(name: &str, bytes: &[u8]) -> io::Result<PreloadedLibrary> {
        let file = File::from(memfd_create(name, MemfdFlags::CLOEXEC)?);
        (&file).write_all(bytes)?;
        Ok(PreloadedLibrary(file))
    }

    /// The environment variable that loads the library into a program, together with libraries that
    /// the user preloads.
    pub fn variable(&self) -> EnvironmentVariable {
        let mut libraries = path_for_others(&self.0);
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            libraries.push(":");
            libraries.push(others);
        }
        ("LD_PRELOAD".into(), libraries)
    }
}

impl SharedMemory {
    /// Creates this many bytes, all zero. Bytes that are never written take no memory.
    pub fn zeroed(name: &str, bytes: u64) -> io::Result<SharedMemory> {
        let file = File::from(memfd_create(name, MemfdFlags::CLOEXEC)?);
        ftruncate(&file, bytes)?;
        Ok(SharedMemory(file))
    }

    /// The environment variable with the path of the shared memory, for programs.
    pub fn variable(&self, name: &str) -> EnvironmentVariable {
        (name.into(), path_for_others(&self.0))
    }

    pub fn read(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(into, offset)
    }

    pub fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    /// Zeroes a range and frees its memory.
    pub fn erase(&self, range: Range<u64>) -> io::Result<()> {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(fallocate(&self.0, hole, range.start, range.end - range.start)?)
    }
}

/// A path by which other processes of this user can open a file of the lab.
fn path_for_others(file: &File) -> OsString {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_opened_by_its_path_and_can_be_erased() {
        let memory = SharedMemory::zeroed("test", 8192).unwrap();
        memory.write(b"hello", 4096).unwrap();
        let (name, path) = memory.variable("PAGES");
        assert_eq!(name, "PAGES");
        assert_eq!(&std::fs::read(path).unwrap()[4096..4101], b"hello");
        memory.erase(4096..8192).unwrap();
        let mut bytes = [7; 5];
        memory.read(&mut bytes, 4096).unwrap();
        assert_eq!(bytes, [0; 5]);
        assert!(memory.read(&mut bytes, 8190).is_err());
    }
}
