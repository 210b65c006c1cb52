//! Tests of `readlab fleet` under the launchers that are here, Open MPI's and MPICH's: ranks race
//! together, whoever differs, lies or is lost is named, and nothing is left over. All ranks are on
//! this machine; skipped with a message where there is no launcher.

use super::fake::{Fake, roster};
use super::interrupt::soon;
use super::{Home, READLAB, Said};
use readlab::fleet::Job;
use readlab::record::{EndReason, Outcome, Record, Share};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

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

impl Flavour {
    /// Those that are here.
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
        let bin = home.at("bin");
        if !bin.exists() {
            fs::create_dir(&bin).unwrap();
            std::os::unix::fs::symlink(on_path(self.compiler).unwrap(), bin.join("mpicc")).unwrap();
            // The agent is that of this home's launcher.
            fs::remove_file(home.at(".cache/readlab/contenders")).unwrap();
        }
        let mut command = Command::new(self.launcher);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(bin).chain(std::env::split_paths(&path));
        command.args(self.options).args(["-n", &ranks.to_string()]).envs(home.environment());
        command.env("PATH", std::env::join_paths(path).unwrap()).current_dir(home.at(""));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A fleet's race with these words.
    fn race(&self, home: &Home, ranks: u32, words: &[impl AsRef<OsStr>]) -> Said {
        let mut command = self.command(home, ranks);
        let output = command.arg(READLAB).args(["fleet", "race"]).args(words).output().unwrap();
        Said {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
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

#[test]
fn ranks_race_together_and_the_record_has_every_turn_of_each() {
    for flavour in Flavour::all() {
        let home = Home::new();
        file_of_each(&home, 2);
        let said = flavour.race(&home, 2, &words(&["--share", "own", "f.{rank}"], &["--output", "run"]));
        assert!(said.out.contains("fleet: 2 ranks on 1 host by "), "{said}");
        assert!(said.out.contains("; each reads a file of its own; "), "{said}");
        let record = Record::read(&home.at("run/record.jsonl")).unwrap();
        assert_ended(&said, &record);
        let fleet = record.fleet.as_ref().unwrap();
        assert_eq!((fleet.share, fleet.ranks.len()), (Share::Own, 2));
        assert_ne!(fleet.ranks[0].cache, fleet.ranks[1].cache);
        assert_eq!(record.targets[0].size_bytes, 2 * (7 << 16), "bytes are those of both");
        for trial in record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured)) {
            let id = &trial.trial.id;
            assert_eq!(trial.fleet_turns.len(), trial.samples.len(), "{id}");
            for (turn, sample) in trial.fleet_turns.iter().zip(&trial.samples) {
                assert_eq!((turn.ranks.len(), turn.job_ns()), (2, sample.wall_ns), "{id}");
                assert!(turn.bound_ns() < 1_000_000_000, "{id}: {turn:?}");
                let newlines = sample.answer.newlines;
                assert!(newlines.is_none_or(|count| count == 2 << 16), "{id}: {newlines:?}");
            }
        }
        assert!(record.clocks.iter().all(|(_, ranks)| ranks.len() == 2), "{:?}", record.clocks);
        assert_eq!(agents(&home), Vec::<PathBuf>::new());
    }
}

#[test]
fn ranks_that_share_a_page_cache_are_proven_together_and_a_page_has_the_hosts() {
    let Some(flavour) = Flavour::any() else { return };
    let home = Home::new();
    file_of_each(&home, 1);
    let export = ["--output", "run", "--export-json", "out.json", "--export-markdown", "out.md"];
    let said = flavour.race(&home, 2, &words(&["f.0", "--state", "cold", "--hide-hosts"], &export));
    let told =
        "ranks 0, 1 share a page cache: in a cold turn each byte comes to their host once for all of them";
    assert!(said.out.contains(told), "{said}");
    let record = Record::read(&home.at("run/record.jsonl")).unwrap();
    assert_ended(&said, &record);
    let read = record.trials.iter().find(|it| it.trial.method() == "read").unwrap();
    let fetched: Vec<u64> = read.samples.iter().filter_map(|it| it.device_read_bytes).collect();
    assert!(
        fetched.iter().all(|bytes| (450_000..1_300_000).contains(bytes)),
        "once or little more: {fetched:?}"
    );
    let json: Value = serde_json::from_slice(&fs::read(home.at("out.json")).unwrap()).unwrap();
    assert_eq!(json["fleet"]["ranks"][1]["host"], "host 1", "{}", json["fleet"]);
    assert!(json["fleet"]["turns"].as_array().is_some_and(|turns| turns.len() > 4));
    let page = fs::read_to_string(home.at("run/report.html")).unwrap();
    for text in [&page, &fs::read_to_string(home.at("run/record.jsonl")).unwrap()] {
        assert!(!text.contains("f.0"), "the name of the file is hidden: {said}");
    }
    assert!(page.contains("Ranks, and how long each takes") && page.contains("host 1"));
    assert!(fs::read_to_string(home.at("out.md")).unwrap().contains("- fleet: 2 ranks on 2 hosts"));
}

#[test]
fn who_differs_or_cannot_begin_is_named_before_anything_is_measured() {
    let Some(flavour) = Flavour::any() else { return };
    let home = Home::new();
    file_of_each(&home, 2);
    for (given, told) in
        [(&["--share", "own", "f.{rank}"][..], "readlab: rank 2: "), (&["f.{rank}"], "readlab: rank 2: ")]
    {
        let said = flavour.race(&home, 3, &words(given, &[]));
        assert_eq!(said.code, Some(2), "{said}");
        assert!(said.err.contains(told) && said.err.contains("f.2: no such file"), "{said}");
    }
    home.file("f.1", "other lines\n");
    let said = flavour.race(&home, 2, &words(&["f.{rank}"], &[]));
    assert_eq!(said.code, Some(2), "{said}");
    assert!(said.err.contains("(rank 1) differs from ") && said.err.contains("f.1 has 12 bytes"), "{said}");
    assert!(home.runs().is_empty(), "nothing is left of a run that did not begin");
}

#[test]
fn options_that_no_fleet_follows_are_refused_and_so_is_a_start_without_a_launcher() {
    let home = Home::new();
    home.file("f", "a\n");
    for (given, told) in [
        (&["f"][..], "no MPI launcher started this: use 'mpirun -n 2 readlab fleet race FILE', or srun"),
        (&["f", "f"], "a fleet reads one file, or one a rank with {rank} in its path"),
        (&["--share", "own", "f"], "--share own: f: there is no {rank} in the path"),
        (&["--http", "f"], "--http: a fleet reads files"),
        (&["--resume", "last"], "--resume: a fleet begins anew"),
    ] {
        let mut command = home.command(READLAB);
        for name in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"] {
            command.env_remove(name);
        }
        let said = Said::of(command.args(["fleet", "race"]).args(given));
        assert_eq!(said.refusal(), format!("readlab: {told}"));
    }
}

