//! Figure: fleets of hosts that are namespaces with a mount each: whether the host with a slow link
//! is named and no other, and whether fio gets the same rate.

use crate::fleet::{Hosts, links, store};
use crate::pairs;
use crate::programs::Programs;
use crate::row::Row;
use anyhow::{Context, ensure};
use readlab_analysis::fleet::host_effects;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

pub(super) const ABOUT: &str =
    "fleet-hosts: hosts as namespaces: a slow one is named, fio gets the same rate";

const FILE: Bytes = Bytes(4 << 20);
const FIO_FILE: Bytes = Bytes(64 << 20);
const RACES: usize = 20;
const PAIRS: usize = 7;
const METHOD: &str = "rust/read/memchr";
/// As fio reads.
const DIRECT: &str = "rust/direct/memchr@buffer=128KiB";

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let or_failed =
        |figure: &str, found: anyhow::Result<Row>| found.unwrap_or_else(|error| Row::failed(figure, &error));
    Ok(vec![
        or_failed("one of four limited", named(programs, Some(2))),
        or_failed("none of four limited", named(programs, None)),
        or_failed("beside fio", beside_fio(programs)),
    ])
}

/// How often the one slow host of four is named, or with none, how often somebody is.
fn named(programs: &Programs, slow: Option<u32>) -> anyhow::Result<Row> {
    let store = store(programs, FILE)?;
    let (mut rightly, mut wrongly) = (0, 0);
    let repeats = programs.repeats(RACES);
    for _ in 0..repeats {
        let hosts = Hosts { programs, count: 4, store: &store, limits: links(slow, "160mbit") };
        let words = ["race", "/mnt/f", "--method", METHOD, "--reference", METHOD, "--runs", "8"];
        let effects = host_effects(&hosts.record(&words, CacheState::Cold, "fleet-named")?);
        let is_named = |it: &readlab_analysis::fleet::HostEffect| it.interval.low > 1.0;
        let found: Vec<u32> = effects
            .iter()
            .filter(|it| is_named(it))
            .filter_map(|it| u32::try_from(it.rank + 1).ok())
            .collect();
        rightly += usize::from(slow.is_some_and(|slow| found.contains(&slow)));
        wrongly += usize::from(found.iter().any(|host| Some(*host) != slow));
    }
    let words = format!("rightly in {rightly}, another wrongly in {wrongly} of {repeats}");
    let (figure, target, value, ok) = match slow {
        Some(_) => (
            "one of four hosts has a slow link: it is named",
            "19 of 20",
            rightly,
            rightly * 20 >= repeats * 19,
        ),
        None => ("four equal hosts: one is named", "at most 1 of 20", wrongly, wrongly * 20 <= repeats),
    };
    Ok(Row::judged(figure, target, f64::from(u32::try_from(value)?), ok, words))
}

/// The rate of two hosts by readlab and by fio's client and servers, in turns.
fn beside_fio(programs: &Programs) -> anyhow::Result<Row> {
    let store = store(programs, FIO_FILE)?;
    let limits = vec![("LINK_OF_STORE".to_owned(), "400mbit".to_owned())];
    let hosts = Hosts { programs, count: 2, store: &store, limits };
    let mut pairs = Vec::new();
    for _ in 0..programs.repeats(PAIRS) {
        let words = ["race", "/mnt/f", "--method", DIRECT, "--reference", DIRECT, "--runs", "5"];
        let record = hosts.record(&words, CacheState::Cold, "fleet-beside-fio")?;
        let trial = record.trials.iter().find(|it| it.trial.id.to_string().starts_with("rust/direct"));
        let walls = trial.context("no trial")?.samples.iter().map(|sample| sample.wall_ns);
        let seconds = pairs::median(&pairs::floats(walls)) / 1e9;
        pairs.push((2.0 * f64::from(u32::try_from(FIO_FILE.0)?) / seconds, fio(&hosts)?));
    }
    let ratio = pairs::ratio(&pairs);
    let ok = ratio.within(0.05) || ratio.holds_one_within(0.05);
    let target = "within 5 %, or holds 1 at 5 %";
    Ok(Row::judged("rate of two hosts ÷ that of fio", target, ratio.estimate, ok, ratio.words())
        .with(ratio.ci95))
}

/// The rate of all of fio's servers, in bytes a second.
fn fio(hosts: &Hosts) -> anyhow::Result<f64> {
    let job = hosts.programs.folder().join("fleet/read.fio");
    let text = format!("[read]\nrw=read\ndirect=1\nbs=128k\nfilename=/mnt/f\nsize={}\n", FIO_FILE.0);
    fs::write(&job, text).with_context(|| job.display().to_string())?;
    let script = r#"for n in 1 2; do
        "$READLAB_RSH" host$n "fio --server=ip:10.77.0.$n,8765 >/dev/null 2>&1 &"; done; sleep 0.5
        exec fio --output-format=json --client=10.77.0.1 "$1" --client=10.77.0.2 "$1""#;
    let mut command: Command = hosts.command()?;
    let done = command.args(["sh", "-c", script, "sh"]).arg(&job).stdout(Stdio::piped()).output()?;
    let text = String::from_utf8_lossy(&done.stdout);
    let begin = text.find("{\n").context("fio says no JSON")?;
    let told: Value = serde_json::from_str(&text[begin..]).context("what fio says")?;
    let clients = told["client_stats"].as_array().context("fio has clients")?;
    let all = clients.iter().find(|it| it["jobname"] == "All clients").context("fio adds them up")?;
    let rate = all["read"]["bw_bytes"].as_f64().context("a rate")?;
    ensure!(rate > 0.0, "fio read nothing");
    Ok(rate)
}
