//! The contents of a claims file as TOML holds them, with byte offsets, so that an error can name
//! the line. `KINDS` says which fields belong to which kind of expression.

use super::bounds::Bounds;
use super::claim::{AnsweredBy, Claim, ClaimsFile, Expression, Pair, Quantity, RatioForm};
use super::metric::Metric;
use readlab_model::target::memory::MemoryBound;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use serde::Deserialize;
use std::ops::RangeInclusive;
use toml::Spanned;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ParseError {
    /// The offset of the error from the start of the file.
    pub(super) offset_bytes: usize,
    pub(super) cause: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimsFileToml {
    name: String,
    #[serde(rename = "source")]
    publication: String,
    #[serde(rename = "published")]
    tables_name: Option<String>,
    suite: Option<String>,
    #[serde(default)]
    #[serde(rename = "sweep")]
    is_about_sweep: bool,
    state: Option<CacheState>,
    #[serde(rename = "claim")]
    claims: Vec<ClaimToml>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimToml {
    #[serde(rename = "says")]
    statement: String,
    #[serde(rename = "where")]
    passage: String,
    question: Option<String>,
    kind: Spanned<ExpressionKind>,
    metric: Option<Spanned<Metric>>,
    to_metric: Option<Spanned<Metric>>,
    published_metric: Option<Spanned<Metric>>,
    state: Option<Spanned<CacheState>>,
    to_state: Option<Spanned<CacheState>>,
    memory: Option<Spanned<MemoryBound>>,
    to_memory: Option<Spanned<MemoryBound>>,
    sizes: Option<Spanned<String>>,
    pairs: Option<Spanned<Vec<PairToml>>>,
    trials: Option<Spanned<Vec<String>>>,
    #[serde(rename = "of")]
    machine: Option<Spanned<String>>,
    #[serde(rename = "to")]
    reference_machine: Option<Spanned<String>>,
    #[serde(rename = "same")]
    shared_fact: Option<Spanned<String>>,
    #[serde(rename = "over")]
    slope_fact: Option<Spanned<String>>,
    #[serde(rename = "within")]
    factor_max: Option<Spanned<f64>>,
    at_least: Option<Spanned<f64>>,
    at_most: Option<Spanned<f64>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PairToml {
    #[serde(rename = "of")]
    trials: OneOrMany,
    #[serde(rename = "to")]
    reference_trial: String,
}

/// One trial, or several, each of which makes a pair.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExpressionKind {
    Ratio,
    Share,
    Difference,
    Value,
    Order,
    SameOrder,
    Machines,
    Slope,
}

/// The fields that a kind of expression requires and accepts, beside the fields of every claim.
struct KindFields {
    kind: ExpressionKind,
    kind_word: &'static str,
    required_fields: &'static [&'static str],
    optional_fields: &'static [&'static str],
    has_bounds: bool,
}

const KINDS: [KindFields; 8] = [
    kind_with_bounds(
        (ExpressionKind::Ratio, "ratio"),
        &["pairs"],
        &["metric", "to_metric", "published_metric", "state", "to_state", "memory", "to_memory", "sizes"],
    ),
    kind_with_bounds(
        (ExpressionKind::Share, "share"),
        &["trials", "metric", "to_metric"],
        &["published_metric", "state", "memory", "sizes"],
    ),
    kind_with_bounds(
        (ExpressionKind::Difference, "difference"),
        &["pairs"],
        &["metric", "state", "to_state"],
    ),
    kind_with_bounds(
        (ExpressionKind::Value, "value"),
        &["trials", "metric"],
        &["published_metric", "state", "memory", "sizes"],
    ),
    kind_without_bounds((ExpressionKind::Order, "order")),
    kind_without_bounds((ExpressionKind::SameOrder, "same_order")),
    kind_with_bounds(
        (ExpressionKind::Machines, "machines"),
        &["trials", "of", "to"],
        &["metric", "state", "same"],
    ),
    kind_with_bounds((ExpressionKind::Slope, "slope"), &["trials", "over", "within"], &["state"]),
];

const fn kind_with_bounds(
    (kind, kind_word): (ExpressionKind, &'static str),
    required_fields: &'static [&'static str],
    optional_fields: &'static [&'static str],
) -> KindFields {
    KindFields { kind, kind_word, required_fields, optional_fields, has_bounds: true }
}

/// The fields of a claim about the order of trials. Such a claim has no bounds, because it says
/// which number is smaller, not by how much.
const fn kind_without_bounds((kind, kind_word): (ExpressionKind, &'static str)) -> KindFields {
    KindFields {
        kind,
        kind_word,
        required_fields: &["trials"],
        optional_fields: &["metric", "state"],
        has_bounds: false,
    }
}

impl OneOrMany {
    fn names(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            OneOrMany::One(name) => std::slice::from_ref(name),
            OneOrMany::Many(names) => names.as_slice(),
        };
        names.iter().map(String::as_str)
    }
}

