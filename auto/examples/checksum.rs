//! Prints the 64-bit FNV-1a checksum of files: `cargo run --release --example checksum -- FILE…`.
//!
//! The checksum depends on the order of the bytes, so one thread reads the file from front to back,
//! with the next reads in flight. (Fowler, Noll & Vo; RFC 9923.)

use readlab_auto::Auto;
use std::error::Error;

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1) {
        let mut hash = OFFSET_BASIS;
        Auto::open(&path)?.for_each(|_offset, bytes| {
            hash = bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        })?;
        println!("{hash:016x}\t{}", path.display());
    }
    Ok(())
}
