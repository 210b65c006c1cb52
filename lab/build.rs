//! Tells the program which commit it was built from, so that a record can say so.
use std::process::Command;

fn main() {
    let revision = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let revision = match revision {
        Ok(out) if out.status.success() => String::from_utf8_lossy(&out.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    };
    println!("cargo::rustc-env=READLAB_REVISION={revision}");
    println!("cargo::rustc-env=READLAB_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    println!("cargo::rerun-if-changed=../.git/HEAD");
    println!("cargo::rerun-if-changed=build.rs");
}