impl ClaimsFileToml {
    /// Converts the file to claims, if all expressions are valid.
    pub(super) fn into_claims_file(self) -> Result<ClaimsFile, ParseError> {
        let ClaimsFileToml {
            name,
            publication: source,
            tables_name: published,
            suite,
            is_about_sweep: sweep,
            state,
            claims,
        } = self;
        let claims = claims.into_iter().map(|lines| lines.into_claim(state)).collect::<Result<_, _>>()?;
        let answered_by = match (suite, sweep) {
            (Some(suite), _) => AnsweredBy::Suite(suite),
            (None, true) => AnsweredBy::Sweep,
            (None, false) => AnsweredBy::AnyRecord,
        };
        Ok(ClaimsFile { name, publication: source, tables_name: published, answered_by, claims })
    }
}

impl ClaimToml {
    fn into_claim(self, state: Option<CacheState>) -> Result<Claim, ParseError> {
        self.check_fields()?;
        let bounds = self.bounds()?;
        let expression = self.expression(state)?;
        Ok(Claim {
            statement: self.statement,
            passage: self.passage,
            question: self.question,
            expression,
            bounds,
        })
    }

    /// The fields that are set and that only some kinds accept, with their offsets in bytes.
    fn present_fields(&self) -> Vec<(&'static str, usize)> {
        fn at<T>(name: &'static str, field: Option<&Spanned<T>>) -> Option<(&'static str, usize)> {
            field.map(|it| (name, it.span().start))
        }
        let all = [
            at("metric", self.metric.as_ref()),
            at("to_metric", self.to_metric.as_ref()),
            at("published_metric", self.published_metric.as_ref()),
            at("state", self.state.as_ref()),
            at("to_state", self.to_state.as_ref()),
            at("memory", self.memory.as_ref()),
            at("to_memory", self.to_memory.as_ref()),
            at("sizes", self.sizes.as_ref()),
            at("pairs", self.pairs.as_ref()),
            at("trials", self.trials.as_ref()),
            at("of", self.machine.as_ref()),
            at("to", self.reference_machine.as_ref()),
            at("same", self.shared_fact.as_ref()),
            at("over", self.slope_fact.as_ref()),
            at("within", self.factor_max.as_ref()),
            at("at_least", self.at_least.as_ref()),
            at("at_most", self.at_most.as_ref()),
        ];
        all.into_iter().flatten().collect()
    }

    fn check_fields(&self) -> Result<(), ParseError> {
        let kind = *self.kind.get_ref();
        let fields = KINDS.iter().find(|it| it.kind == kind).expect("every kind is in the table");
        let present = self.present_fields();
        for field in fields.required_fields {
            if !present.iter().any(|(name, _)| name == field) {
                let (word, expected) = (fields.kind_word, fields.required_fields.join(", "));
                return Err(self.kind_error(format!("kind '{word}' has no '{field}', expected {expected}")));
            }
        }
        let bounds: &[&str] = if fields.has_bounds { &["at_least", "at_most"] } else { &[] };
        let belongs = |name: &&str| {
            [fields.required_fields, fields.optional_fields, bounds].iter().any(|names| names.contains(name))
        };
        if let Some((name, at)) = present.iter().find(|(name, _)| !belongs(name)) {
            let known: Vec<&str> = [fields.required_fields, fields.optional_fields, bounds].concat();
            let cause = format!(
                "'{name}' does not belong to kind '{}', expected {}",
                fields.kind_word,
                known.join(", ")
            );
            return Err(ParseError { offset_bytes: *at, cause });
        }
        if fields.has_bounds && self.at_least.is_none() && self.at_most.is_none() {
            let word = fields.kind_word;
            return Err(self.kind_error(format!("kind '{word}' has no bound, expected at_least or at_most")));
        }
        Ok(())
    }

    fn kind_error(&self, cause: String) -> ParseError {
        ParseError { offset_bytes: self.kind.span().start, cause }
    }

    fn bounds(&self) -> Result<Bounds, ParseError> {
        let value = |bound: &Option<Spanned<f64>>| bound.as_ref().map(|it| *it.get_ref());
        let bounds = Bounds { at_least: value(&self.at_least), at_most: value(&self.at_most) };
        for bound in [&self.at_least, &self.at_most].into_iter().flatten() {
            if !bound.get_ref().is_finite() {
                return Err(parse_error(bound, "expected a finite number".to_owned()));
            }
        }
        match (&self.at_most, bounds.at_least, bounds.at_most) {
            (Some(place), Some(low), Some(high)) if low > high => Err(parse_error(
                place,
                format!("at_most {high} is below at_least {low}, expected a higher number"),
            )),
            _ => Ok(bounds),
        }
    }

