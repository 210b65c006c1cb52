//! The advice as JSON, a part of the export for programs.

use super::super::json::add_cold_above;
use super::super::ranking::Ranking;
use super::{Advice, AdvisedTrial, LanguageAdvice};
use readlab_analysis::stats::SharedRatio;
use readlab_roster::snippet::Snippet;
use serde_json::{Value, json};

/// What to use, with the numbers behind it.
pub(crate) fn advice(ranking: &Ranking, advice: &Advice) -> Value {
    let mut fields = json!({
        "target": ranking.path,
        "work": ranking.work,
        "state": ranking.state,
        "sentence": advice.sentence,
        "trial": advice.uses,
        "id": advice.uses.map(|_| &advice.name),
        "tied": advice.tied,
        "against": advice.against.as_ref().map(|it| json!({ "id": it.name, "times": times(&it.ratio) })),
        "cheaper": advice.cheaper.as_ref().map(|it| json!({
            "trial": it.index,
            "id": it.name,
            "times": times(&it.ratio),
            "without": it.without,
        })),
        "code": code(&advice.code),
        "by_language": advice.by_language.iter().map(language).collect::<Vec<Value>>(),
    });
    add_cold_above(&mut fields, ranking.cold_above.clone());
    fields
}

/// What to use in one language.
fn language(advice: &LanguageAdvice) -> Value {
    let trial = |it: &AdvisedTrial| json!({ "trial": it.index, "id": it.name });
    json!({
        "language": advice.language,
        "usual": advice.usual.as_ref().map(trial),
        "usual_is": advice.usual_is,
        "best": trial(&advice.best),
        "times": advice.ratio.as_ref().map(times),
        "needs": advice.needs,
        "code": code(&advice.code),
    })
}

fn times(ratio: &SharedRatio) -> Value {
    json!({
        "estimate": ratio.estimate,
        "ci95": ratio.ci95.map(|it| [it.ends.low, it.ends.high]),
        "interval": ratio.ci95.map(|it| it.rule),
    })
}

fn code(snippets: &[Snippet]) -> Value {
    snippets.iter().map(|it| json!({ "language": it.language, "code": it.code })).collect()
}
