//! Tests of the program as users start it, with arguments, streams and exit codes, on many kinds of
//! files and machines.
//!
//! Each test has its own [`crate::home::Home`], so that no file in the real home is read or written.

mod action;
mod alone;
mod archives;
mod claims;
mod code;
mod compare;
mod devices;
mod documents;
mod encrypted;
mod exits;
mod fleet;
mod harness;
mod hostile;
mod http;
mod inside;
mod killed;
mod limits;
mod live;
mod locations;
mod loopback;
mod memory;
mod objects;
mod outputs;
mod own_commands;
mod parts;
mod places;
mod pressed;
mod race;
mod readers;
mod readme;
mod real_servers;
mod resume;
mod rights;
mod settings;
mod state;
mod suite_extent;
mod sweep;
mod together;
mod trees;
mod tune;
mod verbs;
