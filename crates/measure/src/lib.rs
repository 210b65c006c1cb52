//! Measuring: makes and proves states of the cache, takes turns and meters everything around them.
//! Time is measured only here.

mod attempt;
pub mod busy;
pub mod cache;
pub mod counts;
pub mod hidden_cache;
pub mod holders;
pub mod inspect;
pub mod interface;
pub mod memory_bound;
pub mod meters;
pub mod names_cache;
pub mod next_layer;
pub mod plan;
pub mod residency;
pub mod rights;
pub mod round;
pub mod sampler;
pub mod search;
pub mod sequence;
pub mod settings;
mod shell_line;
pub mod target;
#[cfg(test)]
mod testing;
pub mod tree_cache;
pub mod warm_up_file;
