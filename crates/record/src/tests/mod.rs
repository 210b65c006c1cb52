//! Tests of record files that are complete, cut off, broken, of another version, or no records; and
//! of every kind of line.

use crate::{
    EndReason, Header, LeftBehind, Line, Outcome, Record, RecordError, RecordWriter, Resumption,
    SCHEMA_VERSION, Trial,
};
use readlab_model::sample::Sample;
use readlab_model::target::TargetIndex;
use readlab_model::trial::{CacheState, TrialIndex};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A record with lines of every kind, in the order of a run and with unusual values.
const EVERY_LINE: &str = include_str!("every_line.jsonl");

fn every_line() -> Vec<Line> {
    EVERY_LINE.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn header() -> Header {
    let Line::Header(header) = every_line().swap_remove(0) else { panic!("the first line") };
    *header
}

fn trial() -> Trial {
    let mut trials = every_line().into_iter().filter_map(|line| match line {
        Line::Trial(trial) => Some(*trial),
        _ => None,
    });
    trials.next_back().unwrap()
}

fn resumed_line(reopen: Vec<usize>) -> Line {
    let reopen = reopen.into_iter().map(TrialIndex::new).collect();
    let (at, state) = ("2024-01-02T00:00:00Z".to_owned(), CacheState::Warm);
    Line::Resumed(Resumption {
        resumed_at: at,
        elapsed_ns: 1 << 53,
        state,
        round: 5,
        reopened_trials: reopen,
    })
}

/// Writes a record with every kind of line; returns its path and its text.
fn write_every_line() -> (TempDir, PathBuf, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.jsonl");
    let mut writer = RecordWriter::create(&path).unwrap();
    let lines = every_line();
    writer.append(&lines[0]).unwrap();
    assert!(!path.exists(), "a name means a record with a header");
    writer.publish().unwrap();
    lines[1..].iter().for_each(|line| writer.append(line).unwrap());
    let text = fs::read_to_string(&path).unwrap();
    (folder, path, text)
}

fn read(text: impl AsRef<[u8]>) -> Result<Record, RecordError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.jsonl");
    fs::write(&path, text).unwrap();
    let read = Record::read(&path);
    if let Err(error) = &read {
        let said = error.to_string();
        assert!(said.starts_with(path.to_str().unwrap()) && said.lines().count() == 1, "{said}");
    }
    read
}

#[test]
fn every_kind_of_line_comes_back_as_it_was() {
    let (_folder, path, text) = write_every_line();
    assert_eq!(text, EVERY_LINE);
    let unheard_of = serde_json::from_str::<Line>("{\"line\":\"unheard of\"}").unwrap_err().to_string();
    for kind in unheard_of.split('`').skip(3).step_by(2) {
        assert!(text.contains(&format!("{{\"line\":\"{kind}\",")), "there is no line of the kind {kind}");
    }
    let record = Record::read(&path).unwrap();
    assert_eq!((&record.header, record.targets[TargetIndex::new(0)].size_bytes), (&header(), 7));
    let found = &record.trials[TrialIndex::new(0)];
    assert_eq!((&found.trial, found.samples.len(), found.rejected_readings.len()), (&trial(), 1, 1));
    assert_eq!(found.search_samples.len(), 1, "readings of a search stand apart");
    assert!(matches!(found.outcome, Some(Outcome::Refused { .. })));
    assert_eq!((found.warmups.len(), found.cold_probe.len()), (1, 1));
    assert_eq!(found.conduct.left_behind, LeftBehind { processes: u64::MAX, readings: 2 });
    assert_eq!(found.conduct.scheduling.len(), 1);
    assert_eq!(
        (found.flame_graph.as_ref().unwrap().sample_count, found.trace.as_ref().unwrap().read_call_count()),
        (7, 3)
    );
    assert!(found.missing_meters.contains_key("minor_faults") && found.counts.contains_key("syscalls"));
    assert_eq!((record.contenders.len(), record.fills.len(), record.warnings.len()), (1, 1, 1));
    assert_eq!((record.writes.len(), record.limits.len(), record.resumptions.len()), (1, 1, 1));
    assert_eq!(record.end, Some((EndReason::TargetChanged, 11)));
}

