//! Parameters in the lines of commands: `{threads}` is replaced by each of its values, and one line
//! becomes one command for each combination of the values that it uses.
//!
//! Names and meaning are those of hyperfine's `--parameter-list` and `--parameter-scan`. `{}` is
//! the placeholder of the path and no parameter. If only the preparation or the check of a command
//! uses a parameter, a comment at the end of the command's line names the value, so that each value
//! has a row. All set-ups run before the first round and all clean-ups after the last round, so
//! several values that only these use are refused: every reading would be made under the last
//! value.

use super::options::OwnCommand;
use anyhow::{bail, ensure};
use readlab_record::{Check, CommandRules};

/// Largest number of values of a scan, and of commands that one line becomes.
const VALUES_MAX: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandParameter {
    name: String,
    values: Vec<String>,
}

impl CommandParameter {
    pub fn from_list(name: &str, values: &str) -> anyhow::Result<CommandParameter> {
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        ensure!(values.iter().all(|value| !value.is_empty()), "the parameter '{name}' has an empty value");
        Ok(CommandParameter { name: checked_name(name)?, values })
    }

    /// The numbers from the first to the last, in steps of 1 if `step` is `None`. All have as many
    /// decimals as the most precise of first, last and step.
    pub fn from_range(
        name: &str,
        [first, last]: [&str; 2],
        step: Option<&str>,
    ) -> anyhow::Result<CommandParameter> {
        let numbers = [first, last, step.unwrap_or("1")];
        let decimals = numbers.iter().map(|text| text.split_once('.').map_or(0, |it| it.1.len()));
        let decimals = decimals.max().unwrap_or(0);
        let [first, last, step] = numbers.map(|text| parse_scaled(text, decimals));
        let (first, last, step) = (first?, last?, step?);
        ensure!(step > 0, "the step of the parameter '{name}' is {}: it must be above 0", numbers[2]);
        ensure!(first <= last, "the parameter '{name}' has no value from {} to {}", numbers[0], numbers[1]);
        let count = usize::try_from((last - first) / step).unwrap_or(usize::MAX).saturating_add(1);
        ensure!(
            count <= VALUES_MAX,
            "the parameter '{name}' has {count} values; at most {VALUES_MAX} are raced"
        );
        let numbers = std::iter::successors(Some(first), |number| Some(number + step)).take(count);
        let values = numbers.map(|number| unscaled_text(number, decimals)).collect();
        Ok(CommandParameter { name: checked_name(name)?, values })
    }

    fn placeholder(&self) -> String {
        format!("{{{}}}", self.name)
    }

    /// Adds a comment with the name and the value to a line that does not use the parameter.
    fn add_name_comment(&self, line: &mut String) {
        let placeholder = self.placeholder();
        if !line.contains(&placeholder) {
            *line = format!("{line} # {}={placeholder}", self.name);
        }
    }

    fn is_used_by(&self, own: &OwnCommand) -> bool {
        let placeholder = self.placeholder();
        own.shell_lines().any(|line| line.contains(&placeholder))
    }

    /// Refuses several values if only set-up or clean-up uses them. These run once, so that every
    /// reading would be made under the last value.
    fn check_reading_uses_value(&self, own: &OwnCommand) -> anyhow::Result<()> {
        let rules = CommandRules { setup: None, cleanup: None, ..own.rules.clone() };
        let around_each_reading = OwnCommand { line: own.line.clone(), rules };
        if self.values.len() == 1 || self.is_used_by(&around_each_reading) {
            return Ok(());
        }
        let (name, placeholder) = (&self.name, self.placeholder());
        bail!(
            "the parameter '{name}' is only in --setup or --cleanup, which run once, before the first round and after the last, \
             so no row would be read under its own value: write {placeholder} in --prepare, which runs before each reading, or \
             race the values with --setting-command"
        )
    }
}

/// Checks that a name contains no character that would end a brace or matters to a shell.
pub(super) fn checked_name(name: &str) -> anyhow::Result<String> {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    ensure!(is_plain, "'{name}' is no name of a parameter: letters, digits, _ and - are");
    Ok(name.to_owned())
}

