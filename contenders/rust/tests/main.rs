//! Tests of the Rust contender from outside: one program, as each would link all methods again.

mod archives;
mod conformance;
mod encryption;
mod files;
mod forms;
mod naive;
mod names;
mod places;
mod server;
mod session;
mod snippets;
mod turns;
mod urls;