    fn expression(&self, state: Option<CacheState>) -> Result<Expression, ParseError> {
        Ok(match self.kind.get_ref() {
            ExpressionKind::Ratio => Expression::Ratio { pairs: self.pairs(state)?, form: RatioForm::Times },
            ExpressionKind::Share => {
                Expression::Ratio { pairs: self.share_pairs(state)?, form: RatioForm::Share }
            }
            ExpressionKind::Difference => Expression::Difference(self.pairs(state)?),
            ExpressionKind::Value => Expression::Value(self.trial_quantities(state, 1)?),
            ExpressionKind::Order => Expression::Order(self.trial_quantities(state, 2)?),
            ExpressionKind::SameOrder => Expression::SameOrder(self.trial_quantities(state, 2)?),
            ExpressionKind::Machines => Expression::Machines {
                trials: self.trial_quantities(state, 1)?,
                machine: text_or_empty(self.machine.as_ref()),
                reference_machine: text_or_empty(self.reference_machine.as_ref()),
                shared_fact: self.shared_fact.as_ref().map(|it| it.get_ref().clone()),
            },
            ExpressionKind::Slope => Expression::Slope {
                quantity: self.trial_quantities(state, 1)?.swap_remove(0),
                fact: text_or_empty(self.slope_fact.as_ref()),
                factor_max: self.factor_max()?,
            },
        })
    }

    fn factor_max(&self) -> Result<f64, ParseError> {
        match &self.factor_max {
            Some(within) if *within.get_ref() > 1.0 && within.get_ref().is_finite() => Ok(*within.get_ref()),
            Some(within) => Err(parse_error(within, "expected a factor above 1".to_owned())),
            None => Ok(f64::INFINITY),
        }
    }

    fn quantity(&self, trial: &str, state: Option<CacheState>) -> Result<Quantity, ParseError> {
        Ok(Quantity {
            trial: trial.to_owned(),
            metric: self.metric.as_ref().map_or(Metric::WALL, |it| *it.get_ref()),
            published_metric: self.published_metric.as_ref().map(|it| *it.get_ref()),
            state: self.state.as_ref().map(|it| *it.get_ref()).or(state_under(&self.memory)).or(state),
            memory: self.memory.as_ref().map(|it| *it.get_ref()),
            size_range_bytes: self.sizes.as_ref().map(parse_sizes).transpose()?,
        })
    }

    fn trial_quantities(&self, state: Option<CacheState>, least: usize) -> Result<Vec<Quantity>, ParseError> {
        let Some(trials) = &self.trials else { return Ok(Vec::new()) };
        if trials.get_ref().len() < least {
            return Err(parse_error(trials, format!("expected {least} trials or more")));
        }
        trials.get_ref().iter().map(|trial| self.quantity(trial, state)).collect()
    }

    /// The pairs of an expression. The sizes restrict only the first quantity of a pair: a part of
    /// a series is compared with the whole series. The second quantity has the first one's bound on
    /// memory, unless the claim gives it another bound or another state.
    fn pairs(&self, state: Option<CacheState>) -> Result<Vec<Pair>, ParseError> {
        let Some(pairs) = &self.pairs else { return Ok(Vec::new()) };
        if pairs.get_ref().is_empty() {
            return Err(parse_error(pairs, "expected pairs such as { of = \"…\", to = \"…\" }".to_owned()));
        }
        let pair = |of: &str, to: &str| {
            let of = self.quantity(of, state)?;
            let of_same_state = of.memory.filter(|_| self.to_state.is_none());
            let to_state = self.to_state.as_ref().map(|it| *it.get_ref());
            let to = Quantity {
                trial: to.to_owned(),
                metric: self.to_metric.as_ref().map_or(of.metric, |it| *it.get_ref()),
                published_metric: None,
                state: to_state.or(state_under(&self.to_memory)).or(of.state),
                memory: self.to_memory.as_ref().map(|it| *it.get_ref()).or(of_same_state),
                size_range_bytes: None,
            };
            Ok(Pair { quantity: of, reference: to })
        };
        let all = pairs
            .get_ref()
            .iter()
            .flat_map(|line| line.trials.names().map(|of| pair(of, &line.reference_trial)));
        all.collect()
    }

    /// Pairs of two numbers of the same trial.
    fn share_pairs(&self, state: Option<CacheState>) -> Result<Vec<Pair>, ParseError> {
        let share = |of: Quantity| {
            let metric = self.to_metric.as_ref().map_or(of.metric, |it| *it.get_ref());
            let to = Quantity { metric, published_metric: None, ..of.clone() };
            Pair { quantity: of, reference: to }
        };
        Ok(self.trial_quantities(state, 1)?.into_iter().map(share).collect())
    }
}

/// The pressed state if there is a bound on memory; otherwise `None`.
fn state_under(bound: &Option<Spanned<MemoryBound>>) -> Option<CacheState> {
    bound.as_ref().map(|_| CacheState::Pressed)
}

fn parse_error<T>(field: &Spanned<T>, cause: String) -> ParseError {
    ParseError { offset_bytes: field.span().start, cause }
}

fn text_or_empty(field: Option<&Spanned<String>>) -> String {
    field.map(|it| it.get_ref().clone()).unwrap_or_default()
}

/// Parses a range such as `100kB..1MB`, both ends included.
fn parse_sizes(text: &Spanned<String>) -> Result<RangeInclusive<u64>, ParseError> {
    let range = text.get_ref().split_once("..").and_then(|(low, high)| {
        let (low, high): (Bytes, Bytes) = (low.parse().ok()?, high.parse().ok()?);
        (low <= high).then_some(low.0..=high.0)
    });
    range.ok_or_else(|| {
        parse_error(text, format!("'{}' is no range of sizes, expected 100kB..1MB", text.get_ref()))
    })
}
