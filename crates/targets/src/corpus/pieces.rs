//! The content of deterministic files, the same on every machine and forever.
//!
//! Every number comes from xoshiro256++ by integer arithmetic alone. A change of any byte of a kind
//! needs a new [version](CorpusKind::version), and fails the tests with their digests.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use readlab_model::corpus::{CorpusKind, Recipe};

#[derive(Debug)]
pub struct Pieces {
    recipe: Recipe,
    random: Xoshiro256PlusPlus,
    made: u64,
    rows: u64,
    /// The end of the last row, which belongs to the next piece.
    carry: Vec<u8>,
}

/// Length of a piece; the last one is shorter.
const PIECE_BYTES: usize = 1 << 20;

impl Pieces {
    pub fn new(recipe: Recipe) -> Pieces {
        let random = Xoshiro256PlusPlus::seed_from_u64(recipe.seed);
        Pieces { recipe, random, made: 0, rows: 0, carry: Vec::new() }
    }

    /// Overwrites `piece` with the next piece; `false` after the last one.
    pub fn next_into(&mut self, piece: &mut Vec<u8>) -> bool {
        let left = self.recipe.size_bytes - self.made;
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        piece.clear();
        piece.append(&mut self.carry);
        while piece.len() < len {
            match self.recipe.kind {
                CorpusKind::Lines => line(&mut self.random, piece),
                CorpusKind::Gdelt => {
                    row(&mut self.random, self.rows, piece);
                    self.rows += 1;
                }
                CorpusKind::Random => piece.extend_from_slice(&self.random.next_u64().to_le_bytes()),
                CorpusKind::A => piece.resize(len, b'A'),
            }
        }
        self.carry.extend_from_slice(&piece[len..]);
        piece.truncate(len);
        self.made += len as u64;
        if self.recipe.kind.is_text() && self.made == self.recipe.size_bytes {
            piece.pop();
            piece.extend((len > 0).then_some(b'\n'));
        }
        len > 0
    }
}

/// A number below `below`, by the high bits of a product, with a bias below 2^-25 if it is small.
fn below(random: &mut impl Rng, below: u64) -> u64 {
    ((random.next_u64() >> 32) * below) >> 32
}

/// Words of one to nine letters; 64, so that six bits choose one.
#[rustfmt::skip]
const WORDS: [&str; 64] = [
    "a", "of", "in", "to", "it", "is", "on", "as", "the", "and", "for", "was", "not", "are", "but", "had",
    "that", "with", "this", "from", "have", "were", "they", "been", "their", "which", "there", "would",
    "about", "other", "could", "water", "before", "little", "number", "people", "should", "around",
    "letter", "mother", "country", "thought", "between", "another", "through", "because", "picture",
    "example", "mountain", "together", "children", "sentence", "question", "language", "distance",
    "complete", "important", "different", "following", "beginning", "direction", "character", "knowledge",
    "equipment",
];

/// One line of words, 60 to 160 bytes with its newline; its last word may be cut.
fn line(random: &mut impl Rng, text: &mut Vec<u8>) {
    let len = usize::try_from(60 + below(random, 101)).expect("at most 160");
    let start = text.len();
    while text.len() - start < len {
        // Ten words of six bits each are in one number.
        let mut bits = random.next_u64();
        for _ in 0..10 {
            text.extend_from_slice(WORDS[(bits & 63) as usize].as_bytes());
            text.push(b' ');
            bits >>= 6;
        }
    }
    text.truncate(start + len - 1);
    text.push(b'\n');
}

/// Bytes and lines of the published file: 70.1 bytes a line with its newline.
const PUBLISHED_BYTES: u64 = 6_120_000_000;
const PUBLISHED_LINES: u64 = 87_298_047;

/// Bytes of a row without the names of the two actors.
const ROW_BYTES: u64 = 66;

/// Letters of an actor. Many rows lack one or both.
const ACTOR_LETTERS: u64 = 3;

const ROWS_A_DAY: u64 = 4096;

/// How many different actors, codes and places there are. With these, a zip is as much smaller than
/// the rows as the published one: 6.2 times.
const ACTORS: u64 = 60;
const CODES: u64 = 60;
const PLACES: u64 = 128;

/// One event: date, two actors, code, counts, class, scale, and three places of type, latitude and
/// longitude. Events are sorted by date. A few actors, codes and places make up most of them, class
/// and scale follow from the code, and most events have one place three times.
fn row(random: &mut impl Rng, number: u64, text: &mut Vec<u8>) {
    let day = number / ROWS_A_DAY;
    digits(text, 1979 + day / 336 % 8000, 4);
    digits(text, 1 + day % 336 / 28, 2);
    digits(text, 1 + day % 28, 2);
    for _ in 0..2 {
        text.push(b'\t');
        actor(random, text);
    }
    let code = often_low(random, CODES);
    let sources = if below(random, 2) == 0 { 1 } else { 1 + often_low(random, 9) };
    let mentions = if below(random, 2) == 0 { 10 } else { 1 + often_low(random, 89) };
    for (value, width) in [(code * 37 % 200, 3), (sources, 1), (mentions, 2), (code % 4 + 1, 1)] {
        text.push(b'\t');
        digits(text, value, width);
    }
    text.push(b'\t');
    decimal(text, code * 73 % 200, 10, 1);
    let first = often_low(random, PLACES);
    place(first, text);
    for _ in 0..2 {
        let number = if below(random, 4) > 0 { first } else { often_low(random, PLACES) };
        place(number, text);
    }
    text.push(b'\n');
}

