//! Hosts that are namespaces of this machine, each with a network, a name and a mount of its own of
//! one store (`hosts.sh`). Skipped with a message where these cannot be made.

use super::super::{Home, READLAB, Said};
use super::{OPEN_MPI, RACE, file_of_each, on_path, said};
use readlab_record::{Outcome, Record};
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
    /// Whether a witness is on the store.
    witness: bool,
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
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cli/fleet/hosts.sh");
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
        command.arg(READLAB).args(["fleet", verb]).args(words);
        if self.witness {
            let store = self.home.at("store/f");
            command.args([":", "-n", "1", "--host", "store", READLAB, "fleet", "witness"]).arg(store);
        }
        command.current_dir(self.home.at("")).stdin(Stdio::null());
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

/// The last number of runs counts.
fn without_runs<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let first = words.iter().position(|word| *word == "--runs").unwrap();
    [&words[..first], &words[first + 2..]].concat()
}

mod ring2 {
    use super::*;

    #[test]
    fn each_host_has_a_cache_of_its_own_and_cold_and_warm_are_proven_on_all() {
        let home = store(8 << 20);
        let hosts = Hosts { home: &home, count: 2, limits: &[], witness: false };
        let words = [&["/mnt/f"][..], &RACE, &OUTPUT].concat();
        let Some(said) = hosts.fleet("", "race", &words) else { return };
        assert!(said.out.contains("fleet: 2 ranks on 2 hosts by "), "{said}");
        let record = Record::read(&home.at("run/record.jsonl")).unwrap();
        let fleet = record.fleet.as_ref().unwrap();
        let names: Vec<(&str, u32)> =
            fleet.ranks.iter().map(|rank| (rank.host.as_str(), rank.cache)).collect();
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
        let hosts = Hosts { home: &home, count: 3, limits: &[("LINK_OF_HOST2", "160mbit")], witness: false };
        let words = [&["/mnt/f", "--state", "cold"][..], &RACE, &OUTPUT, &["--runs", "8"]].concat();
        let words: Vec<&str> = without_runs(&words);
        let Some(said) = hosts.fleet("", "race", &words) else { return };
        let stragglers = &export(&home)["fleet"]["ranks"];
        assert_eq!(stragglers[1]["host"], "host2", "{stragglers}");
        assert!(said.out.contains("straggler: host2"), "{said}");
        assert!(!said.out.contains("straggler: host1") && !said.out.contains("straggler: host3"), "{said}");
    }

