//! The MPI job from the view of this rank: the number of the rank, messages to and from the other
//! ranks, and the comparison of the rank's clock with that of rank 0.
//!
//! Every rank must make the same calls in the same order; each call returns when all ranks have
//! made it.

use super::agent::{Agent, job_ended_error};
use super::clock::ClockConverter;
use super::message::{ClockOffset, JobFacts, MessageKind, split_gathered};
use readlab_record::RankClock;
use readlab_system::clock::monotonic_ns;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::num::NonZero;
use std::time::Duration;

/// Longest time that other ranks take to start; the last one may have to build the agent.
const JOIN_TIMEOUT: Duration = Duration::from_secs(300);

/// Longest time that the comparison of clocks takes for each rank.
const CLOCKS_TIMEOUT_PER_RANK: Duration = Duration::from_secs(10);

/// Number of round trips to each rank when clocks are compared. In measurements, the shortest of 64
/// round trips was as short as the shortest of 640, on the loopback interface and with eight ranks
/// on two processors.
const ROUND_TRIPS: u32 = 64;

/// Variables with the number of ranks, as launchers set them: Open MPI; MPICH and others that
/// support PMI; Slurm.
const RANK_COUNT_VARIABLES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"];

/// The reason why the job cannot go on, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct JobError(pub(super) String);

#[derive(Debug)]
pub struct Job {
    agent: RefCell<Option<Agent>>,
    clock: Cell<ClockConverter>,
    facts: JobFacts,
    /// Longest time that the slowest rank takes to reach the call in which the others wait.
    time_limit: Cell<Duration>,
}

/// The role of a rank. Readers have the lowest ranks, so that the rank of a reader is also the
/// number of its part or path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RankRole {
    /// The rank takes turns.
    Reader,
    /// The rank runs on the server, and makes the file cold there.
    Witness,
}

impl Job {
    /// Joins the job for which a launcher started this process.
    pub fn join() -> Result<Job, JobError> {
        let told = announced_rank_count(|name| std::env::var(name).ok()).ok_or_else(|| {
            JobError(
                "no MPI launcher started this: use 'mpirun -n 2 readlab fleet race FILE', or srun".to_owned(),
            )
        })?;
        let mut agent = Agent::start()?;
        let body = agent.ask(MessageKind::Ranks, b"", JOIN_TIMEOUT)?;
        let facts = JobFacts::parse(&body).ok_or_else(|| unreadable_error("its number"))?;
        if told.rank_count != facts.rank_count {
            return Err(JobError(format!(
                "the launcher started {} ranks ({}), and the agent, built with {}, sees {}: build it with the mpicc \
                 of that launcher first on the PATH, or tell srun by --mpi which PMI it speaks",
                told.rank_count, told.variable, facts.mpi_library, facts.rank_count
            )));
        }
        agent.ask(MessageKind::Barrier, b"", JOIN_TIMEOUT)?;
        let (agent, clock) = (RefCell::new(Some(agent)), Cell::default());
        Ok(Job { agent, clock, facts, time_limit: Cell::new(JOIN_TIMEOUT) })
    }

    /// Number of this rank, from 0.
    pub fn rank(&self) -> u32 {
        self.facts.rank
    }

    /// Number of ranks in the job, a witness included.
    pub fn rank_count(&self) -> u32 {
        self.facts.rank_count
    }

    pub fn is_leader(&self) -> bool {
        self.facts.rank == 0
    }

    /// Name and version of the MPI library to which the agent is linked.
    pub fn mpi_library(&self) -> &str {
        &self.facts.mpi_library
    }

    /// Sets the longest time for which other ranks wait for the slowest rank; then the job counts
    /// as broken.
    pub fn set_time_limit(&self, time_limit: Duration) {
        self.time_limit.set(time_limit);
    }

    pub fn barrier(&self) -> Result<(), JobError> {
        self.ask(MessageKind::Barrier, b"", self.time_limit.get()).map(drop)
    }

    /// Sends the value of rank 0 to all ranks and returns it on each; all ranks but 0 pass `None`.
    pub fn broadcast<T: Serialize + DeserializeOwned>(&self, of_leader: Option<&T>) -> Result<T, JobError> {
        let body = of_leader.map_or_else(Vec::new, to_json);
        from_json(&self.ask(MessageKind::Broadcast, &body, self.time_limit.get())?)
    }

    /// The values of all ranks, by rank; `None` except on rank 0.
    pub fn gather<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<Option<Vec<T>>, JobError> {
        let body = self.ask(MessageKind::Gather, &to_json(own), self.time_limit.get())?;
        if !self.is_leader() {
            return Ok(None);
        }
        let parts = split_gathered(&body, self.facts.rank_count as usize);
        let parts = parts.ok_or_else(|| unreadable_error("the lengths of what was gathered"))?;
        parts.iter().map(|part| from_json(part)).collect::<Result<_, _>>().map(Some)
    }

