//! Settings of the system whose values a run races, or one setting with a fixed value for the whole
//! run: applies the values, reads them back and restores the old ones.
//!
//! A *point* is a combination of values, one for each setting. The first point has the values that
//! were found at the start. Each value is tried before anything is measured, and reports name it by
//! the value that is read back, because the kernel may round it. A turn counts for its point only
//! if the same values are read back right after the turn.
//!
//! The values that were found are restored when the run ends and when it fails. Before the first
//! change, the process that outlives the lab gets the commands that restore the values, and the
//! lock, which it holds until the commands have run ([`launcher::set_undo_commands_holding`]).

use crate::interface::TrialEnd;
use crate::shell_line::{self, LineError, ProgramRunner};
use readlab_model::target::TargetIndex;
use readlab_model::target::setting::SettingValue;
use readlab_record::{EndReason, Outcome};
use readlab_system::instance::SettingsLock;
use readlab_system::program::{self, CommandLine, launcher};
use readlab_system::system_setting::SettingFiles;
use readlab_system::terminal::notice;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

/// Time limit of a command that sets or reads a value.
const COMMAND_TIME_LIMIT: Duration = Duration::from_secs(300);

/// Largest number of points. With more points a run would have too few rounds.
const POINTS_MAX: usize = 64;

/// How a setting is read and set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingAccess {
    /// By files of the kernel.
    Files(SettingFiles),
    /// By commands of the user, in which the setting's name in braces is replaced by the value.
    Commands { apply: String, read: Option<String> },
}

/// A setting that a run is to race.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedSetting {
    pub name: String,
    pub access: SettingAccess,
    /// The values to race; if empty, the values that the kernel offers.
    pub values: Vec<String>,
}

/// A value of a setting: the text that is set and the text that is read back after that, for each
/// file of the setting. A setting of commands counts as one file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TriedValue {
    values_set: Vec<String>,
    values_read: Vec<String>,
    /// Whether the setting had this value at the start.
    was_found: bool,
}

/// A setting that several targets share, because they are on one device or file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedSetting<'a> {
    pub name: &'a str,
    /// The numbers of the targets.
    pub targets: Vec<TargetIndex>,
}

/// The settings of a run. Dropping it restores the values that were found at the start.
#[derive(Debug)]
pub struct SettingControl {
    settings: Vec<RequestedSetting>,
    points: Vec<Vec<TriedValue>>,
    /// The index of the point in force; `None` if it is not known.
    current_point: Option<usize>,
    is_restored: bool,
    /// Sentences about requested values that are not raced, one for each setting.
    cautions: Vec<String>,
    /// Held until the values are restored; `None` in unit tests.
    _lock: Option<SettingsLock>,
}

#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Failed(String),
}

impl From<SettingError> for TrialEnd {
    /// A setting that cannot be set ends the run, because no other trial can be measured either.
    fn from(error: SettingError) -> TrialEnd {
        match error {
            SettingError::Interrupted => TrialEnd::Run(EndReason::Interrupted),
            SettingError::Failed(reason) => {
                TrialEnd::Both(Outcome::Failed { reason }, EndReason::CommandFailed)
            }
        }
    }
}

impl RequestedSetting {
    /// The setting with the values to race: the requested ones, or those that the kernel offers.
    fn with_values(self) -> RequestedSetting {
        match &self.access {
            SettingAccess::Files(files) if self.values.is_empty() => {
                RequestedSetting { values: files.offered_values(), ..self }
            }
            _ => self,
        }
    }

    fn setting_error(&self, what: impl std::fmt::Display) -> SettingError {
        let option = match self.access {
            SettingAccess::Files(_) => "--setting",
            SettingAccess::Commands { .. } => "--setting-command",
        };
        SettingError::Failed(format!("{option} {}: {what}", self.name))
    }

    /// The number of the file that holds the setting for a target.
    fn file_number(&self, target: TargetIndex) -> usize {
        match &self.access {
            SettingAccess::Files(files) => files.file_index_of(target),
            SettingAccess::Commands { .. } => 0,
        }
    }

