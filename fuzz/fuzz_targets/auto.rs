//! Fuzzes `readlab-auto` with a file of the input's bytes, repeated up to a size that the input
//! states, and a range of the file. Every method must read the same bytes as `std::fs::read`.
#![no_main]

use readlab_auto::{Auto, Visitor};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::num::NonZero;
use std::ops::ControlFlow;

/// Larger than the size from which reads are kept in flight.
const SIZE_MAX: usize = 9 << 20;

/// Bytes of the input's head: size, start and length, four bytes each, and the number of threads.
const HEAD_BYTES: usize = 13;

#[derive(Default)]
struct Pieces(BTreeMap<u64, Vec<u8>>);

impl Visitor for Pieces {
    fn visit(&mut self, offset: u64, bytes: &[u8]) -> ControlFlow<()> {
        assert!(self.0.insert(offset, bytes.to_vec()).is_none());
        ControlFlow::Continue(())
    }
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((head, body)) = input.split_at_checked(HEAD_BYTES).filter(|(_, body)| !body.is_empty()) else {
        return;
    };
    let number =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
    let (size, start, len) = (number(0) % SIZE_MAX, number(4) % SIZE_MAX, number(8) % SIZE_MAX);
    let file = std::env::temp_dir().join(format!("readlab-fuzz-auto-{}", std::process::id()));
    fs::write(&file, body.iter().cycle().take(size).copied().collect::<Vec<u8>>())
        .expect("it can be written");
    let right = fs::read(&file).expect("it can be read");
    let right = &right[start.min(size)..(start + len).min(size)];
    let threads = NonZero::new(usize::from(head[12] % 4) + 1).expect("above zero");
    for maps in [false, true] {
        let auto = Auto::open(&file).expect("it can be opened").threads(threads);
        let auto = auto.range(start as u64..(start + len) as u64);
        // SAFETY: no other process changes the file before the next input.
        let auto = if maps { unsafe { auto.mapping() } } else { auto };
        let mut seen = Vec::new();
        auto.read_to_end(&mut seen).expect("it can be read");
        assert!(seen == right);
        seen.clear();
        auto.reader().expect("it can be examined").read_to_end(&mut seen).expect("it can be read");
        assert!(seen == right);
        let pieces = auto.par_visit(Pieces::default).expect("it can be read");
        let pieces: BTreeMap<u64, Vec<u8>> = pieces.into_iter().flat_map(|pieces| pieces.0).collect();
        assert!(pieces.into_values().flatten().eq(right.iter().copied()));
    }
});
