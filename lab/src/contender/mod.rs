//! Programs that read: who they are, how they are started, and what passes between them and the
//! lab.
//!
//! [`roster`] names them, [`build`] makes those that come as sources, [`process`] runs one and
//! knows nothing of messages, [`session`] speaks the protocol and knows nothing of pipes.
//! [`launcher`] is the process from which all are started, so that nothing that they start outlives
//! the lab.

pub mod build;
pub mod discovery;
pub mod launcher;
mod leftovers;
pub mod methods;
pub mod process;
pub mod roster;
mod running;
mod scheduling;
pub mod server;
pub mod session;
pub mod snippet;
mod sources;
mod supervisor;

pub use running::Left;
