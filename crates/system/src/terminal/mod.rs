//! What readlab writes to a terminal outside of reports: notices on standard error, the lines that
//! are drawn below them and change, and text from outside made safe to print.

pub mod cells;
#[cfg(target_os = "linux")]
pub mod notice;
pub mod printable;
#[cfg(target_os = "linux")]
pub mod screen;
