//! Code that both preloaded libraries need: the C library's own functions, and memory shared with
//! the lab.
//!
//! Each library is a separate crate that includes this file; neither is part of the lab's crate.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

const O_RDWR: c_int = 2;
const O_CLOEXEC: c_int = 0o2_000_000;
const PROT_READ_WRITE: c_int = 3;
const MAP_SHARED: c_int = 1;
/// The handle with which dlsym(3) finds the function that an interposed function replaces.
pub(crate) const RTLD_NEXT: *mut c_void = usize::MAX as *mut c_void;

#[link(name = "c")]
#[link(name = "dl")]
unsafe extern "C" {
    pub(crate) fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub(crate) fn getenv(name: *const c_char) -> *const c_char;
    pub(crate) fn abort() -> !;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn close(fd: c_int) -> c_int;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: abort takes nothing and does not return.
    unsafe { abort() }
}

/// A function of the C library that a function of the same name in this library replaces.
pub(crate) struct OriginalFn {
    name: &'static CStr,
    address: AtomicUsize,
}

impl OriginalFn {
    pub(crate) const fn new(name: &'static CStr) -> OriginalFn {
        OriginalFn { name, address: AtomicUsize::new(0) }
    }

    /// The function's address as set by `set`; 0 before.
    pub(crate) fn known_address(&self) -> usize {
        self.address.load(Ordering::Acquire)
    }

    /// Asks the dynamic linker for the function's address; 0 if the C library does not have the
    /// function.
    pub(crate) fn find(&self) -> usize {
        // SAFETY: the name ends in a zero byte.
        unsafe { dlsym(RTLD_NEXT, self.name.as_ptr()) as usize }
    }

    pub(crate) fn set(&self, address: usize) {
        self.address.store(address, Ordering::Release);
    }
}

/// The type of mmap(2).
pub(crate) type MmapFn = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void;

/// Opens the file that an environment variable names, passes its descriptor to `use_file`, and
/// closes it. Does nothing if the file does not exist.
pub(crate) fn with_shared_file(variable: &CStr, use_file: impl FnOnce(c_int)) {
    // SAFETY: the name ends in a zero byte.
    let path = unsafe { getenv(variable.as_ptr()) };
    if path.is_null() {
        return;
    }
    // SAFETY: the path ends in a zero byte; a failure is checked before the descriptor is used.
    let fd = unsafe { open(path, O_RDWR | O_CLOEXEC) };
    if fd >= 0 {
        use_file(fd);
        // SAFETY: the descriptor was opened above.
        unsafe { close(fd) };
    }
}

/// Maps the first bytes of a file, shared with all processes that map it; null on failure.
pub(crate) fn map_shared(map: MmapFn, fd: c_int, bytes: usize) -> *mut c_void {
    // SAFETY: a new mapping at an address that the kernel chooses.
    let mapped = unsafe { map(null_mut(), bytes, PROT_READ_WRITE, MAP_SHARED, fd, 0) };
    if mapped as isize == -1 { null_mut() } else { mapped }
}
