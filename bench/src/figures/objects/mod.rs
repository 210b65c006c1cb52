//! Figure: reading from servers: what ranges at once gain on a server that paces connections,
//! whether verdicts are right where the limit was made, how long the default race takes, how the
//! best method compares with other programs.

mod verdicts;

use crate::paced_server::{self, DeviceUse};
use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::{Context, ensure};
use readlab_model::trial::COMMAND;
use readlab_model::units::{Bytes, Nanos};
use readlab_record::{Outcome, Record, TrialRecord};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(super) const ABOUT: &str = "objects: ranges on a paced server, verdicts of made limits, the default race over S3, beside curl, aws and rclone";

const CONTENT: Bytes = Bytes(4 << 20);
const LARGE: Bytes = Bytes(256 << 20);
/// Of each connection.
const BYTES_PER_S: f64 = 20e6;
const CONNECTIONS: f64 = 4.0;
const ONE: &str = "rust/http/memchr@kept=1";
const RANGED: &str = "rust/http-ranged/memchr@concurrency=4,kept=1,part=512KiB";
const PAIRS: usize = 7;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let or_failed =
        |figure: &str, found: anyhow::Result<Row>| found.unwrap_or_else(|error| Row::failed(figure, &error));
    let clients = CLIENTS.iter().map(|it| or_failed(&format!("beside {}", it.program), beside(programs, it)));
    let others = clients.collect::<Vec<Row>>();
    let made = vec![
        or_failed("ranges on a paced server", paced(programs)),
        or_failed("default race over S3", default_race(programs)),
    ];
    Ok([made, verdicts::rows(programs), others].concat())
}

fn content(programs: &Programs, size: Bytes) -> anyhow::Result<Vec<u8>> {
    let file = programs.lines(size)?;
    fs::read(&file).with_context(|| file.display().to_string())
}

/// A race of these methods: a suite names its trials too, but reads no URL.
fn race(programs: &Programs, target: &str, methods: &[&str], options: &[&str]) -> anyhow::Result<Record> {
    let methods = methods.iter().flat_map(|&method| ["--method", method]);
    let options: Vec<&str> = methods.chain(options.iter().copied()).collect();
    programs.race(&Race {
        name: "objects",
        trials: &[],
        file: Path::new(target),
        state: None,
        options: &options,
    })
}

fn trial<'r>(record: &'r Record, method: &str) -> anyhow::Result<&'r TrialRecord> {
    let is_it = |it: &&TrialRecord| it.trial.method() == method;
    let trial = record.trials.iter().find(is_it).with_context(|| format!("no trial of {method}"))?;
    ensure!(trial.outcome == Some(Outcome::Measured), "{method}: {:?}", trial.outcome);
    Ok(trial)
}

fn median(trial: &TrialRecord) -> f64 {
    pairs::median(&pairs::floats(trial.samples.iter().map(|sample| sample.wall_ns)))
}

/// How near ranges over four connections come to four times one connection.
fn paced(programs: &Programs) -> anyhow::Result<Row> {
    let pace = DeviceUse { bytes_per_s: Some(BYTES_PER_S), delay: Duration::ZERO };
    let url = paced_server::start(content(programs, CONTENT)?, pace)?;
    let mut found = Vec::new();
    for _ in 0..programs.repeats(PAIRS) {
        let record = race(programs, &url, &[ONE, RANGED], &["--runs", "5"])?;
        let (one, ranged) = (median(trial(&record, "http")?), median(trial(&record, "http-ranged")?));
        found.push((one, ranged * CONNECTIONS));
    }
    let ratio = pairs::ratio(&found);
    let figure = "paced server: ranges over four connections ÷ four times one GET";
    let ok = ratio.estimate >= 0.9;
    Ok(Row::judged(figure, "at least 0.9", ratio.estimate, ok, ratio.words()).with(ratio.ci95))
}

/// How long the default race of an object takes, without building contenders.
fn default_race(programs: &Programs) -> anyhow::Result<Row> {
    let file = programs.lines(LARGE)?;
    let folder = programs.empty_folder("objects-default")?;
    let run = |options: &[&str]| -> anyhow::Result<()> {
        let mut command = programs.lab().command("race");
        command.args(["--s3", "--quiet"]).args(options).arg("--output").arg(&folder).arg(&file);
        // What is not measured here is shown by its exit code 1.
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().context("readlab race")?;
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())
    };
    run(&["--runs", "1", "--budget", "1s"])?;
    let begun = Instant::now();
    run(&[])?;
    let took = Nanos::from(begun.elapsed());
    let seconds = begun.elapsed().as_secs_f64();
    let figure = format!("default race over S3 of {}", LARGE.binary());
    Ok(Row::judged(figure, "at most 90 s", seconds, seconds <= 90.0, took.to_string()))
}

/// A program that fetches an object.
struct Client {
    program: &'static str,
    command: &'static str,
}

/// What other programs take for the same object. `READLAB_TARGET` is the signed URL, of which the
/// path is the bucket and the key.
const CLIENTS: [Client; 3] = [
    Client { program: "curl", command: r#"curl -s "$READLAB_TARGET" | wc -l # {}"# },
    Client {
        program: "aws",
        command: r#"u=${READLAB_TARGET%%\?*}; u=${u#*//}; aws s3 cp --only-show-errors "s3://${u#*/}" - | wc -l # {}"#,
    },
    // Without the variable with which it does not start where it is set.
    Client {
        program: "rclone",
        command: r#"u=${READLAB_TARGET%%\?*}; u=${u#*//}; env -u AWS_CA_BUNDLE rclone cat --config /dev/null --s3-provider Other --s3-env-auth --s3-endpoint "$AWS_ENDPOINT_URL_S3" ":s3:${u#*/}" | wc -l # {}"#,
    },
];

/// The fastest method's time over that of another program, on the same object in the same race.
fn beside(programs: &Programs, client: &Client) -> anyhow::Result<Row> {
    let program = client.program;
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    ensure!(found.is_ok(), "there is no {program}");
    let file = programs.lines(LARGE)?;
    let mut found = Vec::new();
    for _ in 0..programs.repeats(PAIRS) {
        let options =
            ["--s3", "--state", "warm", "--runs", "5", "--commands-get-credentials", "-c", client.command];
        let record = race(programs, &file.display().to_string(), &[ONE, RANGED], &options)?;
        let best = median(trial(&record, "http")?).min(median(trial(&record, "http-ranged")?));
        let mut commands = record.trials.iter().filter(|it| it.trial.contender() == COMMAND);
        let its = commands.find(|it| it.trial.method().contains(program)).context("it is no trial")?;
        ensure!(its.outcome == Some(Outcome::Measured), "{program}: {:?}", its.outcome);
        found.push((best, median(its)));
    }
    let ratio = pairs::ratio(&found);
    let figure = format!("best of rust/http, -ranged ÷ {program} | wc -l, warm");
    Ok(Row::unjudged(figure, ratio.estimate, ratio.words()).with(ratio.ci95))
}
