//! The first lines of a record: the header, the targets, who takes part and who does not.

use super::targets::OpenTarget;
use readlab_measure::plan::Plan;
use readlab_model::trial::TrialId;
use readlab_record::{Check, Header, Line, RunKind, SCHEMA, SCHEMA_VERSION};
use readlab_roster::discovery::Contenders;
use readlab_system::machine::Machine;
use readlab_targets::target::secret;

/// The first line of a record that begins now, on this machine, by this command.
pub(super) fn header(kind: RunKind, seed: u64, reference: Option<TrialId>) -> Header {
    Header {
        schema: SCHEMA.to_owned(),
        version: SCHEMA_VERSION,
        lab: env!("CARGO_PKG_VERSION").to_owned(),
        revision: env!("READLAB_REVISION").to_owned(),
        kind,
        command: std::env::args_os().map(|word| secret::shown_in(&word.to_string_lossy())).collect(),
        started: jiff::Timestamp::now().to_string(),
        seed,
        reference,
        references: Vec::new(),
        machine: Machine::probe(),
        agenda: None,
    }
}

/// The lines of a record that come before any measuring.
pub(super) fn lines(
    header: Header,
    targets: &[OpenTarget],
    contenders: &Contenders,
    plan: &Plan,
) -> Vec<Line> {
    let mut lines = vec![Line::Header(Box::new(header))];
    for (index, OpenTarget { target, .. }) in targets.iter().enumerate() {
        lines.push(Line::Target { index, facts: Box::new(target.facts.clone()) });
    }
    lines.extend(absent(contenders));
    if plan.trials.iter().any(|planned| planned.trial.command.check == Check::Unchecked) {
        lines.push(warning("what the commands printed was not checked (--check none)".to_owned()));
    }
    for contender in contenders.present() {
        let name = &contender.receipt.contender;
        if plan.trials.iter().any(|planned| planned.trial.contender() == *name) {
            lines.push(Line::Contender(contender.receipt.clone()));
        }
    }
    lines
}

/// A warning for each contender that does not take part.
pub(super) fn absent(contenders: &Contenders) -> impl Iterator<Item = Line> {
    let absent = contenders.absent().iter();
    absent.map(|(name, reason)| warning(format!("{name} does not take part: {reason}")))
}

/// A warning as a line of the record.
pub(super) fn warning(text: String) -> Line {
    Line::Warning { text }
}
