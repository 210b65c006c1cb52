//! What is known of contenders before they are started: [`roster`] lists them, [`language`] says
//! what they are written in, [`snippet`] has code that reads as their methods do.
//!
//! Reports need no more than that; the crate `roster` builds and starts contenders.

pub mod language;
pub mod roster;
pub mod snippet;
