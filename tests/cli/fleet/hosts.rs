//! Tests on hosts that are namespaces of this machine. Each has its own network, name and mount of
//! one store (`hosts.sh`). Skipped with a message if these cannot be made.

use super::{OPEN_MPI, RACE, SHORT, read_trial};
use crate::home::{Home, ProgramOutput, READLAB, Words, items};
use crate::machine::{is_root, on_path, skip};
use crate::repository;
use readlab_record::Outcome;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The network between the hosts.
const SUBNET: &str = "10.77.0.0/24";

/// The programs that `hosts.sh` needs.
const NEEDED_PROGRAMS: [&str; 7] = ["unshare", "nsenter", "ip", "tc", "sshfs", "python3", "mpirun.openmpi"];

/// Some hosts, with their limits.
struct Hosts<'a> {
    home: &'a Home,
    count: u32,
    /// Limits, as variables for `hosts.sh`.
    limits: &'a [(&'a str, &'a str)],
    /// Whether a witness runs on the store.
    witness: bool,
}

impl Hosts<'_> {
    /// Runs a fleet with one rank on each host, on the file `f` of the store; `None` if these hosts
    /// cannot be made. Before it begins, a shell runs `before`.
    fn fleet(&self, before: &str, verb: &str, words: &str) -> Option<ProgramOutput> {
        let lacking: Vec<&str> = NEEDED_PROGRAMS.into_iter().filter(|it| on_path(it).is_none()).collect();
        let has_server = Path::new("/usr/lib/openssh/sftp-server").exists();
        if !is_root() || !lacking.is_empty() || !has_server || !Path::new("/dev/fuse").exists() {
            skip(format!("hosts as namespaces need root, /dev/fuse, an sftp-server and {lacking:?}"));
            return None;
        }
        let (home, count) = (self.home, self.count);
        let names: Vec<String> = (1..=count).map(|number| format!("host{number}")).collect();
        // The environment of the launcher, which has the compiler of the agent.
        let launcher = OPEN_MPI.command(home, count);
        let mut command = Command::new(repository::path("tests/cli/fleet/hosts.sh"));
        let environment = launcher.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.envs(environment).envs(self.limits.iter().copied());
        command.arg(count.to_string()).arg(home.at("store"));
        let begin = format!(r#"{before} exec mpirun.openmpi --mca plm_rsh_agent "$READLAB_RSH" "$@""#);
        command.args(["sh", "-c", &begin, "sh"]).args(OPEN_MPI.options.words());
        let on_hosts = format!(
            "--mca btl_tcp_if_include {SUBNET} --mca oob_tcp_if_include {SUBNET} --host {} -n {count} --map-by ppr:1:node",
            names.join(",")
        );
        command.args(on_hosts.words()).arg(READLAB).args(["fleet", verb, "/mnt/f"]);
        command.args(format!("{RACE} --export-json out.json {words}").words());
        if self.witness {
            let store = home.at("store/f");
            command.args([":", "-n", "1", "--host", "store", READLAB, "fleet", "witness"]).arg(store);
        }
        Some(ProgramOutput::by(command.current_dir(home.at("")).stdin(Stdio::null())))
    }
}

/// A home with a store of one file of this size.
fn home_with_store(bytes: usize) -> Home {
    let lines = (0..bytes / 64).map(|n| format!("{n:063}\n"));
    Home::with_file("store/f", lines.collect::<String>())
}

/// A shell command that starts a process, by `agent`, which has the file mapped and in memory from
/// then on.
fn hold(home: &Home, file: &Path, agent: &str) -> String {
    let held = home.at("held");
    let hold = home.file(
        "hold.py",
        format!(
            "import mmap, time\nfile = open('{}', 'rb')\n\
             mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\nmapping[::4096]\n\
             open('{}', 'w').close()\ntime.sleep(1000)",
            file.display(),
            held.display()
        ),
    );
    let (hold, held) = (hold.display(), held.display());
    format!("{agent} python3 {hold} & for _ in $(seq 200); do [ -e {held} ] && break; sleep 0.05; done;")
}

mod ring2 {
    use super::*;

    #[test]
    fn each_host_has_a_cache_of_its_own_and_cold_and_warm_are_proven_on_all() {
        let home = home_with_store(8 << 20);
        let hosts = Hosts { home: &home, count: 2, limits: &[], witness: false };
        let Some(said) = hosts.fleet("", "race", SHORT) else { return };
        said.shows("fleet: 2 ranks on 2 hosts by ");
        let record = home.record("run");
        let ranks = record.fleet.as_ref().unwrap().ranks.iter();
        let names: Vec<(&str, u32)> =
            ranks.map(|rank| (rank.host.as_str(), rank.page_cache_number)).collect();
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
        let home = home_with_store(4 << 20);
        let hosts = Hosts { home: &home, count: 3, limits: &[("LINK_OF_HOST2", "160mbit")], witness: false };
        let Some(said) = hosts.fleet("", "race", "--state cold --runs 8 --output run") else { return };
        let json = home.json("out.json");
        assert_eq!(json["fleet"]["ranks"][1]["host"], "host2", "{}", json["fleet"]);
        said.shows("straggler: host2").hides("straggler: host1").hides("straggler: host3");
    }

