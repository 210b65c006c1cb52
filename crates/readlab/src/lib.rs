//! The program: verbs, flags, exit codes.

pub mod commands;
