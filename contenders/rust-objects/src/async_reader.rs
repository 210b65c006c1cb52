//! Tokio's runtime below every method: the default one with several threads.
//!
//! The connections' tasks decrypt and receive on other processors, while the task that reads visits
//! the bytes that have arrived. The runtime belongs to the program, not to a reading, so it is made
//! before the first window.

use async_trait::async_trait;
use readlab_protocol::LatenciesLine;
use readlab_protocol::contender::{Job, ReadTarget, Reading};
use readlab_protocol::serve::Refusal;
use tokio::runtime::{Builder, Runtime};

/// A method with its settings, for any number of readings.
#[async_trait]
pub(crate) trait AsyncReader {
    /// Does one whole reading. The timed window contains all of it.
    async fn read(&self) -> Result<Reading, Refusal>;

    /// The latencies of the single requests since they were last taken, if the method measures them.
    fn take_latencies(&self) -> Option<LatenciesLine> {
        None
    }
}

struct BlockingReader<R> {
    /// The reader may have tasks in the runtime, so it is dropped first.
    reader: R,
    runtime: Runtime,
}

/// Makes a reader of an object or a URL, and its client if the client is kept.
pub(crate) fn open<R: AsyncReader + 'static>(
    job: &Job,
    make: impl FnOnce(&str) -> Result<R, Refusal>,
) -> Result<Box<dyn ReadTarget>, Refusal> {
    let target = job.target.to_str().ok_or_else(|| Refusal::failed("the target is not UTF-8"))?;
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    // A kept client starts its tasks in the runtime.
    let entered = runtime.enter();
    let reader = make(target).map_err(|why| why.about(&job.shown))?;
    drop(entered);
    Ok(Box::new(BlockingReader { reader, runtime }))
}

impl<R: AsyncReader> ReadTarget for BlockingReader<R> {
    fn read(&mut self) -> Result<Reading, Refusal> {
        self.runtime.block_on(self.reader.read())
    }

    fn take_latencies(&mut self) -> Option<LatenciesLine> {
        self.reader.take_latencies()
    }
}
