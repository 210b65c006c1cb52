//! `readlab doctor`: checks this machine for things that distort measurements, and suggests fixes.

pub mod checkup;

use self::checkup::{CheckupFacts, Finding, FindingLevel};
use anstyle::{AnsiColor, Style};
use readlab_catalog::roster::{Roster, RosterEntry};
use readlab_fleet::agent;
use readlab_measure::busy;
use readlab_measure::rights::Rights;
use readlab_model::units::Bytes;
use readlab_roster::build::{Build, BuildDir};
use readlab_roster::discovery::Query;
use readlab_roster::session::SessionError;
use readlab_system::folder::scratch::{self, Leftover};
use readlab_system::io_quota;
use readlab_system::machine::Machine;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::tree::{ListSource, TreeRequest};
use readlab_targets::target::{Target, TargetError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Clone, clap::Args)]
pub struct DoctorArgs {
    /// A file, or a folder with its files, to check as well
    pub target: Option<PathBuf>,
}

/// Checks the machine, and prints the findings to standard output, the worst first. A finding is
/// not an error.
pub fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let target = args.target.as_deref().map(examine).transpose()?;
    let (machine, rights, busy) = (Machine::probe(), Rights::probe(), busy::other_busy_processes());
    let target = target.as_ref().map(|target| &target.facts);
    let io_quotas = io_quota::all();
    let facts = CheckupFacts {
        machine: &machine,
        target,
        rights: &rights,
        io_quotas: &io_quotas,
        busy_processes: &busy,
    };
    let mut findings = checkup::judge(&facts);
    findings.extend(absent_contender_findings());
    findings.push(fleet_finding());
    findings.extend(scratch::leftovers().iter().map(leftover_finding));
    checkup::sort_by_level(&mut findings);
    print_findings(&findings, &mut anstream::stdout().lock())?;
    Ok(ExitCode::SUCCESS)
}

fn examine(path: &Path) -> Result<Target, TargetError> {
    match path.is_dir() {
        true => Target::examine_tree(&TreeRequest::by_name(ListSource::Folder(path.to_owned()))),
        false => Target::examine(path),
    }
}

/// Findings about contenders of the roster that cannot take part here, or not before they are
/// built.
fn absent_contender_findings() -> Vec<Finding> {
    let roster = Roster::built_in();
    roster
        .entries
        .iter()
        .filter_map(|entry| Some(absent_contender_finding(entry, &entry.query().err()?)))
        .collect()
}

/// The finding about a contender that cannot take part. A package is suggested only if a program is
/// missing.
fn absent_contender_finding(entry: &RosterEntry, error: &SessionError) -> Finding {
    let name = &entry.name;
    let (property, effect, remedy) = match error {
        SessionError::NotBuilt(_) => (
            format!("contender {name} is not built yet"),
            "what it needs is there: it is built before its first race, once".to_owned(),
            Some(format!("readlab build {name}")),
        ),
        SessionError::Unavailable(_) | SessionError::NotStarted { .. } => {
            (format!("contender {name} cannot take part"), error.to_string(), entry.hint())
        }
        other => {
            let again = (!entry.build.is_empty()).then(|| format!("readlab build {name}"));
            (format!("contender {name} cannot take part"), other.to_string(), again)
        }
    };
    Finding { level: FindingLevel::Note, property, effect, remedy }
}

fn fleet_finding() -> Finding {
    let entry = agent::roster_entry();
    let place = BuildDir::for_entry(&entry).ok().flatten();
    let missing = place.as_ref().and_then(|place| entry.missing_dependency(place));
    let is_built = place.is_some_and(|place| place.is_built(&entry));
    match missing {
        Some(missing) => Finding {
            level: FindingLevel::Note,
            property: "this host cannot be one of a fleet".to_owned(),
            effect: format!("the agent that is linked to MPI cannot be built: {missing}"),
            remedy: entry.hint(),
        },
        None => Finding {
            level: FindingLevel::Helps,
            property: "this host can be one of a fleet".to_owned(),
            effect: "the agent that is linked to MPI is built by the mpicc on the PATH".to_owned(),
            remedy: (!is_built).then(|| format!("readlab build {}", entry.name)),
        },
    }
}

fn leftover_finding(leftover: &Leftover) -> Finding {
    Finding {
        level: FindingLevel::Note,
        property: format!("{} was left by a run that was killed", display_path(&leftover.path)),
        effect: format!("it takes {} of the disk", Bytes(leftover.bytes)),
        remedy: Some(leftover.remedy()),
    }
}

/// Prints one block for each finding. The stream removes the colours if they cannot be shown.
fn print_findings(findings: &[Finding], out: &mut impl Write) -> io::Result<()> {
    for finding in findings {
        let (word, colour) = match finding.level {
            FindingLevel::Spoils => ("spoils", AnsiColor::Red),
            FindingLevel::Note => ("note", AnsiColor::Yellow),
            FindingLevel::Helps => ("helps", AnsiColor::Green),
        };
        let (mark, strong, dim) =
            (Style::new().fg_color(Some(colour.into())), Style::new().bold(), Style::new().dimmed());
        writeln!(out, "{mark}{word:<8}{mark:#}{strong}{}{strong:#}", finding.property)?;
        writeln!(out, "        {dim}{}{dim:#}", finding.effect)?;
    }
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let (spoils, notes, helps) =
        (count(FindingLevel::Spoils), count(FindingLevel::Note), count(FindingLevel::Helps));
    writeln!(out, "\n{spoils} spoil measuring, {notes} to know, {helps} help")?;
    print_remedies(findings, out)
}

/// Prints all remedies again. Findings are sorted, so the most important remedy comes first.
fn print_remedies(findings: &[Finding], out: &mut impl Write) -> io::Result<()> {
    let mends = findings.iter().filter_map(|finding| Some((finding, finding.remedy.as_ref()?)));
    for (number, (finding, mend)) in (1..).zip(mends) {
        if number == 1 {
            writeln!(out, "\nwhat to do, in order of worth:")?;
        }
        writeln!(out, "{number:>3}. {}: {mend}", finding.property)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_contender_has_the_remedy_for_its_cause() {
        let entry = Roster::built_in().entry("c").cloned().unwrap();
        let mend = |error| absent_contender_finding(&entry, &error).remedy.unwrap_or_default();
        assert_eq!(mend(SessionError::NotBuilt("c".into())), "readlab build c");
        let missing = mend(SessionError::Unavailable("it needs cc: No such file".into()));
        assert!(missing.contains("apt-get install gcc"), "{missing}");
        let broken = mend(SessionError::Failed("it said nothing".into()));
        assert_eq!(broken, "readlab build c", "the compiler is there");
    }

    #[test]
    fn a_finding_is_printed_with_its_reason_and_its_remedy() {
        let finding = Finding {
            level: FindingLevel::Spoils,
            property: "the fan is off".into(),
            effect: "it gets hot".into(),
            remedy: Some("fan --on".into()),
        };
        let mut plain = anstream::StripStream::new(Vec::new());
        print_findings(&[finding], &mut plain).unwrap();
        insta::assert_snapshot!(String::from_utf8(plain.into_inner()).unwrap(), @r"
        spoils  the fan is off
                it gets hot

        1 spoil measuring, 0 to know, 0 help

        what to do, in order of worth:
          1. the fan is off: fan --on
        ");
    }
}
