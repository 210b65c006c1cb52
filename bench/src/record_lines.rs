//! The lines of a record's file, and copies of it with one thing changed: another reference, or a
//! disturbed reading. Lines that are not changed stay as they are, whatever revision wrote them.

use anyhow::Context;
use readlab_model::trial::TrialIndex;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// A record as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordLines(Vec<String>);

/// What is looked at in a line.
#[derive(Debug, Deserialize)]
struct Looked {
    line: String,
    trial: Option<TrialIndex>,
    round: Option<u32>,
}

impl RecordLines {
    /// Reads a whole record.
    pub(crate) fn read(path: &Path) -> anyhow::Result<RecordLines> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Ok(RecordLines(text.lines().map(str::to_owned).collect()))
    }

    /// Writes it to a file.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        std::fs::write(path, self.0.join("\n") + "\n").with_context(|| path.display().to_string())
    }

    /// The same with this trial as the reference.
    pub(crate) fn with_reference(&self, name: &str) -> anyhow::Result<RecordLines> {
        let mut lines = self.0.clone();
        let first = lines.first_mut().context("a record has a header")?;
        let mut header: Value = serde_json::from_str(first)?;
        header["reference"] = name.into();
        *first = header.to_string();
        Ok(RecordLines(lines))
    }

    /// The rounds in which a trial was read.
    pub(crate) fn rounds(&self, trial: TrialIndex) -> anyhow::Result<BTreeSet<u32>> {
        let mut rounds = BTreeSet::new();
        for line in &self.0 {
            rounds.extend(round_of(line, trial)?);
        }
        Ok(rounds)
    }

    /// The same with a trial's readings of one round this many times as long.
    pub(crate) fn disturbed(&self, trial: TrialIndex, round: u32, times: u64) -> anyhow::Result<RecordLines> {
        let disturb = |line: &String| match round_of(line, trial)? {
            Some(of) if of == round => longer(line, times),
            _ => Ok(line.clone()),
        };
        Ok(RecordLines(self.0.iter().map(disturb).collect::<anyhow::Result<_>>()?))
    }
}

/// The trial of a line that is a sample; `None` for another line.
pub(crate) fn sampled_trial(line: &str) -> Option<TrialIndex> {
    serde_json::from_str::<Looked>(line).ok().filter(|it| it.line == "sample").and_then(|it| it.trial)
}

/// The round of a line that is a sample of this trial.
fn round_of(line: &str, trial: TrialIndex) -> anyhow::Result<Option<u32>> {
    let looked: Looked = serde_json::from_str(line).context("a line of a record")?;
    Ok(looked.round.filter(|_| looked.line == "sample" && looked.trial == Some(trial)))
}

fn longer(line: &str, times: u64) -> anyhow::Result<String> {
    let mut sample: Value = serde_json::from_str(line)?;
    for time in ["/wall_ns", "/turn/wall_ns"] {
        if let Some(value) = sample.pointer_mut(time) {
            *value = value.as_u64().map(|ns| ns * times).into();
        }
    }
    Ok(sample.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_record::Record;
    use std::path::PathBuf;

    fn golden() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/made/race.jsonl")
    }

    /// The record that a copy makes.
    fn copied(name: &str, change: impl Fn(&RecordLines) -> anyhow::Result<RecordLines>) -> Record {
        let path = std::env::temp_dir().join(format!("readlab-bench-{}-{name}.jsonl", std::process::id()));
        change(&RecordLines::read(&golden()).unwrap()).unwrap().write(&path).unwrap();
        let record = Record::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        record
    }

    #[test]
    fn only_the_readings_of_one_round_of_one_trial_are_longer() {
        let before = Record::read(&golden()).unwrap();
        let trial = before.trials.iter().find(|it| it.samples.len() > 1).unwrap().trial.index;
        let lines = RecordLines::read(&golden()).unwrap();
        let round = *lines.rounds(trial).unwrap().last().unwrap();
        let after = copied("disturbed", |lines| lines.disturbed(trial, round, 10));
        for (before, after) in before.trials.iter().zip(&after.trials) {
            for (before, after) in before.samples.iter().zip(&after.samples) {
                let times = if before.trial == trial && before.round == round { 10 } else { 1 };
                assert_eq!(after.wall_ns, before.wall_ns * times);
                assert_eq!(after.turn.wall_ns, before.turn.wall_ns.map(|ns| ns * times));
            }
        }
        assert_eq!(before.header, after.header);
    }

    #[test]
    fn every_ranked_trial_can_be_made_the_reference() {
        let before = Record::read(&golden()).unwrap();
        for trial in before.trials.iter().map(|it| &it.trial.id) {
            let after = copied("reference", |lines| lines.with_reference(&trial.to_string()));
            assert_eq!(after.header.reference.as_ref(), Some(trial));
            assert_eq!(after.trials, before.trials);
        }
    }

    #[test]
    fn a_line_that_is_a_sample_names_its_trial() {
        assert_eq!(
            sampled_trial(r#"{"line":"sample","trial":4,"round":0,"wall_ns":1}"#),
            Some(TrialIndex::new(4))
        );
        assert_eq!(sampled_trial(r#"{"line":"outcome","trial":4}"#), None);
        assert_eq!(sampled_trial(r#"{"line":"sample","tri"#), None);
    }
}
