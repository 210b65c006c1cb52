//! Figure: fleets of ranks on this machine: how they end when a part of them is killed, how
//! punctually they begin, what rank 0 takes, and whether a fleet of one measures what a race does.

use crate::fleet::{FleetProcess, Launcher, MPICH, OPEN_MPI, path_beginning_with, processes, run};
use crate::pairs;
use crate::programs::Programs;
use crate::row::Row;
use anyhow::{Context, ensure};
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use readlab_record::{Outcome, Record};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub(super) const ABOUT: &str =
    "fleet: ranks of one machine: killed, punctual, as a race; rank 0 of 1,024 simulated ranks";

const SMALL: Bytes = Bytes(200_000);
const LARGE: Bytes = Bytes(64 << 20);
const METHOD: &str = "rust/read/memchr";
const KILLS: usize = 50;
/// A stopped rank is noticed by a deadline of a minute, so several jobs wait for theirs at once.
const STOPPED_AT_ONCE: usize = 5;
/// In which a job is over: of a part that died, and of one that is silent until the deadline.
const DEAD_LIMIT: Duration = Duration::from_secs(10);
const SILENT_LIMIT: Duration = Duration::from_secs(90);
const PAIRS: usize = 7;
const SIMULATED_RANKS: u32 = 1024;
/// In place of the agent: it says that there are many ranks.
const AGENT_OF_MANY: &str = include_str!("../../../tests/cli/fleet/agent_of_many.py");
/// What compiles the agent, as far as readlab knows.
const COMPILER: &str = "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" != -o ] || out=$2; shift; done\n\
                        [ -z \"$out\" ] || cp -p \"$(dirname \"$0\")/agent\" \"$out\"\n";

/// What happens to a part of a fleet.
#[derive(Debug, Clone, Copy)]
enum Ending {
    RankKilled,
    RankStopped,
    LauncherKilled,
}

impl Ending {
    const ALL: [Ending; 3] = [Ending::RankKilled, Ending::RankStopped, Ending::LauncherKilled];

    fn name(self) -> &'static str {
        match self {
            Ending::RankKilled => "a rank killed",
            Ending::RankStopped => "a rank stopped",
            Ending::LauncherKilled => "the launcher killed",
        }
    }

    fn at_once(self) -> usize {
        if matches!(self, Ending::RankStopped) { STOPPED_AT_ONCE } else { 1 }
    }

    fn limit(self) -> Duration {
        if matches!(self, Ending::RankStopped) { SILENT_LIMIT } else { DEAD_LIMIT }
    }
}

/// How a job ended.
struct Ended {
    took: Duration,
    is_left: bool,
    is_unreadable: bool,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for launcher in [OPEN_MPI, MPICH] {
        for ending in Ending::ALL {
            let figure = format!("{}: {}", launcher.name, ending.name());
            rows.push(ends(programs, launcher, ending).unwrap_or_else(|error| Row::failed(figure, &error)));
        }
    }
    let or_failed = |figure: &str, found: anyhow::Result<Vec<Row>>| {
        found.unwrap_or_else(|error| vec![Row::failed(figure, &error)])
    };
    rows.extend(or_failed("two ranks", punctual(programs)));
    rows.extend(or_failed("agents", sleeping_agents(programs).map(|row| vec![row])));
    rows.extend(or_failed("a fleet of one", as_a_race(programs)));
    rows.extend(or_failed("1,024 ranks", many(programs)));
    Ok(rows)
}

/// What all fleets here are told beside their file.
fn words(output: &Path) -> Vec<String> {
    let words = [
        "--method",
        METHOD,
        "--reference",
        METHOD,
        "--quiet",
        "--no-progress",
        "--seed",
        "7",
        "--budget",
        "30m",
    ];
    let mut words: Vec<String> = words.map(str::to_owned).into();
    words.extend(["--output".to_owned(), output.display().to_string()]);
    words
}

