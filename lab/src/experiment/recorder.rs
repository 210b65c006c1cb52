//! The recorder of a run: it writes every line of the record, and draws the progress line on
//! standard error. That is drawn on a terminal only, and between readings, so that the lab does
//! nothing while a reading is timed. If another lab starts, a warning goes to the record and to the
//! terminal.

use crate::folder::RunFolder;
use crate::linux::instance_lock::{self, InstanceLock};
use crate::measure::interface::{Progress, Sink, Step};
use crate::measure::plan::Plan;
use crate::record::{Line, RecordError, RecordWriter};
use crate::terminal::notice;
use crate::terminal::printable::printable;
use crate::units::Nanos;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Writes the record and shows the progress.
#[derive(Debug)]
pub struct Recorder {
    writer: RecordWriter,
    instance: InstanceLock,
    bar: ProgressBar,
    names: BTreeMap<usize, String>,
    stage: String,
    round: u32,
}

/// Steps of the bar: shares are shown in thousandths.
const BAR_STEPS: u64 = 1000;

impl Recorder {
    /// Begins the record of a run. It has no name until [`Recorder::publish`].
    ///
    /// # Errors
    /// If the record cannot be made.
    pub fn begin(folder: &RunFolder, shown: bool) -> Result<Recorder, RecordError> {
        Ok(Recorder::of(RecordWriter::create(&folder.record())?, shown))
    }

    /// Continues a record.
    #[must_use]
    pub fn of(writer: RecordWriter, shown: bool) -> Recorder {
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(BAR_STEPS), target);
        let style = ProgressStyle::with_template("{bar:24} {percent:>3} % {prefix}· {wide_msg}");
        bar.set_style(style.expect("the template is checked by a test").progress_chars("━╸─"));
        Recorder {
            writer,
            instance: InstanceLock::begin(),
            bar,
            names: BTreeMap::new(),
            stage: String::new(),
            round: 0,
        }
    }

    /// Gives the record its name, once its first lines are written.
    ///
    /// # Errors
    /// If its file cannot be named.
    pub fn publish(&mut self) -> Result<(), RecordError> {
        self.writer.publish()
    }

    /// Where the record is, or will be.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.writer.path()
    }

    /// Removes the record of a run that could not begin.
    ///
    /// # Errors
    /// If its file cannot be removed.
    pub fn withdraw(self) -> Result<(), RecordError> {
        self.bar.finish_and_clear();
        self.writer.withdraw()
    }

    /// Shows what is done before or after the measuring.
    pub fn note(&self, text: String) {
        self.bar.set_message(printable(&text));
        self.bar.tick();
    }

    /// Takes the names of a plan's trials, for the progress line.
    pub fn follow(&mut self, plan: &Plan) {
        self.names = plan.trials.iter().map(|p| (p.trial.index, p.trial.id.to_string())).collect();
    }

    /// Ends the run; the path of its record.
    #[must_use]
    pub fn finish(self) -> PathBuf {
        self.bar.finish_and_clear();
        self.writer.path().to_owned()
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "0 to 1000"
    )]
    fn show(&self, progress: Progress) {
        self.bar.set_position((progress.share.clamp(0.0, 1.0) * BAR_STEPS as f64) as u64);
        self.bar.set_prefix(progress.left().map_or_else(String::new, left));
    }

    fn name(&self, trial: usize) -> &str {
        self.names.get(&trial).map_or("", String::as_str)
    }
}

/// The time left, rounded to the second, and above a minute to five seconds.
fn left(time: Nanos) -> String {
    let seconds = time.as_secs_f64().round();
    let seconds = if seconds > 60.0 { (seconds / 5.0).round() * 5.0 } else { seconds };
    let (minutes, rest) = ((seconds / 60.0).floor(), seconds % 60.0);
    if minutes > 0.0 { format!("{minutes} min {rest} s left ") } else { format!("{rest} s left ") }
}

impl Sink for Recorder {
    fn append(&mut self, line: Line) -> Result<(), RecordError> {
        // They are the first lines: no warning may come before them.
        let is_first = matches!(line, Line::Header(_) | Line::Resumed(_));
        let others = if is_first { Vec::new() } else { self.instance.newcomers() };
        for other in others {
            let text = instance_lock::warning(other);
            self.bar.suspend(|| notice::show(&text));
            self.writer.append(&Line::Warning { text })?;
        }
        self.writer.append(&line)
    }

    fn about_to(&mut self, step: Step) {
        let message = match step {
            Step::State(state, trials) => {
                self.stage = format!("{state}, {trials} trials");
                self.stage.clone()
            }
            Step::Fill(fill) => format!("{}: filling the cache, fill {}", self.stage, fill + 1),
            Step::Start(trial) => format!("{}: starting {}", self.stage, self.name(trial)),
            Step::Count(trial, progress) => {
                self.show(progress);
                format!("{}: counting what {} does inside", self.stage, self.name(trial))
            }
            Step::Inspect(trial) => format!("{}: inspecting {}", self.stage, self.name(trial)),
            Step::Turn { trial, round, position, of } => {
                self.round = round;
                format!("{}: round {}, {}/{of} {}", self.stage, round + 1, position + 1, self.name(trial))
            }
            Step::RoundOver(progress) => {
                self.show(progress);
                format!("{}: round {} done", self.stage, self.round + 1)
            }
        };
        self.bar.set_message(printable(&message));
        // Without a tick the bar draws at most twenty times a second and may lag behind what runs.
        self.bar.tick();
    }
}