#[test]
fn a_record_that_is_cut_off_anywhere_is_read_as_a_shorter_record() {
    let first = EVERY_LINE.find('\n').unwrap();
    for end in first..EVERY_LINE.len() {
        let Some(cut) = EVERY_LINE.get(..end) else { continue };
        let record = read(cut).unwrap_or_else(|error| panic!("cut at {end}: {error}"));
        let whole_lines = cut.bytes().filter(|&byte| byte == b'\n').count();
        let told = record.targets.len() + record.contenders.len() + record.trials.len() + record.fills.len();
        assert!(told <= whole_lines + 1, "cut at {end}");
        // If only the newline at the end is missing, the last line is complete.
        assert_eq!(record.end.is_some(), end >= EVERY_LINE.len() - 1, "cut at {end}");
    }
    assert_eq!(read(EVERY_LINE).unwrap(), read(EVERY_LINE.trim_end()).unwrap());
}

#[test]
fn a_record_that_is_cut_off_anywhere_is_continued_after_its_last_complete_line() {
    let (_folder, path, text) = write_every_line();
    let more = || Line::Warning { text: "more".to_owned() };
    let first = text.find('\n').unwrap();
    // The record is cut off at the ends of lines, and at some bytes within each line.
    let is_cut =
        |end: usize| end.is_multiple_of(13) || text[..end].ends_with('\n') || text[end..].starts_with('\n');
    for end in (first..text.len()).filter(|&end| text.is_char_boundary(end) && is_cut(end)) {
        fs::write(&path, &text[..end]).unwrap();
        let mut expected = Record::read(&path).unwrap();
        let mut writer = RecordWriter::reopen(&path).unwrap();
        let unchanged = fs::read_to_string(&path).unwrap();
        assert_eq!(unchanged, text[..end], "nothing is changed before there is more");
        (0..2).for_each(|_| writer.append(&more()).unwrap());
        (0..2).for_each(|_| expected.add(more()));
        assert_eq!(Record::read(&path).unwrap(), expected, "cut at {end}");
    }
}

#[test]
fn a_torn_line_longer_than_what_is_read_at_once_is_cut_off() {
    let (_folder, path, text) = write_every_line();
    fs::write(&path, format!("{text}{{\"line\":\"warning\",\"text\":\"{}", "x".repeat(200_000))).unwrap();
    let line = Line::Warning { text: "more".to_owned() };
    RecordWriter::reopen(&path).unwrap().append(&line).unwrap();
    let expected = format!("{text}{}\n", serde_json::to_string(&line).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
}

#[test]
fn a_record_has_one_writer() {
    let (_folder, path, _) = write_every_line();
    let first = RecordWriter::reopen(&path).unwrap();
    assert!(matches!(RecordWriter::reopen(&path), Err(RecordError::InUse(_))));
    drop(first);
    assert!(RecordWriter::reopen(&path).is_ok());
    let made = path.with_file_name("new");
    let mut first = RecordWriter::create(&made).unwrap();
    first.publish().unwrap();
    assert!(matches!(RecordWriter::reopen(&made), Err(RecordError::InUse(_))));
    first.publish().unwrap();
    first.withdraw().unwrap();
    assert!(!made.exists());
}

#[test]
fn a_writer_reads_back_its_own_file_and_not_one_that_took_its_name() {
    let (_folder, path, text) = write_every_line();
    let expected = Record::read(&path).unwrap();
    let writer = RecordWriter::reopen(&path).unwrap();
    let planted = path.with_file_name("planted");
    fs::write(&planted, text.replace("readlab race", "sh -c evil")).unwrap();
    fs::rename(&planted, &path).unwrap();
    assert_eq!(writer.read_back().unwrap().0, expected);
}

#[test]
fn a_record_of_another_user_cannot_be_continued() {
    let (_folder, path, _) = write_every_line();
    if std::os::unix::fs::chown(&path, Some(1), None).is_err() {
        eprintln!("SKIPPED: only root can give a file to another user");
        return;
    }
    assert!(matches!(RecordWriter::reopen(&path), Err(RecordError::NotOwn(_))));
}

#[test]
fn of_two_writers_one_gets_the_name_and_the_other_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.jsonl");
    let begin = || {
        let mut writer = RecordWriter::create(&path).unwrap();
        writer.append(&Line::Header(Box::new(header()))).unwrap();
        writer
    };
    let (mut one, mut other, third) = (begin(), begin(), begin());
    one.publish().unwrap();
    assert!(matches!(other.publish(), Err(RecordError::Io { .. })));
    drop(other);
    third.withdraw().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(Record::read(&path).unwrap().header, header());
}

