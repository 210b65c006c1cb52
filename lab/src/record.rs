//! Everything that a run found, in the order it was found: an append-only file of JSON lines, flushed line by line.
//!
//! The record forgets nothing and rounds nothing: raw samples, refusals with both answers, meters that could not be
//! had with the reason, the machine, the seed, the command. Whatever a page or a table says is computed from it. A run
//! that was killed is a shorter record; [`Record::read`] takes it as far as it goes. The file's words are the ones of
//! DESIGN's JSON contract; a new meaning takes a new [`SCHEMA_VERSION`], and old records stay readable.

#[cfg(test)]
pub(crate) mod testing;

use crate::machine::Machine;
use crate::target::TargetFacts;
use crate::trial::{Answer, CacheState, MethodId, Params, TrialId, Work};
use readlab_protocol::{Archive, Cache};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// Name of the format.
pub const SCHEMA: &str = "readlab.record";
/// Version of the format.
pub const SCHEMA_VERSION: u32 = 2;

/// The first line: what was asked, of whom, where and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`SCHEMA_VERSION`].
    pub version: u32,
    /// The lab's version.
    pub lab: String,
    /// The commit it was built from.
    pub revision: String,
    /// The verb: `race`, `suite`, `sweep` …
    pub verb: String,
    /// The command line that repeats the run, word by word.
    pub command: Vec<String>,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Seed of every shuffle and resample.
    pub seed: u64,
    /// The trial against which ratios are made, if one was named.
    pub reference: Option<TrialId>,
    /// Where.
    pub machine: Machine,
}

/// A trial as it is about to be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Its number in this record; samples refer to it.
    pub index: usize,
    /// Its name, with all parameters that were given.
    pub id: TrialId,
    /// Name that a suite gives it, if any.
    pub label: Option<String>,
    /// Who reads.
    pub contender: String,
    /// How bytes are brought.
    pub method: String,
    /// How bytes are visited.
    pub scan: Option<String>,
    /// Every parameter in force, defaults included, with units in the names.
    pub params: Params,
    /// Number of the target in this record.
    pub target: usize,
    /// What is done with the bytes.
    pub work: Work,
    /// Where the bytes are when the clock starts.
    pub state: CacheState,
    /// How the method stands to the page cache.
    pub cache: Cache,
    /// The archive whose content it reads; `None` for one that reads the target's bytes as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decodes: Option<Archive>,
}

impl Trial {
    /// Whether this is a control: it shows what the machine or the lab does, and stands outside every ranking.
    #[must_use]
    pub fn is_control(&self) -> bool {
        self.cache == Cache::None
    }

    /// The limit that it measures; `None` for a reading, and for a control that measures none.
    #[must_use]
    pub fn limit(&self) -> Option<LimitKind> {
        if self.is_control() { LimitKind::of_control(&self.method) } else { None }
    }

    /// Who reads and how, as one name.
    #[must_use]
    pub fn method_id(&self) -> &MethodId {
        &self.id.method
    }

    /// Whether this setting of the method goes to the device even when the file is cached.
    #[must_use]
    pub fn bypasses_cache(&self) -> bool {
        match self.cache {
            Cache::Bypass => true,
            Cache::ByParam => self.params.0.get("direct") == Some(&1),
            Cache::Through | Cache::None => false,
        }
    }
}

/// One timed reading with everything metered around it. `None` is a meter that could not be read; why is a
/// [`Line::Missing`] of the same trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Number of the trial.
    pub trial: usize,
    /// Which fill of the cache, from 0; samples that are not warm have one each and count up too.
    pub fill: u32,
    /// Which round, from 0, over the whole run of one state.
    pub round: u32,
    /// Place in the round's shuffled order, from 0.
    pub position: u32,
    /// In which rung of a search it was read, from 0; `None` for a reading whose number is told. Since version 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<u32>,
    /// Which of the timed readings of its turn, from 0.
    pub reading: u32,
    /// How many readings, timed and leading, shared the turn; meters read from outside are shared out equally.
    pub turn_readings: u32,
    /// Open to close by the contender's monotonic clock.
    pub wall_ns: u64,
    /// CPU time in user mode.
    pub cpu_user_ns: Option<u64>,
    /// CPU time in the kernel.
    pub cpu_system_ns: Option<u64>,
    /// High-water mark of resident memory, mapped file pages included.
    pub peak_rss_bytes: Option<u64>,
    /// Page faults served without the device.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for the device.
    pub major_faults: Option<u64>,
    /// Bytes that the kernel fetched from the device for this process.
    pub device_read_bytes: Option<u64>,
    /// Share of the file's pages in the page cache before the turn, 0 to 1.
    pub resident_before: Option<f64>,
    /// Share of the file's pages in the page cache after the turn, 0 to 1.
    pub resident_after: Option<f64>,
    /// Proof of work.
    pub answer: Answer,
}

