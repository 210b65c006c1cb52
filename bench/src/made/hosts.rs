//! Makes hosts that are namespaces of this machine (by a script of the tests), each with its own
//! mount of one store, and runs fleets on them.

use super::Cleanup;
use super::control_group::{self, GroupLimit};
use crate::programs::{Programs, RunningLab};
use anyhow::Context;
use readlab_model::units::Bytes;
use readlab_record::Record;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const SUBNET: &str = "10.77.0.0/24";
const SCRIPT: &str = include_str!("../../../tests/cli/fleet/hosts.sh");
const LAUNCHER_OPTIONS: [&str; 4] = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"];
/// Compiler for readlab's MPI agent. Jobs are started by a launcher of the same MPI library.
const COMPILER: &str = "/usr/bin/mpicc.openmpi";

#[derive(Debug)]
pub(crate) struct Hosts {
    count: usize,
    /// The folder that each host mounts at /mnt. It has one file `f`.
    store: PathBuf,
    /// Limits, as variables for the script.
    variables: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum HostLimit {
    None,
    /// The link of the store has this rate, in the notation of `tbf`.
    SharedLink(&'static str),
    EachLink(&'static str),
    /// The link of the host with this number, from 1, has this rate.
    OneLink(usize, &'static str),
    /// Each host has one processor.
    Processors,
}

impl Hosts {
    pub(crate) fn make(
        cleanup: &mut Cleanup,
        programs: &Programs,
        count: usize,
        limit: HostLimit,
        size: Bytes,
    ) -> anyhow::Result<Hosts> {
        let store = programs.folder.join(format!("store-{}", size.0));
        fs::create_dir_all(&store).with_context(|| store.display().to_string())?;
        fs::copy(programs.lines(size)?, store.join("f"))?;
        let link = |host: usize, rate: &str| (format!("LINK_OF_HOST{host}"), rate.to_owned());
        let variables = match limit {
            HostLimit::None => Vec::new(),
            HostLimit::SharedLink(rate) => vec![("LINK_OF_STORE".to_owned(), rate.to_owned())],
            HostLimit::EachLink(rate) => (1..=count).map(|host| link(host, rate)).collect(),
            HostLimit::OneLink(host, rate) => vec![link(host, rate)],
            HostLimit::Processors => {
                let mut group = |host: usize| {
                    let limit = GroupLimit::Processor(u32::try_from(host - 1)?);
                    let group = control_group::make(cleanup, limit, &store, &format!("host{host}"))?;
                    Ok((format!("GROUP_OF_HOST{host}"), group.display().to_string()))
                };
                (1..=count).map(&mut group).collect::<anyhow::Result<_>>()?
            }
        };
        Ok(Hosts { count, store, variables })
    }

    /// Records a fleet of one rank on each host.
    pub(crate) fn record(&self, programs: &Programs, words: &[&str]) -> anyhow::Result<Record> {
        record(programs, self.command(programs)?, words)
    }

    /// The command that runs `readlab fleet` with one rank on each host, before its words.
    fn command(&self, programs: &Programs) -> anyhow::Result<Command> {
        let (folder, path) = make_mpicc_folder(programs)?;
        let script = folder.join("hosts.sh");
        fs::write(&script, SCRIPT).with_context(|| script.display().to_string())?;
        let names: Vec<String> = (1..=self.count).map(|number| format!("host{number}")).collect();
        let count = self.count.to_string();
        // The script starts itself again, through `sh`, which does not require an executable file.
        let mut command = Command::new("sh");
        command.arg(&script).arg(&count).arg(&self.store);
        command.args(["sh", "-c", r#"exec mpirun.openmpi --mca plm_rsh_agent "$READLAB_RSH" "$@""#, "sh"]);
        command.args(LAUNCHER_OPTIONS).args(["--mca", "btl_tcp_if_include", SUBNET]);
        command.args(["--mca", "oob_tcp_if_include", SUBNET, "--host", &names.join(",")]);
        command.args(["-n", &count, "--map-by", "ppr:1:node"]);
        command.arg(&programs.lab.program).arg("fleet").env("PATH", path);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }
}

pub(crate) fn fleet_of_one(programs: &Programs, words: &[&str]) -> anyhow::Result<Record> {
    let mut command = Command::new("mpirun.openmpi");
    command.args(LAUNCHER_OPTIONS).args(["-n", "1"]).arg(&programs.lab.program).arg("fleet");
    command.env("PATH", make_mpicc_folder(programs)?.1);
    record(programs, command, words)
}

fn record(programs: &Programs, mut fleet: Command, words: &[&str]) -> anyhow::Result<Record> {
    let output = programs.empty_folder("fleet")?;
    fleet.args(words).args(["--quiet", "--no-progress", "--budget", "20m", "--output"]).arg(&output);
    fleet.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    RunningLab::start(fleet, &output)?.record()
}

/// A folder in which `mpicc` is the compiler of the launcher, and the PATH that begins with this
/// folder.
fn make_mpicc_folder(programs: &Programs) -> anyhow::Result<(PathBuf, OsString)> {
    let folder = programs.folder.join("fleet");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let link = folder.join("mpicc");
    if !link.exists() {
        std::os::unix::fs::symlink(COMPILER, &link).with_context(|| link.display().to_string())?;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder.clone()).chain(std::env::split_paths(&path)))?;
    Ok((folder, path))
}
