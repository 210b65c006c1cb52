//! Passes the commit of the build to the program, so that records can name it.
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

/// Makes cargo run this script again after another commit is checked out or made. In a linked work
/// tree the log is at another path.
fn watch_revision() {
    let log = Command::new("git").args(["rev-parse", "--git-path", "logs/HEAD"]).output();
    if let Ok(log) = log
        && log.status.success()
    {
        println!("cargo::rerun-if-changed={}", String::from_utf8_lossy(&log.stdout).trim());
    }
}