#[test]
fn a_launcher_that_does_not_belong_to_the_agent_is_refused_by_every_rank() {
    let [Some(_), Some(_)] = [OPEN_MPI, MPICH].map(|it| on_path(it.compiler)) else {
        eprintln!("SKIPPED: a launcher of another MPI: only one is here");
        return;
    };
    let home = Home::new();
    home.file("f", "a\n");
    let mixed = Flavour { compiler: OPEN_MPI.compiler, ..MPICH };
    let said = mixed.race(&home, 2, &["f"]);
    assert_ne!(said.code, Some(0), "{said}");
    let told = "the launcher started 2 ranks (PMI_SIZE), and the agent, built with Open MPI";
    assert!(said.err.contains(told) && said.err.contains(", sees 1: build it with the mpicc"), "{said}");
}

#[test]
fn a_contender_that_lies_on_one_rank_is_refused_with_its_host() {
    let Some(flavour) = Flavour::any() else { return };
    let home = Home::new();
    home.file("f", "a\nb\n");
    let lie = r#"if [ $turns = 3 ] && [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ]; then
        say '{"say":"sample","wall_ns":1000,"newlines":7}'; say '{"say":"done","count":1}'; else answer; fi"#;
    let roster = roster(&home, &[Fake { name: "liar", turn: lie }]);
    let given = ["f", "--state", "cold", "--roster", &roster, "--method", "liar/read", "--output", "run"];
    let said = flavour.race(&home, 2, &words(&given, &[]));
    assert_eq!(said.code, Some(1), "{said}");
    let record = Record::read(&home.at("run/record.jsonl")).unwrap();
    let liar = record.trials.iter().find(|it| it.trial.contender() == "liar").unwrap();
    let Some(Outcome::Refused { reason }) = &liar.outcome else { panic!("{:?}", liar.outcome) };
    assert!(reason.contains("(rank 1): it answered 7 newlines; right is "), "{reason}");
}

