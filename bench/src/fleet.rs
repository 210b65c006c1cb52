//! Fleets on this machine: ranks under a launcher, or hosts that are namespaces (the script of the
//! tests). What they measure is read from the record; their processes are found in /proc.

use crate::programs::Programs;
use anyhow::{Context, bail};
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::Record;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The network between hosts that are namespaces.
const NETWORK: &str = "10.77.0.0/24";

const HOSTS: &str = include_str!("../../tests/cli/fleet/hosts.sh");

/// An MPI.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launcher {
    /// In rows.
    pub(crate) name: &'static str,
    program: &'static str,
    compiler: &'static str,
    options: &'static [&'static str],
}

pub(crate) const OPEN_MPI: Launcher = Launcher {
    name: "Open MPI",
    program: "mpirun.openmpi",
    compiler: "/usr/bin/mpicc.openmpi",
    options: &["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"],
};

pub(crate) const MPICH: Launcher =
    Launcher { name: "MPICH", program: "mpirun.mpich", compiler: "/usr/bin/mpicc.mpich", options: &[] };

#[derive(Debug, Clone)]
pub(crate) struct FleetProcess {
    pub(crate) pid: i32,
    rank: Option<u32>,
    command: String,
}

impl Launcher {
    /// It with so many ranks, and its own compiler for the agent.
    pub(crate) fn command(self, programs: &Programs, ranks: u32) -> anyhow::Result<Command> {
        let mut command = Command::new(self.program);
        command.env("PATH", self.path(programs)?).args(self.options).args(["-n", &ranks.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }

    /// The PATH that begins with a folder in which `mpicc` is its compiler.
    fn path(self, programs: &Programs) -> anyhow::Result<OsString> {
        let folder = programs.folder().join("fleet").join(self.program);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let link = folder.join("mpicc");
        if !link.exists() {
            std::os::unix::fs::symlink(self.compiler, &link).with_context(|| link.display().to_string())?;
        }
        path_beginning_with(folder)
    }
}

/// The PATH of this process behind a folder.
pub(crate) fn path_beginning_with(folder: PathBuf) -> anyhow::Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Ok(std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path)))?)
}

/// The processes of the fleet that writes into a folder: ranks, agents and contenders.
pub(crate) fn processes(output: &Path) -> Vec<FleetProcess> {
    let word = output.display().to_string();
    let of = |folder: PathBuf| {
        let pid = folder.file_name()?.to_str()?.parse().ok()?;
        let environment = fs::read(folder.join("environ")).ok()?;
        let variables = || environment.split(|byte| *byte == 0).filter_map(|it| std::str::from_utf8(it).ok());
        let is_of_fleet = variables().any(|it| it.strip_prefix("READLAB_BENCH=") == Some(&word));
        let names = ["OMPI_COMM_WORLD_RANK=", "PMI_RANK="];
        let rank = variables().find_map(|it| names.iter().find_map(|name| it.strip_prefix(name)));
        let command = String::from_utf8_lossy(&fs::read(folder.join("cmdline")).ok()?).replace('\0', " ");
        is_of_fleet.then(|| FleetProcess { pid, rank: rank.and_then(|rank| rank.parse().ok()), command })
    };
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    folders.filter_map(of).collect()
}

impl FleetProcess {
    /// Whether it is readlab itself as this rank.
    pub(crate) fn is_rank(&self, rank: u32) -> bool {
        self.rank == Some(rank) && self.command.contains("readlab fleet ") && !self.command.contains("mpirun")
    }

    /// Whether it is the agent of a rank.
    pub(crate) fn is_agent(&self) -> bool {
        self.command.contains("fleet-agent")
    }

    /// Time that all its threads have worked so far.
    pub(crate) fn worked(&self) -> Option<Duration> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid)).ok()?.flatten();
        let of_thread = |folder: PathBuf| -> Option<u64> {
            fs::read_to_string(folder.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
        };
        threads.map(|entry| of_thread(entry.path())).sum::<Option<u64>>().map(Duration::from_nanos)
    }

    /// Whether its command line begins so: a shell that runs the same is another process.
    pub(crate) fn begins_with(&self, words: &str) -> bool {
        self.command.starts_with(words)
    }

    /// The most memory that it had.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
    }
}

/// Hosts that are namespaces, which mount one store.
#[derive(Debug)]
pub(crate) struct Hosts<'a> {
    pub(crate) programs: &'a Programs,
    pub(crate) count: u32,
    /// The folder that is mounted at /mnt on each.
    pub(crate) store: &'a Path,
    /// Limits of links and processors, as variables of the script.
    pub(crate) limits: Vec<(String, String)>,
}

impl Hosts<'_> {
    /// A fleet of one rank on each host.
    pub(crate) fn fleet(&self, words: &[&str]) -> anyhow::Result<Command> {
        let names: Vec<String> = (1..=self.count).map(|number| format!("host{number}")).collect();
        let mut command = self.command()?;
        command.args(["sh", "-c", r#"exec mpirun.openmpi --mca plm_rsh_agent "$READLAB_RSH" "$@""#, "sh"]);
        command.args(OPEN_MPI.options).args(["--mca", "btl_tcp_if_include", NETWORK]);
        command.args(["--mca", "oob_tcp_if_include", NETWORK, "--host", &names.join(",")]);
        command.args(["-n", &self.count.to_string(), "--map-by", "ppr:1:node"]);
        command.arg(&self.programs.lab().program).arg("fleet").args(words);
        Ok(command)
    }

    /// What a fleet of these hosts records.
    pub(crate) fn record(&self, words: &[&str], state: CacheState, name: &str) -> anyhow::Result<Record> {
        let output = self.programs.empty_folder(name)?;
        let (state, shown) = (state.to_string(), output.display().to_string());
        let more = ["--state", &state, "--quiet", "--no-progress", "--budget", "20m", "--output", &shown];
        run(self.fleet(&[words, &more].concat())?)?;
        Ok(Record::read(&output.join("record.jsonl"))?)
    }

    /// The script with what comes before its command.
    pub(crate) fn command(&self) -> anyhow::Result<Command> {
        let script = self.programs.folder().join("fleet").join("hosts.sh");
        let path = OPEN_MPI.path(self.programs)?;
        fs::write(&script, HOSTS).with_context(|| script.display().to_string())?;
        let mut command = Command::new("sh");
        command.arg(&script).arg(self.count.to_string()).arg(self.store);
        // The script starts itself anew, which needs no right to execute it.
        command.env("PATH", path).envs(self.limits.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }
}

/// A store of one file `f`.
pub(crate) fn store(programs: &Programs, size: Bytes) -> anyhow::Result<PathBuf> {
    let folder = programs.folder().join("fleet").join(format!("store-{}", size.0));
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    fs::copy(programs.lines(size)?, folder.join("f"))?;
    Ok(folder)
}

/// The links of these hosts, each of this rate.
pub(crate) fn links(hosts: impl IntoIterator<Item = u32>, rate: &str) -> Vec<(String, String)> {
    hosts.into_iter().map(|host| (format!("LINK_OF_HOST{host}"), rate.to_owned())).collect()
}

/// Runs a command to its end; some trial may have failed (1).
pub(crate) fn run(mut command: Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| command.get_program().display().to_string())?;
    if matches!(status.code(), Some(0 | 1)) { Ok(()) } else { bail!("{command:?} ended with {status}") }
}