    #[test]
    fn a_file_that_one_host_has_mapped_is_never_cold_there() {
        let home = home_with_store(1 << 20);
        let hosts = Hosts { home: &home, count: 2, limits: &[], witness: false };
        let before = hold(&home, Path::new("/mnt/f"), r#""$READLAB_RSH" host2"#);
        let Some(said) = hosts.fleet(&before, "race", &format!("--state cold {SHORT}")) else { return };
        let record = home.record("run");
        let read = read_trial(&record);
        let reason = read.outcome.as_ref().and_then(Outcome::reason).unwrap_or_default();
        assert!(read.samples.is_empty() && reason.contains("host2 (rank 1)"), "{reason}: {said}");
    }

    #[test]
    fn a_turn_before_which_one_host_reads_the_file_again_is_rejected() {
        let home = home_with_store(1 << 20);
        let hosts = Hosts { home: &home, count: 2, limits: &[], witness: false };
        // The reader sleeps so that the kernel does not throttle it. On a busy machine its page arrives
        // before "go" only in some turns of the ten trials.
        let again = "import os, time\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))\n\
                 file = os.open('/mnt/f', os.O_RDONLY)\n\
                 while True: os.pread(file, 4096, 0); time.sleep(5e-5)";
        let again = home.file("again.py", again);
        let again = format!(r#""$READLAB_RSH" host2 python3 {} &"#, again.display());
        let Some(said) = hosts.fleet(&again, "race", &format!("--state cold {SHORT}")) else { return };
        let record = home.record("run");
        let rejected = record.trials.iter().flat_map(|it| &it.rejected_readings);
        // On a busy machine turns are also rejected because a rank began late, on any host.
        let not_cold: Vec<_> = rejected.filter(|(_, reason)| reason.contains("not cold")).collect();
        let all_there = not_cold.iter().all(|(_, reason)| reason.contains("host2 (rank 1)"));
        assert!(!not_cold.is_empty() && all_there, "{not_cold:?}: {said}");
    }

    #[test]
    fn a_witness_makes_the_server_cold_before_each_turn_or_no_turn_is_cold() {
        let home = home_with_store(1 << 20);
        let hosts = Hosts { home: &home, count: 2, limits: &[], witness: true };
        let words = format!("--state cold {SHORT}");
        let Some(said) = hosts.fleet("", "race", &words) else { return };
        let path = home.at("store/f").display().to_string();
        let told = format!("{path} cold on the server before each cold turn, and proves it");
        said.shows(&format!("witness: store makes {told}"));
        let record = home.record("run");
        let read = read_trial(&record);
        assert_eq!(read.outcome, Some(Outcome::Measured), "{said}");
        assert!(read.fleet_turns.iter().all(|turn| turn.ranks.len() == 2), "the witness takes no turn");
        fs::remove_dir_all(home.at("run")).unwrap();
        // The file is held before the ranks begin, so that the witness refuses it.
        let before = hold(&home, &home.at("store/f"), "");
        let said = hosts.fleet(&before, "race", &words).unwrap().exits(2);
        said.tells("rank 2: ").tells("another program has it mapped");
    }

    #[test]
    fn the_growth_of_the_rate_distinguishes_a_link_of_each_host_from_a_shared_link() {
        let each = [("LINK_OF_HOST1", "64mbit"), ("LINK_OF_HOST2", "64mbit")];
        // Some rounds on a busy machine may not decide this. `make bench ARGS=verdicts/hosts`
        // counts how often.
        for (limits, verdict, growth) in
            [(&[("LINK_OF_STORE", "64mbit")][..], "shared", 0.5..1.5), (&each, "each_host", 1.5..2.5)]
        {
            let home = home_with_store(2 << 20);
            let hosts = Hosts { home: &home, count: 2, limits, witness: false };
            let words = format!("--state cold --hosts 1,2 {SHORT}");
            let Some(said) = hosts.fleet("", "scale", &words) else { return };
            let json = home.json("out.json");
            let read = items(&json["scaling"]).iter().find(|it| it["trial"] == "rust/read/memchr").unwrap();
            let rate = |at: usize| read["points"][at]["bytes_per_second"].as_f64().unwrap();
            assert!(growth.contains(&(rate(1) / rate(0))), "{read}: {said}");
            assert!([verdict, "not_told"].contains(&read["limited"].as_str().unwrap()), "{said}");
        }
    }
}
