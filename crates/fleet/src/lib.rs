//! A fleet: the ranks of an MPI job, each with one readlab, which take every turn together.
//!
//! Rank 0 leads: it owns the plan, the seed and the record, and executes the rounds as on a single
//! host. Its sampler ([`leader`]) sends each call as an [`order`] to all ranks, itself included.
//! They follow it with the same process sampler ([`crew`]), and rank 0 merges their reports. A turn
//! begins on all ranks at a time that rank 0 sets ([`starting_gate`], [`clock`]). Messages pass
//! through an agent that is linked to MPI ([`agent`], [`message`]); the other modules use it
//! through [`job`]. Ranks that share a page cache work on it one after the other ([`queue`]).
//! Before anything is measured, [`agreement`] compares what ranks must have in common. The last
//! rank may run on the server and take no turns ([`crew`]). Ranks may hide their names
//! ([`hidden_names`]).
//!
//! This crate neither reads the measured file nor handles the record.

pub mod agent;
pub mod agreement;
pub mod clock;
pub mod crew;
pub mod hidden_names;
pub mod job;
pub mod leader;
pub mod message;
pub mod order;
pub mod queue;
pub mod starting_gate;

pub use job::{Job, JobError, RankRole};