#[test]
fn the_agent_is_built_by_its_name() {
    let home = Home::new();
    let without = Said::of(home.command(READLAB).args(["build", "fleet-agent"]).env("PATH", home.at("tmp")));
    assert_eq!(without.code, Some(1), "{without}");
    assert!(without.err.contains("it needs mpicc: not found; an MPI library with its compiler"), "{without}");
    let Some(flavour) = Flavour::any() else { return };
    // Prepares the home for this compiler.
    let path =
        flavour.command(&home, 1).get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_owned();
    let said = Said::of(home.command(READLAB).args(["build", "fleet-agent"]).env("PATH", path));
    assert_eq!(said.code, Some(0), "{said}");
    assert!(Path::new(said.out.trim()).is_file(), "{said}");
}

/// Starts a fleet of two that would race for long, and does something to it when it has a turn.
fn disturbed(deed: impl FnOnce(&mut std::process::Child, &Home)) -> Option<(Home, Record)> {
    let flavour = Flavour::any()?;
    let home = Home::new();
    file_of_each(&home, 2);
    let mut given = words(&["--share", "own", "f.{rank}"], &["--output", "run", "--quiet"]);
    given.extend(["--budget", "20m"]);
    let runs = given.iter().position(|word| *word == "4").unwrap();
    given[runs] = "100000";
    let mut command = flavour.command(&home, 2);
    let mut launcher = command.arg(READLAB).args(["fleet", "race"]).args(given).spawn().unwrap();
    let record = home.at("run/record.jsonl");
    let has_turn = || fs::read_to_string(&record).is_ok_and(|text| text.contains("\"line\":\"fleet_turn\""));
    assert!(soon(has_turn), "no turn was ever taken");
    deed(&mut launcher, &home);
    let ended = soon(|| launcher.try_wait().unwrap().is_some());
    assert!(ended, "the job is over soon");
    assert!(soon(|| agents(&home).is_empty()), "no agent is left");
    Some((home, Record::read(&record).unwrap()))
}

/// The process of the rank of this number: the parent of its agent.
fn rank(home: &Home, number: u32) -> u32 {
    let given = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].map(|name| format!("{name}={number}"));
    let is_its = |agent: &&PathBuf| {
        let environment = fs::read(agent.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|it| given.iter().any(|given| given.as_bytes() == it))
    };
    let agents = agents(home);
    let agent = agents.iter().find(is_its).expect("its agent is running");
    let status = fs::read_to_string(agent.join("status")).unwrap();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
    parent.trim().parse().unwrap()
}

