//! The content of deterministic files, the same on every machine and forever.
//!
//! Every number comes from xoshiro256++ by integer arithmetic alone. A change of any byte of a kind
//! of file needs a new [version](CorpusKind::version), and makes the tests of the digests fail.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use readlab_model::corpus::{CorpusKind, Recipe};

/// The content of a recipe, which is generated piece by piece.
#[derive(Debug)]
pub struct Pieces {
    recipe: Recipe,
    random: Xoshiro256PlusPlus,
    made_bytes: u64,
    row_count: u64,
    /// The part of the last row that belongs to the next piece.
    carried_row: Vec<u8>,
}

/// Length of a piece, in bytes; the last piece may be shorter.
const PIECE_BYTES: usize = 1 << 20;

impl Pieces {
    pub fn new(recipe: Recipe) -> Pieces {
        let random = Xoshiro256PlusPlus::seed_from_u64(recipe.seed);
        Pieces { recipe, random, made_bytes: 0, row_count: 0, carried_row: Vec::new() }
    }

    /// Replaces `piece` by the next piece; returns `false` after the last one.
    pub fn next_into(&mut self, piece: &mut Vec<u8>) -> bool {
        let left = self.recipe.size_bytes - self.made_bytes;
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        piece.clear();
        piece.append(&mut self.carried_row);
        while piece.len() < len {
            match self.recipe.kind {
                CorpusKind::Lines => write_line(&mut self.random, piece),
                CorpusKind::Gdelt => {
                    write_row(&mut self.random, self.row_count, piece);
                    self.row_count += 1;
                }
                CorpusKind::Random => piece.extend_from_slice(&self.random.next_u64().to_le_bytes()),
                CorpusKind::A => piece.resize(len, b'A'),
            }
        }
        self.carried_row.extend_from_slice(&piece[len..]);
        piece.truncate(len);
        self.made_bytes += len as u64;
        if self.recipe.kind.is_text() && self.made_bytes == self.recipe.size_bytes {
            piece.pop();
            piece.extend((len > 0).then_some(b'\n'));
        }
        len > 0
    }
}

/// A random number below `below`, from the high bits of a product. For a small `below` the bias is
/// less than 2^-25.
fn random_below(random: &mut impl Rng, below: u64) -> u64 {
    ((random.next_u64() >> 32) * below) >> 32
}

/// Words of one to nine letters. There are 64, so that six bits select a word.
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

