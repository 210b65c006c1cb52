//! The gate at which a rank waits before a turn until all ranks are ready, and then until the
//! common start time.
//!
//! Readiness is gathered and the start time is broadcast through MPI; after that, nothing is sent
//! until the turn ends. The start time is late enough that every rank knows it in time.

use super::job::{Job, JobError};
use super::queue::CacheQueue;
use readlab_measure::interface::{SampleError, StartingGate};
use readlab_system::clock::{monotonic_ns, sleep_until};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Time between the choice of the start time and the start; a broadcast to a thousand ranks takes
/// less. A rank that receives the start time too late reports its late start.
const START_DELAY_NS: u64 = 5_000_000;

/// Additional time for each rank, because oversubscribed ranks wait for processors one after the
/// other.
const START_DELAY_PER_RANK_NS: u64 = 200_000;

/// Start of a rank's turn, in nanoseconds of its own clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnStart {
    pub planned_ns: u64,
    /// The actual start of this rank.
    pub started_ns: u64,
}

/// State of a turn at the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GateState {
    /// This rank has not reported yet whether it is ready.
    NotReported,
    /// A rank was not ready, perhaps this one.
    Withheld { was_ready: bool },
    /// The turn may begin at this time of this rank's clock.
    Open(u64),
    /// The turn began.
    Passed(TurnStart),
}

#[derive(Debug, Clone)]
pub struct RankGate {
    job: Rc<Job>,
    queue: CacheQueue,
    state: Rc<Cell<GateState>>,
    job_error: Rc<RefCell<Option<JobError>>>,
}

impl RankGate {
    pub fn new(job: Rc<Job>, queue: CacheQueue) -> RankGate {
        RankGate { job, queue, state: Rc::new(Cell::new(GateState::NotReported)), job_error: Rc::default() }
    }

    /// Prepares the gate for a turn.
    pub fn close(&self) {
        self.queue.begin_pass();
        self.state.set(GateState::NotReported);
    }

    /// Start of the turn; `None` if it did not begin.
    pub fn turn_start(&self) -> Option<TurnStart> {
        match self.state.get() {
            GateState::Passed(start) => Some(start),
            _ => None,
        }
    }

    /// Whether this rank was ready and another rank was not.
    pub fn is_other_rank_unready(&self) -> bool {
        self.state.get() == GateState::Withheld { was_ready: true }
    }

    /// Reports that this rank is not ready, unless it has reported already, because the others wait
    /// for its report.
    pub fn report_unready_if_silent(&self) -> Result<(), JobError> {
        if self.state.get() == GateState::NotReported { self.agree_on_start(false) } else { Ok(()) }
    }

    /// Reports that this rank, which does not take the turn, is ready for it.
    pub fn report_ready_without_turn(&self) -> Result<(), JobError> {
        self.agree_on_start(true)
    }

    pub fn take_job_error(&self) -> Option<JobError> {
        self.job_error.take()
    }

    fn agree_on_start(&self, is_ready: bool) -> Result<(), JobError> {
        self.state.set(GateState::Withheld { was_ready: is_ready });
        self.queue.finish()?;
        let all = self.job.gather(&is_ready)?;
        // Start of the turn by the clock of rank 0. The inner `None` means that a rank is not ready;
        // the outer one, that this rank is not rank 0, which alone gathers.
        let start_ns: Option<Option<u64>> = all.map(|all| {
            let lead_ns = START_DELAY_NS + START_DELAY_PER_RANK_NS * u64::from(self.job.rank_count());
            all.iter().all(|is_ready| *is_ready).then(|| monotonic_ns() + lead_ns)
        });
        if let Some(leader_ns) = self.job.broadcast(start_ns.as_ref())? {
            self.state.set(GateState::Open(self.job.clock().to_own_ns(leader_ns)));
        }
        Ok(())
    }
}

impl StartingGate for RankGate {
    fn wait_to_make_state(&mut self) -> Result<(), SampleError> {
        self.queue.wait_for_turn().map_err(|error| {
            let reason = error.to_string();
            *self.job_error.borrow_mut() = Some(error);
            SampleError::Unproven(reason)
        })
    }

    fn report_ready(&mut self) -> Result<(), SampleError> {
        let agreed = self.agree_on_start(true);
        *self.job_error.borrow_mut() = agreed.err();
        match self.state.get() {
            GateState::Open(_) => Ok(()),
            // The other rank reports the reason.
            _ => Err(SampleError::Unproven("another rank was not ready".to_owned())),
        }
    }

    fn wait_for_start(&mut self) {
        if let GateState::Open(planned_ns) = self.state.get() {
            sleep_until(planned_ns);
            self.state.set(GateState::Passed(TurnStart { planned_ns, started_ns: monotonic_ns() }));
        }
    }
}
