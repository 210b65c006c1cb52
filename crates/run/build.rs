//! Tells the program which commit it was built from, so that a record can say so.
use std::process::Command;

fn main() {
    let revision = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let revision = match revision {
        Ok(out) if out.status.success() => String::from_utf8_lossy(&out.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    };
    println!("cargo::rustc-env=READLAB_REVISION={revision}");
    watch_revision();
    println!("cargo::rerun-if-changed=build.rs");
}

/// Has cargo look again when another commit is checked out or made; a linked work tree keeps its
/// log elsewhere.
fn watch_revision() {
    let log = Command::new("git").args(["rev-parse", "--git-path", "logs/HEAD"]).output();
    if let Ok(log) = log
        && log.status.success()
    {
        println!("cargo::rerun-if-changed={}", String::from_utf8_lossy(&log.stdout).trim());
    }
}