    /// The numbers of the targets that share a file, for each file that several targets share.
    fn sharing_targets(&self) -> Vec<Vec<TargetIndex>> {
        match &self.access {
            SettingAccess::Files(files) => files.sharing_targets(),
            SettingAccess::Commands { .. } => Vec::new(),
        }
    }

    /// This value for each file.
    fn value_per_file(&self, value: &str) -> Vec<String> {
        match &self.access {
            SettingAccess::Files(files) => files.value_for_each_file(value),
            SettingAccess::Commands { .. } => vec![value.to_owned()],
        }
    }

    /// The current value of each file, or the one value that the command for reading prints; `None`
    /// without this command.
    fn read_values(&self, runner: ProgramRunner) -> Result<Option<Vec<String>>, SettingError> {
        match &self.access {
            SettingAccess::Files(files) => {
                files.read_values().map(Some).map_err(|why| self.setting_error(why))
            }
            SettingAccess::Commands { read: None, .. } => Ok(None),
            SettingAccess::Commands { read: Some(line), .. } => {
                let printed = self.run_command("--read", line, runner)?.unwrap_or_default();
                // The value may become a part of a command that restores it.
                match is_plain_value(&printed) {
                    true => Ok(Some(vec![printed])),
                    false => {
                        Err(self
                            .setting_error(format!("--read '{line}' printed no plain value: '{printed}'")))
                    }
                }
            }
        }
    }

    fn apply_values(&self, values: &[String], runner: ProgramRunner) -> Result<(), SettingError> {
        match &self.access {
            SettingAccess::Files(files) => files.write_values(values).map_err(|why| self.setting_error(why)),
            SettingAccess::Commands { apply, .. } => values.iter().try_for_each(|value| {
                self.run_command("--apply", &self.line_with_value(apply, value), runner).map(drop)
            }),
        }
    }

    fn run_command(
        &self,
        option: &str,
        line: &str,
        runner: ProgramRunner,
    ) -> Result<Option<String>, SettingError> {
        shell_line::run_line(line, OsString::new(), COMMAND_TIME_LIMIT, runner).map_err(|error| match error {
            LineError::Interrupted => SettingError::Interrupted,
            LineError::Timeout(limit) => {
                self.setting_error(format!("{option} '{line}' was ended after {limit:.0?}"))
            }
            LineError::Failed(what) => self.setting_error(format!("{option} '{line}' {what}")),
        })
    }

    fn line_with_value(&self, line: &str, value: &str) -> String {
        line.replace(&format!("{{{}}}", self.name), value)
    }

    fn commands_to_set(&self, values: &[String]) -> Result<Vec<CommandLine>, SettingError> {
        match &self.access {
            SettingAccess::Files(files) => {
                files.commands_to_write(values).map_err(|why| self.setting_error(why))
            }
            SettingAccess::Commands { apply, .. } => {
                let lines = values.iter().map(|value| self.line_with_value(apply, value));
                Ok(lines.map(|line| shell_line::shell_command(&line, OsString::new())).collect())
            }
        }
    }

    /// The current value of each file; if no command reads the setting, the values in `set`.
    fn read_back(&self, set: &[String], runner: ProgramRunner) -> Result<Vec<String>, SettingError> {
        Ok(self.read_values(runner)?.unwrap_or_else(|| set.to_vec()))
    }

    /// Tries the values, then restores the value that was found. It is the first of the result.
    fn try_values(&self, found: TriedValue) -> Result<Vec<TriedValue>, SettingError> {
        let mut tried = vec![found];
        for value in &self.values {
            let set = self.value_per_file(value);
            self.apply_values(&set, program::run_to_end)?;
            let read = self.read_back(&set, program::run_to_end)?;
            match tried.iter().find(|it| it.values_read == read) {
                None => tried.push(TriedValue { values_set: set, values_read: read, was_found: false }),
                Some(found) if found.was_found => {}
                // The value was requested twice.
                Some(same) if same.values_set == set => {}
                Some(same) => {
                    let (same, read) = (values_words(&same.values_set), values_words(&read));
                    return Err(
                        self.setting_error(format!("{same} and {value} are both {read} once they are set"))
                    );
                }
            }
        }
        self.apply_values(&tried[0].values_set, program::run_to_end)?;
        Ok(tried)
    }

