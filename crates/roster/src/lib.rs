//! The contenders (programs that read): how they are built and started, and the protocol between
//! contenders and the lab.
//!
//! [`readlab_catalog`] lists them, [`build`] builds those that come as sources, [`discovery`] asks
//! for their methods, [`methods`] resolves the names of trials, and [`session`] speaks the
//! protocol. [`readlab_system::program`] starts and ends programs.

pub mod build;
pub mod discovery;
pub mod methods;
pub mod server;
pub mod session;
mod sources;
