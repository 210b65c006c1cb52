//! A race that is observed from outside while it runs on a terminal: when its screen and its record
//! hold what.

use crate::record_lines::sampled_trial;
use crate::screen::Screen;
use anyhow::{Context, bail};
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_record::Record;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// How long to wait for something to be printed.
const WAIT: Duration = Duration::from_millis(25);

/// When something was first there, since the start.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Observed {
    /// A ranking on the screen.
    pub(super) ranking: Option<Duration>,
    /// A sample of every trial of a state in the record.
    pub(super) round: Option<Duration>,
    /// The end of the program.
    pub(super) end: Duration,
}

impl Observed {
    /// Runs a race that writes its record into this folder.
    pub(super) fn run(command: &Command, folder: &Path) -> anyhow::Result<Observed> {
        let (mut screen, child) = Screen::start(command)?;
        let (mut child, mut follower) = (Started(child), Follower::new(folder.join("record.jsonl")));
        let mut samples = BTreeMap::new();
        let status = loop {
            let ended = child.0.try_wait().context("waiting for the lab")?;
            screen.look(WAIT)?;
            for trial in follower.sampled()? {
                samples.entry(trial).or_insert(screen.elapsed());
            }
            if let Some(status) = ended {
                break status;
            }
        };
        let end = screen.elapsed();
        if !matches!(status.code(), Some(0 | 1)) {
            bail!("{command:?} ended with {status}");
        }
        let record = Record::read(&follower.path)?;
        Ok(Observed { ranking: screen.first_ranking(), round: first_round(&record, &samples), end })
    }
}

/// A program that is ended if it is not waited for.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            // It may have ended by itself; in both cases it is reaped.
            let _ = self.0.kill().and_then(|()| self.0.wait());
        }
    }
}

/// When every trial of a state that was measured at all had a sample, of the state in which that
/// was first so.
fn first_round(record: &Record, samples: &BTreeMap<TrialIndex, Duration>) -> Option<Duration> {
    let of_state = |state: CacheState| {
        let ranked = record.trials.iter().filter(|it| !it.trial.is_control() && it.trial.state == state);
        ranked.filter_map(|it| samples.get(&it.trial.index)).max().copied()
    };
    [CacheState::Cold, CacheState::Warm].into_iter().filter_map(of_state).min()
}

/// A record that is read while it is written.
struct Follower {
    path: PathBuf,
    file: Option<File>,
    /// A line that is not whole yet.
    rest: Vec<u8>,
}

impl Follower {
    fn new(path: PathBuf) -> Follower {
        Follower { path, file: None, rest: Vec::new() }
    }

    /// The trials of the samples that came since the last call.
    fn sampled(&mut self) -> anyhow::Result<Vec<TrialIndex>> {
        let Some(file) = self.opened()? else { return Ok(Vec::new()) };
        let mut new = Vec::new();
        file.read_to_end(&mut new).with_context(|| self.path.display().to_string())?;
        self.rest.append(&mut new);
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.rest.drain(..whole).collect();
        Ok(String::from_utf8_lossy(&lines).lines().filter_map(sampled_trial).collect())
    }

    /// The file; `None` before there is one.
    fn opened(&mut self) -> anyhow::Result<Option<&mut File>> {
        if self.file.is_none() {
            match File::open(&self.path) {
                Ok(file) => self.file = Some(file),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error).with_context(|| self.path.display().to_string()),
            }
        }
        Ok(self.file.as_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_record_is_followed_line_by_line() {
        let path = std::env::temp_dir().join(format!("readlab-bench-{}-followed.jsonl", std::process::id()));
        let mut follower = Follower::new(path.clone());
        assert!(follower.sampled().unwrap().is_empty());
        let mut file = File::create(&path).unwrap();
        file.write_all(b"{\"line\":\"header\"}\n{\"line\":\"sample\",\"trial\":3}\n{\"line\":\"sam").unwrap();
        assert_eq!(follower.sampled().unwrap(), [TrialIndex::new(3)]);
        file.write_all(b"ple\",\"trial\":5}\n").unwrap();
        assert_eq!(follower.sampled().unwrap(), [TrialIndex::new(5)]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_round_is_complete_with_the_last_trial_of_the_first_state() {
        let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/made/race.jsonl");
        let record = Record::read(&record).unwrap();
        let ranked = |state| {
            let trials =
                record.trials.iter().filter(move |it| it.trial.state == state && !it.trial.is_control());
            trials.map(|it| it.trial.index)
        };
        let mut samples: BTreeMap<TrialIndex, Duration> = BTreeMap::new();
        assert_eq!(first_round(&record, &samples), None);
        samples.extend(ranked(CacheState::Warm).map(|trial| (trial, Duration::from_secs(90))));
        samples
            .extend((1..).zip(ranked(CacheState::Cold)).map(|(at, trial)| (trial, Duration::from_secs(at))));
        let last = ranked(CacheState::Cold).count() as u64;
        assert_eq!(first_round(&record, &samples), Some(Duration::from_secs(last)));
    }
}
