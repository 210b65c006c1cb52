//! The tracing library. It is loaded into a contender by LD_PRELOAD in an untimed run, and records
//! every read call and mapping of one file through the C library, in pages that the lab shares.
//!
//! The library is not part of the lab's crate: `build.rs` compiles this file separately, with
//! `core` alone, and the lab embeds the result. The module `inspect::trace` of the crate `measure`
//! reads the pages. Only the call itself is between two readings of the clock; the file
//! and the offset are determined before. Child processes inherit the variable and write into the
//! same pages. A program that is linked statically or makes system calls itself is not traced.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]

use common::{MmapFn, OriginalFn, abort, map_shared, with_shared_file};
use core::ffi::{CStr, c_int, c_long, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Indices of the words in the header of the pages.
mod head {
    /// Device number of the traced file; written by the lab.
    pub const DEVICE: usize = 0;
    /// Inode number of the traced file; written by the lab.
    pub const INODE: usize = 1;
    /// Number of calls that fit into the pages; written by the lab.
    pub const CAPACITY: usize = 2;
    /// Processes that have mapped the pages.
    pub const PROCESSES: usize = 3;
    /// Number of calls so far, including calls that did not fit.
    pub const CALLS: usize = 4;
    pub const COUNT: usize = 8;
}

/// Indices of the words of one call.
mod call {
    /// The function that was called: its number in `trace::CallKind` plus one. Written last.
    pub const KIND: usize = 0;
    pub const THREAD: usize = 1;
    /// Start of the call by the monotonic clock, in nanoseconds.
    pub const START: usize = 2;
    /// Duration of the call, in nanoseconds.
    pub const WALL: usize = 3;
    /// Offset in the file.
    pub const OFFSET: usize = 4;
    pub const REQUESTED: usize = 5;
    /// The call's result: bytes, or a negative number if it failed; for mmap, the address.
    pub const GOT: usize = 6;
    pub const COUNT: usize = 8;
}

/// Values of `call::KIND`, as in `trace::CallKind`.
const READ: u64 = 1;
const PREAD: u64 = 2;
const READV: u64 = 3;
const PREADV: u64 = 4;
const MMAP: u64 = 5;

const PAGES_VARIABLE: &CStr = c"READLAB_TRACE_PAGES";
const SEEK_CUR: c_int = 1;
const CLOCK_MONOTONIC: c_int = 1;
/// Number of words that is large enough for a `struct stat`, whose first two words are device and
/// inode on 64-bit Linux.
const STAT_WORDS: usize = 32;
#[cfg(target_arch = "x86_64")]
const SYS_FSTAT: c_long = 5;
#[cfg(not(target_arch = "x86_64"))]
const SYS_FSTAT: c_long = 80;
#[cfg(target_arch = "x86_64")]
const SYS_GETTID: c_long = 186;
#[cfg(not(target_arch = "x86_64"))]
const SYS_GETTID: c_long = 178;

#[repr(C)]
pub struct IoBuffer {
    base: *mut c_void,
    len: usize,
}

unsafe extern "C" {
    fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn syscall(number: c_long, ...) -> c_long;
    fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int;
    fn __errno_location() -> *mut c_int;
}

/// The mapped pages, or null before they are mapped.
static PAGES: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

/// The address of a C library function, found at its first call.
fn address(real: &OriginalFn) -> usize {
    let known = real.known_address();
    if known != 0 {
        return known;
    }
    let found = real.find();
    if found == 0 {
        // SAFETY: abort does not return; a program that calls a function that the C library lacks
        // could not be linked.
        unsafe { abort() }
    }
    real.set(found);
    found
}

/// The word at this index of the shared pages.
///
/// # Safety
/// `pages` is the mapping, and `at` is an index within it.
unsafe fn word<'a>(pages: *mut AtomicU64, at: usize) -> &'a AtomicU64 {
    // SAFETY: as the caller promises; the mapping is never undone and holds only atomic words.
    unsafe { &*pages.add(at) }
}

/// The shared pages of the trace, if this descriptor refers to the traced file.
fn pages_if_traced(fd: c_int) -> Option<*mut AtomicU64> {
    let pages = PAGES.load(Ordering::Acquire);
    if pages.is_null() || fd < 0 {
        return None;
    }
    let mut facts = [0_u64; STAT_WORDS];
    // SAFETY: the array is larger than what the call fills; the head's words are in the mapping.
    unsafe {
        let same = syscall(SYS_FSTAT, c_long::from(fd), facts.as_mut_ptr()) == 0
            && facts[0] == word(pages, head::DEVICE).load(Ordering::Relaxed)
            && facts[1] == word(pages, head::INODE).load(Ordering::Relaxed);
        same.then_some(pages)
    }
}

fn now_ns() -> u64 {
    let mut time = [0_i64; 2];
    // SAFETY: the place holds both fields of the time.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &raw mut time) };
    time[0].cast_unsigned() * 1_000_000_000 + time[1].cast_unsigned()
}

/// Makes a call, and records it if it is about the traced file. The offset is determined before the
/// clock is started.
fn record_call(
    kind: u64,
    fd: c_int,
    at: Option<i64>,
    requested: usize,
    make: impl FnOnce() -> isize,
) -> isize {
    // SAFETY: the C library gives every thread a place for its error number.
    let before = unsafe { *__errno_location() };
    let pages = pages_if_traced(fd);
    let offset = match (pages, at) {
        (None, _) => 0,
        (_, Some(offset)) => offset,
        // SAFETY: asking for the offset of a descriptor changes nothing.
        (Some(_), None) => unsafe { lseek(fd, 0, SEEK_CUR) },
    };
    // SAFETY: as above; the calls made here must not change the error number of the caller.
    unsafe { *__errno_location() = before };
    let Some(pages) = pages else { return make() };
    let start = now_ns();
    let got = make();
    let wall = now_ns() - start;
    // SAFETY: the head is in the mapping; a call is written only where there is room for it.
    unsafe {
        let number = word(pages, head::CALLS).fetch_add(1, Ordering::Relaxed);
        if number < word(pages, head::CAPACITY).load(Ordering::Relaxed) {
            let base = head::COUNT + number as usize * call::COUNT;
            let write = |field: usize, value: u64| word(pages, base + field).store(value, Ordering::Relaxed);
            // gettid cannot fail, so it does not change the error number that the caller reads.
            write(call::THREAD, syscall(SYS_GETTID).cast_unsigned());
            write(call::START, start);
            write(call::WALL, wall);
            write(call::OFFSET, offset.cast_unsigned());
            write(call::REQUESTED, requested as u64);
            write(call::GOT, (got as i64).cast_unsigned());
            word(pages, base + call::KIND).store(kind, Ordering::Release);
        }
    }
    got
}

/// Number of bytes in all buffers together.
///
/// # Safety
/// `pieces` points to `count` buffers.
unsafe fn total_bytes(pieces: *const IoBuffer, count: c_int) -> usize {
    // SAFETY: as the caller promises.
    (0..count.max(0) as usize).map(|n| unsafe { (*pieces.add(n)).len }).fold(0, usize::saturating_add)
}

/// Functions that replace functions of the C library. Each records its kind, the descriptor, the
/// offset (`None` for the descriptor's own offset), and the bytes requested.
macro_rules! interposed {
    ($(
        $real:ident = $text:literal:
        $name:ident($($arg:ident: $type:ty),*) -> $answer:ty: $($recorded:expr),*;
    )*) => {$(
        static $real: OriginalFn = OriginalFn::new($text);
        /// # Safety
        /// As the function of this name of the C library.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> $answer {
            type Function = extern "C" fn($($type),*) -> $answer;
            // SAFETY: the address is that of a function of this type.
            let real = unsafe { core::mem::transmute::<usize, Function>(address(&$real)) };
            record_call($($recorded),*, || real($($arg),*) as isize) as $answer
        }
    )*};
}

