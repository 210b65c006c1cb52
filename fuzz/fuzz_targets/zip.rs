//! Passes the input to `inputs::archive`, as a zip.
#![no_main]

#[allow(dead_code)]
#[path = "../inputs.rs"]
mod inputs;

use readlab_protocol::Archive;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let file = std::env::temp_dir().join(format!("readlab-fuzz-zip-{}", std::process::id()));
    inputs::archive(input, &file, Archive::Zip);
});
