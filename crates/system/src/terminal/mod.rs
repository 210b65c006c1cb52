//! What readlab writes to a terminal outside of reports: notices on standard error, the lines that
//! are drawn below them and change, and text from outside made safe to print.

pub mod cells;
pub mod notice;
pub mod printable;
pub mod screen;