/// One number that a sample holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Open to close.
    WallNs,
    /// CPU time in user mode.
    CpuUserNs,
    /// CPU time in the kernel.
    CpuSystemNs,
    /// High-water mark of resident memory.
    PeakRssBytes,
    /// Page faults served without the device.
    MinorFaults,
    /// Page faults that waited for the device.
    MajorFaults,
    /// Bytes fetched from the device.
    DeviceReadBytes,
}

impl Metric {
    /// All of them, in the order of tables.
    pub const ALL: [Metric; 7] = [
        Metric::WallNs,
        Metric::CpuUserNs,
        Metric::CpuSystemNs,
        Metric::PeakRssBytes,
        Metric::MinorFaults,
        Metric::MajorFaults,
        Metric::DeviceReadBytes,
    ];

    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Metric::WallNs => "wall_ns",
            Metric::CpuUserNs => "cpu_user_ns",
            Metric::CpuSystemNs => "cpu_system_ns",
            Metric::PeakRssBytes => "peak_rss_bytes",
            Metric::MinorFaults => "minor_faults",
            Metric::MajorFaults => "major_faults",
            Metric::DeviceReadBytes => "device_read_bytes",
        }
    }

    /// Its value in a sample.
    #[must_use]
    pub fn of(self, sample: &Sample) -> Option<u64> {
        match self {
            Metric::WallNs => Some(sample.wall_ns),
            Metric::CpuUserNs => sample.cpu_user_ns,
            Metric::CpuSystemNs => sample.cpu_system_ns,
            Metric::PeakRssBytes => sample.peak_rss_bytes,
            Metric::MinorFaults => sample.minor_faults,
            Metric::MajorFaults => sample.major_faults,
            Metric::DeviceReadBytes => sample.device_read_bytes,
        }
    }
}

/// How a trial ended. Failure is data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Its samples stand.
    Measured,
    /// It answered wrongly, lied about time, or its cache state could not be proven: its numbers are not told.
    Refused {
        /// Why, in one line.
        reason: String,
    },
    /// It crashed, hung, or could not read.
    Failed {
        /// Why, in one line.
        reason: String,
    },
    /// It cannot work on this machine or on this target.
    Unavailable {
        /// Why, in one line.
        reason: String,
    },
}

impl Outcome {
    /// The word used in files and tables.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Measured => "measured",
            Outcome::Refused { .. } => "refused",
            Outcome::Failed { .. } => "failed",
            Outcome::Unavailable { .. } => "unavailable",
        }
    }

    /// Why it was not measured.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Outcome::Measured => None,
            Outcome::Refused { reason } | Outcome::Failed { reason } | Outcome::Unavailable { reason } => {
                Some(reason)
            }
        }
    }
}

/// One count from an untimed run, with the way it was counted: ways of counting change counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How many, or `None` with the reason in `how`.
    pub value: Option<u64>,
    /// The way of counting, or why there is none.
    pub how: String,
}

/// The standard fill that made the file warm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fill {
    /// Its number, as in samples.
    pub fill: u32,
    /// Number of the target.
    pub target: usize,
    /// What was done, in words.
    pub how: String,
    /// Time it took.
    pub wall_ns: u64,
    /// Share of the file's pages in the page cache afterwards.
    pub resident_after: Option<f64>,
}

/// The untimed readings of a contender that reads until it is steady, each time it is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmedUp {
    /// Number of the trial.
    pub trial: usize,
    /// How many readings.
    pub readings: u32,
    /// Time they took.
    pub wall_ns: u64,
    /// How they ended.
    pub end: WarmupEnd,
}

/// How a warm-up ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarmupEnd {
    /// The readings stayed at one level.
    Steady,
    /// Time or readings were used up and the level still changed.
    NoSteadyState,
    /// Time was used up before there were enough readings to tell.
    TooFewReadings,
}

