//! Options of settings of the system whose values are raced.

use anyhow::{bail, ensure};
use clap::Args;
use readlab_run::experiment::settings::RacedSetting;
use readlab_run::experiment::together::ReaderGroup;

/// Options that name settings of the system and their values.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Settings of the system")]
pub struct SettingOptions {
    /// Race under each of these values of a setting of the system, and under its current value,
    /// which is restored at the end: read-ahead (of the device or the file system), scheduler,
    /// transparent-huge-pages, swappiness, cpu-governor. Without values, race all that the kernel
    /// offers, or usual ones. Needs the right to write the setting; may be repeated
    #[arg(long = "setting", value_name = "NAME[=VALUE,…]")]
    pub settings: Vec<String>,
    /// The same for a setting that the command --apply sets. Without --read, the first value counts
    /// as the current one; may be repeated
    #[arg(long = "setting-command", value_name = "NAME=VALUE,…", requires = "apply")]
    pub setting_commands: Vec<String>,
    /// Command that sets the value, for which `{NAME}` stands; one for each --setting-command
    #[arg(long, value_name = "COMMAND", requires = "setting_commands")]
    pub apply: Vec<String>,
    /// Command that prints the current value in its last line; none, or one for each
    /// --setting-command
    #[arg(long, value_name = "COMMAND", requires = "setting_commands")]
    pub read: Vec<String>,
}

impl SettingOptions {
    /// The settings of the kernel, then those of commands, each in the order of the command line.
    fn raced_settings(&self) -> anyhow::Result<Vec<RacedSetting>> {
        let SettingOptions { settings, setting_commands: by_command, apply, read } = self;
        for (option, given) in [("--apply", apply), ("--read", read)] {
            let may_be_none = option == "--read" && given.is_empty();
            if given.len() != by_command.len() && !may_be_none {
                let (times, count) = (given.len(), by_command.len());
                bail!("{option} is given {times} times for {count} of --setting-command: give one for each");
            }
        }
        let of_kernel = settings.iter().map(|words| RacedSetting::parse_kernel_setting(words));
        let of_commands = by_command.iter().zip(apply).enumerate().map(|(at, (words, apply))| {
            RacedSetting::parse_command_setting(words, apply, read.get(at).map(String::as_str))
        });
        let raced = of_kernel.chain(of_commands).collect::<anyhow::Result<Vec<_>>>()?;
        for (at, setting) in raced.iter().enumerate() {
            let name = setting.name();
            let is_repeated = raced[..at].iter().any(|other| other.name() == name);
            ensure!(!is_repeated, "the setting '{name}' is given twice: name all values in one option");
        }
        Ok(raced)
    }

    pub(super) fn is_given(&self) -> bool {
        !self.settings.is_empty() || !self.setting_commands.is_empty()
    }

    /// The group of readers of a run under these settings; `None` if none are given.
    pub(super) fn reader_group(&self) -> anyhow::Result<Option<ReaderGroup>> {
        let raced = self.raced_settings()?;
        Ok(self.is_given().then_some(ReaderGroup::Settings(raced)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned_words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn each_setting_command_needs_its_own_apply_and_read() {
        let options = |apply: &[&str], read: &[&str]| SettingOptions {
            settings: owned_words(&["read-ahead=4MiB"]),
            setting_commands: owned_words(&["a=1,2", "b=1,2"]),
            apply: owned_words(apply),
            read: owned_words(read),
        };
        let raced = options(&["x {a}", "y {b}"], &[]).raced_settings().unwrap();
        assert_eq!(raced.iter().map(RacedSetting::name).collect::<Vec<_>>(), ["read-ahead", "a", "b"]);
        assert!(options(&["x {a}", "y {b}"], &["r", "s"]).raced_settings().is_ok());
        for (apply, read, option) in
            [(&["x {a}"][..], &[][..], "--apply"), (&["x {a}", "y {b}"][..], &["r"][..], "--read")]
        {
            let said = options(apply, read).raced_settings().unwrap_err().to_string();
            assert!(said.starts_with(&format!("{option} is given 1 times for 2 of")), "{said}");
        }
    }

    #[test]
    fn a_setting_given_twice_is_refused_and_without_settings_there_is_no_group() {
        let settings = owned_words(&["scheduler", "scheduler=none"]);
        let said =
            SettingOptions { settings, ..SettingOptions::default() }.reader_group().unwrap_err().to_string();
        assert!(said.starts_with("the setting 'scheduler' is given twice"), "{said}");
        assert_eq!(SettingOptions::default().reader_group().unwrap(), None);
    }
}
