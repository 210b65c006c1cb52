//! Contenders, the programs that read: which there are, how they are built, and what they exchange
//! with the lab.
//!
//! [`roster`] names them, [`build`] makes those that come as sources, [`session`] speaks the
//! protocol with one that runs. [`crate::linux::program`] starts and ends them.

pub mod build;
pub mod discovery;
pub mod roster;
mod scheduling;
pub mod server;
pub mod session;
pub mod snippet;
mod sources;
