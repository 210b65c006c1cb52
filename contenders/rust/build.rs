//! Build script: passes the compiler's version and flags to the contender, for its receipt.
use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var_os("RUSTC").expect("cargo names the compiler");
    let version = Command::new(rustc).arg("--version").output();
    let version = version.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let mut runtime = version.unwrap_or_else(|_| "rustc of unknown version".to_owned());
    let profile = env::var("PROFILE").expect("cargo names the profile");
    let target = env::var("TARGET").expect("cargo names the target");
    runtime.push_str(&format!(", {profile}, {target}"));
    // Flags such as `-C target-cpu=native` change what the portable scans compile to.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\u{1f}', " ");
    if !flags.is_empty() {
        runtime.push_str(&format!(", {flags}"));
    }
    println!("cargo::rustc-env=READLAB_RUST_RUNTIME={runtime}");
    println!("cargo::rerun-if-changed=build.rs");
}
