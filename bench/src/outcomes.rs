//! Outcomes of the trials of a race whose answers matter and whose times do not.

use crate::row::Row;
use readlab_record::{Outcome, Record};
use std::collections::BTreeMap;

/// How many answered right, and what became of the others, each reason once: none may be wrong.
pub(crate) fn row(figure: impl Into<String>, found: anyhow::Result<Record>) -> Row {
    let record = match found {
        Ok(record) => record,
        Err(error) => return Row::failed(figure, &error),
    };
    let trials = || record.trials.iter().filter(|it| !it.trial.is_control());
    let right = trials().filter(|it| it.is_measured()).count();
    let mut others: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut wrong = 0_u32;
    for it in trials().filter(|it| !it.is_measured()) {
        wrong += u32::from(matches!(it.outcome, Some(Outcome::Refused { .. })));
        let reason = it.outcome.as_ref().map_or("no outcome", |it| it.reason().unwrap_or_default());
        others.entry(reason.to_owned()).or_default().push(it.trial.id.to_string());
    }
    let others = others.iter().map(|(reason, names)| format!("; {}: {reason}", names.join(", ")));
    let words = format!("{right} right, {wrong} wrong{}", others.collect::<String>());
    Row::judged(figure, "none wrong", f64::from(wrong), wrong == 0 && right > 0, words)
}
