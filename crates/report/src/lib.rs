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
mod break_even;
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
mod groups;
mod headline;
mod history;
mod inside;
mod json;
mod limits;
mod markdown;
mod method;
mod name;
mod page;
mod palette;
mod percentiles;
mod ranking;
mod readers;
mod scaling;
mod schema;
mod search;
mod state_pairs;
mod svg;
mod sweep;
mod table;
mod terminal;
mod warning;
mod words;

#[cfg(test)]
mod tests;

pub use claims::{claims_json, claims_markdown, claims_terminal, is_claims_json};
pub use columns::{LiveColumn, LiveRoom, live_columns};
pub use comparison::{
    bencher, comparison_json, comparison_markdown, comparison_terminal, github, is_bencher,
    is_comparison_json, is_github, letter as side_letter,
};
pub use csv::{csv, is_csv};
pub use document::{charts, comparison_html, html};
pub use history::{HistoryLine, history_table};
pub use json::{is_json, json, json_with};
pub use markdown::{is_markdown, markdown};
pub use page::Page;
pub use percentiles::percentiles;
pub use ranking::Ranking;
pub use schema::Format;
pub use terminal::{Style, terminal};
pub use warning::cautions;
