//! The counting library. It is loaded into a contender by LD_PRELOAD in an untimed run, and counts
//! calls of the allocator and of Swift's reference counting in a page that the lab shares.
//!
//! The library is not part of the lab's crate: `build.rs` compiles this file separately, with
//! `core` alone, and the lab embeds the result. The module `counts` of the crate `measure` reads the
//! page, and has the indices of the same slots. Child processes inherit the variables and count
//! into the same page. Calls that arrive before the C library's functions are found, such as calls
//! made by the search itself, are served from a small arena that is never freed.
//!
//! Swift is counted in two ways, each with its own slots. The public symbols are interposed, which
//! sees calls from outside the runtime. The runtime's hook variables, if they exist and the lab
//! allows it, also see calls within the runtime. Both may be called with a convention that
//! preserves nearly all registers, so the counting stubs are in assembly and change only r11 and
//! the flags.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]

use common::{OriginalFn, dlsym, map_shared, with_shared_file};
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// Indices of the counters in the page, each a u64.
mod slot {
    /// Processes that have mapped the page.
    pub const PROCESSES: usize = 0;
    /// Processes whose malloc is not this library's, because the program has its own allocator.
    pub const OWN_ALLOCATOR: usize = 1;
    /// Processes in which Swift's runtime was found.
    pub const SWIFT: usize = 2;
    /// Processes in which the runtime's hooks were set.
    pub const SWIFT_HOOKS: usize = 3;
    pub const MALLOCS: usize = 4;
    /// Calls of swift_retain and swift_retain_n.
    pub const RETAINS: usize = 5;
    /// Calls of swift_release and swift_release_n.
    pub const RELEASES: usize = 6;
    /// Calls of swift_retain and swift_retain_n through the hooks.
    pub const HOOK_RETAINS: usize = 7;
    /// Calls of swift_release and swift_release_n through the hooks.
    pub const HOOK_RELEASES: usize = 8;
    pub const COUNT: usize = 9;
}

const PAGE_VARIABLE: &CStr = c"READLAB_COUNT_PAGE";
const HOOKS_VARIABLE: &CStr = c"READLAB_COUNT_HOOKS";
const PAGE_BYTES: usize = 4096;
const ARENA_BYTES: usize = 64 * 1024;
const ENOMEM: c_int = 12;
/// The handle with which dlsym(3) finds the function that the program itself calls.
const RTLD_DEFAULT: *mut c_void = null_mut();

unsafe extern "C" {
    fn mmap(at: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
}

type Slots = [AtomicU64; slot::COUNT];

/// Receives the counts while no page is mapped.
static UNMAPPED_SLOTS: Slots = [const { AtomicU64::new(0) }; slot::COUNT];
/// The mapped page, or `UNMAPPED_SLOTS`. Never null.
static PAGE: AtomicPtr<Slots> = AtomicPtr::new((&raw const UNMAPPED_SLOTS).cast_mut());

fn count(slot: usize) {
    // SAFETY: the pointer is to `UNMAPPED_SLOTS` or to a mapping that is never undone; both hold
    // all slots, which are atomic.
    let page = unsafe { &*PAGE.load(Ordering::Relaxed) };
    page[slot].fetch_add(1, Ordering::Relaxed);
}

/// The address of a C library function; 0 if the function does not exist, or if the search for all
/// functions has called back into this library.
fn address(real: &OriginalFn) -> usize {
    if SEARCH_STATE.load(Ordering::Acquire) != SEARCHED {
        find_all();
    }
    real.known_address()
}

const NOT_SEARCHED: usize = 0;
const SEARCHING: usize = 1;
const SEARCHED: usize = 2;
static SEARCH_STATE: AtomicUsize = AtomicUsize::new(NOT_SEARCHED);

/// Finds all functions at the first call of any of them. Memory requested before that comes from
/// the arena, and memory requested later never does.
fn find_all() {
    if SEARCH_STATE.compare_exchange(NOT_SEARCHED, SEARCHING, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return;
    }
    let all = [&MALLOC, &CALLOC, &REALLOC, &FREE, &MEMALIGN, &ALIGNED_ALLOC, &POSIX_MEMALIGN];
    let found = all.map(OriginalFn::find);
    for (real, address) in all.into_iter().zip(found) {
        real.set(address);
    }
    SEARCH_STATE.store(SEARCHED, Ordering::Release);
}

static MALLOC: OriginalFn = OriginalFn::new(c"malloc");
static CALLOC: OriginalFn = OriginalFn::new(c"calloc");
static REALLOC: OriginalFn = OriginalFn::new(c"realloc");
static FREE: OriginalFn = OriginalFn::new(c"free");
static MEMALIGN: OriginalFn = OriginalFn::new(c"memalign");
static ALIGNED_ALLOC: OriginalFn = OriginalFn::new(c"aligned_alloc");
static POSIX_MEMALIGN: OriginalFn = OriginalFn::new(c"posix_memalign");

/// Memory for calls that cannot yet be passed on to the C library.
#[repr(align(4096))]
struct Arena(UnsafeCell<[u8; ARENA_BYTES]>);
// SAFETY: an atomic counter hands out each piece once, and only the receiver touches it.
unsafe impl Sync for Arena {}
static ARENA: Arena = Arena(UnsafeCell::new([0; ARENA_BYTES]));
static ARENA_USED: AtomicUsize = AtomicUsize::new(0);

fn allocate_from_arena(align: usize, size: usize) -> *mut c_void {
    let align = align.max(16);
    let Some(room) = size.checked_add(align) else { return null_mut() };
    let start = ARENA_USED.fetch_add(room, Ordering::Relaxed);
    if start.saturating_add(room) > ARENA_BYTES {
        return null_mut();
    }
    let base = ARENA.0.get().cast::<u8>();
    let offset = (base as usize + start).next_multiple_of(align) - base as usize;
    // SAFETY: start + room is within the arena, and offset + size within start + room.
    unsafe { base.add(offset).cast() }
}

fn is_in_arena(at: *mut c_void) -> bool {
    let base = ARENA.0.get() as usize;
    (base..base + ARENA_BYTES).contains(&(at as usize))
}

/// Casts an address to a C library function of this type.
macro_rules! function {
    ($address:expr, $type:ty) => {
        // SAFETY: the address is that of a function of this type.
        unsafe { core::mem::transmute::<usize, $type>($address) }
    };
}

/// # Safety
/// As malloc(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    count(slot::MALLOCS);
    match address(&MALLOC) {
        0 => allocate_from_arena(16, size),
        real => function!(real, extern "C" fn(usize) -> *mut c_void)(size),
    }
}

