//! Build script: passes the compiler and the versions of the measured crates to the contender, for
//! its receipt.

use std::env;
use std::fs;
use std::process::Command;

fn main() {
    let rustc = env::var_os("RUSTC").expect("cargo names the compiler");
    let version = Command::new(rustc).arg("--version").output();
    let version = version.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let mut runtime = version.unwrap_or_else(|_| "rustc of unknown version".to_owned());
    let lock = fs::read_to_string("Cargo.lock").unwrap_or_default();
    for name in ["object_store", "reqwest", "rustls", "tokio"] {
        let after = lock.split_once(&format!("name = \"{name}\"\nversion = \"")).map(|(_, after)| after);
        if let Some((version, _)) = after.and_then(|after| after.split_once('"')) {
            runtime.push_str(&format!(", {name} {version}"));
        }
    }
    println!("cargo::rustc-env=READLAB_RUNTIME={runtime}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=Cargo.lock");
}
