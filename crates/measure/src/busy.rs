//! Finds the other processes that use the processors, by the CPU time of every process over a
//! quarter of a second.

use readlab_system::process;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Duration of the observation. With clock ticks of 10 ms, one tick is 4 % of a processor.
const OBSERVATION_TIME: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, PartialEq)]
pub struct BusyProcess {
    pub pid: u32,
    /// The short name of the process, control characters replaced.
    pub name: String,
    /// Processors that the process used on average: 1.0 is one processor all the time.
    pub processors_used: f64,
}

/// All processes except this one that used processors during a quarter of a second, the busiest
/// first. Another readlab is always listed, because its contenders may do all the work.
pub fn other_busy_processes() -> Vec<BusyProcess> {
    let before: HashMap<u32, u64> =
        process::all_processes().into_iter().map(|process| (process.pid, process.cpu_ns)).collect();
    let start = Instant::now();
    std::thread::sleep(OBSERVATION_TIME);
    let passed = start.elapsed();
    let mut busy = Vec::new();
    for process in process::all_processes() {
        let Some(before_ns) = before.get(&process.pid) else { continue };
        let used_ns = process.cpu_ns.saturating_sub(*before_ns);
        let counts = used_ns > 0 || process.name == env!("CARGO_PKG_NAME");
        if counts && process.pid != std::process::id() {
            let processors = Duration::from_nanos(used_ns).as_secs_f64() / passed.as_secs_f64();
            busy.push(BusyProcess {
                pid: process.pid,
                name: printable_name(&process.name),
                processors_used: processors,
            });
        }
    }
    busy.sort_by(|a, b| b.processors_used.total_cmp(&a.processors_used));
    busy
}

fn printable_name(name: &str) -> String {
    name.replace(char::is_control, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_control_a_terminal() {
        assert_eq!(printable_name("a) b\u{1b}[31m (c"), "a) b\u{fffd}[31m (c");
    }

    #[test]
    fn a_spinning_process_is_listed_and_readlab_itself_is_not() {
        let mut spinner =
            std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let busy = other_busy_processes();
        spinner.kill().unwrap();
        spinner.wait().unwrap();
        assert!(busy.iter().any(|process| process.pid == spinner.id()), "{busy:?}");
        assert!(busy.iter().all(|process| process.pid != std::process::id()));
    }
}
