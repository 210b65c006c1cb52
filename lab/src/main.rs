//! Parses, dispatches, prints one error line, chooses the exit code.
fn main() {}
