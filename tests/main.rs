//! Tests of the program from outside, with its arguments, streams, files and exit codes.
//!
//! The first ring (`make test`) omits the tests in modules with the name `ring2`. CONTRIBUTING.md
//! says which test belongs in which ring.

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
