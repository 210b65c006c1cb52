//! An experiment under settings of the system. Each combination of values of the settings (a
//! *point*) has its own targets in the record, and every trial is repeated on these targets.

use super::command_parameters;
use super::template::check_command_line;
use super::together::{ArrangedTargets, repeat_trials};
use crate::experiment::targets::KnownTarget;
use anyhow::{Context, anyhow, ensure};
use readlab_measure::plan::{Budget, Plan, PlannedTrial, Rules};
use readlab_measure::settings::{
    RequestedSetting, SettingAccess, SettingControl, SharedSetting, is_plain_value,
};
use readlab_measure::target::CacheControl;
use readlab_model::target::setting::SettingValue;
use readlab_model::target::{TargetFacts, Targets};
use readlab_model::units::{Bytes, Nanos};
use readlab_protocol::command_line::has_place;
use readlab_system::system_root::SystemRoot;
use readlab_system::system_setting::{SettingFiles, SystemSetting};

/// A setting of the system whose values are raced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RacedSetting {
    name: String,
    /// The values to race; if empty, the values that the kernel offers.
    values: Vec<String>,
    set_by: SetBy,
}

/// What reads and sets a setting: readlab through files of the kernel, or commands of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SetBy {
    Kernel(SystemSetting),
    Commands { apply: String, read: Option<String> },
}

impl RacedSetting {
    /// Parses a setting of the kernel: `read-ahead=128KiB,4MiB`, or the name alone.
    pub fn parse_kernel_setting(words: &str) -> anyhow::Result<RacedSetting> {
        let (name, values) = words.split_once('=').map_or((words, None), |(name, all)| (name, Some(all)));
        let known = SystemSetting::ALL.into_iter().find(|it| it.word() == name);
        let setting = known.with_context(|| {
            let all = SystemSetting::ALL.map(SystemSetting::word).join(", ");
            format!("--setting {name}: known are {all}; --setting-command sets any other by a command")
        })?;
        let values = values.map(|all| parse_values("--setting", words, all)).transpose()?.unwrap_or_default();
        Ok(RacedSetting { name: name.to_owned(), values, set_by: SetBy::Kernel(setting) })
    }

    /// Parses a setting such as `sync=on,off` that these commands set and read.
    pub fn parse_command_setting(
        words: &str,
        apply: &str,
        read: Option<&str>,
    ) -> anyhow::Result<RacedSetting> {
        let option = "--setting-command";
        let (name, all) = words
            .split_once('=')
            .with_context(|| format!("{option} '{words}' has no values: write NAME=VALUE,VALUE"))?;
        let name = command_parameters::checked_name(name)?;
        let placeholder = format!("{{{name}}}");
        let uses_value = apply.contains(&placeholder);
        ensure!(uses_value, "--apply '{apply}' does not use the value: write {placeholder} in it");
        let lines = std::iter::once(("--apply", apply)).chain(read.map(|line| ("--read", line)));
        for (option, line) in lines {
            check_command_line(line)?;
            ensure!(
                !has_place(&line.replace(&placeholder, "x")),
                "{option} '{line}': a setting is that of the machine, so {{}} is no file here; name the file; write a {{}} \
                 of another program with a space, '{{ }}', or as \\{{\\}}"
            );
        }
        let values = parse_values(option, words, all)?;
        let set_by = SetBy::Commands { apply: apply.to_owned(), read: read.map(str::to_owned) };
        Ok(RacedSetting { name, values, set_by })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the setting is read and set for these targets.
    fn access<'a>(
        &self,
        targets: impl IntoIterator<Item = &'a TargetFacts>,
    ) -> anyhow::Result<SettingAccess> {
        Ok(match &self.set_by {
            SetBy::Commands { apply, read } => {
                SettingAccess::Commands { apply: apply.clone(), read: read.clone() }
            }
            SetBy::Kernel(setting) => {
                let files = SettingFiles::find(&SystemRoot::default(), *setting, targets);
                SettingAccess::Files(files.map_err(|why| self.error_for(&why))?)
            }
        })
    }

    fn error_for(&self, why: &str) -> anyhow::Error {
        anyhow!("--setting {}: {why}", self.name)
    }

    /// Records a value of the setting in the facts of a target, if these contain the setting.
    fn record_value(&self, value: &str, facts: &mut TargetFacts) {
        match &self.set_by {
            SetBy::Kernel(SystemSetting::ReadAhead) => {
                record_read_ahead(value.parse::<Bytes>().ok().map(|bytes| bytes.0), facts);
            }
            SetBy::Kernel(SystemSetting::Scheduler) => {
                facts.device.iter_mut().for_each(|device| device.scheduler = Some(value.to_owned()));
            }
            SetBy::Kernel(_) | SetBy::Commands { .. } => {}
        }
    }
}

