//! The contenders, which are programs that read: how they are built and started, and the protocol
//! between them and the lab.
//!
//! [`readlab_catalog`] lists them, [`build`] builds those that come as sources, [`discovery`] asks each
//! for its methods, [`methods`] resolves the names of trials, [`session`] speaks the protocol.
//! [`readlab_system::program`] starts and ends programs.

pub mod build;
pub mod discovery;
pub mod methods;
pub mod server;
pub mod session;
mod sources;