    #[test]
    fn a_file_that_is_read_again_on_one_host_is_never_cold_there() {
        let home = store(1 << 20);
        let hosts = Hosts { home: &home, count: 2, limits: &[], witness: false };
        // Before all others, so that a busy machine lets it read between the eviction and "go"; it
        // sleeps so that the kernel does not throttle it.
        let again = "import os, time\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))\n\
                 file = os.open('/mnt/f', os.O_RDONLY)\n\
                 while True: os.pread(file, 1 << 20, 0); time.sleep(5e-5)";
        home.file("again.py", again);
        let again = format!(r#""$READLAB_RSH" host2 python3 {} &"#, home.at("again.py").display());
        let words = [&["/mnt/f", "--state", "cold"][..], &RACE, &OUTPUT].concat();
        let Some(said) = hosts.fleet(&again, "race", &words) else { return };
        let record = Record::read(&home.at("run/record.jsonl")).unwrap();
        let read = record.trials.iter().find(|it| it.trial.method() == "read").unwrap();
        let reason = read.outcome.as_ref().and_then(Outcome::reason).unwrap_or_default();
        assert!(read.samples.is_empty() && reason.contains("host2 (rank 1)"), "{reason}: {said}");
    }

    #[test]
    fn a_witness_makes_the_server_cold_before_each_turn_and_where_it_cannot_no_turn_is_cold() {
        let home = store(1 << 20);
        let hosts = Hosts { home: &home, count: 2, limits: &[], witness: true };
        let words = [&["/mnt/f", "--state", "cold"][..], &RACE, &OUTPUT].concat();
        let Some(said) = hosts.fleet("", "race", &words) else { return };
        let path = home.at("store/f").display().to_string();
        let told =
            format!("witness: store makes {path} cold on the server before each cold turn, and proves it");
        assert!(said.out.contains(&told), "{said}");
        let read = || {
            let record = Record::read(&home.at("run/record.jsonl")).unwrap();
            record.trials.into_iter().find(|it| it.trial.method() == "read").unwrap()
        };
        assert_eq!(read().outcome, Some(Outcome::Measured), "{said}");
        assert!(read().fleet_turns.iter().all(|turn| turn.ranks.len() == 2), "the witness takes no turn");
        fs::remove_dir_all(home.at("run")).unwrap();
        let hold = "import mmap, time\nfile = open('store/f', 'rb')\n\
                held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\nheld[::4096]\ntime.sleep(1000)";
        home.file("hold.py", hold);
        // Held before the ranks begin, and in memory, so that the witness refuses the file.
        let said = hosts.fleet("python3 hold.py & sleep 1;", "race", &words).unwrap();
        assert_eq!(said.code, Some(2), "{said}");
        assert!(
            said.err.contains("rank 2: ") && said.err.contains("another program has it mapped"),
            "{said}"
        );
    }

    #[test]
    fn a_witness_that_is_not_the_last_rank_or_watches_another_file_is_refused() {
        let Some(flavour) = super::super::Flavour::any() else { return };
        let home = Home::new();
        file_of_each(&home, 2);
        let mixed = |first: &[&str], last: &[&str]| {
            let mut command = flavour.command(&home, 1);
            command.arg(READLAB).arg("fleet").args(first).args([":", "-n", "1", READLAB, "fleet"]).args(last);
            let said = said(&mut command);
            assert_eq!(said.code, Some(2), "{said}");
            said.err
        };
        let first = mixed(&["witness", "f.0"], &["race", "f.0"]);
        assert!(first.contains("readlab: one witness at most, as the last rank: 'mpirun -n 4 "), "{first}");
        let other = mixed(&["race", "f.0"], &["witness", "f.1"]);
        assert!(other.contains("f.1 is not the one file that all ranks read"), "{other}");
        let absent = mixed(&["race", "f.0"], &["witness", "f.2"]);
        assert!(absent.contains("rank 1: ") && absent.contains("f.2: no such file"), "{absent}");
    }

    #[test]
    fn a_link_of_each_host_and_one_that_they_share_are_told_apart_by_the_growth() {
        let each: Vec<(String, &str)> = (1..=2).map(|n| (format!("LINK_OF_HOST{n}"), "64mbit")).collect();
        let each: Vec<(&str, &str)> = each.iter().map(|(name, rate)| (name.as_str(), *rate)).collect();
        // Some rounds on a busy machine may not tell; `make bench ARGS=verdicts/hosts` counts how often.
        for (limits, verdict, growth) in
            [(&[("LINK_OF_STORE", "64mbit")][..], "shared", 0.5..1.5), (&each, "each_host", 1.5..2.5)]
        {
            let home = store(2 << 20);
            let hosts = Hosts { home: &home, count: 2, limits, witness: false };
            let words = [&["/mnt/f", "--state", "cold", "--hosts", "1,2"][..], &RACE, &OUTPUT].concat();
            let Some(said) = hosts.fleet("", "scale", &words) else { return };
            let scaling = &export(&home)["scaling"];
            let read =
                scaling.as_array().unwrap().iter().find(|it| it["trial"] == "rust/read/memchr").unwrap();
            let rate = |at: usize| read["points"][at]["bytes_per_second"].as_f64().unwrap();
            assert!(growth.contains(&(rate(1) / rate(0))), "{read}: {said}");
            assert!([verdict, "not_told"].contains(&read["limited"].as_str().unwrap()), "{said}");
        }
    }
}
