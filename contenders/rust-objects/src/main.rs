//! The Rust contender of readlab that reads objects of S3 stores and URLs, with the crates that
//! asynchronous programs use: `object_store` and `reqwest`, on Tokio. The crate `readlab-protocol`
//! implements the protocol.

mod async_reader;
mod client;
mod failure;
mod methods;
mod objects;
mod ranges;
mod urls;

use readlab_protocol::contender::MethodList;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A library of the transport requires this choice when a client is made.
    rustls::crypto::ring::default_provider().install_default().expect("no encryption was chosen before");
    let (version, runtime) = (env!("CARGO_PKG_VERSION"), env!("READLAB_RUNTIME"));
    MethodList { name: "rust-objects", version, runtime, methods: methods::all() }.main()
}
