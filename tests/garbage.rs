//! Tests all readers of foreign input with garbage: valid inputs with many small changes, the same
//! in each run. This is a few seconds of what the fuzzers do for hours (`make fuzz`).

use crate::{inputs, repository};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use readlab_model::corpus::{CorpusKind, Recipe};
use readlab_protocol::Archive;
use readlab_record::testing::scripted;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// No input of a few kilobytes takes this long on any machine.
const HANG_TIMEOUT: Duration = Duration::from_secs(20);

/// Tokens that have a meaning in some format, and numbers at their limits, separated by bars.
const TOKENS: &[u8] =
    b"18446744073709551615|9223372036854775808|4294967296|-1|0|1e308|null|\"|\\|\n|{|}|[|]|\x1b[2J|\xc2\x9b|\
                        \xe2\x80\xae|<script>|\0|\xff|PK\x01\x02|PK\x05\x06|\x1f\x8b\x08\x04|\r\n";

/// A source of changed seeds, one seed of a kind after the other. It is the same in each run.
struct Garbage {
    seeds: Vec<Vec<u8>>,
    random: Xoshiro256PlusPlus,
}

impl Garbage {
    fn new(seeds: Vec<Vec<u8>>) -> Garbage {
        assert!(!seeds.is_empty());
        Garbage { seeds, random: Xoshiro256PlusPlus::seed_from_u64(7) }
    }

    /// An input that was valid before up to four changes.
    fn next(&mut self) -> Vec<u8> {
        let mut bytes = self.seeds.choose(&mut self.random).expect("there are seeds").clone();
        for _ in 0..self.random.random_range(1..=4) {
            self.change(&mut bytes);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.random.random_range(0..=bytes.len());
        let end = (at + self.random.random_range(0..40)).min(bytes.len());
        match self.random.random_range(0..7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.random.random_range(0..8),
            1 if at < bytes.len() => bytes[at] = self.random.random(),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => bytes.truncate(at),
            5 => {
                let other = self.seeds.choose(&mut self.random).expect("there are seeds");
                let from = at.min(other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            _ => {
                let tokens: Vec<&[u8]> = TOKENS.split(|byte| *byte == b'|').collect();
                let token = *tokens.choose(&mut self.random).expect("there are tokens");
                // A number is replaced if there is one, so that the input stays well-formed.
                let digits = |at: &usize| bytes[*at].is_ascii_digit();
                let start = (at..bytes.len()).find(digits).unwrap_or(at);
                let stop = (start..bytes.len()).find(|at| !digits(at)).unwrap_or(bytes.len());
                bytes.splice(start..stop, token.iter().copied());
            }
        }
    }
}

/// Feeds `count` inputs to a reader.
fn feed(name: &str, seeds: Vec<Vec<u8>>, count: u32, mut take: impl FnMut(&[u8])) {
    let (mut garbage, begun) = (Garbage::new(seeds), Instant::now());
    for number in 0..count {
        let input = garbage.next();
        let start = Instant::now();
        let fed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| take(&input)));
        assert!(fed.is_ok(), "{name}: input {number}: {}", input.escape_ascii());
        assert!(start.elapsed() < HANG_TIMEOUT, "{name}: input {number} hangs: {}", input.escape_ascii());
    }
    eprintln!("{name}: {count} inputs in {:?}", begun.elapsed());
}

fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(repository::path(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|it| it == ending)).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn scratch() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("input");
    (folder, file)
}

/// The number of inputs of a ring. The first ring takes a tenth of them.
fn inputs_of_ring(share: u32, count: u32) -> u32 {
    count.div_ceil(share)
}

fn lines_of_contenders_and_of_the_lab(share: u32) {
    let page = repository::text("PROTOCOL.md");
    let is_line = |line: &&str| line.starts_with("{\"say\"") || line.starts_with("go ");
    let seeds = page.lines().filter(is_line).map(|line| line.as_bytes().to_vec()).collect();
    feed("protocol", seeds, inputs_of_ring(share, 100_000), inputs::protocol);
}

fn records_and_all_that_is_made_of_them(share: u32) {
    let seeds = scripted::names().map(|name| inputs::shorter(scripted::text(name).as_bytes())).into();
    let (_folder, file) = scratch();
    feed("record", seeds, inputs_of_ring(share, 400), |input| inputs::record(input, &file));
}

fn rosters_suites_and_claims(share: u32) {
    feed("roster", files("contenders", "toml"), inputs_of_ring(share, 3_000), inputs::roster);
    feed("suite", files("suites", "toml"), inputs_of_ring(share, 3_000), inputs::suite);
    feed("claims", files("published/claims", "toml"), inputs_of_ring(share, 1_000), inputs::claims);
}

fn words_of_the_command_line(share: u32) {
    let words = [
        "rust/io_uring/avx2@buffer=128KiB,depth=16",
        "command/wc -l {}",
        "1.5MiB",
        "250ms",
        "3.4GB/s",
        "http://h:8/p",
    ];
    feed(
        "words",
        words.map(|word| word.as_bytes().to_vec()).into(),
        inputs_of_ring(share, 100_000),
        inputs::words,
    );
}

fn archives(share: u32) {
    for archive in Archive::ALL {
        let (folder, file) = scratch();
        let made = |size_bytes: u64| {
            let recipe = Recipe { kind: CorpusKind::Gdelt, size_bytes, seed: 1 };
            let made = readlab_corpus::make_forms(folder.path(), recipe, &[Some(archive)]).unwrap();
            fs::read(&made[0].1.path).unwrap()
        };
        feed(archive.word(), vec![made(0), made(1), made(3_000)], inputs_of_ring(share, 2_000), |input| {
            inputs::archive(input, &file, archive)
        });
    }
}

fn answers_of_servers(share: u32) {
    let seeds = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"x\"\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nServer: s\r\n\r\nto the end",
        "HTTP/1.1 404 Not Found\r\n\r\n",
    ];
    feed(
        "http",
        seeds.map(|seed| seed.as_bytes().to_vec()).into(),
        inputs_of_ring(share, 2_000),
        inputs::http,
    );
}

/// Defines a test in each ring. The first ring takes a tenth of the inputs.
macro_rules! in_both_rings {
    ($($reader:ident)*) => {
        mod some {
            $(#[test] fn $reader() { super::$reader(10); })*
        }

        mod ring2 {
            $(#[test] fn $reader() { super::$reader(1); })*
        }
    };
}

in_both_rings! {
    lines_of_contenders_and_of_the_lab
    records_and_all_that_is_made_of_them
    rosters_suites_and_claims
    words_of_the_command_line
    archives
    answers_of_servers
}
