//! The participants of a run: the contenders that its trials may need, built if necessary, and the
//! names that the user expects to see measured.

use super::config::RunConfig;
use crate::live::LiveView;
use readlab_catalog::roster::{Roster, RosterEntry};
use readlab_model::trial::{COMMAND, Transport};
use readlab_record::RequestedName;
use readlab_roster::discovery::{Contenders, DiscoveryStep, Participation};
use readlab_system::terminal::notice;
use std::collections::BTreeSet;

/// Builds and starts every contender that the trials of a run may need.
pub fn discover(
    config: &RunConfig,
    transports: &BTreeSet<Transport>,
    live: &LiveView,
) -> anyhow::Result<Contenders> {
    let roster = Roster::with_user_rosters(&config.user.selection.rosters)?;
    let participation = |entry: &RosterEntry| participation(config, transports, entry);
    Ok(build_and_discover(&roster, participation, live, config.user.is_quiet))
}

/// How a contender takes part. The user's rosters request their contenders, and any command of the
/// user requests the contender that runs commands, whatever the target is.
fn participation(config: &RunConfig, transports: &BTreeSet<Transport>, entry: &RosterEntry) -> Participation {
    let is_own =
        entry.roster_path.is_some() || entry.name == COMMAND && !config.user.selection.commands.is_empty();
    if is_own || has_user_reference(config, &entry.name) {
        return Participation::AfterBuild;
    }
    let asks_servers = transports.iter().any(|over| over.has_server());
    let has_target = asks_servers || !entry.is_server_only;
    if !has_target || !may_have_trial(config, transports, entry) {
        Participation::LeftOut
    } else if entry.is_built_on_request && !is_named_by_user(config, &entry.name) {
        Participation::IfBuilt
    } else {
        Participation::AfterBuild
    }
}

/// Builds and starts the needed contenders, and shows the progress.
pub(super) fn build_and_discover(
    roster: &Roster,
    participation: impl Fn(&RosterEntry) -> Participation,
    live: &LiveView,
    quiet: bool,
) -> Contenders {
    let show = |step: DiscoveryStep| match step {
        DiscoveryStep::Building(name) => {
            if !quiet {
                notice::show(format!("building the contender {name}, this once"));
            }
            live.display().show_activity(&format!("building the contender {name}"));
        }
        DiscoveryStep::Querying(contenders) => {
            live.display().show_activity(&format!("asking {contenders} contenders for their methods"));
        }
    };
    Contenders::build_and_discover(roster, participation, show)
}

/// Names that the user expects to see measured: names from the options and the suite file, and the
/// contenders of the user's rosters, unless the user's methods exclude them.
pub(super) fn requested_names(config: &RunConfig) -> Vec<RequestedName> {
    let built_in = Roster::built_in();
    let roster = Roster::with_user_rosters(&config.user.selection.rosters)
        .map(|roster| roster.entries)
        .unwrap_or_default();
    let own = roster.into_iter().map(|entry| entry.name).filter(|name| built_in.entry(name).is_none());
    let meant =
        own.filter(|name| config.user.selection.methods.iter().any(|glob| may_match_contender(glob, name)));
    config.requested_names.iter().cloned().chain(meant.map(RequestedName::Contender)).collect()
}

/// Whether the user's reference is a trial of this contender.
fn has_user_reference(config: &RunConfig, contender: &str) -> bool {
    config
        .requested_names
        .iter()
        .any(|named| matches!(named, RequestedName::Reference(trial) if is_trial_of(trial, contender)))
}

/// Whether the user names a method or a trial of this contender, and not only a glob that matches
/// its name.
fn is_named_by_user(config: &RunConfig, contender: &str) -> bool {
    config.requested_names.iter().any(|named| match named {
        RequestedName::Method(name) | RequestedName::Trial(name) => is_trial_of(name, contender),
        _ => false,
    })
}