/// A decimal number times ten to the power of `decimals`.
fn parse_scaled(text: &str, decimals: usize) -> anyhow::Result<i64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{part:0<decimals$}");
    let is_number = !whole.trim_start_matches('-').is_empty() && part.chars().all(|c| c.is_ascii_digit());
    match digits.parse() {
        Ok(number) if is_number => Ok(number),
        _ => bail!("'{text}' is no decimal number"),
    }
}

/// The text of a decimal number that was multiplied by ten to the power of `decimals`.
fn unscaled_text(number: i64, decimals: usize) -> String {
    if decimals == 0 {
        return number.to_string();
    }
    let (sign, digits) = (if number < 0 { "-" } else { "" }, number.unsigned_abs().to_string());
    let digits = format!("{digits:0>width$}", width = decimals + 1);
    let (whole, part) = digits.split_at(digits.len() - decimals);
    format!("{sign}{whole}.{part}")
}

/// The commands with each parameter replaced by each of its values, without duplicates.
pub fn expand_parameters(
    commands: Vec<OwnCommand>,
    parameters: &[CommandParameter],
) -> anyhow::Result<Vec<OwnCommand>> {
    for (at, parameter) in parameters.iter().enumerate() {
        let name = &parameter.name;
        ensure!(!parameters[..at].iter().any(|it| it.name == *name), "the parameter '{name}' is given twice");
        let is_used = commands.iter().any(|own| parameter.is_used_by(own));
        ensure!(is_used, "no command uses the parameter '{name}': write {} in it", parameter.placeholder());
    }
    for (at, own) in commands.iter().enumerate() {
        let is_repeated = commands[..at].contains(own);
        ensure!(!is_repeated, "the command '{}' is given twice: a row is named after its command", own.line);
    }
    let mut all: Vec<OwnCommand> = Vec::new();
    for command in commands {
        for own in expand_command(command, parameters)? {
            match all.iter().find(|it| it.line == own.line) {
                None => all.push(own),
                // A value that is given twice gives one command.
                Some(same) if *same == own => {}
                Some(OwnCommand { line, .. }) => bail!(
                    "the command '{line}' is given twice with other commands around it: name each, for example by a \
                     comment: '{line} # second'"
                ),
            }
        }
    }
    Ok(all)
}

/// One command for each combination of the values of the parameters that it uses.
fn expand_command(command: OwnCommand, parameters: &[CommandParameter]) -> anyhow::Result<Vec<OwnCommand>> {
    let (line, mut all) = (command.line.clone(), vec![command]);
    for parameter in parameters {
        let Some(own) = all.first().filter(|own| parameter.is_used_by(own)) else { continue };
        parameter.check_reading_uses_value(own)?;
        all.iter_mut().for_each(|own| parameter.add_name_comment(&mut own.line));
        let each = |own: OwnCommand| {
            parameter.values.iter().map(move |value| own.with_value(&parameter.placeholder(), value))
        };
        all = all.into_iter().flat_map(each).collect();
        ensure!(all.len() <= VALUES_MAX, "'{line}' becomes more than {VALUES_MAX} commands");
    }
    Ok(all)
}

impl OwnCommand {
    /// The command's line, the line that checks its output, and the lines of its hooks.
    pub(super) fn shell_lines(&self) -> impl Iterator<Item = &String> {
        let CommandRules { check, setup, prepare_command: prepare, cleanup, success_codes: _ } = &self.rules;
        let check = if let Check::Accepted { accepting_program: by } = check { Some(by) } else { None };
        let hooks = [setup, prepare, cleanup].into_iter().flatten();
        std::iter::once(&self.line).chain(check).chain(hooks)
    }

