//! Who else uses the processors: every process's clock ticks over a short while.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long is looked; with ticks of 10 ms, 4 % of a processor is one tick.
const WHILE: Duration = Duration::from_millis(250);

/// A process that used processors while we looked.
#[derive(Debug, Clone, PartialEq)]
pub struct Busy {
    /// Its number.
    pub pid: u32,
    /// Its short name, control characters replaced.
    pub name: String,
    /// Processors it used on average: 1.0 is one of them, all the time.
    pub processors: f64,
}

/// The processes, without this one, that used processors during a quarter of a second, the busiest
/// first; another lab is among them even when its contender does all the work.
#[must_use]
pub fn others() -> Vec<Busy> {
    let before: HashMap<u32, u64> = processes().map(|(pid, _, ticks)| (pid, ticks)).collect();
    let start = Instant::now();
    std::thread::sleep(WHILE);
    let ticks_of_one = start.elapsed().as_secs_f64() * ticks_per_second();
    let mut busy: Vec<Busy> = processes()
        .filter(|(pid, ..)| *pid != std::process::id())
        .filter_map(|(pid, name, ticks)| {
            let used = ticks.saturating_sub(*before.get(&pid)?);
            let counts = used > 0 || name == env!("CARGO_PKG_NAME");
            counts.then(|| Busy { pid, name, processors: share(used, ticks_of_one) })
        })
        .collect();
    busy.sort_by(|a, b| b.processors.total_cmp(&a.processors));
    busy
}

#[expect(clippy::cast_precision_loss, reason = "a few ticks")]
fn share(ticks: u64, ticks_of_one: f64) -> f64 {
    ticks as f64 / ticks_of_one
}

#[expect(clippy::cast_precision_loss, reason = "the kernel's constant, 100")]
fn ticks_per_second() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

/// Number, name and ticks so far of every process that can be seen.
fn processes() -> impl Iterator<Item = (u32, String, u64)> {
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    folders.filter_map(|folder| {
        let pid = folder.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read(folder.path().join("stat")).ok()?;
        let (name, ticks) = name_and_ticks(&String::from_utf8_lossy(&stat))?;
        Some((pid, name, ticks))
    })
}

/// Out of /proc/PID/stat: the name in parentheses, and user and system ticks (fields 14 and 15).
fn name_and_ticks(stat: &str) -> Option<(String, u64)> {
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    let name = name.replace(char::is_control, "\u{fffd}");
    let mut fields = rest.split_ascii_whitespace().skip(11).map(str::parse::<u64>);
    Some((name, fields.next()?.ok()? + fields.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_fields_or_escape() {
        let stat = "7 (a) b\u{1b}[31m (c) S 1 2 3 4 5 6 7 8 9 10 40 2 0 0";
        assert_eq!(name_and_ticks(stat), Some(("a) b\u{fffd}[31m (c".to_owned(), 42)));
        assert_eq!(name_and_ticks("7 (a) S 1"), None);
    }

    #[test]
    fn a_spinning_process_is_seen_and_we_are_not() {
        let mut spinner =
            std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let busy = others();
        spinner.kill().unwrap();
        spinner.wait().unwrap();
        assert!(busy.iter().any(|process| process.pid == spinner.id()), "{busy:?}");
        assert!(busy.iter().all(|process| process.pid != std::process::id()));
    }
}
