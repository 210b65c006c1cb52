//! The baseline in one line: the trial that all ratios of a record are to, named once.

use super::ranking::{Ranking, Reference};
use readlab_model::trial::COMMAND;

/// `ratios are to wc -l (code that others wrote)`; if rankings have different references, each with
/// its rankings. `None` where nothing was measured.
pub(super) fn line(rankings: &[Ranking]) -> Option<String> {
    let mut baselines: Vec<Baseline> = Vec::new();
    for ranking in rankings {
        let Some(reference) = &ranking.reference else { continue };
        let is_same = |had: &&mut Baseline| {
            (&had.reference.name, had.reference.why) == (&reference.name, reference.why)
        };
        match baselines.iter_mut().find(is_same) {
            Some(had) => had.conditions.push(ranking.full_condition()),
            None => baselines.push(Baseline { reference, conditions: vec![ranking.full_condition()] }),
        }
    }
    let parts: Vec<String> = match &baselines[..] {
        [] => return None,
        [one] => vec![one.words()],
        all => all.iter().map(|it| format!("{}: {}", it.conditions.join(" and "), it.words())).collect(),
    };
    Some(format!("ratios are to {}", parts.join("; ")))
}

/// A reference with the rankings that have it.
struct Baseline<'a> {
    reference: &'a Reference,
    conditions: Vec<String>,
}

impl Baseline<'_> {
    fn words(&self) -> String {
        let name = &self.reference.name;
        // A command is called as it is typed.
        let name = name.strip_prefix(COMMAND).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
        format!("{name} ({})", self.reference.why.words())
    }
}
