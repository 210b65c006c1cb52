//! Tests of the program from outside: arguments in, streams, files and exit codes out.
//!
//! The first ring (`make test`) leaves out what is in a module `ring2`. CONTRIBUTING.md says which
//! test belongs where.

mod adversary;
mod cli;
mod contenders;
mod fake;
mod garbage;
mod home;
mod house;
#[path = "../fuzz/inputs.rs"]
mod inputs;
mod pseudo_terminal;
mod report;
mod ring2;
mod unescaped;
mod verify;