/// Whether a trial of the run may belong to this contender. Globs select methods only: the controls
/// and commands of the suite always take part, and their contenders need no build.
fn may_have_trial(config: &RunConfig, transports: &BTreeSet<Transport>, entry: &RosterEntry) -> bool {
    let contender = entry.name.as_str();
    let needs_no_building = entry.sources.is_none();
    if !needs_no_building && !config.languages.admits(contender) {
        return false;
    }
    let methods = &config.user.selection.methods;
    if methods.is_empty() {
        let is_searched = config.user.space.is_some() && !config.languages.names().is_empty();
        let mut entries = config.entries.iter().filter(|entry| transports.contains(&entry.over));
        return is_searched || entries.any(|entry| is_trial_of(&entry.trial, contender));
    }
    needs_no_building || methods.iter().any(|glob| may_match_contender(glob, contender))
}

/// Whether the name of a trial begins with this contender.
pub(super) fn is_trial_of(trial: &str, contender: &str) -> bool {
    trial.strip_prefix(contender).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a glob can match a method of this contender; only the first part of the glob is
/// compared.
fn may_match_contender(glob: &str, contender: &str) -> bool {
    let Some((first, _)) = glob.split_once('/') else { return true };
    globset::Glob::new(first).is_ok_and(|glob| glob.compile_matcher().is_match(contender))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::options::{OwnCommand, SelectionOptions, UserOptions};
    use readlab_record::RunKind;
    use readlab_suite::Suite;

    /// How a contender takes part in a race of a file.
    fn participation_in_race(contender: &str, user: UserOptions) -> Participation {
        participation_in(contender, user, Suite::race(), Transport::File)
    }

    fn participation_in(contender: &str, user: UserOptions, suite: Suite, over: Transport) -> Participation {
        let config = RunConfig::merge(RunKind::Race, suite, user).unwrap();
        let roster = Roster::built_in();
        participation(&config, &BTreeSet::from([over]), roster.entry(contender).unwrap())
    }

    fn options_with_selection(selection: SelectionOptions) -> UserOptions {
        UserOptions { selection, ..UserOptions::default() }
    }

    fn options_with_method(glob: &str) -> UserOptions {
        options_with_selection(SelectionOptions {
            methods: vec![glob.to_owned()],
            ..SelectionOptions::default()
        })
    }

    #[test]
    fn a_contender_on_request_is_built_only_if_it_is_named() {
        let all = UserOptions { takes_all_trials: true, ..UserOptions::default() };
        let reference = Some("rust-crates/bstr".to_owned());
        let reference = options_with_selection(SelectionOptions { reference, ..SelectionOptions::default() });
        for (user, expected) in [
            (UserOptions::default(), Participation::LeftOut),
            (all, Participation::IfBuilt),
            (options_with_method("*/bstr"), Participation::IfBuilt),
            (options_with_method("rust*/bstr"), Participation::IfBuilt),
            (options_with_method("rust/*"), Participation::LeftOut),
            (options_with_method("rust-crates/*"), Participation::AfterBuild),
            (options_with_method("rust-crates/bstr@buffer=64KiB"), Participation::AfterBuild),
            (reference, Participation::AfterBuild),
        ] {
            let named = format!("{:?} {:?}", user.selection.methods, user.selection.reference);
            assert_eq!(participation_in_race("rust-crates", user), expected, "{named}");
        }
    }

    #[test]
    fn a_command_of_the_user_s_needs_its_contender_whatever_the_suite_and_the_target_are() {
        let commands = vec![OwnCommand::without_rules("du -s {}")];
        let user = options_with_selection(SelectionOptions { commands, ..SelectionOptions::default() });
        for over in [Transport::File, Transport::Tree, Transport::Places, Transport::Http] {
            let found = participation_in("command", user.clone(), Suite::commands(), over);
            assert_eq!(found, Participation::AfterBuild, "{over:?}");
        }
        let none = participation_in("command", UserOptions::default(), Suite::commands(), Transport::Tree);
        assert_eq!(none, Participation::LeftOut);
    }

    #[test]
    fn other_contenders_are_built_for_every_race_that_may_need_them() {
        for (contender, user, expected) in [
            ("c", UserOptions::default(), Participation::AfterBuild),
            ("c", options_with_method("*/read"), Participation::AfterBuild),
            ("c", options_with_method("go/*"), Participation::LeftOut),
            ("rust-objects", options_with_method("*/get"), Participation::LeftOut),
        ] {
            assert_eq!(participation_in_race(contender, user), expected, "{contender}");
        }
    }
}
