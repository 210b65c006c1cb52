//! Tests of the program from outside: arguments in, streams, files and exit codes out.
//!
//! The first ring (`make test`) leaves out what is in a module `ring2`. CONTRIBUTING.md says which
//! test belongs where.

mod adversary;
mod cli;
mod contenders;
mod control_group;
mod fake;
mod garbage;
mod home;
mod house;
#[path = "../fuzz/inputs.rs"]
mod inputs;
mod machine;
mod mounted;
mod own_server;
mod processes;
mod pseudo_terminal;
mod report;
mod repository;
mod ring2;
mod schemas;
mod scripted_server;
mod unescaped;
mod verify;