    /// A sentence about requested values that did not change the setting; `None` if all are raced.
    /// An error if no value differs from the found one, because then there is nothing to race.
    fn check_tried(&self, tried: &[TriedValue]) -> Result<Option<String>, SettingError> {
        let found = values_words(&tried[0].values_read);
        let is_tried = |value: &str| tried.iter().any(|it| it.values_set.iter().all(|set| set == value));
        let is_lost = |value: &&String| **value != found && !is_tried(value);
        let lost: Vec<&str> = self.values.iter().filter(is_lost).map(String::as_str).collect();
        let lost = lost.join(", ");
        match (tried.len(), lost.as_str()) {
            (1, "") => Err(self.setting_error(format!("it is {found} already, and no other value is raced"))),
            (1, lost) => {
                Err(self.setting_error(format!("it is {found}, and still {found} once {lost} is set")))
            }
            (_, "") => Ok(None),
            (_, lost) => Ok(Some(format!(
                "{} is still {found}, as it was found, once {lost} is set: not raced",
                self.name
            ))),
        }
    }
}

/// The values of all files of a setting in words, each different value once.
fn values_words(values: &[String]) -> String {
    let mut different: Vec<&str> = Vec::new();
    for value in values {
        if !different.contains(&value.as_str()) {
            different.push(value);
        }
    }
    different.join(" and ")
}

/// Whether a value can be part of a command without quotes.
pub fn is_plain_value(value: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || "._-:/=+,%@".contains(c))
}

impl SettingControl {
    /// Reads the current values, arranges that they are restored however the run ends, and tries
    /// each value.
    pub fn begin(requested: Vec<RequestedSetting>) -> Result<SettingControl, SettingError> {
        let unchanged = |why: String| SettingError::Failed(format!("settings are not changed: {why}"));
        let lock = SettingsLock::take().map_err(unchanged)?;
        let settings: Vec<RequestedSetting> =
            requested.into_iter().map(RequestedSetting::with_values).collect();
        let (mut found, mut undo) = (Vec::new(), Vec::new());
        for setting in &settings {
            // If no command reads the value, the first requested value counts as the current one.
            let first = setting.value_per_file(setting.values.first().map_or("", String::as_str));
            let set = setting.read_back(&first, program::run_to_end)?;
            undo.push(setting.commands_to_set(&set)?);
            found.push(TriedValue { values_read: set.clone(), values_set: set, was_found: true });
        }
        let found_words: Vec<String> = found.iter().map(|found| values_words(&found.values_read)).collect();
        check_point_count(found_words.iter().zip(&settings).map(|(found, it)| (found, &it.values)))?;
        let undo: Vec<CommandLine> = undo.into_iter().rev().flatten().collect();
        launcher::set_undo_commands_holding(&undo, &lock).map_err(|error| unchanged(error.to_string()))?;
        let points = vec![found.clone()];
        let mut control = SettingControl {
            settings,
            points,
            current_point: None,
            is_restored: false,
            cautions: Vec::new(),
            _lock: Some(lock),
        };
        let mut tried = Vec::new();
        for (setting, found) in control.settings.iter().zip(found) {
            let of_setting = setting.try_values(found)?;
            control.cautions.extend(setting.check_tried(&of_setting)?);
            tried.push(of_setting);
        }
        control.points = combinations_of_values(&tried);
        control.current_point = Some(0);
        Ok(control)
    }

    /// For each point, the settings with the values that a target has. The first point has the
    /// values that were found.
    pub fn points(&self, target: TargetIndex) -> Vec<Vec<SettingValue>> {
        let value = |(setting, value): (&RequestedSetting, &TriedValue)| SettingValue {
            name: setting.name.clone(),
            value: value.values_read[setting.file_number(target)].clone(),
            is_initial: value.was_found,
            is_read_back: !matches!(setting.access, SettingAccess::Commands { read: None, .. }),
        };
        let point = |values: &Vec<TriedValue>| self.settings.iter().zip(values).map(value).collect();
        self.points.iter().map(point).collect()
    }

