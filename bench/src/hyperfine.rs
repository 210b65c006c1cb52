//! Hyperfine for comparison: installed by cargo in one version, and judged as its users read it.
//!
//! It prints "A ran 1.05 ± 0.03 times faster than B": the quotient of the means, with the standard
//! deviation that those of the two leave it. Here it calls A faster if 1 is below that range. That
//! its first line always calls one of them faster is counted apart.

use anyhow::{Context, bail};
use readlab_analysis::stats::Significance;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The version that is compared: the newest that this project's compiler builds.
pub(crate) const VERSION: &str = "1.20.0";

/// The program.
#[derive(Debug)]
pub(crate) struct Hyperfine(PathBuf);

/// What it measured of two commands.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Comparison {
    results: [Timed; 2],
}

/// What it measured of a command, in seconds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Timed {
    command: String,
    mean: f64,
    stddev: Option<f64>,
}

impl Hyperfine {
    /// Installs it into this folder, unless it is there.
    pub(crate) fn install(tools: &Path) -> anyhow::Result<Hyperfine> {
        let program = tools.join("bin/hyperfine");
        if !is_version(&program) {
            let mut cargo = Command::new("cargo");
            cargo.args([
                "install",
                "--quiet",
                "--locked",
                "--force",
                "hyperfine",
                "--version",
                VERSION,
                "--root",
            ]);
            let status = cargo.arg(tools).stdin(Stdio::null()).status().context("cargo")?;
            if !status.success() {
                bail!("SKIPPED: hyperfine {VERSION} cannot be built: {cargo:?} ended with {status}");
            }
        }
        Ok(Hyperfine(program))
    }

    /// Compares two command lines by its defaults, without a shell, after three untimed runs.
    pub(crate) fn compare(&self, commands: [&str; 2], export: &Path) -> anyhow::Result<Comparison> {
        let mut command = Command::new(&self.0);
        command
            .args(["--shell=none", "--warmup=3", "--style=none", "--export-json"])
            .arg(export)
            .args(commands);
        let done = command.stdin(Stdio::null()).output().context("hyperfine")?;
        if !done.status.success() {
            bail!("{command:?}: {}", String::from_utf8_lossy(&done.stderr).trim());
        }
        let text = std::fs::read(export).with_context(|| export.display().to_string())?;
        serde_json::from_slice(&text).with_context(|| export.display().to_string())
    }
}

fn is_version(program: &Path) -> bool {
    let said = Command::new(program).arg("--version").output();
    said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).trim() == format!("hyperfine {VERSION}"))
}

impl Comparison {
    /// How this command compares with the other.
    pub(crate) fn judge(&self, command: &str) -> Significance {
        let [first, second] = &self.results;
        let (fast, slow) = if first.mean <= second.mean { (first, second) } else { (second, first) };
        let share = |timed: &Timed| timed.stddev.unwrap_or_default() / timed.mean;
        let ratio = slow.mean / fast.mean;
        if ratio - ratio * share(fast).hypot(share(slow)) <= 1.0 {
            Significance::Tie
        } else if fast.command == command {
            Significance::Faster
        } else {
            Significance::Slower
        }
    }

    /// Whether its first line calls the other command faster than this one.
    pub(crate) fn names_slower(&self, command: &str) -> bool {
        let [first, second] = &self.results;
        let slow = if first.mean <= second.mean { second } else { first };
        slow.command == command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(a: [f64; 2], b: [f64; 2]) -> Comparison {
        let timed = |command: &str, [mean, sd]: [f64; 2]| Timed {
            command: command.to_owned(),
            mean,
            stddev: Some(sd),
        };
        Comparison { results: [timed("a", a), timed("b", b)] }
    }

    #[test]
    fn one_is_faster_if_the_quotient_less_its_deviation_is_above_one() {
        // 1.10 ± 0.087: sqrt(0.06² + 0.05²) × 1.1.
        let clear = comparison([1.0, 0.05], [1.1, 0.066]);
        assert_eq!((clear.judge("a"), clear.judge("b")), (Significance::Faster, Significance::Slower));
        let open = comparison([1.0, 0.08], [1.1, 0.066]);
        assert_eq!((open.judge("a"), open.judge("b")), (Significance::Tie, Significance::Tie));
        assert!(open.names_slower("b") && !open.names_slower("a"));
    }

    #[test]
    fn its_export_is_read() {
        let text = r#"{"results":[{"command":"wc -l f","mean":0.012,"stddev":null,"times":[0.012],"exit_codes":[0]},
            {"command":"wc f","mean":0.5,"stddev":0.01,"median":0.5,"user":0.4,"times":[0.5],"parameters":{}}]}"#;
        let found: Comparison = serde_json::from_str(text).unwrap();
        assert_eq!(found.judge("wc -l f"), Significance::Faster);
    }
}
