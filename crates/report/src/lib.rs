//! Turns a record into text: the same facts for the terminal, for programs (JSON, CSV) and as pages
//! (Markdown, HTML with SVG).
//!
//! Pure: the same record always gives the same text. Outputs with all samples are written in
//! pieces. [`Page`] is the view model, in which everything is computed and worded once; the other
//! files only lay it out. Names come from the user's file system and rosters and may contain
//! anything, so each format escapes them in its own way; no format lets a control character
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
mod how_measured;
mod inside;
mod json;
mod limits;
mod live;
mod locations;
mod markdown;
mod memory;
mod name;
mod page;
mod palette;
mod percentiles;
mod ranking;
mod readers;
mod row_pairs;
mod scaling;
mod schema;
mod search;
mod settings;
mod svg;
mod sweep;
mod table;
mod terminal;
pub mod verification;
mod warning;
mod words;

#[cfg(test)]
mod tests;

pub use claims::{claims_json, claims_markdown, claims_terminal, is_claims_json};
pub use columns::{LiveColumn, LiveWidth, live_columns};
pub use comparison::{
    bencher_json, comparison_json, comparison_markdown, comparison_terminal, github_json, is_comparison_json,
    is_own_bencher_json, is_own_github_json, side_letter,
};
pub use csv::{is_own_csv, write_csv};
pub use document::{comparison_html, html, svg_files};
pub use history::{HistoryLine, history_table};
pub use json::{is_own_json, write_json, write_json_with_claims};
pub use live::{wide_rate_words, wide_time_words};
pub use markdown::{is_own_markdown, markdown};
pub use name::target_names;
pub use page::Page;
pub use percentiles::percentile_tables;
pub use ranking::Ranking;
pub use schema::JsonFormat;
pub use terminal::{Style, terminal_page};
pub use warning::cautions;
pub use words::ONE_READING;
