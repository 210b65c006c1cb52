//! The claims of publications: each claim and each open question as data, judged by the
//! publication's own figures and by a record.
//!
//! A claims file (`file`) holds the claims of one publication, each with an [`Expression`] over
//! trials and metrics. `figures` holds the numbers of a side: a machine of a published table, or a
//! record. [`judge()`] evaluates an expression on these figures; a claim holds only if a whole
//! interval supports it. Wording and layout are in `readlab_report`.

mod answer;
mod bounds;
mod claim;
mod export;
mod figures;
mod file;
mod judge;
mod line;
mod machines;
mod metric;
mod operand;
mod order;
mod sweep;
#[cfg(test)]
mod tests;

pub use answer::{Answer, ClaimNumber, Estimate, ShownNumbers, Verdict};
pub use bounds::Bounds;
pub use claim::{AnsweredBy, Claim, ClaimsFile, Expression, Pair, Quantity, RatioForm};
pub use figures::RECORD_SIDE_NAME;
pub use file::{
    ClaimsError, built_in_for_record, built_in_names, find_built_in, judge_built_in, parse, read,
};
pub use judge::{JudgedClaim, JudgedClaims, judge};
pub use metric::Metric;

#[cfg(doc)]
use figures::Dataset;
