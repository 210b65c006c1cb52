//! The verbs of the command line, one a file: arguments and a `run` that calls the rooms and chooses the exit code.

pub mod doctor;