/// Records a read-ahead in the facts of a target; `bytes` is `None` if it is unknown.
pub(super) fn record_read_ahead(bytes: Option<u64>, facts: &mut TargetFacts) {
    match (&mut facts.own_read_ahead, &mut facts.device, bytes) {
        (Some(own), _, Some(bytes)) => own.bytes = bytes,
        (None, Some(device), bytes) => device.read_ahead_bytes = bytes,
        _ => {}
    }
}

fn parse_values(option: &str, words: &str, all: &str) -> anyhow::Result<Vec<String>> {
    let values: Vec<String> = all.split(',').map(|value| value.trim().to_owned()).collect();
    let strange = values.iter().find(|value| !is_plain_value(value));
    ensure!(strange.is_none(), "{option} '{words}': '{}' is no value", strange.map_or("", String::as_str));
    Ok(values)
}

/// Refuses settings that do not exist for these targets, or that this user may not change.
pub(super) fn check_settings<'a>(
    raced: &[RacedSetting],
    targets: impl Iterator<Item = &'a TargetFacts> + Clone,
) -> anyhow::Result<()> {
    for setting in raced {
        if let SettingAccess::Files(files) = setting.access(targets.clone())? {
            files.check_writable().map_err(|why| setting.error_for(&why))?;
        }
    }
    Ok(())
}

/// Tries each value of the settings on these targets, and restores the values that were found.
pub(super) fn try_values<'a>(
    raced: &[RacedSetting],
    targets: impl Iterator<Item = &'a TargetFacts> + Clone,
) -> anyhow::Result<SettingControl> {
    let requested = |it: &RacedSetting| -> anyhow::Result<RequestedSetting> {
        let (name, values) = (it.name.clone(), it.values.clone());
        Ok(RequestedSetting { name, access: it.access(targets.clone())?, values })
    };
    let requested = raced.iter().map(requested).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(SettingControl::begin(requested)?)
}

/// Repeats the targets and the trials of a plan for each combination of the values that were tried.
pub(super) fn arrange_settings(
    plan: Plan,
    targets: Targets<KnownTarget>,
    caches: Vec<CacheControl>,
    raced: &[RacedSetting],
    control: SettingControl,
) -> ArrangedTargets {
    let points_of: Vec<Vec<Vec<SettingValue>>> =
        targets.indices().map(|target| control.points(target)).collect();
    let points = points_of.first().map_or(1, Vec::len);
    let mut facts = Targets::default();
    for point in 0..points {
        let known = targets.iter().zip(&points_of);
        facts.extend(known.map(|(known, points)| facts_at_point(&known.target.facts, &points[point], raced)));
    }
    let shared =
        control.shared_settings().into_iter().map(|shared| shared_setting_sentence(&shared, &targets));
    let cautions: Vec<String> = control.cautions().iter().cloned().chain(shared).collect();
    facts.iter_mut().take(1).for_each(|facts| facts.cautions.extend_from_slice(&cautions));
    let plan = plan_under_points(plan, targets.len(), points);
    ArrangedTargets { targets, cache_controls: caches, facts, plan, setting_control: Some(control) }
}

/// The sentence about a setting that several targets share.
fn shared_setting_sentence(shared: &SharedSetting, targets: &Targets<KnownTarget>) -> String {
    let paths = shared.targets.iter().map(|target| targets[*target].target.facts.path.as_str());
    let paths = paths.collect::<Vec<_>>().join(", ");
    format!("{} is one setting for {paths}: each change of it is one for all of these", shared.name)
}

/// The facts of a target under the values of a point.
fn facts_at_point(facts: &TargetFacts, point: &[SettingValue], raced: &[RacedSetting]) -> TargetFacts {
    let mut facts = TargetFacts { settings: point.to_vec(), ..facts.clone() };
    raced.iter().zip(point).for_each(|(setting, value)| setting.record_value(&value.value, &mut facts));
    facts
}