/// Writes a line of words, 60 to 160 bytes with its newline; its last word may be cut off.
fn write_line(random: &mut impl Rng, text: &mut Vec<u8>) {
    let len = usize::try_from(60 + random_below(random, 101)).expect("at most 160");
    let start = text.len();
    while text.len() - start < len {
        // One random number selects ten words of six bits each.
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

/// Size and number of lines of the published file: 70.1 bytes per line, newlines included.
const PUBLISHED_BYTES: u64 = 6_120_000_000;
const PUBLISHED_LINES: u64 = 87_298_047;

/// Length of a row in bytes, without the codes of its two actors.
const ROW_BYTES: u64 = 66;

/// Number of letters in the code of an actor. Many rows have only one actor, or none.
const ACTOR_LETTERS: u64 = 3;

const ROWS_PER_DAY: u64 = 4096;

/// Number of different actors, event codes and places. With these numbers a zip file compresses the
/// rows as well as the published file: 6.2 times.
const ACTOR_COUNT: u64 = 60;
const EVENT_CODE_COUNT: u64 = 60;
const PLACE_COUNT: u64 = 128;

/// Writes one event: date, two actors, code, counts, class, scale, and three places with type,
/// latitude and longitude. Events are sorted by date. Most events use a few actors, codes and
/// places, class and scale follow from the code, and most events have the same place three times.
fn write_row(random: &mut impl Rng, number: u64, text: &mut Vec<u8>) {
    let day = number / ROWS_PER_DAY;
    write_digits(text, 1979 + day / 336 % 8000, 4);
    write_digits(text, 1 + day % 336 / 28, 2);
    write_digits(text, 1 + day % 28, 2);
    for _ in 0..2 {
        text.push(b'\t');
        write_actor(random, text);
    }
    let code = random_mostly_low(random, EVENT_CODE_COUNT);
    let sources = if random_below(random, 2) == 0 { 1 } else { 1 + random_mostly_low(random, 9) };
    let mentions = if random_below(random, 2) == 0 { 10 } else { 1 + random_mostly_low(random, 89) };
    for (value, width) in [(code * 37 % 200, 3), (sources, 1), (mentions, 2), (code % 4 + 1, 1)] {
        text.push(b'\t');
        write_digits(text, value, width);
    }
    text.push(b'\t');
    write_decimal(text, code * 73 % 200, 10, 1);
    let first = random_mostly_low(random, PLACE_COUNT);
    write_place(first, text);
    for _ in 0..2 {
        let number = if random_below(random, 4) > 0 { first } else { random_mostly_low(random, PLACE_COUNT) };
        write_place(number, text);
    }
    text.push(b'\n');
}

/// Writes the code of an actor, or nothing, with a probability that gives rows their average
/// length.
fn write_actor(random: &mut impl Rng, text: &mut Vec<u8>) {
    // Probability that a row has an actor, as a fraction of 2^32.
    const ACTOR_PROBABILITY: u64 =
        ((PUBLISHED_BYTES - ROW_BYTES * PUBLISHED_LINES) << 32) / (2 * ACTOR_LETTERS * PUBLISHED_LINES);
    if random.next_u64() >> 32 < ACTOR_PROBABILITY {
        let number = random_mostly_low(random, ACTOR_COUNT);
        text.extend([7, 11, 5].map(|step| b'A' + (number * step % 26) as u8));
    }
}

/// Writes the type, latitude and longitude of a place, which depend only on its number.
fn write_place(number: u64, text: &mut Vec<u8>) {
    let mixed = number.wrapping_mul(2_654_435_761).wrapping_add(12_345) & 0xFFFF_FFFF;
    text.push(b'\t');
    write_digits(text, mixed % 5, 1);
    text.push(b'\t');
    write_decimal(text, (mixed >> 3) % 200, 10, 1);
    text.push(b'\t');
    write_decimal(text, (mixed >> 11) % 2000, 100, 2);
}

/// A random number below `limit`; low numbers are more frequent.
fn random_mostly_low(random: &mut impl Rng, limit: u64) -> u64 {
    let most = random_below(random, limit);
    random_below(random, most + 1)
}

fn write_digits(text: &mut Vec<u8>, value: u64, width: u32) {
    text.extend((0..width).rev().map(|place| b'0' + (value / 10_u64.pow(place) % 10) as u8));
}

/// Writes a number with a sign and one decimal; the value must be below 20 times the limit.
/// Positive numbers have a sign too, so that only actors change the length of a row.
fn write_decimal(text: &mut Vec<u8>, value: u64, limit: u64, width: u32) {
    text.push(if value < limit * 10 { b'-' } else { b'+' });
    write_digits(text, value % (limit * 10) / 10, width);
    text.push(b'.');
    write_digits(text, value % 10, 1);
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
    fn generated_files_have_exact_sizes_and_text_ends_in_a_newline() {
        for kind in ALL {
            for size in [0, 1, 2, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_000_001] {
                let content = content(kind, size, 1);
                assert_eq!(content.len() as u64, size, "{kind:?}");
                assert!(!kind.is_text() || size == 0 || content.ends_with(b"\n"), "{kind:?} {size}");
            }
        }
    }

    #[test]
    fn generated_lines_have_the_average_length_of_the_published_file() {
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
    fn generated_rows_have_all_columns() {
        let content = String::from_utf8(content(CorpusKind::Gdelt, 1 << 20, 1)).unwrap();
        let rows: Vec<&str> = content.lines().collect();
        assert!(rows[..rows.len() - 1].iter().all(|row| row.split('\t').count() == 17));
    }

    #[test]
    fn a_zip_of_generated_rows_has_the_published_compression_ratio() {
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
    fn the_digests_of_generated_files_never_change() {
        let digests = ALL.map(|kind| format!("{:016x}", xxh3_64(&content(kind, 3_000_001, 1))));
        assert_eq!(digests, ["5ecba7ce414509c1", "b00ea16f8bf1603f", "0e113a1d7aa98ca8", "26f1dee66ab1c082"]);
    }
}