/// How the lab writes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum WriteWay {
    /// write(2) through the page cache; when it returns, the bytes may still be in memory only.
    Plain,
    /// The same, then fdatasync(2), timed apart.
    Fdatasync,
    /// write(2) with O_DIRECT from an aligned buffer.
    Direct,
}

/// What writing one file took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteTimes {
    /// Creating, writing and closing.
    pub write_ns: u64,
    /// The sync before closing, where there was one.
    pub sync_ns: Option<u64>,
}

/// Something that a machine does at best so fast, and no reading that needs it faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Visiting bytes that are in memory.
    Memory,
    /// The kernel's copy out of the page cache.
    Copy,
    /// A page fault on a cached page.
    Faults,
    /// The way into the kernel and back.
    Syscall,
    /// Reading from the device, past the page cache.
    Device,
    /// Decoding an archive that is in memory; of what comes out.
    Decoding,
}

impl LimitKind {
    /// The word used in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            LimitKind::Memory => "memory",
            LimitKind::Copy => "copy",
            LimitKind::Faults => "faults",
            LimitKind::Syscall => "syscall",
            LimitKind::Device => "device",
            LimitKind::Decoding => "decoding",
        }
    }

    /// The limit that a control of this name measures, in whatever contender; `None` for the other controls.
    #[must_use]
    pub fn of_control(method: &str) -> Option<LimitKind> {
        match method {
            "resident" => Some(LimitKind::Memory),
            "copy" => Some(LimitKind::Copy),
            "faults" => Some(LimitKind::Faults),
            "syscall" => Some(LimitKind::Syscall),
            "device" => Some(LimitKind::Device),
            "decoder" => Some(LimitKind::Decoding),
            _ => None,
        }
    }
}

/// What the numbers of a limit count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitUnit {
    /// A rate; more is faster.
    BytesPerSecond,
    /// A cost of one; less is faster.
    Nanoseconds,
}

/// What was found to be possible at best. Most limits are controls of the record and computed from their samples
/// ([`crate::verdict::limits`]); one that another program measured has a line of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Of what.
    pub kind: LimitKind,
    /// Who measured it with which settings.
    pub name: String,
    /// Number of the target.
    pub target: usize,
    /// In the rounds of which state; `None` for one that no trial measured.
    #[serde(default)]
    pub state: Option<CacheState>,
    /// Number of the trial whose samples these are, if it was one.
    #[serde(default)]
    pub trial: Option<usize>,
    /// Threads that worked at once.
    pub threads: u64,
    /// What the numbers count.
    pub unit: LimitUnit,
    /// The median.
    pub value: u64,
    /// 95 % interval of the median; `None` with too few samples.
    #[serde(default)]
    pub ci95: Option<[u64; 2]>,
    /// One number a reading, in their order.
    pub samples: Vec<u64>,
    /// What was done.
    pub how: String,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Every trial reached its precision or its own limit.
    Settled,
    /// The time for the whole run was used up.
    Budget,
    /// The user stopped it.
    Interrupted,
    /// The target changed while it was read.
    TargetChanged,
}

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// The first.
    Header(Box<Header>),
    /// What is read.
    Target {
        /// Its number in this record.
        index: usize,
        /// Everything found out about it before measuring.
        facts: Box<TargetFacts>,
    },
    /// A contender that showed its receipt.
    Contender(Receipt),
    /// A trial about to be measured.
    Trial(Box<Trial>),
    /// The cache was filled.
    Fill(Fill),
    /// A contender was warmed up.
    Warmup(WarmedUp),
    /// A file was written by the lab.
    Write {
        /// Number of the target.
        target: usize,
        /// How.
        how: WriteWay,
        /// What it took.
        #[serde(flatten)]
        times: WriteTimes,
    },
    /// One timed reading.
    Sample(Box<Sample>),
    /// A reading whose state could not be proven; it was taken again or the trial was refused.
    Rejected {
        /// Number of the trial.
        trial: usize,
        /// Which round.
        round: u32,
        /// What was not proven.
        reason: String,
    },
    /// A meter that could not be read in this trial; said once.
    Missing {
        /// Number of the trial.
        trial: usize,
        /// Name of the meter, as in samples.
        meter: String,
        /// Why.
        reason: String,
    },
    /// Counts from an untimed run of a trial.
    Counts {
        /// Number of the trial.
        trial: usize,
        /// `syscalls`, `mallocs`, `retains`, `releases` …
        counts: BTreeMap<String, Count>,
    },
    /// How a trial ended.
    Outcome {
        /// Number of the trial.
        trial: usize,
        /// Measured, refused, failed or unavailable.
        #[serde(flatten)]
        outcome: Outcome,
    },
    /// A limit that was measured by something else than a trial.
    Limit(Box<Limit>),
    /// Something that whoever reads the numbers should know.
    Warning {
        /// In one line.
        text: String,
    },
    /// The last line, if the run ended by itself.
    End {
        /// Why.
        reason: EndReason,
        /// Time from the first line to this one.
        wall_ns: u64,
    },
}

