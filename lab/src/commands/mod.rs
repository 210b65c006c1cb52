//! The verbs, one a file: each has its arguments and a `run`. No measuring and no formatting here.

mod asked;
pub mod build;
pub mod compare;
pub mod completions;
pub mod contender;
pub mod corpus;
pub mod doctor;
mod found;
mod giving;
mod goal;
pub mod history;
pub mod limits;
pub mod list;
pub mod man;
mod prepare;
pub mod race;
pub mod report;
pub mod request;
mod run;
pub mod serve;
pub mod suite;
pub mod sweep;
pub mod tune;

/// An error with its causes as one line that no byte of a file's name can break or colour.
#[must_use]
pub fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").chars().flat_map(printable).collect()
}

/// The character itself, or its escape where a terminal would obey it.
fn printable(c: char) -> Box<dyn Iterator<Item = char>> {
    if c.is_control() { Box::new(c.escape_default()) } else { Box::new(std::iter::once(c)) }
}
