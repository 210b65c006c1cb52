//! From a record to text: the same facts for the terminal, for programs (JSON, CSV) and for pages
//! (Markdown, HTML with SVG).
//!
//! Pure: a record goes in, text comes out, the same every time; what holds every sample is written
//! piece by piece. [`Page`] is the view model, where everything that is said is computed and worded
//! once; the other files only lay it out. Names come from the user's file system and rosters and
//! may hold anything, so each format escapes them in its own way; none lets a control character
//! through.

mod advice;
mod answer;
mod archives;
mod baseline;
mod bound;
mod break_even;
mod chart_reading;
mod charts;
mod claims;
mod columns;
mod comparison;
mod csv;
mod curve;
mod digits;
mod document;
mod escaped;
mod file_cost;
mod fleet;
mod grid;
mod headline;
mod history;
mod inside;
mod json;
mod limits;
mod markdown;
mod measured;
mod method;
mod method_label;
mod missing;
mod name;
mod own_commands;
mod page;
mod palette;
mod percentiles;
mod ranking;
mod readers;
mod scaling;
mod search;
mod state_pairs;
mod svg;
mod sweep;
mod terminal;
mod warning;
mod words;

#[cfg(test)]
mod tests;

pub use advice::{Advice, AdvisedTrial, Against, Cheaper, LanguageAdvice, UsualWay};
pub use archives::ArchiveRatio;
pub use bound::Bound;
pub use break_even::BreakEven;
pub use chart_reading::{ChartReading, Dots};
pub use claims::{
    CLAIMS_SCHEMA, CLAIMS_VERSION, claims_json, claims_markdown, claims_terminal, is_claims_json,
};
pub use comparison::{
    COMPARISON_SCHEMA, COMPARISON_VERSION, bencher, comparison_json, comparison_markdown,
    comparison_terminal, github, is_bencher, is_comparison_json, is_github, letter as side_letter,
};
pub use csv::{csv, is_csv};
pub use curve::{Curve, CurvePoint};
pub use document::{charts, comparison_html, html};
pub use headline::{Headline, LanguageBest};
pub use history::{HistoryLine, history_table};
pub use inside::Inside;
pub use json::{EXPORT_SCHEMA, EXPORT_VERSION, is_json, json, json_with};
pub use markdown::{is_markdown, markdown};
pub use method::{MEANINGS, MissingMetric};
pub use page::Page;
pub use percentiles::percentiles;
pub use ranking::{
    Range, Rank, RankGroup, Ranking, RankingRow, Reference, StateProof, TieStatus, Touched, Unmeasured,
    WhyReference,
};
pub use search::SearchView;
pub use sweep::{Known, MixedSize, Series, SizeRow, SweepView};
pub use terminal::{Style, terminal};
pub use warning::{WarningGroup, cautions};
