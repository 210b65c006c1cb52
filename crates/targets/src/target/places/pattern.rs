//! Picks the places of a file: which blocks, and in which order.
//!
//! The seed determines all random numbers, and the record keeps it.

use rand::SeedableRng;
use rand::distr::Distribution;
use rand::seq::index;
use rand_distr::Zipf;
use rand_xoshiro::Xoshiro256PlusPlus;
use readlab_model::target::places::Pattern;

/// 2^64 divided by the golden ratio. A rank (0 for the block that is read most often) times this
/// number, modulo the number of blocks, puts neighbouring ranks far apart.
const GOLDEN_RATIO_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The numbers of the blocks in the order in which they are read; the file has `blocks` blocks.
pub(super) fn pick_blocks(pattern: Pattern, blocks: u64, reads: u64, seed: u64) -> Vec<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    match pattern {
        Pattern::Random => {
            let mut picked = Vec::new();
            while (picked.len() as u64) < reads {
                let lacking = (reads - picked.len() as u64).min(blocks);
                picked.extend(pick_different(&mut random, blocks, lacking));
            }
            picked
        }
        Pattern::Zipf { exponent } => {
            let ranks = Zipf::new(blocks as f64, exponent).expect("both are above 0");
            let step = coprime_step(blocks);
            let scattered = |rank: f64| block_of_rank(rank as u64 - 1, step, blocks);
            (0..reads).map(|_| scattered(ranks.sample(&mut random))).collect()
        }
        Pattern::Stride { blocks: step } => {
            let step = step.unwrap_or_else(|| (blocks / reads).max(1));
            (0..reads).map(|read| strided_block(read, step, blocks)).collect()
        }
    }
}

fn pick_different(random: &mut Xoshiro256PlusPlus, blocks: u64, count: u64) -> impl Iterator<Item = u64> {
    let size = |number| usize::try_from(number).unwrap_or(usize::MAX);
    index::sample(random, size(blocks), size(count)).into_iter().map(|block| block as u64)
}

/// A step that has no common divisor with the number of blocks, so that it visits every block
/// before it repeats one.
fn coprime_step(blocks: u64) -> u64 {
    let first = GOLDEN_RATIO_STEP % blocks.max(1);
    (first.max(1)..).find(|step| greatest_common_divisor(*step, blocks) == 1).unwrap_or(1)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn block_of_rank(rank: u64, step: u64, blocks: u64) -> u64 {
    let at = u128::from(rank) * u128::from(step) % u128::from(blocks);
    u64::try_from(at).expect("a remainder is below its divisor")
}

/// The block of the read with this number. Each pass over the file begins one block later.
fn strided_block(read: u64, step: u64, blocks: u64) -> u64 {
    let passed = u128::from(read) * u128::from(step);
    let (pass, at) = (passed / u128::from(blocks), passed % u128::from(blocks));
    u64::try_from((at + pass) % u128::from(blocks)).expect("a remainder is below its divisor")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    #[test]
    fn no_random_block_repeats_before_all_blocks_were_picked() {
        let picked = pick_blocks(Pattern::Random, 100, 250, 7);
        assert_eq!(picked.len(), 250);
        for pass in picked.chunks(100) {
            assert_eq!(pass.iter().collect::<BTreeSet<_>>().len(), pass.len());
        }
        assert!(picked.iter().all(|block| *block < 100));
        assert_ne!(picked[..100], *(0..100).collect::<Vec<u64>>());
    }

    #[test]
    fn the_same_seed_picks_the_same_places_and_another_picks_others() {
        for text in ["random", "zipf"] {
            let picked = |seed| pick_blocks(pattern(text), 1 << 30, 50, seed);
            assert_eq!(picked(1), picked(1));
            assert_ne!(picked(1), picked(2));
        }
    }

    #[test]
    fn zipf_picks_ranks_with_the_frequencies_of_its_law() {
        // With exponent 1 and four blocks, the shares are 12, 6, 4 and 3 of 25.
        let picked = pick_blocks(Pattern::Zipf { exponent: 1.0 }, 4, 25_000, 3);
        let mut counts = BTreeMap::new();
        picked.iter().for_each(|block| *counts.entry(*block).or_insert(0_i64) += 1);
        let mut counts: Vec<i64> = counts.into_values().collect();
        counts.sort_unstable_by_key(|count| -count);
        for (count, right) in counts.iter().zip([12_000, 6_000, 4_000, 3_000]) {
            assert!((count - right).abs() < 400, "{counts:?}");
        }
    }

    #[test]
    fn ranks_are_scattered_over_every_block() {
        for blocks in [1, 2, 97, 4096, 100_000] {
            let step = coprime_step(blocks);
            let all: BTreeSet<u64> = (0..blocks).map(|rank| block_of_rank(rank, step, blocks)).collect();
            assert_eq!(all.len() as u64, blocks);
        }
    }

    #[test]
    fn strides_pass_over_the_file_and_restart_one_block_later() {
        assert_eq!(pick_blocks(pattern("stride"), 100, 4, 0), [0, 25, 50, 75]);
        assert_eq!(pick_blocks(pattern("stride:4"), 10, 6, 0), [0, 4, 8, 3, 7, 2]);
        assert_eq!(pick_blocks(pattern("stride"), 2, 5, 0), [0, 1, 1, 0, 0]);
    }
}
