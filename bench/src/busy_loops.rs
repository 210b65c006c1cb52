//! Other work on the machine: busy loops that never pause, and ones that come and go. They end when
//! they are dropped.

use anyhow::Context;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Busy loops that never pause, each a process.
pub(crate) struct BusyLoops(Vec<Child>);

/// One loop for each processor, which is busy for a while and then not for a while.
pub(crate) struct Bursts {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// How long a burst and a pause last, in turn: different for each, because neighbours keep no time.
const BURSTS_MS: [u64; 7] = [150, 700, 40, 1100, 400, 90, 260];
const PAUSES_MS: [u64; 5] = [900, 300, 1700, 600, 120];

impl BusyLoops {
    /// Starts so many for each processor.
    pub(crate) fn start(each: usize) -> anyhow::Result<BusyLoops> {
        let mut busy = BusyLoops(Vec::new());
        for _ in 0..each * processors() {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            busy.0.push(shell.spawn().context("/bin/sh")?);
        }
        Ok(busy)
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended already is what we want.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Bursts {
    pub(crate) fn start() -> Bursts {
        let is_over = Arc::new(AtomicBool::new(false));
        let one = |number: usize| {
            let is_over = Arc::clone(&is_over);
            std::thread::spawn(move || come_and_go(number, &is_over))
        };
        let threads = (0..processors()).map(one).collect();
        Bursts { is_over, threads }
    }
}

impl Drop for Bursts {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It has nothing that could panic.
            let _ = thread.join();
        }
    }
}

/// Bursts and pauses, each loop from another place in their order.
fn come_and_go(number: usize, is_over: &AtomicBool) {
    let (bursts, pauses) = (BURSTS_MS.iter().cycle().skip(3 * number), PAUSES_MS.iter().cycle());
    for (&burst, &pause) in bursts.zip(pauses) {
        let end = Instant::now() + Duration::from_millis(burst);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        std::thread::sleep(Duration::from_millis(pause));
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