    /// The settings that several targets share.
    pub fn shared_settings(&self) -> Vec<SharedSetting<'_>> {
        let mut shared = Vec::new();
        for setting in &self.settings {
            let groups = setting.sharing_targets().into_iter();
            shared.extend(groups.map(|targets| SharedSetting { name: &setting.name, targets }));
        }
        shared
    }

    /// Sentences about requested values that are not raced because they did not change a setting,
    /// one for each setting.
    pub fn cautions(&self) -> &[String] {
        &self.cautions
    }

    /// Applies the settings of a point; returns whether any of them had to be changed.
    pub(crate) fn apply_point(&mut self, point: usize) -> Result<bool, SettingError> {
        if self.current_point == Some(point) {
            return Ok(false);
        }
        self.set_point(point, program::run_to_end)?;
        Ok(true)
    }

    /// Sets the values that differ from those in force, and reads each of them back.
    fn set_point(&mut self, point: usize, runner: ProgramRunner) -> Result<(), SettingError> {
        let before = self.current_point.take().map(|before| &self.points[before]);
        for (at, (setting, value)) in self.settings.iter().zip(&self.points[point]).enumerate() {
            if before.is_some_and(|before| before[at] == *value) {
                continue;
            }
            setting.apply_values(&value.values_set, runner)?;
            let read = setting.read_back(&value.values_read, runner)?;
            if read != value.values_read {
                let (set, read) = (values_words(&value.values_read), values_words(&read));
                return Err(setting.setting_error(format!("{set} was set, and {read} is read back")));
            }
        }
        self.current_point = Some(point);
        Ok(())
    }

    /// A sentence about a setting that no longer has the value of the point in force; `None` if all
    /// settings have theirs.
    pub(crate) fn describe_change(&mut self) -> Result<Option<String>, SettingError> {
        let Some(point) = self.current_point else { return Ok(None) };
        for (setting, value) in self.settings.iter().zip(&self.points[point]) {
            let read = setting.read_back(&value.values_read, program::run_to_end)?;
            if read != value.values_read {
                self.current_point = None;
                let (name, read, was) =
                    (&setting.name, values_words(&read), values_words(&value.values_read));
                return Ok(Some(format!("{name} was {read} after the reading, and {was} was set for it")));
            }
        }
        Ok(None)
    }

    /// Restores the values that were found, even if the user has interrupted the run.
    pub(crate) fn restore(&mut self) -> Result<(), SettingError> {
        if self.is_restored {
            return Ok(());
        }
        // Another program may have changed a setting since the last turn.
        self.current_point = None;
        self.set_point(0, program::run_uninterruptibly)?;
        self.is_restored = true;
        launcher::set_undo_commands(&[]).map_err(|error| SettingError::Failed(error.to_string()))
    }
}

impl Drop for SettingControl {
    fn drop(&mut self) {
        // If this fails, the process that outlives the lab tries once more.
        let _ = self.restore();
    }
}

/// A setting of the kernel that has one value during a whole run. Dropping it restores the value
/// that was found.
#[derive(Debug)]
pub struct FixedSetting {
    files: SettingFiles,
    found_value: String,
    value: String,
    is_applied: bool,
    /// Held until the found value is restored; `None` in unit tests.
    lock: Option<SettingsLock>,
}

impl FixedSetting {
    /// Finds the current value. Changes nothing.
    pub fn find(files: SettingFiles, value: &str) -> Result<FixedSetting, String> {
        files.check_writable()?;
        let lock = SettingsLock::take()?;
        let (found, value) = (files.read_value()?, value.to_owned());
        Ok(FixedSetting { files, found_value: found, value, is_applied: false, lock: Some(lock) })
    }

    pub(crate) fn lock(&self) -> Option<&SettingsLock> {
        self.lock.as_ref()
    }

    /// The commands that restore the found value.
    pub(crate) fn undo_commands(&self) -> Result<Vec<CommandLine>, String> {
        self.files.commands_to_write(&self.files.value_for_each_file(&self.found_value))
    }

