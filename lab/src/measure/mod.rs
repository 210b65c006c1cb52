//! The only place where time passes: states of the cache made and proven, turns taken, everything metered around them.

pub mod busy;
pub mod counts;
pub mod meters;
pub mod rights;
