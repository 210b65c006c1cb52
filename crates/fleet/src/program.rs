//! The agent's program, which is linked to MPI: built by the `mpicc` of this machine before its
//! first use, as contenders are built.

use readlab_roster::build::BuildError;
use readlab_roster::roster::{Roster, RosterEntry};
use readlab_system::program::CommandLine;
use readlab_system::terminal::notice;

/// How it is built and started.
const ENTRY: &str = include_str!("../carried/fleet/agent.toml");

/// Its entry, in the form of a roster's.
pub fn entry() -> RosterEntry {
    let mut roster: Roster = toml::from_str(ENTRY).expect("the agent's entry is checked by a test");
    roster.entries.remove(0)
}

/// The command that starts it; it is built if need be.
pub(super) fn command() -> Result<CommandLine, BuildError> {
    let entry = entry();
    entry.build_once(|| notice::show(format!("building {}", entry.name)))?;
    entry.command()
}

/// How the user gets what is missing to build it, after a semicolon.
pub(super) fn hint() -> String {
    entry().hint().map(|hint| format!("; {hint}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_entry_is_one_and_has_a_hint_for_those_without_mpi() {
        let entry = super::entry();
        assert_eq!((entry.name.as_str(), entry.sources.as_deref()), ("fleet-agent", Some("fleet-agent")));
        assert!(entry.hint.is_some_and(|hint| hint.contains("apt-get install openmpi-bin libopenmpi-dev")));
    }
}
