//! The recorder of a run: writes every line of the record, and passes lines and steps to the live
//! view ([`crate::live`]). If another readlab starts, a warning goes to the record and to the
//! terminal.

use crate::live::LiveView;
use crate::live::display::LiveDisplay;
use readlab_fleet::hidden_names::HiddenNames;
use readlab_measure::interface::{Sink, Step};
use readlab_record::{Line, RecordError, RecordWriter};
use readlab_system::folder::RunFolder;
use readlab_system::instance::{self, MeasuringLab};
use readlab_system::terminal::notice;
use std::cell::RefMut;
use std::path::{Path, PathBuf};

/// The record's warning if the user has ended the run.
const ENDED_BY_USER: &str = "the user ended the run, as if the time for it had been used up";

#[derive(Debug)]
pub struct Recorder {
    writer: RecordWriter,
    instance: MeasuringLab,
    live: LiveView,
    is_ended_by_user: bool,
    hidden_names: HiddenNames,
}

impl Recorder {
    /// Begins the record of a run; the file has no name until [`Recorder::publish`].
    pub fn begin(folder: &RunFolder, live: LiveView) -> Result<Recorder, RecordError> {
        Ok(Recorder::with_writer(RecordWriter::create(&folder.record_path())?, live))
    }

    pub fn with_writer(writer: RecordWriter, live: LiveView) -> Recorder {
        live.display().begin_run();
        let (instance, hidden_names) = (MeasuringLab::begin(), HiddenNames::default());
        Recorder { writer, instance, live, is_ended_by_user: false, hidden_names }
    }

    /// Replaces these names in every line that is written from now on.
    pub fn hide_names(&mut self, names: HiddenNames) {
        self.hidden_names = names;
    }

    /// Gives the record its name, once its first lines are written.
    pub fn publish(&mut self) -> Result<(), RecordError> {
        self.writer.publish()
    }

    pub fn path(&self) -> &Path {
        self.writer.path()
    }

    /// Removes the record of a run that could not begin.
    pub fn withdraw(self) -> Result<(), RecordError> {
        self.display().clear();
        self.writer.withdraw()
    }

    pub(super) fn live(&self) -> &LiveView {
        &self.live
    }

    pub(super) fn display(&self) -> RefMut<'_, LiveDisplay> {
        self.live.display()
    }

    /// Ends the run; returns the path of its record.
    pub fn finish(self) -> PathBuf {
        self.display().clear();
        self.writer.path().to_owned()
    }

    fn write(&mut self, mut line: Line) -> Result<(), RecordError> {
        self.hidden_names.hide_in_line(&mut line);
        self.writer.append(&line)?;
        self.display().add_line(&line);
        Ok(())
    }
}

impl Sink for Recorder {
    fn append(&mut self, line: Line) -> Result<(), RecordError> {
        // The first line must not have a warning before it.
        let is_first = matches!(line, Line::Header(_) | Line::Resumed(_));
        let others = if is_first { Vec::new() } else { self.instance.new_lab_pids() };
        for other in others {
            let text = instance::concurrent_lab_warning(other);
            notice::show(&text);
            self.write(Line::Warning { text })?;
        }
        self.write(line)
    }

    fn announce_step(&mut self, step: Step) {
        self.display().announce_step(step);
    }

    fn wants_end(&mut self) -> Result<bool, RecordError> {
        if !self.is_ended_by_user && self.display().wants_end() {
            self.is_ended_by_user = true;
            self.append(Line::Warning { text: ENDED_BY_USER.to_owned() })?;
        }
        Ok(self.is_ended_by_user)
    }
}
