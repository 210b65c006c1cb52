//! Programs for tests that make a known number of calls, compiled by the lab's compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Source of a program that first reports that it is ready. For every line of input it makes three
/// allocations, frees them, makes five system calls, runs the code in place of USE, and answers.
const PROGRAM: &str = r#"
unsafe extern "C" {
    fn malloc(n: usize) -> *mut u8; fn calloc(n: usize, m: usize) -> *mut u8; fn free(p: *mut u8);
    fn realloc(p: *mut u8, n: usize) -> *mut u8; fn getppid() -> i32;
    fn read(fd: i32, p: *mut u8, n: usize) -> isize; fn write(fd: i32, p: *const u8, n: usize) -> isize;
    SWIFT
}
fn main() { unsafe {
    let mut c = 0u8;
    write(1, b"\n".as_ptr(), 1);
    while read(0, &mut c, 1) == 1 {
        // Without the black boxes the compiler would remove the allocations.
        let (a, b) = std::hint::black_box((malloc(10), calloc(2, 10)));
        free(std::hint::black_box(realloc(a, 100))); free(b);
        for _ in 0..5 { getppid(); }
        USE
        write(1, b"\n".as_ptr(), 1);
    }
} }
"#;

/// Source of a replacement for Swift's runtime: its public symbols go through hook variables when
/// the switch is on, and the runtime calls itself.
const FAKE_SWIFT: &str = r#"
#![allow(non_upper_case_globals, static_mut_refs)]
type F = unsafe extern "C" fn(*mut u8) -> *mut u8;
type N = unsafe extern "C" fn(*mut u8, u32) -> *mut u8;
unsafe extern "C" fn plain(p: *mut u8) -> *mut u8 { p }
unsafe extern "C" fn plain_n(p: *mut u8, _: u32) -> *mut u8 { p }
#[unsafe(no_mangle)] pub static mut _swift_retain: F = plain;
#[unsafe(no_mangle)] pub static mut _swift_release: F = plain;
#[unsafe(no_mangle)] pub static mut _swift_retain_n: N = plain_n;
#[unsafe(no_mangle)] pub static mut _swift_release_n: N = plain_n;
#[unsafe(no_mangle)]
pub static mut _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly: bool = false;
unsafe fn hooks_enabled() -> bool { unsafe {
    std::ptr::read_volatile(&raw const _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly)
} }
#[unsafe(no_mangle)] pub unsafe extern "C" fn swift_retain(p: *mut u8) -> *mut u8 {
    unsafe { if hooks_enabled() { _swift_retain(p) } else { p } } }
#[unsafe(no_mangle)] pub unsafe extern "C" fn swift_release(p: *mut u8) -> *mut u8 {
    unsafe { if hooks_enabled() { _swift_release(p) } else { p } } }
#[unsafe(no_mangle)] pub unsafe extern "C" fn swift_retain_n(p: *mut u8, n: u32) -> *mut u8 {
    unsafe { if hooks_enabled() { _swift_retain_n(p, n) } else { p } } }
#[unsafe(no_mangle)] pub unsafe extern "C" fn swift_release_n(p: *mut u8, n: u32) -> *mut u8 {
    unsafe { if hooks_enabled() { _swift_release_n(p, n) } else { p } } }
#[unsafe(no_mangle)] pub unsafe extern "C" fn fake_runtime_works(p: *mut u8) {
    unsafe { if hooks_enabled() { _swift_retain(p); _swift_release(p); } } }
"#;

fn compile(folder: &Path, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let (file, out) = (folder.join(format!("{name}.rs")), folder.join(name));
    std::fs::write(&file, source).unwrap();
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "-O", "-A", "warnings"]).args(flags).arg("-L").arg(folder);
    let output = rustc.arg("-o").arg(&out).arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    out
}

/// Compiles the program; `uses` is code that the program also runs for each line of input.
pub fn compile_program(folder: &Path, uses: &str, flags: &[&str]) -> PathBuf {
    compile(folder, "program", &PROGRAM.replace("SWIFT", "").replace("USE", uses), flags)
}

/// Compiles a program with the replacement for Swift's runtime. For each line of input the program
/// makes two retains (one of them with a count) and one release from outside the runtime, and the
/// runtime itself makes one retain and one release.
pub fn compile_swift_program(folder: &Path) -> PathBuf {
    compile(folder, "libfakeswift.so", FAKE_SWIFT, &["--crate-type", "cdylib", "--crate-name", "fakeswift"]);
    let functions = "fn swift_retain(p: *mut u8) -> *mut u8; fn swift_release(p: *mut u8); \
        fn swift_retain_n(p: *mut u8, n: u32) -> *mut u8; fn fake_runtime_works(p: *mut u8);";
    let uses = "let o = &mut c as *mut u8; assert_eq!(swift_retain(o), o); assert_eq!(swift_retain_n(o, 7), o); \
        swift_release(o); fake_runtime_works(o);";
    let source = PROGRAM.replace("SWIFT", functions).replace("USE", uses);
    let rpath = format!("link-arg=-Wl,-rpath,{}", folder.display());
    compile(folder, "program", &source, &["-l", "dylib=fakeswift", "-C", &rpath])
}
