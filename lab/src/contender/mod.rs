//! The contenders, which are programs that read: their roster, how they are built and started, and
//! the protocol between them and the lab.
//!
//! [`roster`] lists them, [`build`] builds those that come as sources, [`discovery`] asks each for
//! its methods, [`methods`] resolves the names of trials. [`process`] runs a program by lines,
//! [`session`] speaks the protocol over it. [`launcher`] is the process from which all are started,
//! so that no process that they start outlives the lab.

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
