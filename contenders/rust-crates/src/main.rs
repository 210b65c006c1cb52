//! The Rust contender of readlab that reads files with well-known crates: runtimes, maps, and
//! readers of records and lines. The crate `readlab-protocol` implements the protocol.

mod methods;
mod readers;

use readlab_protocol::contender::{MethodList, heap};
use std::process::ExitCode;

fn main() -> ExitCode {
    heap::return_large_blocks();
    let (version, runtime) = (env!("CARGO_PKG_VERSION"), env!("READLAB_RUNTIME"));
    MethodList { name: "rust-crates", version, runtime, methods: methods::all() }.main()
}
