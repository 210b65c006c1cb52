//! Code that needs only POSIX.

pub mod own_file;
pub mod user;
