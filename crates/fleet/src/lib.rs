//! A fleet: the ranks of an MPI job, one readlab each, that take every turn together.
//!
//! Rank 0 leads: it owns the plan, the seed and the record, and executes the rounds as on one host.
//! Its sampler ([`leader`]) gives each call as an [`order`] to all ranks, itself among them, which
//! follow it with the same process sampler ([`crew`]), and takes the reports together. A turn
//! begins for all at one time that rank 0 names ([`starting_gate`], [`clock`]). Messages pass
//! through an agent that is linked to MPI ([`agent`], [`message`]); [`job`] is what the rest of the
//! room sees of it. Ranks that share a page cache work on it one after the other ([`queue`]). What
//! ranks must have in common is compared before anything is measured ([`agreement`]). The last rank
//! may be on the server and take no turns ([`crew`]).
//!
//! Nothing here reads the measured file, and nothing knows what is done with the record.

pub mod agent;
pub mod agreement;
pub mod clock;
pub mod crew;
pub mod job;
pub mod leader;
pub mod message;
pub mod order;
pub mod queue;
pub mod starting_gate;

pub use job::{Job, JobError, Role};
