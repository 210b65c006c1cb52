//! Passes the input to `inputs::http`.
#![no_main]

#[allow(dead_code)]
#[path = "../inputs.rs"]
mod inputs;

libfuzzer_sys::fuzz_target!(|input: &[u8]| inputs::http(input));
