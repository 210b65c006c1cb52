//! What needs no more of a system than POSIX.

pub mod own_file;
pub mod user;
