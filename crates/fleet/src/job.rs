//! The MPI job as this rank sees it: which rank it is, what it tells the others and hears from
//! them, and its clock beside that of rank 0.
//!
//! Every rank must make the same calls in the same order; each returns when all have made it.

use super::agent::{Agent, AgentError};
use super::clock::Clock;
use super::message::{ClockOffset, Kind, Ranks, gathered};
use readlab_record::RankClock;
use readlab_system::clock::monotonic_ns;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::num::NonZero;
use std::time::Duration;

/// How long other ranks may take to start: the last one may have to build the agent.
const JOIN_TIMEOUT: Duration = Duration::from_secs(300);

/// How long clocks may take to be compared, for each rank.
const CLOCKS_TIMEOUT: Duration = Duration::from_secs(10);

/// Round trips to each rank when clocks are compared. The shortest of so many was as short as that
/// of ten times as many, on the loopback interface and with eight ranks on two processors.
const ROUND_TRIPS: u32 = 64;

/// The variables by which launchers tell how many ranks there are: Open MPI, MPICH and others that
/// speak PMI, Slurm.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"];

#[derive(Debug, thiserror::Error)]
pub enum JobError {
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error("no MPI launcher started this: use 'mpirun -n 2 readlab fleet race FILE', or srun")]
    NoLauncher,
    #[error(
        "the launcher started {expected} ranks ({variable}), and the agent, built with {library}, sees {found}: build it \
             with the mpicc of that launcher first on the PATH, or tell srun by --mpi which PMI it speaks"
    )]
    Alone { variable: &'static str, expected: u32, found: u32, library: String },
    #[error("what another rank said cannot be read: {0}")]
    Garbled(String),
}

#[derive(Debug)]
pub struct Job {
    agent: RefCell<Option<Agent>>,
    clock: Cell<Clock>,
    ranks: Ranks,
    /// How long the slowest rank may take to come to where the others wait.
    time_limit: Cell<Duration>,
}

/// What a rank is there for. Readers come first, so that their numbers are those of the parts and
/// paths that they read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// It takes turns.
    Reader,
    /// It runs on the server, and makes the file cold there.
    Witness,
}

impl Job {
    /// Joins the job that a launcher started this process for.
    pub fn join() -> Result<Job, JobError> {
        let told = told_size(|name| std::env::var(name).ok()).ok_or(JobError::NoLauncher)?;
        let mut agent = Agent::start()?;
        let body = agent.ask(Kind::Ranks, b"", JOIN_TIMEOUT)?;
        let ranks = Ranks::parse(&body).ok_or_else(|| JobError::Garbled("its number".to_owned()))?;
        if told.ranks != ranks.ranks {
            let (variable, expected, found) = (told.variable, told.ranks, ranks.ranks);
            return Err(JobError::Alone { variable, expected, found, library: ranks.library });
        }
        agent.ask(Kind::Barrier, b"", JOIN_TIMEOUT)?;
        let (agent, clock) = (RefCell::new(Some(agent)), Cell::default());
        Ok(Job { agent, clock, ranks, time_limit: Cell::new(JOIN_TIMEOUT) })
    }

    /// The number of this rank, from 0.
    pub fn rank(&self) -> u32 {
        self.ranks.rank
    }

    pub fn size(&self) -> u32 {
        self.ranks.ranks
    }

    pub fn is_leader(&self) -> bool {
        self.ranks.rank == 0
    }

    pub fn library(&self) -> &str {
        &self.ranks.library
    }

    /// From now on the slowest rank may take so long before the job counts as broken.
    pub fn set_time_limit(&self, time_limit: Duration) {
        self.time_limit.set(time_limit);
    }

    pub fn barrier(&self) -> Result<(), JobError> {
        self.ask(Kind::Barrier, b"", self.time_limit.get()).map(drop)
    }

    /// What rank 0 tells all; the others give nothing.
    pub fn broadcast<T: Serialize + DeserializeOwned>(&self, of_leader: Option<&T>) -> Result<T, JobError> {
        let body = of_leader.map_or_else(Vec::new, written);
        read(&self.ask(Kind::Broadcast, &body, self.time_limit.get())?)
    }

    /// What each rank told rank 0, by rank; `None` on the others.
    pub fn gather<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<Option<Vec<T>>, JobError> {
        let body = self.ask(Kind::Gather, &written(own), self.time_limit.get())?;
        if !self.is_leader() {
            return Ok(None);
        }
        let parts = gathered(&body, self.ranks.ranks as usize);
        let parts = parts.ok_or_else(|| JobError::Garbled("the lengths of what was gathered".to_owned()))?;
        parts.iter().map(|part| read(part)).collect::<Result<_, _>>().map(Some)
    }

