//! A real process, sampled: where the kernel allows it.

use super::symbols::naming_variables;
use super::{Profiling, can_sample, svg};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_busy_program_and_its_child_are_seen_by_name() {
    if let Err(why) = can_sample() {
        eprintln!("SKIPPED: no samples can be taken here: {why}");
        assert!(why.contains("sysctl") || why.contains("docker") || why.contains("no perf events"), "{why}");
        return;
    }
    // The shell waits for a line, then becomes busy itself and in a child.
    let script = "read line; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; dd if=/dev/zero of=/dev/null bs=64k count=20000 2>/dev/null";
    let mut child = Command::new("sh")
        .args(["-c", script])
        .envs(naming_variables())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let profiling = Profiling::begin(child.id()).unwrap();
    profiling.count_from_now();
    drop(child.stdin.take());
    child.wait().unwrap();
    let enough = Instant::now() + Duration::from_secs(5);
    while profiling.sample_count() < 50 && Instant::now() < enough {
        std::thread::sleep(Duration::from_millis(5));
    }
    let profile = profiling.end().with_names();
    let threads: BTreeSet<&str> = profile.folded.stacks().map(|(stack, _)| stack[0].as_str()).collect();
    assert!(threads.contains("sh"), "{threads:?}");
    assert!(threads.contains("dd"), "the child, by its own name: {threads:?}");
    assert!(profile.how.contains("997 samples a second"), "{}", profile.how);
    assert!(profile.folded.hottest(1)[0].share > 0.0);
    assert!(svg(&profile.folded, "sh", &profile.how).unwrap().contains("<svg"));
}
