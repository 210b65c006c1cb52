//! Tests that the crate compiles for systems on which it is not run here. A target that cannot be
//! installed is reported.

use std::path::Path;
use std::process::Command;

const TARGETS: [&str; 3] = ["x86_64-apple-darwin", "aarch64-apple-darwin", "x86_64-pc-windows-gnu"];

/// Whether this Rust has the standard library of a target, or gets it by an installation now.
fn has_standard_library(target: &str) -> bool {
    let libraries = || {
        let said = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
        said.is_ok_and(|said| Path::new(String::from_utf8_lossy(&said.stdout).trim()).is_dir())
    };
    let add = || Command::new("rustup").args(["target", "add", target]).output();
    libraries() || add().is_ok_and(|added| added.status.success()) && libraries()
}

#[test]
fn it_compiles_for_systems_on_which_it_is_not_run_here() {
    for target in TARGETS {
        if !has_standard_library(target) {
            eprintln!("SKIPPED: this Rust has no {target}, and it could not be added");
            continue;
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["check", "--quiet", "--package", "readlab-auto", "--target", target]);
        cargo.arg("--target-dir").arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("targets"));
        let said = cargo.env("RUSTFLAGS", "-D warnings").output().unwrap();
        assert!(said.status.success(), "{target}: {}", String::from_utf8_lossy(&said.stderr));
    }
}
