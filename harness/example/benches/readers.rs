//! `cargo bench` measures the readers of this crate with readlab.

use readlab_harness::{Harness, Work};
use readlab_harness_example::{by_one_buffer, by_strings};
use std::process::ExitCode;

fn main() -> ExitCode {
    // This is a file of the crate. A real benchmark takes a file as large as those that its users
    // read.
    Harness::new("own-readers", "benches/lines.txt")
        .reader("strings", Work::Lines, by_strings)
        .reader("one-buffer", Work::Lines, by_one_buffer)
        .main()
}
