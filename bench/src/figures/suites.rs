//! Figure: the time of the published experiments by their defaults, as somebody who has read the
//! articles would start them.

use crate::programs::Programs;
use crate::row::Row;
use crate::running::Running;
use std::fs;
use std::time::Instant;

pub(super) const ABOUT: &str =
    "suites: time of `suite newlines`, `byte-stream`, `zip-lines` and of a sweep, by their defaults";

const TIME_S: f64 = 600.0;
const SUITES: [&str; 3] = ["newlines", "byte-stream", "zip-lines"];
const SWEEP: &str = "sweep";

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    programs.lab().build()?;
    let names = SUITES.into_iter().chain([SWEEP]);
    Ok(names.map(|name| timed(programs, name).unwrap_or_else(|error| Row::failed(name, &error))).collect())
}

fn timed(programs: &Programs, name: &str) -> anyhow::Result<Row> {
    let folder = programs.empty_folder(&format!("suites-{name}"))?;
    let swept = programs.folder().join("swept");
    let mut command = if name == SWEEP {
        fs::create_dir_all(&swept)?;
        let mut command = programs.lab().command(SWEEP);
        command.arg(&swept);
        command
    } else {
        let mut command = programs.lab().command("suite");
        command.arg(name);
        command
    };
    command.args(["--quiet", "--output"]).arg(&folder);
    let start = Instant::now();
    Running::start(command, &folder)?.finished()?;
    let seconds = start.elapsed().as_secs_f64();
    let words = format!("{seconds:.0} s");
    Ok(Row::judged(name, "at most 10 min", seconds, seconds <= TIME_S, words))
}