/// Repeats each trial of a plan at each point. The targets of a point follow those of the point
/// before. An advised budget is multiplied by the number of points.
fn plan_under_points(plan: Plan, targets: usize, points: usize) -> Plan {
    let budget = match plan.rules.budget {
        Budget::Advised(time) => Budget::Advised(Nanos(time.0.saturating_mul(points as u64))),
        firm @ Budget::Firm(_) => firm,
    };
    let under = |planned: &PlannedTrial, point: usize| {
        let on = planned.on_target(planned.trial.target.under_condition(point, targets));
        PlannedTrial { block_index: point, ..on }
    };
    repeat_trials(Plan { rules: Rules { budget, ..plan.rules }, ..plan }, points, under)
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_measure::plan::testing::{COLD, WARM, plan, rules_for_readings};
    use readlab_model::target::TargetIndex;
    use readlab_model::target::device::{Device, ReadAhead};

    #[test]
    fn a_setting_needs_a_known_name_and_plain_values() {
        let setting = RacedSetting::parse_kernel_setting("read-ahead=128KiB, 4MiB").unwrap();
        assert_eq!(
            (setting.name(), setting.values.as_slice()),
            ("read-ahead", &["128KiB", "4MiB"].map(str::to_owned)[..])
        );
        assert!(RacedSetting::parse_kernel_setting("scheduler").unwrap().values.is_empty());
        let refusal = |words: &str| RacedSetting::parse_kernel_setting(words).unwrap_err().to_string();
        assert!(refusal("readahead=1").starts_with("--setting readahead: known are read-ahead, scheduler,"));
        assert_eq!(refusal("read-ahead=1,,2"), "--setting 'read-ahead=1,,2': '' is no value");
        assert_eq!(refusal("scheduler=a;b"), "--setting 'scheduler=a;b': 'a;b' is no value");
    }

    #[test]
    fn a_command_that_does_not_use_the_value_is_refused() {
        let of = |words, apply| RacedSetting::parse_command_setting(words, apply, Some("cat x"));
        assert!(of("sync=on,off", "mount -o remount,sync={sync} /x").is_ok());
        let refusal = |words, apply| of(words, apply).unwrap_err().to_string();
        assert_eq!(refusal("a=1,2", "true"), "--apply 'true' does not use the value: write {a} in it");
        assert!(refusal("a", "x {a}").ends_with("has no values: write NAME=VALUE,VALUE"));
        assert!(refusal("a b=1", "x").contains("'a b' is no name"));
    }

    #[test]
    fn a_placeholder_for_the_file_in_a_command_of_a_setting_is_refused() {
        let of = |apply, read| RacedSetting::parse_command_setting("list=on,off", apply, Some(read));
        for (apply, read, option) in
            [("set {list} {}", "get", "--apply"), ("set {list}", "get '{}'", "--read")]
        {
            let said = of(apply, read).unwrap_err().to_string();
            assert!(said.starts_with(&format!("{option} '")), "{said}");
            assert!(said.contains("{} is no file here") && said.ends_with("as \\{\\}"), "{said}");
        }
        assert!(of("set {list}", "find . -exec get \\{\\} +").is_ok());
        assert!(RacedSetting::parse_command_setting("x=1,2", "awk '{{x}}'", None).is_ok());
    }

    #[test]
    fn each_trial_is_repeated_under_each_point_on_targets_of_the_point() {
        let mut plan = plan(rules_for_readings(1), &[("a", COLD), ("b", WARM)]);
        plan.trials[1].trial.target = TargetIndex::new(1);
        plan.rules.budget = Budget::Advised(Nanos(10));
        let plan = plan_under_points(plan, 2, 3);
        let shown: Vec<(TargetIndex, usize)> =
            plan.trials.iter().map(|it| (it.trial.target, it.block_index)).collect();
        let right = [(0, 0), (2, 1), (4, 2), (1, 0), (3, 1), (5, 2)];
        assert_eq!(shown, right.map(|(target, block)| (TargetIndex::new(target), block)));
        assert_eq!((plan.block_count(), plan.rules.budget), (3, Budget::Advised(Nanos(30))));
    }

    #[test]
    fn the_facts_of_a_target_have_the_values_of_its_point() {
        let raced = ["read-ahead", "scheduler"].map(|name| RacedSetting::parse_kernel_setting(name).unwrap());
        let value = |name: &str, value: &str| SettingValue {
            name: name.to_owned(),
            value: value.to_owned(),
            is_initial: false,
            is_read_back: true,
        };
        let point = [value("read-ahead", "4MiB"), value("scheduler", "none")];
        let device = Some(Device { read_ahead_bytes: Some(1), ..Device::default() });
        let facts = facts_at_point(&TargetFacts { device, ..TargetFacts::default() }, &point, &raced);
        let device = facts.device.unwrap();
        assert_eq!((device.read_ahead_bytes, device.scheduler.as_deref()), (Some(4 << 20), Some("none")));
        let own_read_ahead = Some(ReadAhead { bytes: 1, setting_path: String::new() });
        let facts = facts_at_point(&TargetFacts { own_read_ahead, ..TargetFacts::default() }, &point, &raced);
        assert_eq!(facts.read_ahead().unwrap().bytes, 4 << 20);
        assert_eq!(facts.settings_words().unwrap(), "read-ahead=4MiB,scheduler=none");
    }
}
