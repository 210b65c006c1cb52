//! What is known about contenders before they are started: [`roster`] lists them, [`language`] has
//! their languages, and [`snippet`] has code that reads as their methods do.
//!
//! Reports need only this crate; the crate `roster` builds and starts contenders.

pub mod language;
pub mod roster;
pub mod snippet;
