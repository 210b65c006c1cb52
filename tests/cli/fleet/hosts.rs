//! Hosts that are namespaces of this machine, each with a network, a name and a mount of its own of
//! one store (`hosts.sh`). Skipped with a message where these cannot be made.

use super::super::{Home, READLAB, Said};
use super::{OPEN_MPI, RACE, on_path, said};
use readlab::record::{Outcome, Record};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The network between the hosts.
const NETWORK: &str = "10.77.0.0/24";

/// What `hosts.sh` needs.
const PROGRAMS: [&str; 7] = ["unshare", "nsenter", "ip", "tc", "sshfs", "python3", "mpirun.openmpi"];

/// Some hosts, with what limits them.
struct Hosts<'a> {
    home: &'a Home,
    count: u32,
    /// Variables of `hosts.sh`.
    limits: &'a [(&'a str, &'a str)],
}

impl Hosts<'_> {
    /// A fleet with one rank on each host, on the file `f` of the store; `None` where there can be
    /// no such hosts. Before it begins, `before` runs for a shell.
    fn fleet(&self, before: &str, verb: &str, words: &[&str]) -> Option<Said> {
        let lacking: Vec<&str> = PROGRAMS.into_iter().filter(|it| on_path(it).is_none()).collect();
        let has_server = Path::new("/usr/lib/openssh/sftp-server").exists();
        let is_root = rustix::process::geteuid().is_root();
        if !is_root || !lacking.is_empty() || !has_server || !Path::new("/dev/fuse").exists() {
            eprintln!("SKIPPED: hosts as namespaces need root, /dev/fuse, an sftp-server and {lacking:?}");
            return None;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cli/fleet/hosts.sh");
        let names: Vec<String> = (1..=self.count).map(|number| format!("host{number}")).collect();
        // The launcher's environment, which has the compiler of the agent.
        let launcher = OPEN_MPI.command(self.home, self.count);
        let mut command = Command::new(script);
        let environment = launcher.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.envs(environment).envs(self.limits.iter().copied());
        command.arg(self.count.to_string()).arg(self.home.at("store"));
        let begin = format!(r#"{before} exec mpirun.openmpi --mca plm_rsh_agent "$READLAB_RSH" "$@""#);
        command.args(["sh", "-c", &begin, "sh"]).args(OPEN_MPI.options);
        for of in ["btl", "oob"] {
            command.args(["--mca", &format!("{of}_tcp_if_include"), NETWORK]);
        }
        command.args(["--host", &names.join(","), "-n", &self.count.to_string(), "--map-by", "ppr:1:node"]);
        command.arg(READLAB).args(["fleet", verb]).args(words).current_dir(self.home.at(""));
        command.stdin(Stdio::null());
        Some(said(&mut command))
    }
}

/// A home with a store of one file of so many bytes.
fn store(bytes: usize) -> Home {
    let home = Home::new();
    fs::create_dir(home.at("store")).unwrap();
    let lines = (0..bytes / 64).map(|n| format!("{n:063}\n"));
    home.file("store/f", lines.collect::<String>());
    home
}

fn export(home: &Home) -> Value {
    serde_json::from_slice(&fs::read(home.at("out.json")).unwrap()).unwrap()
}

const OUTPUT: [&str; 4] = ["--output", "run", "--export-json", "out.json"];

#[test]
fn each_host_has_a_cache_of_its_own_and_cold_and_warm_are_proven_on_all() {
    let home = store(8 << 20);
    let hosts = Hosts { home: &home, count: 2, limits: &[] };
    let words = [&["/mnt/f"][..], &RACE, &OUTPUT].concat();
    let Some(said) = hosts.fleet("", "race", &words) else { return };
    assert!(said.out.contains("fleet: 2 ranks on 2 hosts by "), "{said}");
    let record = Record::read(&home.at("run/record.jsonl")).unwrap();
    let fleet = record.fleet.as_ref().unwrap();
    let names: Vec<(&str, u32)> = fleet.ranks.iter().map(|rank| (rank.host.as_str(), rank.cache)).collect();
    assert_eq!(names, [("host1", 0), ("host2", 1)]);
    let read = record.trials.iter().filter(|it| it.trial.method() == "read");
    let states: Vec<String> = read
        .map(|it| {
            assert!(it.outcome == Some(Outcome::Measured), "{}: {:?}", it.trial.id, it.outcome);
            assert!(it.samples.len() >= 4, "{said}");
            it.trial.state.to_string()
        })
        .collect();
    assert_eq!(states, ["cold", "warm"]);
}

#[test]
fn the_host_with_the_slow_link_is_named() {
    let home = store(4 << 20);
    let hosts = Hosts { home: &home, count: 3, limits: &[("LINK_OF_HOST2", "160mbit")] };
    let words = [&["/mnt/f", "--state", "cold"][..], &RACE, &OUTPUT, &["--runs", "8"]].concat();
    let words: Vec<&str> = without_runs(&words);
    let Some(said) = hosts.fleet("", "race", &words) else { return };
    let stragglers = &export(&home)["fleet"]["ranks"];
    assert_eq!(stragglers[1]["host"], "host2", "{stragglers}");
    assert!(said.out.contains("straggler: host2"), "{said}");
    assert!(!said.out.contains("straggler: host1") && !said.out.contains("straggler: host3"), "{said}");
}

/// The last number of runs counts.
fn without_runs<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let first = words.iter().position(|word| *word == "--runs").unwrap();
    [&words[..first], &words[first + 2..]].concat()
}

#[test]
fn a_file_that_is_read_again_on_one_host_is_never_cold_there() {
    let home = store(1 << 20);
    let hosts = Hosts { home: &home, count: 2, limits: &[] };
    let again = "import os\nfile = os.open('/mnt/f', os.O_RDONLY)\nwhile True: os.pread(file, 1 << 20, 0)";
    home.file("again.py", again);
    let again = format!(r#""$READLAB_RSH" host2 python3 {} &"#, home.at("again.py").display());
    let words = [&["/mnt/f", "--state", "cold"][..], &RACE, &OUTPUT].concat();
    let Some(said) = hosts.fleet(&again, "race", &words) else { return };
    let record = Record::read(&home.at("run/record.jsonl")).unwrap();
    let read = record.trials.iter().find(|it| it.trial.method() == "read").unwrap();
    let reason = read.outcome.as_ref().and_then(Outcome::reason).unwrap_or_default();
    assert!(read.samples.is_empty() && reason.contains("host2 (rank 1)"), "{reason}: {said}");
}
