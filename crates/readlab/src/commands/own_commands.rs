//! Options for the user's own commands: their parameters, the check of their output, and their
//! hooks. Names are those of hyperfine's options where it has the same option.

use anyhow::{bail, ensure};
use clap::Args;
use readlab_model::trial::Work;
use readlab_record::{Check, CommandRules};
use readlab_run::experiment::command_parameters::{CommandParameter, expand_parameters};
use readlab_run::experiment::options::OwnCommand;
use std::collections::BTreeSet;

/// The value of `--check` for output that is a number.
const COUNT_CHECK_WORD: &str = "count";
/// The value of `--check` for output that is ignored.
const NONE_CHECK_WORD: &str = "none";

/// Options that describe the user's own commands.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Commands")]
pub struct CommandOptions {
    /// How the output of the commands is checked: `count`, its first whole number; `same`, all
    /// print what the first prints; `none`, not at all; or a program that gets the output on its
    /// standard input and ends with 0 if it is right [default: count; with --work part none]
    #[arg(long, value_name = "count|same|none|PROGRAM")]
    pub check: Option<String>,
    /// The exit codes with which a command may end, for example 0,1 for `grep`, which ends with 1
    /// if it finds nothing [default: 0]
    #[arg(long, value_name = "CODE,…", value_delimiter = ',')]
    pub success: Vec<u8>,
    /// The commands decode the target, which is an archive: their output is about its decoded
    /// content, and they are ranked with methods that decode
    #[arg(long)]
    pub commands_decode: bool,
    /// Run before the first reading of a command; one for all commands, or one for each
    #[arg(short, long, value_name = "COMMAND")]
    pub setup: Vec<String>,
    /// Run before each reading of a command, timed or not, and before the state of the cache is
    /// made; one for all commands, or one for each
    #[arg(short, long, value_name = "COMMAND")]
    pub prepare: Vec<String>,
    /// Run after the last reading of the run; one for all commands, or one for each
    #[arg(long, value_name = "COMMAND")]
    pub cleanup: Vec<String>,
    /// Race each command with `{NAME}` in it once for each value. If `{NAME}` is only in --prepare or
    /// --check, a comment behind the command names the value. May be repeated
    #[arg(short = 'L', long, num_args = 2, value_names = ["NAME", "VALUE,…"])]
    pub parameter_list: Vec<String>,
    /// Race each command with `{NAME}` in it once for each number from MIN to MAX; may be repeated
    #[arg(short = 'P', long, num_args = 3, value_names = ["NAME", "MIN", "MAX"], allow_negative_numbers = true)]
    pub parameter_scan: Vec<String>,
    /// Step of the numbers of each --parameter-scan [default: 1]
    #[arg(
        short = 'D',
        long,
        value_name = "STEP",
        requires = "parameter_scan",
        allow_negative_numbers = true
    )]
    pub parameter_step_size: Option<String>,
}

impl CommandOptions {
    /// The commands with their rules in a race for this work, one for each combination of the
    /// parameters.
    pub fn expanded_commands(
        &self,
        commands: &[OwnCommand],
        work: Option<Work>,
    ) -> anyhow::Result<Vec<OwnCommand>> {
        let check = self.value_of_check(work);
        ensure!(!check.trim().is_empty(), "--check is empty: count, same, none or a program");
        let check = output_check(check);
        let success = success_codes(&self.success);
        let mut commands = commands.to_vec();
        let count = commands.len();
        for (at, own) in commands.iter_mut().enumerate() {
            let hook = |option, given: &[String]| hook_of_command(option, given, count, at);
            own.rules = CommandRules {
                check: check.clone(),
                success_codes: success.clone(),
                setup: hook("--setup", &self.setup)?,
                prepare_command: hook("--prepare", &self.prepare)?,
                cleanup: hook("--cleanup", &self.cleanup)?,
            };
        }
        expand_parameters(commands, &self.parameters()?)
    }

    /// The value of `--check` in a race for this work. Without the option it is `count`, or `none`
    /// for the work `part`, because the right number for a part is not known.
    pub fn value_of_check(&self, work: Option<Work>) -> &str {
        let default = if work == Some(Work::Part) { NONE_CHECK_WORD } else { COUNT_CHECK_WORD };
        self.check.as_deref().unwrap_or(default)
    }

    /// Whether the commands' answers are checked as numbers, like those of all other contenders.
    pub fn has_count_check(&self, work: Option<Work>) -> bool {
        self.value_of_check(work) == COUNT_CHECK_WORD
    }

    fn parameters(&self) -> anyhow::Result<Vec<CommandParameter>> {
        let lists = self
            .parameter_list
            .chunks_exact(2)
            .map(|words| CommandParameter::from_list(&words[0], &words[1]));
        let step = self.parameter_step_size.as_deref();
        let scans = self.parameter_scan.chunks_exact(3);
        let scans = scans.map(|words| CommandParameter::from_range(&words[0], [&words[1], &words[2]], step));
        lists.chain(scans).collect()
    }
}

/// The check that a value of `--check` means. For `same`, the first command's name is set later.
fn output_check(check: &str) -> Check {
    match check {
        COUNT_CHECK_WORD => Check::Count,
        "same" => Check::Same { trial_name: String::new() },
        NONE_CHECK_WORD => Check::Unchecked,
        program => Check::Accepted { accepting_program: program.to_owned() },
    }
}

/// The exit codes that are no failure, without duplicates; empty if 0 is the only one, because that
/// is the default.
fn success_codes(given: &[u8]) -> Vec<u8> {
    let codes: BTreeSet<u8> = given.iter().copied().collect();
    if codes == BTreeSet::from([0]) { Vec::new() } else { codes.into_iter().collect() }
}

/// The hook of the command at this index: the hook for all commands if one is given, otherwise the
/// command's own. `None` if no hook is given.
fn hook_of_command(
    option: &str,
    given: &[String],
    commands: usize,
    at: usize,
) -> anyhow::Result<Option<String>> {
    match given {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        each if each.len() == commands => Ok(Some(each[at].clone())),
        each => bail!(
            "{option} is given {} times for {commands} commands: once for all, or once for each",
            each.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_given_once_for_all_commands_or_once_for_each() {
        let words = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
        let of = |given, at| hook_of_command("--prepare", &words(given), 3, at);
        assert_eq!((of(0, 1).unwrap(), of(1, 2).unwrap()), (None, Some("0".to_owned())));
        assert_eq!(of(3, 2).unwrap(), Some("2".to_owned()));
        let said = of(2, 0).unwrap_err().to_string();
        assert_eq!(said, "--prepare is given 2 times for 3 commands: once for all, or once for each");
    }
    #[test]
    fn exit_codes_count_once_and_zero_alone_is_no_rule() {
        let cases: [(&[u8], &[u8]); 5] =
            [(&[], &[]), (&[0], &[]), (&[0, 0], &[]), (&[1, 0, 1], &[0, 1]), (&[1, 1], &[1])];
        for (given, codes) in cases {
            assert_eq!(success_codes(given), codes, "{given:?}");
        }
    }
}
