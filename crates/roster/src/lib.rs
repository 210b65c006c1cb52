//! The contenders, which are programs that read: their roster, how they are built and started, and
//! the protocol between them and the lab.
//!
//! [`roster`] lists them, [`build`] builds those that come as sources, [`discovery`] asks each for
//! its methods, [`methods`] resolves the names of trials, [`language`] says what they are written
//! in, [`session`] speaks the protocol. [`readlab_system::program`] starts and ends programs.

pub mod build;
pub mod discovery;
pub mod language;
pub mod methods;
pub mod roster;
pub mod server;
pub mod session;
pub mod snippet;
mod sources;
