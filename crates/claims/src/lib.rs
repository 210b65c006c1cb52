//! What publications claim: each claim and each open question as data, judged by the publication's
//! own figures and by a record.
//!
//! A claims file (`file`) holds the claims of one publication, each with an [`Expression`] over
//! trials and metrics. `Figures` are what a side knows: a machine of a published table, or a
//! record. [`judge()`] evaluates an expression on figures; a claim holds only where a whole
//! interval says so. Wording and layout are in `readlab_report`.

mod answer;
mod bounds;
mod claim;
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

pub use answer::{Answer, Estimate, Found, Shown, Verdict};
pub use bounds::Bounds;
pub use claim::{AnsweredBy, Claim, ClaimsFile, Expression, Pair, Quantity, RatioForm};
pub use figures::HERE;
pub use file::{ClaimsError, find, judged_by, names, of_record, parse, read};
pub use judge::{JudgedClaim, JudgedClaims, judge};
pub use metric::Metric;

#[cfg(doc)]
use figures::Dataset;