    /// How many ranks read; the reason if the roles of all fit no fleet.
    pub fn readers(&self, own: Role) -> Result<Result<NonZero<u32>, String>, JobError> {
        let all = self.gather(&own)?;
        self.broadcast(all.map(|all| counted(&all)).as_ref())
    }

    /// Compares this rank's clock with that of rank 0.
    pub fn compare_clocks(&self) -> Result<RankClock, JobError> {
        let time_limit = self.time_limit.get() + CLOCKS_TIMEOUT * self.ranks.ranks;
        let body = self.ask(Kind::Clocks, &ROUND_TRIPS.to_le_bytes(), time_limit)?;
        let offset = ClockOffset::parse(&body).ok_or_else(|| JobError::Garbled("an offset".to_owned()))?;
        let mut clock = self.clock.get();
        // That of rank 0 is its own, without any doubt.
        if !self.is_leader() {
            clock.take(monotonic_ns(), offset);
        }
        self.clock.set(clock);
        Ok(clock.report())
    }

    /// This rank's clock beside that of rank 0, as of the last comparison.
    pub fn clock(&self) -> Clock {
        self.clock.get()
    }

    /// Leaves the job, which every rank must do.
    pub fn leave(&self) {
        if let Some(agent) = self.agent.take() {
            agent.end();
        }
    }

    /// Ends the whole job: the other ranks could wait for this one forever.
    pub fn abort(&self, reason: &str) {
        if let Some(agent) = self.agent.take() {
            agent.abort(reason);
        }
    }

    fn ask(&self, kind: Kind, body: &[u8], time_limit: Duration) -> Result<Vec<u8>, JobError> {
        let mut agent = self.agent.borrow_mut();
        let left = || AgentError::Ended(std::io::ErrorKind::NotConnected.into());
        Ok(agent.as_mut().ok_or_else(left)?.ask(kind, body, time_limit)?)
    }
}

fn counted(roles: &[Role]) -> Result<NonZero<u32>, String> {
    let readers = roles.iter().take_while(|role| **role == Role::Reader).count();
    let witnesses = roles.len() - readers;
    match u32::try_from(readers).ok().and_then(NonZero::new) {
        Some(readers) if witnesses <= 1 => Ok(readers),
        _ => Err("one witness at most, as the last rank: \
                  'mpirun -n 4 readlab fleet race FILE : -n 1 --host SERVER readlab fleet witness PATH'"
            .to_owned()),
    }
}

/// How many ranks a launcher says there are, and in which variable.
struct ToldSize {
    variable: &'static str,
    ranks: u32,
}

fn told_size(variable: impl Fn(&str) -> Option<String>) -> Option<ToldSize> {
    SIZES.iter().find_map(|name| Some(ToldSize { variable: name, ranks: variable(name)?.parse().ok()? }))
}

fn written<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("what ranks tell each other has no maps with odd keys")
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JobError> {
    serde_json::from_slice(bytes).map_err(|error| JobError::Garbled(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Role::{Reader, Witness};

    #[test]
    fn the_number_of_ranks_is_in_the_variable_of_whichever_launcher_there_is() {
        let told = |given: &'static [(&str, &str)]| {
            let of =
                |name: &str| given.iter().find(|(it, _)| *it == name).map(|(_, text)| (*text).to_owned());
            told_size(of).map(|it| (it.variable, it.ranks))
        };
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[("SLURM_NTASKS", "4"), ("OMPI_COMM_WORLD_SIZE", "2")]), Some((SIZES[0], 2)));
        assert_eq!(told(&[("PMI_SIZE", "8")]), Some((SIZES[1], 8)));
        assert_eq!(told(&[("PMI_SIZE", "many"), ("SLURM_NTASKS", "3")]), Some((SIZES[2], 3)));
    }

    #[test]
    fn readers_come_first_and_at_most_one_witness_after_them() {
        let of = |roles: &[Role]| counted(roles).ok().map(NonZero::get);
        assert_eq!(of(&[Reader, Reader]), Some(2));
        assert_eq!(of(&[Reader, Reader, Witness]), Some(2));
        for other in
            [&[Witness][..], &[Witness, Reader], &[Reader, Witness, Reader], &[Reader, Witness, Witness]]
        {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