/// The code of an actor, or nothing, so often that rows have their average length.
fn actor(random: &mut impl Rng, text: &mut Vec<u8>) {
    // Of 2 ^ 32 actors so many have letters.
    const PRESENT: u64 =
        ((PUBLISHED_BYTES - ROW_BYTES * PUBLISHED_LINES) << 32) / (2 * ACTOR_LETTERS * PUBLISHED_LINES);
    if random.next_u64() >> 32 < PRESENT {
        let number = often_low(random, ACTORS);
        text.extend([7, 11, 5].map(|step| b'A' + (number * step % 26) as u8));
    }
}

/// A place's type, latitude and longitude, which are the same whenever it occurs.
fn place(number: u64, text: &mut Vec<u8>) {
    let mixed = number.wrapping_mul(2_654_435_761).wrapping_add(12_345) & 0xFFFF_FFFF;
    text.push(b'\t');
    digits(text, mixed % 5, 1);
    text.push(b'\t');
    decimal(text, (mixed >> 3) % 200, 10, 1);
    text.push(b'\t');
    decimal(text, (mixed >> 11) % 2000, 100, 2);
}

/// A number below `limit`; the lower, the more often.
fn often_low(random: &mut impl Rng, limit: u64) -> u64 {
    let most = below(random, limit);
    below(random, most + 1)
}

fn digits(text: &mut Vec<u8>, value: u64, width: u32) {
    text.extend((0..width).rev().map(|place| b'0' + (value / 10_u64.pow(place) % 10) as u8));
}

/// The signed number with one decimal that a value below 20 times the limit stands for; always with
/// a sign, so that only actors change a row's length.
fn decimal(text: &mut Vec<u8>, value: u64, limit: u64, width: u32) {
    text.push(if value < limit * 10 { b'-' } else { b'+' });
    digits(text, value % (limit * 10) / 10, width);
    text.push(b'.');
    digits(text, value % 10, 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn content(kind: CorpusKind, size_bytes: u64, seed: u64) -> Vec<u8> {
        let mut pieces = Pieces::new(Recipe { kind, size_bytes, seed });
        let (mut all, mut piece) = (Vec::new(), Vec::new());
        while pieces.next_into(&mut piece) {
            all.extend_from_slice(&piece);
        }
        all
    }

    const ALL: [CorpusKind; 4] = [CorpusKind::Lines, CorpusKind::Random, CorpusKind::A, CorpusKind::Gdelt];

    #[test]
    fn sizes_are_exact_and_text_ends_in_a_newline() {
        for kind in ALL {
            for size in [0, 1, 2, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_000_001] {
                let content = content(kind, size, 1);
                assert_eq!(content.len() as u64, size, "{kind:?}");
                assert!(!kind.is_text() || size == 0 || content.ends_with(b"\n"), "{kind:?} {size}");
            }
        }
    }

    #[test]
    fn lines_are_as_long_on_average_as_the_published_ones() {
        for (kind, average) in [(CorpusKind::Lines, 110.0), (CorpusKind::Gdelt, 6.12e9 / 87_298_047.0)] {
            let content = content(kind, 8 << 20, 1);
            let lines = content.iter().filter(|&&byte| byte == b'\n').count();
            #[expect(clippy::cast_precision_loss, reason = "a few million")]
            let found = content.len() as f64 / lines as f64;
            assert!((found / average - 1.0).abs() < 0.005, "{kind:?}: {found}");
            assert!(content.iter().all(|&b| (b' '..=b'~').contains(&b) || b == b'\n' || b == b'\t'));
        }
    }

    #[test]
    fn rows_have_all_columns() {
        let content = String::from_utf8(content(CorpusKind::Gdelt, 1 << 20, 1)).unwrap();
        let rows: Vec<&str> = content.lines().collect();
        assert!(rows[..rows.len() - 1].iter().all(|row| row.split('\t').count() == 17));
    }

    #[test]
    fn a_zip_of_rows_is_as_much_smaller_as_the_published_one() {
        for (mebibytes, seed) in [(8, 1), (8, 2), (16, 1), (64, 1)] {
            let content = content(CorpusKind::Gdelt, mebibytes << 20, seed);
            let mut zip = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
            std::io::Write::write_all(&mut zip, &content).unwrap();
            #[expect(clippy::cast_precision_loss, reason = "at most 64 MiB")]
            let ratio = content.len() as f64 / zip.finish().unwrap().len() as f64;
            assert!((ratio / 6.2 - 1.0).abs() < 0.05, "{mebibytes} MiB: {ratio}");
        }
    }

    #[test]
    fn another_seed_gives_another_file() {
        assert_ne!(content(CorpusKind::Lines, 1000, 1), content(CorpusKind::Lines, 1000, 2));
    }

    #[test]
    fn the_bytes_are_those_of_this_version_forever() {
        let digests = ALL.map(|kind| format!("{:016x}", xxh3_64(&content(kind, 3_000_001, 1))));
        assert_eq!(digests, ["5ecba7ce414509c1", "b00ea16f8bf1603f", "0e113a1d7aa98ca8", "26f1dee66ab1c082"]);
    }
}
