//! Tests of the MPI job itself: messages arrive whole, and clock differences are known.

use super::Mpi;
use crate::home::Home;
use crate::machine::succeeds_or_skip;
use readlab_fleet::Job;
use std::process::Command;
use std::time::Duration;

/// Starts ranks, some of them by another program. Returns the offset and the error bound of each
/// rank's clock.
fn clocks(command: &mut Command) -> Vec<(i64, u64)> {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let numbers = said.lines().filter(|line| line.starts_with("rank ")).map(|line| {
        let (_, numbers) = line.split_once(": ").unwrap();
        let (offset, bound) = numbers.split_once(' ').unwrap();
        (offset.parse().unwrap(), bound.trim().parse().unwrap())
    });
    numbers.collect()
}

const AS_A_RANK: [&str; 4] = ["cli::fleet::jobs::ring2::as_a_rank", "--exact", "--ignored", "--nocapture"];

mod ring2 {
    use super::*;

    /// A rank of a job without readlab's commands. It checks that messages arrive whole, and prints
    /// how its clock differs. The next tests start it.
    #[test]
    #[ignore = "it is a rank of the jobs that other tests start"]
    fn as_a_rank() {
        let job = Job::join().unwrap();
        for bytes in [0, 1, 1000, 1 << 20, 8 << 20] {
            let text: String = "0123456789abcdef".chars().cycle().take(bytes).collect();
            let heard: String = job.broadcast(job.is_leader().then_some(&text)).unwrap();
            assert!(heard == text, "{bytes} bytes");
            let own = job.rank().to_string().repeat(bytes / 8);
            let all = job.gather(&own).unwrap();
            let whole =
                || (0..job.rank_count()).map(|rank| rank.to_string().repeat(bytes / 8)).collect::<Vec<_>>();
            assert_eq!(all.is_some(), job.is_leader());
            assert!(all.is_none_or(|all| all == whole()), "{bytes} bytes");
            job.barrier().unwrap();
        }
        job.set_time_limit(Duration::from_secs(60));
        let clock = job.compare_clocks().unwrap();
        println!(
            "\nrank {} of {}: {} {}",
            job.rank(),
            job.rank_count(),
            clock.offset_ns,
            clock.error_bound_ns
        );
        job.leave();
    }

    #[test]
    fn messages_arrive_whole_by_every_launcher_and_number_of_ranks() {
        for flavour in Mpi::all() {
            let home = Home::new();
            for ranks in [1, 2, 8] {
                let mut command = flavour.command(&home, ranks);
                let clocks = clocks(command.arg(std::env::current_exe().unwrap()).args(AS_A_RANK));
                assert_eq!(clocks.len(), ranks as usize, "{}", flavour.launcher);
                for (offset_ns, bound_ns) in clocks {
                    assert!(offset_ns.unsigned_abs() <= bound_ns + 1, "one clock: {offset_ns} ± {bound_ns}");
                }
            }
        }
    }

    #[test]
    fn a_clock_that_is_set_a_thousand_seconds_apart_is_known_within_its_bound() {
        let Some(flavour) = Mpi::any() else { return };
        let unshare = "unshare --time --monotonic 1000 --fork";
        if !succeeds_or_skip(&format!("{unshare} true")) {
            return;
        }
        let home = Home::new();
        let rank = std::env::current_exe().unwrap();
        let mut command = flavour.command(&home, 1);
        command.arg(&rank).args(AS_A_RANK).args([":", "-n", "1"]);
        let clocks = clocks(command.args(unshare.split(' ')).arg(&rank).args(AS_A_RANK));
        let &(offset_ns, bound_ns) = clocks.iter().find(|(offset_ns, _)| *offset_ns != 0).unwrap();
        let wrong_ns = offset_ns.abs_diff(-1_000_000_000_000);
        assert!(wrong_ns <= bound_ns + 1, "wrong by {wrong_ns} ns, told {bound_ns} ns");
        assert!(home.at("bin/mpicc").exists());
    }
}