    /// The command with the value in place of the placeholder, in each of its lines.
    fn with_value(&self, placeholder: &str, value: &str) -> OwnCommand {
        let put = |line: &String| line.replace(placeholder, value);
        let CommandRules { check, success_codes: success, setup, prepare_command: prepare, cleanup } =
            &self.rules;
        let rules = CommandRules {
            check: match check {
                Check::Accepted { accepting_program: by } => Check::Accepted { accepting_program: put(by) },
                other => other.clone(),
            },
            success_codes: success.clone(),
            setup: setup.as_ref().map(put),
            prepare_command: prepare.as_ref().map(put),
            cleanup: cleanup.as_ref().map(put),
        };
        OwnCommand { line: put(&self.line), rules }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expanded_lines(commands: &[&str], parameters: &[CommandParameter]) -> anyhow::Result<Vec<String>> {
        let commands = commands.iter().map(|line| OwnCommand::without_rules(line)).collect();
        Ok(expand_parameters(commands, parameters)?.into_iter().map(|own| own.line).collect())
    }

    fn expanded(line: &str, rules: CommandRules, parameters: &[CommandParameter]) -> Vec<OwnCommand> {
        expand_parameters(vec![OwnCommand { line: line.to_owned(), rules }], parameters).unwrap()
    }

    fn scanned_values(first: &str, last: &str, step: Option<&str>) -> Vec<String> {
        CommandParameter::from_range("n", [first, last], step).unwrap().values
    }

    #[test]
    fn a_scan_has_every_number_up_to_its_end_with_the_same_decimals() {
        assert_eq!(scanned_values("1", "3", None), ["1", "2", "3"]);
        assert_eq!(scanned_values("1", "8", Some("3")), ["1", "4", "7"]);
        assert_eq!(scanned_values("-0.5", "0.5", Some("0.25")), ["-0.50", "-0.25", "0.00", "0.25", "0.50"]);
        for (first, last, step) in [
            ("2", "1", "1"),
            ("1", "2", "0"),
            ("x", "2", "1"),
            ("", "2", "1"),
            ("1", "900", "1"),
            ("1", "1.-5", "1"),
        ] {
            assert!(
                CommandParameter::from_range("n", [first, last], Some(step)).is_err(),
                "{first} {last} {step}"
            );
        }
    }

    #[test]
    fn each_command_has_a_name_of_its_own() {
        let ahead = CommandParameter::from_list("ra", "32,256").unwrap();
        let named = |line: &str, parameters: &[CommandParameter]| -> Vec<String> {
            let rules =
                CommandRules { prepare_command: Some("echo {ra} {n}".to_owned()), ..CommandRules::default() };
            expanded(line, rules, parameters).into_iter().map(|own| own.line).collect()
        };
        let one = std::slice::from_ref(&ahead);
        assert_eq!(named("wc -l", one), ["wc -l # ra=32", "wc -l # ra=256"]);
        assert_eq!(named("wc -l # {ra}", one), ["wc -l # 32", "wc -l # 256"]);
        let both = [ahead, CommandParameter::from_list("n", "1").unwrap()];
        assert_eq!(named("wc -l", &both), ["wc -l # ra=32 # n=1", "wc -l # ra=256 # n=1"]);
        let said = expanded_lines(&["wc -l", "wc -l"], &[]).unwrap_err().to_string();
        assert!(said.starts_with("the command 'wc -l' is given twice"), "{said}");
        let said = CommandParameter::from_range("n", ["1", "3"], Some("0")).unwrap_err().to_string();
        assert_eq!(said, "the step of the parameter 'n' is 0: it must be above 0");
    }

    #[test]
    fn several_values_that_only_set_up_or_clean_up_use_are_refused() {
        let of = |line: &str, values: &str, rules: CommandRules| {
            let parameters = [CommandParameter::from_list("ra", values).unwrap()];
            let own = OwnCommand { line: line.to_owned(), rules };
            let all = expand_parameters(vec![own], &parameters)?;
            anyhow::Ok(all.into_iter().map(|own| own.line).collect::<Vec<String>>())
        };
        let uses = || Some("echo {ra}".to_owned());
        let set_up = || CommandRules { setup: uses(), ..CommandRules::default() };
        let clean_up = CommandRules { cleanup: uses(), ..CommandRules::default() };
        for rules in [set_up(), clean_up, CommandRules { cleanup: uses(), ..set_up() }] {
            let said = of("wc -l", "32,256", rules).unwrap_err().to_string();
            assert!(said.starts_with("the parameter 'ra' is only in --setup or --cleanup"), "{said}");
            assert!(said.contains("write {ra} in --prepare") && said.contains("--setting-command"), "{said}");
        }
        assert_eq!(of("wc -l", "32", set_up()).unwrap(), ["wc -l # ra=32"], "one value is in force");
        assert_eq!(of("wc -l {ra}", "32,256", set_up()).unwrap(), ["wc -l 32", "wc -l 256"]);
        let prepared = CommandRules { prepare_command: uses(), ..set_up() };
        assert_eq!(of("wc -l", "32,256", prepared).unwrap(), ["wc -l # ra=32", "wc -l # ra=256"]);
        let checked =
            CommandRules { check: Check::Accepted { accepting_program: "test {ra}".to_owned() }, ..set_up() };
        assert_eq!(of("wc -l", "32,256", checked).unwrap().len(), 2);
    }

    #[test]
    fn a_line_becomes_every_combination_of_the_values_that_it_uses() {
        let threads = CommandParameter::from_list("threads", "1,2").unwrap();
        let size = CommandParameter::from_list("size", "64K, 1M").unwrap();
        let found = expanded_lines(
            &["rg -j {threads} -b {size} {}", "wc -l", "dd bs={size}"],
            &[threads.clone(), size],
        );
        assert_eq!(
            found.unwrap(),
            [
                "rg -j 1 -b 64K {}",
                "rg -j 1 -b 1M {}",
                "rg -j 2 -b 64K {}",
                "rg -j 2 -b 1M {}",
                "wc -l",
                "dd bs=64K",
                "dd bs=1M"
            ]
        );
        let prepare = Some("touch {threads}".to_owned());
        let check = Check::Accepted { accepting_program: "test $(wc -l) = {threads}".to_owned() };
        let rules = CommandRules { prepare_command: prepare, check, ..CommandRules::default() };
        let both = expanded("x {threads}", rules, &[threads]);
        let prepared: Vec<_> = both.iter().map(|own| own.rules.prepare_command.as_deref().unwrap()).collect();
        assert_eq!(prepared, ["touch 1", "touch 2"]);
        let checked: Vec<_> = both.into_iter().map(|own| own.rules.check).collect();
        assert_eq!(
            checked,
            [1, 2].map(|n| Check::Accepted { accepting_program: format!("test $(wc -l) = {n}") })
        );
    }

    #[test]
    fn impossible_parameters_are_refused() {
        for (name, values) in [("", "1"), ("a b", "1"), ("{", "1"), ("n", ""), ("n", "1,,2")] {
            assert!(CommandParameter::from_list(name, values).is_err(), "{name:?} {values:?}");
        }
        let n = CommandParameter::from_list("n", "1").unwrap();
        let unused = expanded_lines(&["wc -l {}"], std::slice::from_ref(&n)).unwrap_err().to_string();
        assert_eq!(unused, "no command uses the parameter 'n': write {n} in it");
        assert!(
            expanded_lines(&["x {n}"], &[n.clone(), n]).unwrap_err().to_string().ends_with("given twice")
        );
    }

    proptest! {
        #[test]
        fn no_placeholder_is_left_and_the_rest_of_the_line_is_unchanged(
            values in proptest::collection::vec("[a-z0-9./]{1,6}", 1..6), before in "[a-z {}]{0,9}", after in "[a-z {}]{0,9}",
        ) {
            let parameter = CommandParameter::from_list("N", &values.join(",")).unwrap();
            let found = expanded_lines(&[&format!("{before}{{N}}{after}")], &[parameter]).unwrap();
            let is_left = found.iter().any(|line| line.contains("{N}"));
            prop_assert!(!is_left);
            for value in values {
                let right = [&before, &value, &after].map(String::as_str).concat();
                prop_assert!(found.contains(&right));
            }
        }
    }
}
