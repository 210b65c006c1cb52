//! What readlab writes to a terminal outside of reports: notices on standard error, and text from
//! outside made safe to print.

pub mod notice;
pub mod printable;