/// # Safety
/// As calloc(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(number: usize, size: usize) -> *mut c_void {
    count(slot::MALLOCS);
    match address(&CALLOC) {
        // Arena memory is handed out only once, so it is still zero.
        0 => number.checked_mul(size).map_or(null_mut(), |bytes| allocate_from_arena(16, bytes)),
        real => function!(real, extern "C" fn(usize, usize) -> *mut c_void)(number, size),
    }
}

/// # Safety
/// As realloc(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(at: *mut c_void, size: usize) -> *mut c_void {
    count(slot::MALLOCS);
    let real = address(&REALLOC);
    if real != 0 && !is_in_arena(at) {
        return function!(real, extern "C" fn(*mut c_void, usize) -> *mut c_void)(at, size);
    }
    let new = match address(&MALLOC) {
        0 => allocate_from_arena(16, size),
        real => function!(real, extern "C" fn(usize) -> *mut c_void)(size),
    };
    if is_in_arena(at) && !new.is_null() {
        let left = ARENA.0.get() as usize + ARENA_BYTES - at as usize;
        // SAFETY: both places hold as many bytes: the new one `size`, the arena `left`; they may
        // overlap in the arena.
        unsafe { core::ptr::copy(at.cast::<u8>(), new.cast::<u8>(), size.min(left)) };
    }
    new
}

/// # Safety
/// As free(3). Not counted; interposed because the arena's pieces must not reach the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(at: *mut c_void) {
    let real = address(&FREE);
    if real != 0 && !is_in_arena(at) {
        function!(real, extern "C" fn(*mut c_void))(at);
    }
}

/// # Safety
/// As memalign(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
    count(slot::MALLOCS);
    allocate_aligned(&MEMALIGN, align, size)
}

/// # Safety
/// As aligned_alloc(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    count(slot::MALLOCS);
    allocate_aligned(&ALIGNED_ALLOC, align, size)
}

fn allocate_aligned(real: &OriginalFn, align: usize, size: usize) -> *mut c_void {
    match address(real) {
        0 => allocate_from_arena(align, size),
        real => function!(real, extern "C" fn(usize, usize) -> *mut c_void)(align, size),
    }
}

/// # Safety
/// As posix_memalign(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, align: usize, size: usize) -> c_int {
    count(slot::MALLOCS);
    let real = address(&POSIX_MEMALIGN);
    if real != 0 {
        return function!(real, extern "C" fn(*mut *mut c_void, usize, usize) -> c_int)(out, align, size);
    }
    let new = allocate_from_arena(align, size);
    if new.is_null() {
        return ENOMEM;
    }
    // SAFETY: the caller passes a pointer to memory for one pointer.
    unsafe { *out = new };
    0
}

#[used]
#[unsafe(link_section = ".init_array")]
static INITIALIZER: extern "C" fn() = start;

/// Maps the page, checks whose malloc is in use, and looks for Swift's runtime.
extern "C" fn start() {
    find_all();
    if !map_page() {
        return;
    }
    count(slot::PROCESSES);
    // SAFETY: the names end in a zero byte.
    let malloc_in_use = unsafe { dlsym(RTLD_DEFAULT, c"malloc".as_ptr()) };
    if malloc_in_use as usize != malloc as *const () as usize {
        count(slot::OWN_ALLOCATOR);
    }
    #[cfg(target_arch = "x86_64")]
    swift::start();
}

fn map_page() -> bool {
    with_shared_file(PAGE_VARIABLE, |fd| {
        let page = map_shared(mmap, fd, PAGE_BYTES);
        if !page.is_null() {
            PAGE.store(page.cast(), Ordering::Release);
        }
    });
    PAGE.load(Ordering::Acquire).cast_const() != &raw const UNMAPPED_SLOTS
}

mod common;
#[cfg(target_arch = "x86_64")]
mod swift;
