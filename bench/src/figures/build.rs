//! Figure: the time of a release build in a fresh clone, without earlier build products.
//!
//! The clone is of the last commit. Sources of crates may be in cargo's cache, because the time of
//! a download is that of the network. Cargo's report of timings shows the time of each part.

use crate::programs::{Programs, output};
use crate::row::Row;
use anyhow::Context;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

pub(super) const ABOUT: &str = "the release in a fresh clone";

const BUILD_S_MAX: f64 = 120.0;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let (folder, report) = (programs.folder.join("fresh-clone"), programs.folder.join("timings.html"));
    let seconds = build_release(&folder, &report);
    let _ = fs::remove_dir_all(&folder);
    let row = Row::judged_seconds("release build", Some(BUILD_S_MAX), &[seconds?]);
    Ok(vec![row.and(&format!("  {}", report.display()))])
}

/// The seconds of the build. The report shows the time of each part.
fn build_release(folder: &Path, report: &Path) -> anyhow::Result<f64> {
    let _ = fs::remove_dir_all(folder);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the bench is in the workspace")?;
    output(Command::new("git").args(["clone", "--quiet"]).arg(root).arg(folder))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    output(Command::new(&cargo).args(["fetch", "--quiet", "--locked"]).current_dir(folder))?;
    let mut build = Command::new(&cargo);
    build.args(["build", "--release", "--quiet", "--locked", "--timings", "--package", "readlab"]);
    build.current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
    let start = Instant::now();
    output(&mut build)?;
    let seconds = start.elapsed().as_secs_f64();
    fs::copy(folder.join("target/cargo-timings/cargo-timing.html"), report)
        .context("cargo's report of timings")?;
    Ok(seconds)
}
