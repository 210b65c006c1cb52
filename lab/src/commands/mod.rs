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
mod patience;
mod prepare;
mod probe;
pub mod race;
pub mod report;
pub mod request;
mod resume;
mod run;
pub mod serve;
pub mod suite;
pub mod sweep;
pub mod tune;
