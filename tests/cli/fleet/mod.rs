//! Tests of `readlab fleet` under the installed launchers of Open MPI and MPICH. All ranks are on
//! this machine. Skipped with a message if there is no launcher.

mod hosts;
mod jobs;
mod many_ranks;
mod parts;
mod races;
mod resume;
mod scaling;

use crate::home::{Home, ProgramOutput, READLAB, Words, contenders};
use crate::machine::{on_path, skip};
use readlab_record::{Record, TrialRecord};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An MPI with its launcher and its compiler.
struct Mpi {
    launcher: &'static str,
    compiler: &'static str,
    options: &'static str,
}

const OPEN_MPI: Mpi = Mpi {
    launcher: "mpirun.openmpi",
    compiler: "mpicc.openmpi",
    options: "--allow-run-as-root --oversubscribe --bind-to none",
};

const MPICH: Mpi = Mpi { launcher: "mpirun.mpich", compiler: "mpicc.mpich", options: "" };

/// The arguments of a race of one method without foreign commands. Ranks on one host would contend
/// for the pages of commands.
const RACE: &str = "--method rust/read/memchr --reference rust/read/memchr --fills 2 --no-progress --seed=7";

/// The options for few readings of each trial, kept in the folder `run`.
const SHORT: &str = "--runs 4 --output run";

/// The PATH that begins with a folder of this home. The compiler is added when the folder is made.
fn path_of(home: &Home, add_compiler: impl FnOnce(&Path)) -> OsString {
    let bin = home.at("bin");
    if !bin.exists() {
        add_compiler(&home.folder("bin"));
        // This home builds its own agent by its own launcher, and shares all other built
        // contenders.
        let own = home.at(".cache/readlab/contenders");
        fs::remove_file(&own).unwrap();
        fs::create_dir(&own).unwrap();
        for built in fs::read_dir(contenders()).unwrap().map(|entry| entry.unwrap()) {
            if !built.file_name().to_string_lossy().starts_with("fleet-agent-") {
                symlink(built.path(), own.join(built.file_name())).unwrap();
            }
        }
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).unwrap()
}

impl Mpi {
    fn all() -> impl Iterator<Item = Mpi> {
        [OPEN_MPI, MPICH].into_iter().filter(|it| {
            let is_here = on_path(it.launcher).is_some() && on_path(it.compiler).is_some();
            if !is_here {
                skip(format!("{}: no such program (or no {})", it.launcher, it.compiler));
            }
            is_here
        })
    }

    /// The first installed MPI.
    fn any() -> Option<Mpi> {
        Mpi::all().next()
    }

    /// The launcher command, with its compiler as `mpicc`, in a home that builds the agent with it.
    fn command(&self, home: &Home, ranks: u32) -> Command {
        let path = path_of(home, |bin| {
            symlink(on_path(self.compiler).unwrap(), bin.join("mpicc")).unwrap();
        });
        let mut command = home.command(self.launcher);
        command.args(format!("{} -n {ranks}", self.options).words()).env("PATH", path);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn fleet(&self, home: &Home, ranks: u32, words: &str) -> ProgramOutput {
        let mut command = self.command(home, ranks);
        ProgramOutput::by(command.arg(READLAB).arg("fleet").args(words.words()))
    }
}

fn home_for_ranks(ranks: u32) -> Home {
    let home = Home::new();
    (0..ranks).for_each(|rank| write_file_of(&home, rank));
    home
}

fn write_file_of(home: &Home, rank: u32) {
    home.file(format!("f.{rank}"), format!("line {rank}\n").repeat(1 << 16));
}

/// The reasons why trials have no or few readings.
fn reasons(record: &Record) -> Vec<&str> {
    record.trials.iter().filter_map(|it| it.outcome.as_ref()?.reason()).collect()
}

/// Asserts that all trials were measured, except those whose ranks a busy machine kept from
/// starting together.
#[track_caller]
fn assert_ended(said: &ProgramOutput, record: &Record) {
    let refused = reasons(record);
    assert!(refused.iter().all(|reason| reason.ends_with(" late")), "{refused:?}");
    assert_eq!(said.code, Some(if refused.is_empty() { 0 } else { 1 }), "{said}");
}

/// The first trial of the method that all races have.
fn read_trial(record: &Record) -> &TrialRecord {
    record.trials.iter().find(|it| it.trial.method() == "read").unwrap()
}

/// The bytes that came from the device, for each sample that reports them.
fn device_bytes(trial: &TrialRecord) -> Vec<u64> {
    trial.samples.iter().filter_map(|it| it.device_read_bytes).collect()
}

/// The folders in /proc of the agents that this test's home started.
fn agents(home: &Home) -> Vec<PathBuf> {
    let cache = home.at(".cache");
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    entries.filter(|it| fs::read_link(it.join("exe")).is_ok_and(|exe| exe.starts_with(&cache))).collect()
}
