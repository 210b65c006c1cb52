//! Where a rank waits before a turn until all ranks are ready, and then until the time at which all
//! begin.
//!
//! Readiness is gathered and the start is broadcast through MPI; from then on until the turn ends
//! nothing is sent. The start lies far enough ahead that every rank knows it by then.

use super::job::{Job, JobError};
use super::queue::Queue;
use readlab_measure::interface::{SampleError, StartingGate};
use readlab_system::clock::{monotonic_ns, sleep_until};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The time between the decision and the start: broadcasts to a thousand ranks take less, and a
/// rank that hears of it late says so.
const LEAD_NS: u64 = 5_000_000;

/// More time for each rank: oversubscribed ranks wait for processors one after the other.
const LEAD_OF_RANK_NS: u64 = 200_000;

/// When a rank began a turn, in nanoseconds of its own clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Passage {
    /// When all were to begin.
    pub planned_ns: u64,
    /// When this rank began.
    pub started_ns: u64,
}

/// How far a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// This rank has not said whether it is ready.
    Before,
    /// Some rank was not ready, perhaps this one.
    Withheld { was_ready: bool },
    /// It may begin at this time of this rank's clock.
    Open(u64),
    /// It began.
    Passed(Passage),
}

/// The gate of one rank.
#[derive(Debug, Clone)]
pub struct Gate {
    job: Rc<Job>,
    queue: Queue,
    place: Rc<Cell<Place>>,
    broken: Rc<RefCell<Option<JobError>>>,
}

impl Gate {
    pub fn new(job: Rc<Job>, queue: Queue) -> Gate {
        Gate { job, queue, place: Rc::new(Cell::new(Place::Before)), broken: Rc::default() }
    }

    /// Before a turn.
    pub fn close(&self) {
        self.queue.begin();
        self.place.set(Place::Before);
    }

    /// When the turn began; `None` if it did not.
    pub fn passage(&self) -> Option<Passage> {
        match self.place.get() {
            Place::Passed(passage) => Some(passage),
            _ => None,
        }
    }

    /// Whether this rank was ready and another was not.
    pub fn is_withheld(&self) -> bool {
        self.place.get() == Place::Withheld { was_ready: true }
    }

    /// Says that this rank is not ready, unless it has said something already: the others wait for
    /// its word.
    pub fn give_up(&self) -> Result<(), JobError> {
        if self.place.get() == Place::Before { self.agree(false) } else { Ok(()) }
    }

    /// Says that this rank hinders nobody from a turn that it does not take.
    pub fn stand_aside(&self) -> Result<(), JobError> {
        self.agree(true)
    }

    /// What broke the job while this rank was at the gate.
    pub fn take_broken(&self) -> Option<JobError> {
        self.broken.take()
    }

    /// Says whether this rank is ready, and hears whether all are.
    fn agree(&self, is_ready: bool) -> Result<(), JobError> {
        self.place.set(Place::Withheld { was_ready: is_ready });
        self.queue.finish()?;
        let all = self.job.gather(&is_ready)?;
        // When the turn begins, by the clock of rank 0; `None` if some rank is not ready.
        let start_ns: Option<Option<u64>> = all.map(|all| {
            let lead_ns = LEAD_NS + LEAD_OF_RANK_NS * u64::from(self.job.size());
            all.iter().all(|is_ready| *is_ready).then(|| monotonic_ns() + lead_ns)
        });
        if let Some(leader_ns) = self.job.broadcast(start_ns.as_ref())? {
            self.place.set(Place::Open(self.job.clock().of_own(leader_ns)));
        }
        Ok(())
    }
}

impl StartingGate for Gate {
    fn before_state(&mut self) -> Result<(), SampleError> {
        self.queue.wait().map_err(|error| {
            let reason = error.to_string();
            *self.broken.borrow_mut() = Some(error);
            SampleError::Unproven(reason)
        })
    }

    fn ready(&mut self) -> Result<(), SampleError> {
        let agreed = self.agree(true);
        *self.broken.borrow_mut() = agreed.err();
        match self.place.get() {
            Place::Open(_) => Ok(()),
            // The reason is what another rank reports.
            _ => Err(SampleError::Unproven("another rank was not ready".to_owned())),
        }
    }

    fn wait(&mut self) {
        if let Place::Open(planned_ns) = self.place.get() {
            sleep_until(planned_ns);
            self.place.set(Place::Passed(Passage { planned_ns, started_ns: monotonic_ns() }));
        }
    }
}
