//! Programs that read: who they are, how they are started, and what passes between them and the lab.
//!
//! [`roster`] names them, [`process`] runs one and knows nothing of messages, [`session`] speaks the protocol and
//! knows nothing of pipes.

pub mod process;
pub mod roster;
pub mod session;