#[test]
fn resuming_removes_the_end_and_the_outcomes_of_the_interruption() {
    let mut record = Record::new(header());
    record.add(Line::Trial(Box::new(trial())));
    record.add(Line::Outcome { trial: TrialIndex::new(0), outcome: Outcome::Measured });
    record.add(Line::End { reason: EndReason::Interrupted, wall_ns: 1 });
    record.add(resumed_line(vec![]));
    assert_eq!((record.end, &record.trials[TrialIndex::new(0)].outcome), (None, &Some(Outcome::Measured)));
    record.add(resumed_line(vec![0, 9]));
    assert_eq!((record.resumptions.len(), &record.trials[TrialIndex::new(0)].outcome), (2, &None));
}

#[test]
fn a_header_without_a_resume_plan_is_readable() {
    let header = Line::Header(Box::new(Header { resume_plan: None, ..header() }));
    let header = serde_json::to_string(&header).unwrap();
    assert!(!header.contains("agenda"));
    let record = read(format!("{header}\n{}", EVERY_LINE.split_once('\n').unwrap().1)).unwrap();
    assert_eq!((record.header.resume_plan, record.trials.len()), (None, 1));
}

#[test]
fn a_first_line_that_was_cut_leaves_no_record() {
    let header = EVERY_LINE.lines().next().unwrap();
    for end in [0, 1, header.len() / 2, header.len() - 1] {
        let cut = read(&header.as_bytes()[..end]);
        assert!(matches!(cut, Err(RecordError::NotARecord { .. })), "cut at {end}");
    }
}

#[test]
fn a_line_broken_in_the_middle_is_named() {
    for broken in ["{", "", "null", "{\"line\":\"unheard of\"}", "\u{0}"] {
        let lines: Vec<&str> =
            EVERY_LINE.lines().enumerate().map(|(at, line)| if at == 3 { broken } else { line }).collect();
        let error = read(lines.join("\n") + "\n").unwrap_err();
        assert!(matches!(error, RecordError::BrokenLine { number: 4, .. }), "{broken:?}: {error}");
    }
}

#[test]
fn a_complete_last_line_of_an_unknown_kind_is_an_error() {
    let error = read(format!("{EVERY_LINE}{{\"line\":\"unheard of\"}}\n")).unwrap_err();
    assert!(matches!(error, RecordError::BrokenLine { .. }), "{error}");
}

#[test]
fn a_record_of_another_version_is_refused_with_both_versions() {
    let own = format!("\"version\":{SCHEMA_VERSION}");
    for other in [u64::from(SCHEMA_VERSION) - 1, u64::from(SCHEMA_VERSION) + 1] {
        let text = EVERY_LINE.replacen(&own, &format!("\"version\":{other}"), 1);
        let error = read(text).unwrap_err();
        assert!(matches!(error, RecordError::OtherVersion { found, .. } if found == other));
        let said = format!("schema version {other}, and this readlab reads version {SCHEMA_VERSION}");
        assert!(error.to_string().ends_with(&said), "{error}");
    }
}

#[test]
fn a_file_that_is_not_a_record_is_reported() {
    for text in [
        "",
        "\n",
        "hello\n",
        "{}\n",
        "[1]\n",
        "{\"schema\":\"other\"}\n",
        "{\"schema\":\"readlab.record\"}\n",
        "{\"schema\":\"readlab.record\",\"version\":1}\n",
    ] {
        assert!(matches!(read(text), Err(RecordError::NotARecord { .. })), "{text:?}");
    }
    assert!(matches!(read([0xff, 0xfe, b'\n']), Err(RecordError::NotARecord { .. })));
    let nowhere = Record::read("/no/such/record".as_ref()).unwrap_err();
    assert!(nowhere.to_string().starts_with("/no/such/record: No such file"), "{nowhere}");
}

#[test]
fn a_record_is_never_written_over() {
    let (_folder, path, text) = write_every_line();
    assert!(matches!(RecordWriter::create(&path), Err(RecordError::Io { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn lines_about_a_trial_that_was_never_announced_are_dropped() {
    let mut record = Record::new(header());
    record.add(Line::Sample(Box::new(Sample { trial: TrialIndex::new(3), ..Sample::default() })));
    record.add(Line::Outcome { trial: TrialIndex::new(3), outcome: Outcome::Measured });
    assert_eq!(record, Record::new(header()));
}
