//! Passes the input to `inputs::record`.
#![no_main]

#[allow(dead_code)]
#[path = "../inputs.rs"]
mod inputs;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    inputs::record(input, &std::env::temp_dir().join(format!("readlab-fuzz-record-{}", std::process::id())));
});
