//! The limits that fio measures on the device, for comparison with ours, if it is installed.
//!
//! Our own limits are controls of a plan, measured in the same rounds as the other trials; what
//! their samples mean is in [`readlab_analysis::verdict::limits`].

use readlab_model::units::Bytes;
use readlab_record::{Limit, LimitKind, LimitUnit};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How often fio reads the file. The median is recorded.
const READINGS: usize = 3;

/// The shortest reading that shows a rate: fio itself takes tenths of a second to begin and end.
const READING_MIN: Duration = Duration::from_millis(500);

/// Why fio measured nothing.
#[derive(Debug, thiserror::Error)]
pub enum FioError {
    /// It is not installed, or cannot be started.
    #[error("fio cannot be started: {0}")]
    NotStarted(std::io::Error),
    /// It ended with an error.
    #[error("fio: {0}")]
    Failed(String),
    #[error("the time for the whole run was used up")]
    NoTime,
    /// Its output is not what was expected.
    #[error("fio's output has no read rate: {0}")]
    NoRate(String),
}

/// How fio reads: blocks of this size, so many at a time.
#[derive(Debug, Clone, Copy)]
pub struct FioPoint {
    pub block_bytes: u64,
    /// Reads in flight.
    pub depth: u64,
}

/// What fio reads from the device at best with this block and depth: O_DIRECT through io_uring, in
/// order, the file opened read-only. In a limited time each reading ends early.
pub fn fio(path: &Path, target: usize, point: FioPoint, time: Option<Duration>) -> Result<Limit, FioError> {
    let each = time.map(|time| time / READINGS as u32);
    if each.is_some_and(|each| each < READING_MIN) {
        return Err(FioError::NoTime);
    }
    // What fio takes beside the reading is in its share.
    let reading = each.map(|each| each - READING_MIN / 2);
    let FioPoint { block_bytes, depth } = point;
    let samples = (0..READINGS).map(|_| once(path, point, reading)).collect::<Result<Vec<u64>, _>>()?;
    let mut sorted = samples.clone();
    sorted.sort_unstable();
    Ok(Limit {
        kind: LimitKind::Device,
        name: format!("fio@buffer={},depth={depth}", Bytes(block_bytes).exact()),
        target,
        state: None,
        trial: None,
        threads: 1,
        unit: LimitUnit::BytesPerSecond,
        value: sorted[READINGS / 2],
        ci95: None,
        samples,
        how: "fio: io_uring, O_DIRECT, sequential; its own rate, after our rounds".to_owned(),
    })
}

/// One reading of the whole file, or of as much as the time allows; bytes per second.
fn once(path: &Path, point: FioPoint, time: Option<Duration>) -> Result<u64, FioError> {
    let FioPoint { block_bytes, depth } = point;
    // A colon separates files in fio's list of names.
    let name = path.to_string_lossy().replace(':', "\\:");
    let output = Command::new("fio")
        .args(["--name=readlab", "--readonly", "--rw=read", "--direct=1", "--ioengine=io_uring"])
        .args(["--output-format=json", "--allow_file_create=0"])
        .arg(format!("--bs={block_bytes}"))
        .arg(format!("--iodepth={depth}"))
        .arg(format!("--filename={name}"))
        .args(time.map(|time| format!("--runtime={}ms", time.as_millis())))
        .stdin(Stdio::null())
        .output()
        .map_err(FioError::NotStarted)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(FioError::Failed(said.lines().last().unwrap_or("it failed in silence").to_owned()));
    }
    rate(&String::from_utf8_lossy(&output.stdout))
}

/// The read rate of the first job in fio's JSON. Notes may precede it.
fn rate(said: &str) -> Result<u64, FioError> {
    let no_rate = |why: &str| FioError::NoRate(why.to_owned());
    let start = said.find('{').ok_or_else(|| no_rate("no JSON"))?;
    let value: Value = serde_json::from_str(&said[start..]).map_err(|error| no_rate(&error.to_string()))?;
    let rate = value["jobs"][0]["read"]["bw_bytes"].as_u64();
    rate.filter(|rate| *rate > 0).ok_or_else(|| no_rate("no jobs[0].read.bw_bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_time_nothing_is_started() {
        let point = FioPoint { block_bytes: 4096, depth: 1 };
        let found = fio(Path::new("/no/such/file"), 0, point, Some(Duration::from_secs(1)));
        assert!(matches!(found, Err(FioError::NoTime)), "{found:?}");
    }

    #[test]
    fn the_rate_is_found_behind_notes_and_its_absence_is_reported() {
        let said = "note: both iodepth >= 1\n{\"jobs\":[{\"read\":{\"bw_bytes\":2300000000}}]}";
        assert_eq!(rate(said).unwrap(), 2_300_000_000);
        for wrong in ["", "{}", "{\"jobs\":[]}", "{\"jobs\":[{\"read\":{\"bw_bytes\":0}}]}"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