/// Readlab as a fleet, behind what starts it.
fn fleet(mut start: Command, programs: &Programs, file: &Path, output: &Path, more: &[&str]) -> Command {
    start.arg(&programs.lab().program).args(["fleet", "race"]).arg(file).args(words(output)).args(more);
    start.env("READLAB_BENCH", output);
    start
}

/// Ends a part of fleets of two that measure, and looks when they are over and what is left.
fn ends(programs: &Programs, launcher: Launcher, ending: Ending) -> anyhow::Result<Row> {
    let file = programs.lines(SMALL)?;
    let repeats = programs.repeats(KILLS);
    let numbers: Vec<usize> = (0..repeats).collect();
    let mut all = Vec::new();
    for numbers in numbers.chunks(ending.at_once()) {
        let of_job = |number: &usize| end(programs, launcher, ending, &file, *number);
        all.extend(at_once(numbers, of_job).into_iter().collect::<anyhow::Result<Vec<Ended>>>()?);
    }
    let longest = all.iter().map(|it| it.took).max().unwrap_or_default();
    let left = all.iter().filter(|it| it.is_left).count();
    let unreadable = all.iter().filter(|it| it.is_unreadable).count();
    let ok = longest <= ending.limit() && left == 0 && unreadable == 0;
    let longest = Nanos::from(longest);
    let measured =
        format!("{longest} at most; processes left in {left} of {repeats}, {unreadable} records unreadable");
    let figure = format!("{}: {}, until nothing is left", launcher.name, ending.name());
    let target = format!("at most {}, nothing left, records readable", Nanos::from(ending.limit()));
    Ok(Row::judged(figure, &target, seconds(longest), ok, measured))
}

/// What a function gives for each, all called at the same time.
fn at_once<T: Sync, R: Send>(values: &[T], function: impl Fn(&T) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let started: Vec<_> = values.iter().map(|value| scope.spawn(|| function(value))).collect();
        started.into_iter().map(|it| it.join().expect("no figure panics")).collect()
    })
}

fn end(
    programs: &Programs,
    launcher: Launcher,
    ending: Ending,
    file: &Path,
    number: usize,
) -> anyhow::Result<Ended> {
    use rustix::process::{Pid, Signal, kill_process};
    let output = programs.empty_folder(&format!("fleet-ends-{}", number % STOPPED_AT_ONCE))?;
    let start = launcher.command(programs, 2)?;
    let mut job = fleet(start, programs, file, &output, &["--runs", "100000"]).spawn()?;
    wait_for_turn(&mut job, &output)?;
    let rank = || processes(&output).into_iter().find(|it| it.is_rank(1)).context("no rank 1");
    let (pid, signal) = match ending {
        Ending::LauncherKilled => (job.id().cast_signed(), Signal::KILL),
        Ending::RankKilled => (rank()?.pid, Signal::KILL),
        Ending::RankStopped => (rank()?.pid, Signal::STOP),
    };
    let begun = Instant::now();
    kill_process(Pid::from_raw(pid).context("a process has a number")?, signal)?;
    while begun.elapsed() < ending.limit() * 2
        && (job.try_wait()?.is_none() || !processes(&output).is_empty())
    {
        sleep(Duration::from_millis(10));
    }
    let ended = Ended {
        took: begun.elapsed(),
        is_left: !processes(&output).is_empty(),
        is_unreadable: Record::read(&output.join("record.jsonl")).is_err(),
    };
    let _ = job.kill().and_then(|()| job.wait());
    Ok(ended)
}

#[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}

