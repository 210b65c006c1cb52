//! Tests of `readlab fleet` under the launchers that are here, Open MPI's and MPICH's: how they are
//! started. All ranks are on this machine; skipped with a message where there is no launcher.

mod endings;
mod hosts;
mod jobs;
mod many_ranks;
mod parts;
mod races;
mod resume;
mod scaling;

use super::home::contenders;
use super::{Home, READLAB, Said};
use readlab_record::Record;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An MPI with its launcher and its compiler.
struct Flavour {
    launcher: &'static str,
    compiler: &'static str,
    options: &'static [&'static str],
}

const OPEN_MPI: Flavour = Flavour {
    launcher: "mpirun.openmpi",
    compiler: "mpicc.openmpi",
    options: &["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"],
};

const MPICH: Flavour = Flavour { launcher: "mpirun.mpich", compiler: "mpicc.mpich", options: &[] };

/// A race of one method without others' commands, whose pages ranks on one host would contend for.
const RACE: [&str; 10] = [
    "--method",
    "rust/read/memchr",
    "--reference",
    "rust/read/memchr",
    "--runs",
    "4",
    "--fills",
    "2",
    "--no-progress",
    "--seed=7",
];

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|it| it.exists())
}

/// The PATH that begins with a folder of this home, which gets its compiler when it is made.
fn path_of(home: &Home, add_compiler: impl FnOnce(&Path)) -> OsString {
    let bin = home.at("bin");
    if !bin.exists() {
        fs::create_dir(&bin).unwrap();
        add_compiler(&bin);
        // The agent is that of this home's launcher, what else is built is that of all.
        let own = home.at(".cache/readlab/contenders");
        fs::remove_file(&own).unwrap();
        fs::create_dir(&own).unwrap();
        for built in fs::read_dir(contenders()).unwrap().map(|entry| entry.unwrap()) {
            if !built.file_name().to_string_lossy().starts_with("fleet-agent-") {
                std::os::unix::fs::symlink(built.path(), own.join(built.file_name())).unwrap();
            }
        }
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).unwrap()
}

impl Flavour {
    fn all() -> impl Iterator<Item = Flavour> {
        [OPEN_MPI, MPICH].into_iter().filter(|it| {
            let is_here = on_path(it.launcher).is_some() && on_path(it.compiler).is_some();
            if !is_here {
                eprintln!("SKIPPED: {}: no such program (or no {})", it.launcher, it.compiler);
            }
            is_here
        })
    }

    /// Whichever there is.
    fn any() -> Option<Flavour> {
        Flavour::all().next()
    }

    /// The launcher, with its compiler as `mpicc`, in a home that builds the agent by it.
    fn command(&self, home: &Home, ranks: u32) -> Command {
        let path = path_of(home, |bin| {
            std::os::unix::fs::symlink(on_path(self.compiler).unwrap(), bin.join("mpicc")).unwrap();
        });
        let mut command = Command::new(self.launcher);
        command.args(self.options).args(["-n", &ranks.to_string()]).envs(home.environment());
        command.env("PATH", path).current_dir(home.at(""));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A fleet's race with these words.
    fn race(&self, home: &Home, ranks: u32, words: &[impl AsRef<OsStr>]) -> Said {
        self.fleet(home, ranks, "race", words)
    }

    fn fleet(&self, home: &Home, ranks: u32, verb: &str, words: &[impl AsRef<OsStr>]) -> Said {
        let mut command = self.command(home, ranks);
        said(command.arg(READLAB).args(["fleet", verb]).args(words))
    }
}

/// What a command says until it ends.
fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    Said {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn words<'a>(first: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    first.iter().chain(&RACE).chain(more).copied().collect()
}

fn file_of_each(home: &Home, ranks: u32) {
    for rank in 0..ranks {
        home.file(format!("f.{rank}"), format!("line {rank}\n").repeat(1 << 16));
    }
}

/// That all trials were measured, but for those that a busy machine kept from starting together.
fn assert_ended(said: &Said, record: &Record) {
    let refused = record.trials.iter().filter_map(|it| it.outcome.as_ref()?.reason());
    let refused: Vec<&str> = refused.collect();
    assert!(refused.iter().all(|reason| reason.ends_with(" late")), "{refused:?}");
    assert_eq!(said.code, Some(if refused.is_empty() { 0 } else { 1 }), "{said}");
}

/// The folders in /proc of the agents that this test's home started.
fn agents(home: &Home) -> Vec<PathBuf> {
    let cache = home.at(".cache");
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    entries.filter(|it| fs::read_link(it.join("exe")).is_ok_and(|exe| exe.starts_with(&cache))).collect()
}