    /// Number of ranks that read; an error if the roles of all ranks form no fleet.
    pub fn reader_count(&self, own: RankRole) -> Result<Result<NonZero<u32>, String>, JobError> {
        let all = self.gather(&own)?;
        self.broadcast(all.map(|all| count_readers(&all)).as_ref())
    }

    pub fn compare_clocks(&self) -> Result<RankClock, JobError> {
        let time_limit = self.time_limit.get() + CLOCKS_TIMEOUT_PER_RANK * self.facts.rank_count;
        let body = self.ask(MessageKind::Clocks, &ROUND_TRIPS.to_le_bytes(), time_limit)?;
        let offset = ClockOffset::parse(&body).ok_or_else(|| unreadable_error("an offset"))?;
        let mut clock = self.clock.get();
        // Rank 0 is compared with itself, so its offset is exact.
        if !self.is_leader() {
            clock.add_comparison(monotonic_ns(), offset);
        }
        self.clock.set(clock);
        Ok(clock.rank_clock())
    }

    /// This rank's clock as of the last comparison with rank 0.
    pub fn clock(&self) -> ClockConverter {
        self.clock.get()
    }

    /// Leaves the job, which every rank must do.
    pub fn leave(&self) {
        if let Some(agent) = self.agent.take() {
            agent.end();
        }
    }

    /// Ends the whole job, because the other ranks could wait for this one forever.
    pub fn abort(&self, reason: &str) {
        if let Some(agent) = self.agent.take() {
            agent.abort(reason);
        }
    }

    fn ask(&self, kind: MessageKind, body: &[u8], time_limit: Duration) -> Result<Vec<u8>, JobError> {
        let mut agent = self.agent.borrow_mut();
        let left = || job_ended_error(std::io::ErrorKind::NotConnected.into());
        agent.as_mut().ok_or_else(left)?.ask(kind, body, time_limit)
    }
}

fn count_readers(roles: &[RankRole]) -> Result<NonZero<u32>, String> {
    let readers = roles.iter().take_while(|role| **role == RankRole::Reader).count();
    let witnesses = roles.len() - readers;
    match u32::try_from(readers).ok().and_then(NonZero::new) {
        Some(readers) if witnesses <= 1 => Ok(readers),
        _ => Err("one witness at most, as the last rank: \
                  'mpirun -n 4 readlab fleet race FILE : -n 1 --host SERVER readlab fleet witness PATH'"
            .to_owned()),
    }
}

/// The number of ranks that a launcher announced, and the variable that contains it.
struct AnnouncedRankCount {
    variable: &'static str,
    rank_count: u32,
}

fn announced_rank_count(variable: impl Fn(&str) -> Option<String>) -> Option<AnnouncedRankCount> {
    RANK_COUNT_VARIABLES.iter().find_map(|name| {
        Some(AnnouncedRankCount { variable: name, rank_count: variable(name)?.parse().ok()? })
    })
}

fn to_json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("what ranks tell each other has no maps with odd keys")
}

fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JobError> {
    serde_json::from_slice(bytes).map_err(unreadable_error)
}

/// The error for a message of another rank that cannot be parsed.
fn unreadable_error(why: impl Display) -> JobError {
    JobError(format!("what another rank said cannot be read: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use RankRole::{Reader, Witness};

    #[test]
    fn the_number_of_ranks_is_read_from_the_variable_of_any_launcher() {
        let told = |given: &'static [(&str, &str)]| {
            let of =
                |name: &str| given.iter().find(|(it, _)| *it == name).map(|(_, text)| (*text).to_owned());
            announced_rank_count(of).map(|it| (it.variable, it.rank_count))
        };
        assert_eq!(told(&[]), None);
        assert_eq!(
            told(&[("SLURM_NTASKS", "4"), ("OMPI_COMM_WORLD_SIZE", "2")]),
            Some((RANK_COUNT_VARIABLES[0], 2))
        );
        assert_eq!(told(&[("PMI_SIZE", "8")]), Some((RANK_COUNT_VARIABLES[1], 8)));
        assert_eq!(told(&[("PMI_SIZE", "many"), ("SLURM_NTASKS", "3")]), Some((RANK_COUNT_VARIABLES[2], 3)));
    }

    #[test]
    fn readers_come_first_and_at_most_one_witness_after_them() {
        let of = |roles: &[RankRole]| count_readers(roles).ok().map(NonZero::get);
        assert_eq!(of(&[Reader, Reader]), Some(2));
        assert_eq!(of(&[Reader, Reader, Witness]), Some(2));
        for other in
            [&[Witness][..], &[Witness, Reader], &[Reader, Witness, Reader], &[Reader, Witness, Witness]]
        {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