/// One trial with all that was found about it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRecord {
    /// The question.
    pub trial: Trial,
    /// The readings that stand.
    pub samples: Vec<Sample>,
    /// The readings of a search, which decided who is measured: no number is told from them, for who is chosen by being
    /// fast in some readings looks faster there than it is.
    pub searched: Vec<Sample>,
    /// The readings that were thrown away: round and reason.
    pub rejected: Vec<(u32, String)>,
    /// Warm-ups until steady, one for each start of the contender.
    pub warmups: Vec<WarmedUp>,
    /// Meters that could not be read, with the reason.
    pub missing: BTreeMap<String, String>,
    /// Counts from untimed runs.
    pub counts: BTreeMap<String, Count>,
    /// How it ended; `None` when the run was cut short.
    pub outcome: Option<Outcome>,
}

impl TrialRecord {
    /// Whether what was read of it stands: it was measured, or the run was cut short while it was.
    #[must_use]
    pub fn stands(&self) -> bool {
        matches!(self.outcome, None | Some(Outcome::Measured))
    }

    /// Whether it has readings, and they stand.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        !self.samples.is_empty() && self.stands()
    }
}

/// A contender that showed its receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its name in the roster.
    pub contender: String,
    /// Its version.
    pub version: String,
    /// Compiler, runtime, flags.
    pub runtime: String,
}

/// A whole run, read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// What was asked, of whom, where and when.
    pub header: Header,
    /// What was read, by number.
    pub targets: Vec<TargetFacts>,
    /// Who took part.
    pub contenders: Vec<Receipt>,
    /// What was found, by number.
    pub trials: Vec<TrialRecord>,
    /// The fills of the cache, in order.
    pub fills: Vec<Fill>,
    /// The files that the lab wrote: number of the target, how, and what it took.
    pub writes: Vec<(usize, WriteWay, WriteTimes)>,
    /// Limits that were measured by something else than a trial.
    pub limits: Vec<Limit>,
    /// What readers should know.
    pub warnings: Vec<String>,
    /// Why it ended and how long it took; `None` when it was cut short.
    pub end: Option<(EndReason, u64)>,
}

/// Why a file is not a record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The first line is no header of ours.
    #[error("{path}: not a readlab record: {cause}")]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// What is wrong with the first line.
        cause: String,
    },
    /// Written by a later readlab.
    #[error("{path}: schema version {found}, this readlab reads up to {SCHEMA_VERSION}")]
    LaterSchema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// A line in the middle is broken.
    #[error("{path}: line {number}: {cause}")]
    BrokenLine {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        number: usize,
        /// What is wrong.
        cause: String,
    },
}

/// A record being written.
#[derive(Debug)]
pub struct RecordWriter {
    path: PathBuf,
    file: File,
}

impl RecordWriter {
    /// Begins a record; the file must not exist yet.
    ///
    /// # Errors
    /// If the file exists or cannot be made.
    pub fn create(path: &Path) -> Result<RecordWriter, RecordError> {
        let file = File::options().append(true).create_new(true).open(path);
        let file = file.map_err(|cause| RecordError::Io { path: path.to_owned(), cause })?;
        Ok(RecordWriter { path: path.to_owned(), file })
    }

    /// Where it is written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one line with a single write, so that a killed run leaves whole lines.
    ///
    /// # Errors
    /// If the file cannot be written, for instance on a full disk.
    pub fn append(&mut self, line: &Line) -> Result<(), RecordError> {
        let mut text = serde_json::to_vec(line).expect("records hold only strings, numbers and string keys");
        text.push(b'\n');
        self.file.write_all(&text).map_err(|cause| RecordError::Io { path: self.path.clone(), cause })
    }
}

