//! Tests behaviour that is the same on every system: every method that takes all bytes takes them
//! once.

use readlab_auto::{Auto, Visitor};
use std::io::{BufRead, Read, Write};
use std::num::NonZero;
use std::ops::ControlFlow;

#[derive(Default)]
struct Total(u64);

impl Visitor for Total {
    fn visit(&mut self, _offset: u64, bytes: &[u8]) -> ControlFlow<()> {
        self.0 += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        ControlFlow::Continue(())
    }
}

#[test]
fn every_method_sees_every_byte_once() {
    for len in [0_usize, 1, 70_000, 3 << 20] {
        let bytes: Vec<u8> = (0..len).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let right: u64 = bytes.iter().map(|&byte| u64::from(byte)).sum();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        let auto = Auto::open(file.path()).unwrap().threads(NonZero::new(3).unwrap());
        let mut total = Total::default();
        auto.for_each(|at, piece| {
            let _ = total.visit(at, piece);
        })
        .unwrap();
        assert_eq!(total.0, right, "{len}");
        assert_eq!(auto.par_visit(Total::default).unwrap().iter().map(|it| it.0).sum::<u64>(), right);
        let mut whole = Vec::new();
        assert_eq!(auto.read_to_end(&mut whole).unwrap(), len);
        assert!(whole == bytes);
        whole.clear();
        auto.reader().unwrap().read_to_end(&mut whole).unwrap();
        assert!(whole == bytes);
        let lines = bytes.split(|&byte| byte == b'\n').count();
        let last_is_empty = bytes.last().is_none_or(|&byte| byte == b'\n');
        let (mut found, mut reader) = (0, auto.lines().unwrap());
        while reader.next_line().unwrap().is_some() {
            found += 1;
        }
        assert_eq!(found, lines - usize::from(last_is_empty));
        assert_eq!(auto.reader().unwrap().split(b'\n').map(Result::unwrap).count(), found);
        let ranged = Auto::open(file.path()).unwrap().range(10..20);
        let mut part = Vec::new();
        ranged.read_to_end(&mut part).unwrap();
        assert!(part == bytes[10.min(len)..20.min(len)]);
    }
}

#[test]
fn every_method_reads_nothing_in_an_empty_range() {
    for len in [1, 5000, 3 << 20] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![b'\n'; len]).unwrap();
        let start = len as u64 / 2;
        #[expect(clippy::reversed_empty_ranges, reason = "a reversed range has no bytes either")]
        for range in [start..start, start..0, 0..0, len as u64..u64::MAX, u64::MAX..0] {
            let auto = || Auto::open(file.path()).unwrap().range(range.clone());
            // SAFETY: no other process changes the file.
            let mapped = || unsafe { auto().mapping() };
            let mut read = Vec::new();
            for auto in [auto(), mapped()] {
                assert_eq!(auto.for_each(|_, _| panic!("{range:?} of {len} has no bytes")).unwrap(), 0);
                assert_eq!(auto.read_to_end(&mut read).unwrap(), 0, "{range:?} of {len}");
                assert_eq!(auto.reader().unwrap().read_to_end(&mut read).unwrap(), 0, "{range:?} of {len}");
                assert!(auto.lines().unwrap().next_line().unwrap().is_none(), "{range:?} of {len}");
                assert!(auto.par_visit(Total::default).unwrap().iter().all(|total| total.0 == 0));
            }
        }
    }
}
