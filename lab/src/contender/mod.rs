//! Programs that read: who they are, how they are started, and what passes between them and the lab.
//!
//! [`roster`] names them, [`build`] makes those that come as sources, [`process`] runs one and knows nothing of messages,
//! [`session`] speaks the protocol and knows nothing of pipes.

pub mod build;
pub mod process;
pub mod roster;
pub mod session;
mod sources;
