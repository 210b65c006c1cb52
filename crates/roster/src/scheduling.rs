//! How the threads of a contender are scheduled, compared with what it was given: the scheduling of
//! its parent.

use readlab_protocol::Scheduling;
use readlab_system::process::{scheduling_of_thread, threads};

/// How the first thread of a process is scheduled; `None` if it has ended or may not be seen.
pub(super) fn of_process(pid: u32) -> Option<Scheduling> {
    scheduling_of_thread(pid, pid)
}

/// Every way in which threads of a process are scheduled that is not the given one.
pub(super) fn others_than(given: &Scheduling, pid: u32) -> Vec<Scheduling> {
    let mut others = Vec::new();
    for thread in threads(pid).unwrap_or_default() {
        if let Some(its) = scheduling_of_thread(pid, thread)
            && its != *given
            && !others.contains(&its)
        {
            others.push(its);
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn only_what_differs_from_what_was_given_is_another() {
        let given = of_process(std::process::id()).unwrap();
        let mut nicer = Command::new("nice").args(["-n", "2", "sleep", "600"]).spawn().unwrap();
        let changed = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            others_than(&given, nicer.id()) == [Scheduling { nice: given.nice + 2, ..given.clone() }]
        });
        nicer.kill().unwrap();
        nicer.wait().unwrap();
        assert!(changed, "{:?}", others_than(&given, nicer.id()));
        assert!(of_process(nicer.id()).is_none() && others_than(&given, nicer.id()).is_empty());
        let mut same = Command::new("sleep").arg("600").spawn().unwrap();
        let others = others_than(&given, same.id());
        same.kill().unwrap();
        same.wait().unwrap();
        assert!(others.is_empty(), "{others:?}");
    }
}
