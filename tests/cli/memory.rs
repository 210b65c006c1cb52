//! Tests with little memory: a control group with a quarter of the file's size, a contender that
//! the kernel kills, and the lab's own peak. Skipped with a message without these control groups.

use super::fake::{Fake, at_second_turn, roster};
use super::{EVERY_METHOD, Home, READLAB, Said, trials};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What the group may have; the file has four times as much.
const LIMIT_BYTES: u64 = 64 << 20;

/// What the lab itself may have, whatever it measures: a fifth of it is the code of a program that
/// is not optimised.
const LAB_KIB: u64 = 42 << 10;

/// What a larger file, or more samples, may add to that.
const GROWTH_KIB: u64 = 2 << 10;

/// The smallest pipe that there is.
const PIPE_BYTES: usize = 4096;

/// A control group with little memory; taken away when dropped.
struct Group(PathBuf);

impl Group {
    fn with_limit() -> Result<Group, String> {
        let places = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
        let there = |(root, file): &&(&str, &str)| {
            let unified = fs::read_to_string(Path::new(root).join("cgroup.subtree_control"));
            Path::new(root).join(file).exists() || unified.is_ok_and(|it| it.contains("memory"))
        };
        let (root, file) = places.iter().find(there).ok_or("no control group limits memory here")?;
        let said = |error: std::io::Error| format!("{root}: {error}");
        let folder = tempfile::Builder::new().prefix("readlab-test-").tempdir_in(root).map_err(said)?;
        let group = Group(folder.keep());
        fs::write(group.0.join(file), LIMIT_BYTES.to_string()).map_err(said)?;
        Ok(group)
    }

    fn readlab(&self, home: &Home, words: &[&str]) -> Said {
        let script = format!("echo $$ > '{}/cgroup.procs' && exec \"$@\"", self.0.display());
        Said::by(home.command("sh").args(["-c", &script, "sh", READLAB]).args(words))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A killed process in it may take a moment to end.
        if !super::interrupt::soon(|| fs::remove_dir(&self.0).is_ok()) {
            eprintln!("{}: still there", self.0.display());
        }
    }
}

fn group() -> Option<Group> {
    Group::with_limit().inspect_err(|why| eprintln!("SKIPPED: {why}")).ok()
}

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// The high-water mark of a process; `None` when it has ended.
fn peak_kib(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse().unwrap())
}

/// The lab's own peak as far as into its export, which does not fit so small a pipe and waits there
/// to be read.
fn peak_of_race(home: &Home, file: &Path, words: &[&str]) -> u64 {
    let mut command = Command::new(READLAB);
    command.arg("race").arg(file).args(["--state", "warm", "--quiet", "--export-json", "-"]).args(words);
    command.envs(home.environment()).current_dir(home.at("")).stdout(Stdio::piped());
    let mut race = command.spawn().unwrap();
    let mut export = race.stdout.take().unwrap();
    rustix::pipe::fcntl_setpipe_size(&export, PIPE_BYTES).unwrap();
    let (mut peak, mut piece) = (None, [0; PIPE_BYTES]);
    while export.read(&mut piece).unwrap() > 0 {
        peak = peak.max(peak_kib(&race));
    }
    assert!(race.wait().unwrap().success());
    peak.expect("it still ran when the first of its export was read")
}

mod ring2 {
    use super::*;

    #[test]
    fn with_a_quarter_of_the_memory_every_answer_is_right_or_has_a_reason() {
        let Some(group) = group() else { return };
        let home = Home::new();
        let file = home.file("f", b"a line of a file that does not fit the memory\n".repeat(1 << 10));
        fs::File::options().write(true).open(&file).unwrap().set_len(4 * LIMIT_BYTES).unwrap();
        let words = ["race", file.to_str().unwrap(), "--runs", "1", "--fills", "1", "--work", "newlines"];
        let words = [&words[..], &EVERY_METHOD, &["--quiet", "--export-json", "-"]].concat();
        let said = group.readlab(&home, &words);
        assert_eq!(said.code, Some(1), "{said}");
        let json = json(&said);
        let mut measured = 0;
        for trial in json["trials"].as_array().unwrap() {
            let what =
                format!("{} {}: {} {}", trial["id"], trial["state"], trial["outcome"], trial["reason"]);
            eprintln!("{what}");
            let reason = trial["reason"].as_str().unwrap_or_default();
            match trial["outcome"].as_str().unwrap() {
                "measured" => measured += u32::from(trial["state"] == "cold" && trial["cache"] != "none"),
                // The hole is one line, and a line must fit the memory.
                "failed" => assert!(trial["id"] == "rust/lines" && reason.contains("(OOM)"), "{what}"),
                _ => assert!(trial["outcome"] == "unavailable" && reason.len() > 10, "{what}"),
            }
            if trial["state"] == "warm" && trial["cache"] == "through" {
                assert!(reason.contains("cannot be warm"), "{what}");
            }
        }
        assert!(measured >= 8, "{measured} measured");
    }

    #[test]
    fn a_contender_that_is_killed_for_its_memory_fails_with_that_reason_and_alone() {
        let Some(group) = group() else { return };
        let home = Home::new();
        let file = home.file("f", "a\nb\n");
        // Whatever has no newline is kept by tail until it ends. It is alone in the group: a kernel
        // that cannot free its memory in time would kill others that are in it.
        let alone = format!("echo $$ > '{}/cgroup.procs' && exec tail /dev/zero", group.0.display());
        let greedy = at_second_turn(&alone);
        let roster =
            roster(&home, &[Fake { name: "greedy", turn: &greedy }, Fake { name: "modest", turn: "answer" }]);
        let words = ["race", file.to_str().unwrap(), "--runs", "3", "--fills", "1", "--roster", &roster];
        let methods = ["--state", "warm", "--method", "*/read", "--quiet", "--export-json", "-"];
        let said = home.readlab([&words[..], &methods].concat());
        assert_eq!(said.code, Some(1), "{said}");
        let json = json(&said);
        let trial = trials(&json, "greedy/read", "warm");
        let reason = trial["reason"].as_str().unwrap();
        assert!(
            trial["outcome"] == "failed" && reason.contains("SIGKILL") && reason.contains("(OOM)"),
            "{reason}"
        );
        assert_eq!(trials(&json, "modest/read", "warm")["outcome"], "measured");
    }

    #[test]
    fn the_lab_itself_stays_small_whatever_the_size_and_the_number_of_samples() {
        let home = Home::new();
        let huge = home.file("huge", "");
        fs::File::options().write(true).open(&huge).unwrap().set_len(64 << 20).unwrap();
        let method = ["--work", "newlines", "--method", "rust/mmap/memchr", "--method", "rust/read/memchr"];
        let one_run = [&["--runs", "1", "--fills", "1"], &method[..]].concat();
        let small = home.file("small", "a\n".repeat(5_000));
        let least = peak_of_race(&home, &small, &one_run);
        let of_size = peak_of_race(&home, &huge, &one_run);
        let of_samples = peak_of_race(&home, &small, &[&["--runs", "300"], &method[..]].concat());
        eprintln!(
            "peaks of the lab: {least} KiB, {of_size} KiB with 64 MiB, {of_samples} KiB with 300 readings of each trial"
        );
        for peak in [least, of_size, of_samples] {
            assert!(peak < LAB_KIB && peak < least + GROWTH_KIB, "{peak} KiB, {least} KiB");
        }
    }
}
