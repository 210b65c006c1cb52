//! The program as its users meet it: words in, streams and exit codes out, on files and machines of
//! every kind.
//!
//! Each test has a [`Home`] of its own, so that nothing is read from or left in the home of whoever
//! runs the tests.

mod alone;
mod archives;
mod compare;
mod devices;
mod exits;
#[path = "../common/fake.rs"]
mod fake;
#[path = "../common/home.rs"]
mod home;
mod hostile;
mod http;
mod inside;
mod interrupt;
mod killed;
mod memory;
mod race;
mod readme;
mod resume;
mod rights;
mod state;
mod sweep;
mod together;
mod tune;
mod verbs;

use home::{AS_NOBODY, EVERY_METHOD, Home, QUICK, READLAB, Said, no_other_user, trials};
