//! Terminal output outside of reports: notices on standard error, the redrawn lines below them, and
//! making text from outside safe to print.

pub mod cells;
#[cfg(target_os = "linux")]
pub mod notice;
pub mod printable;
#[cfg(target_os = "linux")]
pub mod screen;