fn wait_for_turn(job: &mut Child, output: &Path) -> anyhow::Result<()> {
    let begun = Instant::now();
    let record = output.join("record.jsonl");
    while !fs::read_to_string(&record).is_ok_and(|text| text.contains("\"line\":\"fleet_turn\"")) {
        ensure!(job.try_wait()?.is_none() && begun.elapsed() < Duration::from_secs(120), "it took no turn");
        sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// How late ranks begin, and how well clocks are known.
fn punctual(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(LARGE)?;
    let output = programs.empty_folder("fleet-punctual")?;
    let start = OPEN_MPI.command(programs, 2)?;
    run(fleet(start, programs, &file, &output, &["--runs", "30", "--fills", "5"]))?;
    let record = Record::read(&output.join("record.jsonl"))?;
    let turns = || record.trials.iter().flat_map(|it| &it.fleet_turns);
    let late = quantile(turns().filter_map(|turn| turn.ranks.iter().map(|rank| rank.late_ns).max()), 95);
    let bound = quantile(turns().flat_map(|turn| turn.ranks.iter().skip(1)).map(|rank| rank.bound_ns), 99);
    let count = turns().count();
    Ok(vec![
        Row::judged(
            "two ranks: lateness at the start, 95 %",
            "at most 1 ms",
            seconds(late),
            late.0 <= 1_000_000,
            format!("{late} in {count} turns"),
        ),
        Row::judged(
            "two ranks: bound of the clocks, 99 %",
            "at most 100 µs",
            seconds(bound),
            bound.0 <= 100_000,
            bound.to_string(),
        ),
    ])
}

/// What was seen while both ranks read.
struct Watched {
    at: Instant,
    /// Time that the agents had worked by then.
    worked: Duration,
    /// The processes that read.
    readings: Vec<i32>,
}

/// How much the agents work while contenders read: looked at again and again within readings that
/// take long.
fn sleeping_agents(programs: &Programs) -> anyhow::Result<Row> {
    const READING: &str = "sleep 3";
    let file = programs.lines(SMALL)?;
    let output = programs.empty_folder("fleet-agents")?;
    let mut command = OPEN_MPI.command(programs, 2)?;
    let slow = format!("{READING}; wc -l {{}}");
    command.arg(&programs.lab().program).args(["fleet", "race", "--command", &slow]);
    command.arg(&file).args([
        "--method",
        "command/*",
        "--state",
        "warm",
        "--runs",
        "5",
        "--quiet",
        "--no-progress",
    ]);
    command.arg("--output").arg(&output).env("READLAB_BENCH", &output);
    let mut job = command.spawn()?;
    let (mut worked, mut watched) = (Duration::ZERO, Duration::ZERO);
    let mut before: Option<Watched> = None;
    while job.try_wait()?.is_none() {
        let all = processes(&output);
        let readings: Vec<i32> = all.iter().filter(|it| it.begins_with(READING)).map(|it| it.pid).collect();
        let of_agents =
            || all.iter().filter(|it| it.is_agent()).map(FleetProcess::worked).sum::<Option<Duration>>();
        let is_both = readings.len() >= 2;
        let now =
            of_agents().filter(|_| is_both).map(|worked| Watched { at: Instant::now(), worked, readings });
        // Between two readings the agents wait for each other.
        if let (Some(then), Some(now)) = (&before, &now)
            && then.readings == now.readings
        {
            watched += now.at - then.at;
            worked += now.worked.saturating_sub(then.worked);
        }
        before = now;
        sleep(Duration::from_millis(100));
    }
    ensure!(watched > Duration::from_secs(5), "no reading was seen");
    let share = worked.as_secs_f64() / watched.as_secs_f64();
    let measured =
        format!("{:.4} % of a processor, both together, in {}", share * 100.0, Nanos::from(watched));
    Ok(Row::judged("agents within readings", "at most 0.1 % of a processor", share, share <= 0.001, measured))
}

fn quantile(values: impl Iterator<Item = u64>, percent: usize) -> Nanos {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    Nanos(values.get(values.len() * percent / 100).or(values.last()).copied().unwrap_or(u64::MAX))
}

/// A fleet of one beside a race of the same, in turns.
fn as_a_race(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(LARGE)?;
    let states = [CacheState::Cold, CacheState::Warm];
    let mut pairs = [Vec::new(), Vec::new()];
    let more = ["--runs", "30", "--fills", "5"];
    for _ in 0..programs.repeats(PAIRS) {
        let outputs = [programs.empty_folder("fleet-of-one")?, programs.empty_folder("race-of-one")?];
        run(fleet(OPEN_MPI.command(programs, 1)?, programs, &file, &outputs[0], &more))?;
        let mut race = programs.lab().command("race");
        race.arg(&file).args(words(&outputs[1])).args(more).stdout(Stdio::null()).stderr(Stdio::null());
        run(race)?;
        let records = outputs.map(|output| Record::read(&output.join("record.jsonl")));
        let [of_fleet, of_race] = records;
        let (of_fleet, of_race) = (of_fleet?, of_race?);
        for (state, pairs) in states.iter().zip(&mut pairs) {
            pairs.push((median(&of_fleet, *state)?, median(&of_race, *state)?));
        }
    }
    let row = |(state, pairs): (&CacheState, &Vec<(f64, f64)>)| {
        let ratio = pairs::ratio(pairs);
        let holds = ratio.holds_one_within(0.02);
        let figure = format!("a fleet of one ÷ a race, {state}");
        Row::judged(figure, "holds 1, ± 2 %", ratio.estimate, holds, ratio.words()).with(ratio.ci95)
    };
    Ok(states.iter().zip(&pairs).map(row).collect())
}

fn median(record: &Record, state: CacheState) -> anyhow::Result<f64> {
    let is_it = |name: &str, of: CacheState| name == METHOD && of == state;
    let mut trials = record.trials.iter();
    let trial =
        trials.find(|it| is_it(&it.trial.id.to_string(), it.trial.state)).context("it has no trial")?;
    ensure!(trial.outcome == Some(Outcome::Measured), "{:?}", trial.outcome);
    Ok(pairs::median(&pairs::floats(trial.samples.iter().map(|sample| sample.wall_ns))))
}

/// What rank 0 takes with as many ranks as no machine here has: one program reports for all others.
fn many(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(SMALL)?;
    let bin = programs.folder().join("fleet/many");
    fs::create_dir_all(&bin)?;
    for (name, text) in [("mpicc", COMPILER), ("agent", AGENT_OF_MANY)] {
        let path: PathBuf = bin.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    let output = programs.empty_folder("fleet-many")?;
    let mut start = Command::new("env");
    start.env("PATH", path_beginning_with(bin)?).env("OMPI_COMM_WORLD_SIZE", SIMULATED_RANKS.to_string());
    start.env("OMPI_COMM_WORLD_RANK", "0").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let more = ["--state", "cold", "--runs", "100"];
    let mut job = fleet(start, programs, &file, &output, &more).spawn()?;
    wait_for_turn(&mut job, &output)?;
    let rank = processes(&output).into_iter().find(|it| it.is_rank(0)).context("no rank 0")?;
    let (mut peak, mut worked) = (Bytes(0), Duration::ZERO);
    while job.try_wait()?.is_none() {
        peak = Bytes(rank.peak_bytes().unwrap_or(peak.0).max(peak.0));
        worked = rank.worked().unwrap_or(worked);
        sleep(Duration::from_millis(50));
    }
    let record = Record::read(&output.join("record.jsonl"))?;
    let turns: usize = record.trials.iter().map(|it| it.fleet_turns.len()).sum();
    let each = worked.checked_div(u32::try_from(turns)?).context("it took no turns")?;
    let each = Nanos::from(each);
    Ok(vec![
        Row::judged(
            "1,024 simulated ranks: memory of rank 0",
            "at most 256 MiB",
            f64::from(u32::try_from(peak.0 >> 10)?) * 1024.0,
            peak.0 <= 256 << 20,
            format!("{peak} after {turns} turns"),
        ),
        Row::unjudged(
            "1,024 simulated ranks: work of rank 0 a turn",
            seconds(each),
            format!(
                "{each}, of turns that wait {} for their start",
                Nanos(5_000_000 + 200_000 * u64::from(SIMULATED_RANKS))
            ),
        ),
    ])
}
