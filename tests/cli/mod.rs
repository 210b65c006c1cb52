//! Tests of the program as users start it: arguments in, streams and exit codes out, on many kinds
//! of files and machines.
//!
//! Each test has its own [`Home`], so that no file in the real home is read or written.

mod action;
mod alone;
mod archives;
mod claims;
mod code;
mod compare;
mod devices;
mod dictionaries;
mod documents;
mod encrypted;
mod exits;
mod fleet;
mod found;
mod harness;
mod hostile;
mod http;
mod inside;
mod interrupt;
mod killed;
mod limits;
mod live;
mod loopback;
mod memory;
mod objects;
mod outputs;
mod own_commands;
mod places;
mod race;
mod readers;
mod readme;
mod real_servers;
mod resume;
mod rights;
mod scripted_server;
mod state;
mod suite_extent;
mod sweep;
mod together;
mod trees;
mod tune;
mod verbs;

use crate::home::{AS_NOBODY, EVERY_METHOD, Home, QUICK, READLAB, Said, listed, no_other_user, trials};
use crate::{fake, home, pseudo_terminal};