    /// Sets the value and reads it back.
    pub(crate) fn apply(&mut self) -> Result<(), String> {
        self.is_applied = true;
        self.files.write_value(&self.value)?;
        let read = self.files.read_value()?;
        if read == self.value {
            Ok(())
        } else {
            Err(format!("{} was set, and {read} is read back", self.value))
        }
    }
}

impl Drop for FixedSetting {
    fn drop(&mut self) {
        if self.is_applied
            && let Err(why) = self.files.write_value(&self.found_value)
        {
            notice::show(format!("a setting is not {} again, as it was found: {why}", self.found_value));
        }
    }
}

/// Refuses settings with too many combinations of values. `settings` has the found value and the
/// requested values of each. Nothing has been set yet, so two values that the kernel would round to
/// the same value count as two.
fn check_point_count<'a>(
    settings: impl Iterator<Item = (&'a String, &'a Vec<String>)>,
) -> Result<(), SettingError> {
    let value_count = |(found, values): (&'a String, &'a Vec<String>)| {
        values.iter().chain([found]).collect::<BTreeSet<_>>().len()
    };
    let count = settings.map(value_count).fold(1, usize::saturating_mul);
    if count <= POINTS_MAX {
        return Ok(());
    }
    Err(SettingError::Failed(format!(
        "settings have {count} combinations of values, with those that were found; at most {POINTS_MAX} are raced: name \
         fewer values"
    )))
}