fn send(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

#[test]
fn a_rank_that_is_killed_ends_the_job_and_the_record_stays_readable() {
    let killed = disturbed(|_, home| send("-9", rank(home, 1)));
    let Some((_, record)) = killed else { return };
    assert!(record.trials.iter().any(|it| !it.fleet_turns.is_empty()));
    let end = record.end.map(|(reason, _)| reason);
    let known = [None, Some(EndReason::Interrupted), Some(EndReason::RankLost)];
    assert!(known.contains(&end), "it is no whole run: {end:?}");
}

#[test]
fn a_launcher_that_is_interrupted_keeps_what_was_measured() {
    let stopped = disturbed(|launcher, _| send("-INT", launcher.id()));
    let Some((_, record)) = stopped else { return };
    assert!(record.trials.iter().any(|it| !it.samples.is_empty()));
}

/// A rank of a job without readlab's commands: it checks that messages arrive whole, and prints how
/// its clock differs. The next tests start it.
#[test]
#[ignore = "it is a rank of the jobs that other tests start"]
fn as_a_rank() {
    let job = Job::join().unwrap();
    for bytes in [0, 1, 1000, 1 << 20, 8 << 20] {
        let text: String = "0123456789abcdef".chars().cycle().take(bytes).collect();
        let heard: String = job.broadcast(job.is_leader().then_some(&text)).unwrap();
        assert!(heard == text, "{bytes} bytes");
        let own = job.rank().to_string().repeat(bytes / 8);
        let all = job.gather(&own).unwrap();
        let whole = || (0..job.size()).map(|rank| rank.to_string().repeat(bytes / 8)).collect::<Vec<_>>();
        assert_eq!(all.is_some(), job.is_leader());
        assert!(all.is_none_or(|all| all == whole()), "{bytes} bytes");
        job.barrier().unwrap();
    }
    job.set_time_limit(Duration::from_secs(60));
    let clock = job.compare_clocks().unwrap();
    println!("\nrank {} of {}: {} {}", job.rank(), job.size(), clock.offset_ns, clock.bound_ns);
    job.leave();
}

/// Starts ranks, some of them by another program; the offset and the bound of each that says so.
fn clocks(command: &mut Command) -> Vec<(i64, u64)> {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let numbers = said.lines().filter(|line| line.starts_with("rank ")).map(|line| {
        let (_, numbers) = line.split_once(": ").unwrap();
        let (offset, bound) = numbers.split_once(' ').unwrap();
        (offset.parse().unwrap(), bound.trim().parse().unwrap())
    });
    numbers.collect()
}

const AS_A_RANK: [&str; 4] = ["fleet::as_a_rank", "--exact", "--ignored", "--nocapture"];

#[test]
fn messages_arrive_whole_by_every_launcher_and_number_of_ranks() {
    for flavour in Flavour::all() {
        let home = Home::new();
        for ranks in [1, 2, 8] {
            let mut command = flavour.command(&home, ranks);
            let clocks = clocks(command.arg(std::env::current_exe().unwrap()).args(AS_A_RANK));
            assert_eq!(clocks.len(), ranks as usize, "{}", flavour.launcher);
            for (offset_ns, bound_ns) in clocks {
                assert!(offset_ns.unsigned_abs() <= bound_ns + 1, "one clock: {offset_ns} ± {bound_ns}");
            }
        }
    }
}

#[test]
fn a_clock_that_is_set_a_thousand_seconds_apart_is_known_within_its_bound() {
    let Some(flavour) = Flavour::any() else { return };
    let unshare = ["unshare", "--time", "--monotonic", "1000", "--fork"];
    let can = Command::new(unshare[0]).args(&unshare[1..]).arg("true").output();
    if !can.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: clocks set apart: no time namespaces for this user");
        return;
    }
    let home = Home::new();
    let rank = std::env::current_exe().unwrap();
    let mut command = flavour.command(&home, 1);
    command.arg(&rank).args(AS_A_RANK).args([":", "-n", "1"]).args(unshare).arg(&rank).args(AS_A_RANK);
    let clocks = clocks(&mut command);
    let &(offset_ns, bound_ns) = clocks.iter().find(|(offset_ns, _)| *offset_ns != 0).unwrap();
    let wrong_ns = offset_ns.abs_diff(-1_000_000_000_000);
    assert!(wrong_ns <= bound_ns + 1, "wrong by {wrong_ns} ns, told {bound_ns} ns");
    assert!(Path::new(&home.at("bin/mpicc")).exists());
}
