//! The recorder of a run: it writes every line of the record, and hands lines and steps to what
//! shows the run while it goes on ([`crate::live`]). If another lab starts, a warning goes to the
//! record and to the terminal.

use crate::live::Live;
use readlab_measure::interface::{Sink, Step};
use readlab_measure::plan::Plan;
use readlab_record::{Line, Record, RecordError, RecordWriter};
use readlab_system::folder::RunFolder;
use readlab_system::instance::{self, Instance};
use readlab_system::terminal::notice;
use std::path::{Path, PathBuf};

/// What the record says when the user has ended the run.
const ENDED_BY_USER: &str = "the user ended the run, as if the time for it had been used up";

/// Writes the record and shows the run.
#[derive(Debug)]
pub struct Recorder {
    writer: RecordWriter,
    instance: Instance,
    live: Live,
    /// Whether the user has ended the run.
    is_ended: bool,
}

impl Recorder {
    /// Begins the record of a run. It has no name until [`Recorder::publish`].
    pub fn begin(folder: &RunFolder, live: Live) -> Result<Recorder, RecordError> {
        Ok(Recorder::resume_with(RecordWriter::create(&folder.record())?, live))
    }

    /// Continues a record.
    pub fn resume_with(writer: RecordWriter, live: Live) -> Recorder {
        live.begin_run();
        Recorder { writer, instance: Instance::begin(), live, is_ended: false }
    }

    /// Gives the record its name, once its first lines are written.
    pub fn publish(&mut self) -> Result<(), RecordError> {
        self.writer.publish()
    }

    /// Where the record is, or will be.
    pub fn path(&self) -> &Path {
        self.writer.path()
    }

    /// Removes the record of a run that could not begin.
    pub fn withdraw(self) -> Result<(), RecordError> {
        self.live.clear();
        self.writer.withdraw()
    }

    /// Shows what is done before or after the measuring.
    pub fn note(&self, text: &str) {
        self.live.activity(text);
    }

    /// Shows how much of it is done.
    pub fn note_done(&self, bytes: u64, of: u64) {
        self.live.activity_done(bytes, of);
    }

    /// Takes the trials of a plan, so that they can be shown.
    pub fn follow(&self, plan: &Plan) {
        self.live.expect(plan);
    }

    /// Takes what the record of the interrupted run holds, so that it can be shown.
    pub fn recall(&self, record: &Record) {
        self.live.recall(record);
    }

    /// What shows the run.
    pub(super) fn live(&self) -> &Live {
        &self.live
    }

    /// Ends the run; the path of its record.
    pub fn finish(self) -> PathBuf {
        self.live.clear();
        self.writer.path().to_owned()
    }

    /// One line for the record, and for what is shown.
    fn write(&mut self, line: Line) -> Result<(), RecordError> {
        self.writer.append(&line)?;
        self.live.take(&line);
        Ok(())
    }
}

impl Sink for Recorder {
    fn append(&mut self, line: Line) -> Result<(), RecordError> {
        // They are the first lines: no warning may come before them.
        let is_first = matches!(line, Line::Header(_) | Line::Resumed(_));
        let others = if is_first { Vec::new() } else { self.instance.newcomers() };
        for other in others {
            let text = instance::warning(other);
            notice::show(&text);
            self.write(Line::Warning { text })?;
        }
        self.write(line)
    }

    fn about_to(&mut self, step: Step) {
        self.live.about_to(step);
    }

    fn wants_end(&mut self) -> Result<bool, RecordError> {
        if !self.is_ended && self.live.wants_end() {
            self.is_ended = true;
            self.append(Line::Warning { text: ENDED_BY_USER.to_owned() })?;
        }
        Ok(self.is_ended)
    }
}