/// Every combination of one value of each setting. The values of the last setting vary fastest.
fn combinations_of_values(tried: &[Vec<TriedValue>]) -> Vec<Vec<TriedValue>> {
    let mut all = vec![Vec::new()];
    for values in tried {
        let longer = |point: &Vec<TriedValue>| -> Vec<Vec<TriedValue>> {
            values.iter().map(|value| [point.as_slice(), std::slice::from_ref(value)].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::target::TargetFacts;
    use readlab_model::target::device::ReadAhead;
    use readlab_system::system_root::SystemRoot;
    use readlab_system::system_setting::SystemSetting;
    use std::fs;
    use tempfile::NamedTempFile;

    /// A file with this value, and a setting that commands write to this file, with these values to
    /// race. The command `reader` prints the value of the file; with `None` no command reads it.
    fn file_setting(value: &str, reader: Option<&str>, values: &[&str]) -> (NamedTempFile, RequestedSetting) {
        let file = NamedTempFile::new().unwrap();
        fs::write(file.path(), value).unwrap();
        let path = file.path().display();
        let read = reader.map(|reader| format!("{reader} '{path}'"));
        let access = SettingAccess::Commands { apply: format!("printf %s {{x}} >'{path}'"), read };
        let values = values.iter().map(|&value| value.to_owned()).collect();
        (file, RequestedSetting { name: "x".to_owned(), access, values })
    }

    fn content(file: &NamedTempFile) -> String {
        fs::read_to_string(file.path()).unwrap()
    }

    /// A program that reads a value and rounds it down to tens.
    const ROUNDING_READER: Option<&str> = Some("sed 's/.$/0/'");

    fn found_value(value: &str) -> TriedValue {
        TriedValue {
            values_set: vec![value.to_owned()],
            values_read: vec![value.to_owned()],
            was_found: true,
        }
    }

    /// A control of one setting whose found value is 1, which counts as restored.
    fn restored_control(setting: RequestedSetting) -> SettingControl {
        let tried = setting.try_values(found_value("1")).unwrap();
        let points = combinations_of_values(&[tried]);
        let (settings, current_point, cautions) = (vec![setting], Some(0), Vec::new());
        SettingControl { settings, points, current_point, is_restored: true, cautions, _lock: None }
    }

    #[test]
    fn values_are_named_as_they_are_read_back_and_the_found_value_is_restored() {
        let (file, setting) = file_setting("128", ROUNDING_READER, &["45", "120", "77", "45"]);
        let tried = setting.try_values(found_value("120")).unwrap();
        let shown: Vec<(&str, &str)> =
            tried.iter().map(|it| (it.values_set[0].as_str(), it.values_read[0].as_str())).collect();
        assert_eq!(shown, [("120", "120"), ("45", "40"), ("77", "70")]);
        assert_eq!(content(&file), "120");
        let (_file, setting) = file_setting("128", ROUNDING_READER, &["45", "46"]);
        let said = setting.try_values(found_value("120")).unwrap_err().to_string();
        assert_eq!(said, "--setting-command x: 45 and 46 are both 40 once they are set");
    }

    #[test]
    fn a_value_that_does_not_change_the_setting_is_named() {
        let check = |values: &[&str]| {
            let (_file, setting) = file_setting("120", ROUNDING_READER, values);
            let tried = setting.try_values(found_value("120")).unwrap();
            setting.check_tried(&tried).map_err(|error| error.to_string())
        };
        let begin = "--setting-command x: it is 120";
        assert_eq!(check(&["120"]), Err(format!("{begin} already, and no other value is raced")));
        assert_eq!(check(&["124", "120"]), Err(format!("{begin}, and still 120 once 124 is set")));
        assert_eq!(check(&["120", "45", "45"]), Ok(None));
        let caution = "x is still 120, as it was found, once 124, 125 is set: not raced";
        assert_eq!(check(&["124", "45", "125"]), Ok(Some(caution.to_owned())));
    }

    #[test]
    fn a_point_is_applied_once_and_a_change_by_another_program_is_found() {
        let (file, setting) = file_setting("1", Some("cat"), &["2", "3"]);
        let mut control = restored_control(setting);
        assert!(control.apply_point(2).unwrap() && !control.apply_point(2).unwrap());
        assert_eq!((content(&file).as_str(), control.describe_change().unwrap()), ("3", None));
        fs::write(file.path(), "9").unwrap();
        let said = control.describe_change().unwrap().unwrap();
        assert_eq!(said, "x was 9 after the reading, and 3 was set for it");
        assert!(control.apply_point(2).unwrap(), "it is set again");
        control.is_restored = false;
        // No launcher runs in a unit test.
        assert!(control.restore().is_err() && content(&file) == "1");
    }

    #[test]
    fn without_a_reading_command_a_value_is_named_as_it_was_set() {
        let (file, setting) = file_setting("?", None, &["1", "2"]);
        let mut control = restored_control(setting);
        let points = control.points(TargetIndex::new(0));
        assert_eq!((points.len(), points[1][0].value.as_str(), points[1][0].is_read_back), (2, "2", false));
        control.apply_point(1).unwrap();
        assert_eq!((content(&file).as_str(), control.describe_change().unwrap()), ("2", None));
    }

    #[test]
    fn targets_on_different_devices_have_found_values_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let target = |name: &str, kib: &str| {
            let path = folder.path().join(name);
            fs::write(&path, kib).unwrap();
            let own_read_ahead = Some(ReadAhead { bytes: 0, setting_path: path.display().to_string() });
            TargetFacts { own_read_ahead, ..TargetFacts::default() }
        };
        let targets = [target("a", "128"), target("b", "16"), target("a", "128")];
        let root = SystemRoot::below(folder.path());
        let files = SettingFiles::find(&root, SystemSetting::ReadAhead, &targets).unwrap();
        let (name, values) = ("read-ahead".to_owned(), vec!["4MiB".to_owned()]);
        let setting = RequestedSetting { name, access: SettingAccess::Files(files), values };
        let found = setting.read_values(program::run_to_end).unwrap().unwrap();
        let found = TriedValue { values_set: found.clone(), values_read: found, was_found: true };
        let points = combinations_of_values(&[setting.try_values(found).unwrap()]);
        let (settings, current_point, cautions) = (vec![setting], Some(0), Vec::new());
        let mut control =
            SettingControl { settings, points, current_point, is_restored: true, cautions, _lock: None };
        let values_of = |target: usize| -> Vec<String> {
            control.points(TargetIndex::new(target)).iter().map(|point| point[0].value.clone()).collect()
        };
        assert_eq!([0, 1].map(values_of), [["128KiB", "4MiB"], ["16KiB", "4MiB"]]);
        let shared = SharedSetting { name: "read-ahead", targets: [0, 2].map(TargetIndex::new).to_vec() };
        assert_eq!(control.shared_settings(), [shared], "one change for both");
        let in_files = || ["a", "b"].map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
        control.apply_point(1).unwrap();
        assert_eq!(in_files(), ["4096", "4096"]);
        control.apply_point(0).unwrap();
        assert_eq!(in_files(), ["128", "16"]);
    }

    #[test]
    fn a_command_that_fails_or_prints_no_plain_value_is_named() {
        let said = |reader| {
            let (_file, setting) = file_setting("1", Some(reader), &[]);
            setting.read_values(program::run_to_end).unwrap_err().to_string()
        };
        let failed = said("echo no such device; exit 3;");
        let is_whole =
            failed.starts_with("--setting-command x: --read ") && failed.ends_with("3: no such device");
        assert!(is_whole, "{failed}");
        let printed = said("echo '[none] $(reboot)' #");
        assert!(printed.contains("printed no plain value"), "{printed}");
        assert!(
            is_plain_value("4MiB") && !is_plain_value("") && !is_plain_value("a b") && !is_plain_value("$x")
        );
    }

    #[test]
    fn without_a_launcher_no_setting_is_changed() {
        let (file, setting) = file_setting("1", None, &["1", "2"]);
        let said = SettingControl::begin(vec![setting]).unwrap_err().to_string();
        assert!(said.starts_with("settings are not changed: "), "{said}");
        assert_eq!(content(&file), "1");
    }

    #[test]
    fn a_fixed_setting_is_set_once_and_restored_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proc/sys/vm/swappiness");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "60\n").unwrap();
        let files = || {
            let root = SystemRoot::below(folder.path());
            SettingFiles::find(&root, SystemSetting::Swappiness, []).unwrap()
        };
        let value = || fs::read_to_string(&path).unwrap().trim().to_owned();
        let fixed = |is_applied| {
            let (found, value) = ("60".to_owned(), "10".to_owned());
            FixedSetting { files: files(), found_value: found, value, is_applied, lock: None }
        };
        let mut setting = fixed(false);
        assert_eq!((setting.undo_commands().unwrap().len(), value().as_str()), (1, "60"));
        setting.apply().unwrap();
        assert_eq!(value(), "10");
        drop(setting);
        assert_eq!(value(), "60");
        fs::write(&path, "30\n").unwrap();
        drop(fixed(false));
        assert_eq!(value(), "30", "what was not set is not restored");
    }

    #[test]
    fn too_many_combinations_are_counted_with_the_found_values_before_any_is_set() {
        let check = |settings: &[(&str, usize)]| {
            let values = |count: usize| (1..=count).map(|number| number.to_string()).collect::<Vec<String>>();
            let settings: Vec<(String, Vec<String>)> =
                settings.iter().map(|(found, count)| ((*found).to_owned(), values(*count))).collect();
            let checked = check_point_count(settings.iter().map(|(found, values)| (found, values)));
            checked.map_err(|error| error.to_string())
        };
        assert_eq!(check(&[("7", 64)]), Ok(()), "the found value is one of them");
        assert_eq!(check(&[("0", 7), ("9", 7)]), Ok(()), "8 times 8");
        for too_many in [&[("0", 64)][..], &[("0", 7), ("1", 9)]] {
            let said = check(too_many).unwrap_err();
            assert!(said.ends_with("at most 64 are raced: name fewer values"), "{said}");
        }
        assert!(check(&[("0", 64)]).unwrap_err().starts_with("settings have 65 combinations"));
    }

    #[test]
    fn points_are_all_combinations_and_the_first_has_the_found_values() {
        let other = |value| TriedValue { was_found: false, ..found_value(value) };
        let both = combinations_of_values(&[
            vec![found_value("a"), other("b")],
            vec![found_value("1"), other("2"), other("3")],
        ]);
        let shown: Vec<String> =
            both.iter().map(|point| point.iter().map(|it| it.values_read[0].as_str()).collect()).collect();
        assert_eq!(shown, ["a1", "a2", "a3", "b1", "b2", "b3"]);
        assert!(both[0].iter().all(|it| it.was_found));
    }
}