impl Record {
    /// Reads a record back, as far as it was written: a last line that was cut off is left out.
    ///
    /// # Errors
    /// If the file is no record, is of a later schema, or is broken in the middle.
    pub fn read(path: &Path) -> Result<Record, RecordError> {
        let io = |cause| RecordError::Io { path: path.to_owned(), cause };
        let mut file = BufReader::new(File::open(path).map_err(io)?);
        let mut line = Vec::new();
        file.read_until(b'\n', &mut line).map_err(io)?;
        let mut record = Record::begin(path, &line)?;
        for number in 2.. {
            line.clear();
            if file.read_until(b'\n', &mut line).map_err(io)? == 0 {
                break;
            }
            match serde_json::from_slice(&line) {
                Ok(found) => record.add(found),
                // Only what has no end was cut off; anything else is broken, wherever it stands.
                Err(_) if !line.ends_with(b"\n") => break,
                Err(cause) => {
                    let (path, cause) = (path.to_owned(), cause.to_string());
                    return Err(RecordError::BrokenLine { path, number, cause });
                }
            }
        }
        Ok(record)
    }

    /// An empty record from its first line.
    fn begin(path: &Path, first: &[u8]) -> Result<Record, RecordError> {
        let not_a_record = |cause: String| RecordError::NotARecord { path: path.to_owned(), cause };
        let value: serde_json::Value =
            serde_json::from_slice(first).map_err(|e| not_a_record(e.to_string()))?;
        if value["schema"] != SCHEMA {
            return Err(not_a_record(format!("its first line has no \"schema\": \"{SCHEMA}\"")));
        }
        let found = value["version"].as_u64().unwrap_or(0);
        if found > u64::from(SCHEMA_VERSION) {
            return Err(RecordError::LaterSchema { path: path.to_owned(), found });
        }
        match serde_json::from_value(value).map_err(|e| not_a_record(e.to_string()))? {
            Line::Header(header) => Ok(Record::new(*header)),
            _ => Err(not_a_record("its first line is no header".to_owned())),
        }
    }

    /// A record of which only the header is known.
    #[must_use]
    pub fn new(header: Header) -> Record {
        Record {
            header,
            targets: Vec::new(),
            contenders: Vec::new(),
            trials: Vec::new(),
            fills: Vec::new(),
            writes: Vec::new(),
            limits: Vec::new(),
            warnings: Vec::new(),
            end: None,
        }
    }

    /// Takes in one more line. Lines about a trial that was never announced are dropped.
    pub fn add(&mut self, line: Line) {
        match line {
            Line::Header(_) => {}
            Line::Target { facts, .. } => self.targets.push(*facts),
            Line::Contender(receipt) => self.contenders.push(receipt),
            Line::Trial(trial) => self.trials.push(TrialRecord {
                trial: *trial,
                samples: Vec::new(),
                searched: Vec::new(),
                rejected: Vec::new(),
                warmups: Vec::new(),
                missing: BTreeMap::new(),
                counts: BTreeMap::new(),
                outcome: None,
            }),
            Line::Fill(fill) => self.fills.push(fill),
            Line::Write { target, how, times } => self.writes.push((target, how, times)),
            Line::Limit(limit) => self.limits.push(*limit),
            Line::Warning { text } => self.warnings.push(text),
            Line::End { reason, wall_ns } => self.end = Some((reason, wall_ns)),
            Line::Warmup(warmed) => self.with(warmed.trial, |trial| trial.warmups.push(warmed)),
            Line::Sample(sample) => self.with(sample.trial, |trial| match sample.rung {
                Some(_) => trial.searched.push(*sample),
                None => trial.samples.push(*sample),
            }),
            Line::Rejected { trial, round, reason } => {
                self.with(trial, |trial| trial.rejected.push((round, reason)));
            }
            Line::Missing { trial, meter, reason } => self.with(trial, |trial| {
                trial.missing.insert(meter, reason);
            }),
            Line::Counts { trial, counts } => self.with(trial, |trial| trial.counts.extend(counts)),
            Line::Outcome { trial, outcome } => self.with(trial, |trial| trial.outcome = Some(outcome)),
        }
    }

    fn with(&mut self, trial: usize, change: impl FnOnce(&mut TrialRecord)) {
        if let Some(trial) = self.trials.iter_mut().find(|candidate| candidate.trial.index == trial) {
            change(trial);
        }
    }
}