interposed! {
    REAL_READ = c"read": read(fd: c_int, buffer: *mut c_void, size: usize) -> isize:
        READ, fd, None, size;
    REAL_PREAD = c"pread": pread(fd: c_int, buffer: *mut c_void, size: usize, at: i64) -> isize:
        PREAD, fd, Some(at), size;
    REAL_PREAD64 = c"pread64": pread64(fd: c_int, buffer: *mut c_void, size: usize, at: i64) -> isize:
        PREAD, fd, Some(at), size;
    REAL_READV = c"readv": readv(fd: c_int, pieces: *const IoBuffer, count: c_int) -> isize:
        // SAFETY: the caller gives `count` buffers, here and below.
        READV, fd, None, unsafe { total_bytes(pieces, count) };
    REAL_PREADV = c"preadv": preadv(fd: c_int, pieces: *const IoBuffer, count: c_int, at: i64) -> isize:
        PREADV, fd, Some(at), unsafe { total_bytes(pieces, count) };
    REAL_PREADV64 = c"preadv64": preadv64(fd: c_int, pieces: *const IoBuffer, count: c_int, at: i64) -> isize:
        PREADV, fd, Some(at), unsafe { total_bytes(pieces, count) };
    // An offset of -1 means the descriptor's own offset.
    REAL_PREADV2 = c"preadv2":
        preadv2(fd: c_int, pieces: *const IoBuffer, count: c_int, at: i64, flags: c_int) -> isize:
        PREADV, fd, (at >= 0).then_some(at), unsafe { total_bytes(pieces, count) };
    REAL_PREADV64V2 = c"preadv64v2":
        preadv64v2(fd: c_int, pieces: *const IoBuffer, count: c_int, at: i64, flags: c_int) -> isize:
        PREADV, fd, (at >= 0).then_some(at), unsafe { total_bytes(pieces, count) };
    REAL_MMAP = c"mmap":
        mmap(at: *mut c_void, size: usize, rights: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void:
        MMAP, fd, Some(offset), size;
    REAL_MMAP64 = c"mmap64":
        mmap64(at: *mut c_void, size: usize, rights: c_int, flags: c_int, fd: c_int, offset: i64)
        -> *mut c_void:
        MMAP, fd, Some(offset), size;
}

#[used]
#[unsafe(link_section = ".init_array")]
static INITIALIZER: extern "C" fn() = start;

/// Maps the pages. The lab sets the size of the file before any process knows of it, and a word in
/// the header holds the number of calls that fit.
extern "C" fn start() {
    // SAFETY: the address is that of a function of this type.
    let map = unsafe { core::mem::transmute::<usize, MmapFn>(address(&REAL_MMAP)) };
    with_shared_file(PAGES_VARIABLE, |fd| {
        let front = map_shared(map, fd, head::COUNT * 8);
        if front.is_null() {
            return;
        }
        // SAFETY: the mapping holds all words of the head.
        let room = unsafe { word(front.cast(), head::CAPACITY) }.load(Ordering::Relaxed) as usize;
        let pages: *mut AtomicU64 = map_shared(map, fd, (head::COUNT + room * call::COUNT) * 8).cast();
        if !pages.is_null() {
            // SAFETY: as above.
            unsafe { word(pages, head::PROCESSES) }.fetch_add(1, Ordering::Relaxed);
            PAGES.store(pages, Ordering::Release);
        }
    });
}

mod common;
