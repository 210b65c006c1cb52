//! Tests with less than the usual rights: a read-only root, hidden processes, forbidden system
//! calls, no home, no terminal, streams that are closed or full, no space for the record.

use super::{AS_NOBODY, EVERY_METHOD, Home, READLAB, Said, no_other_user, trials};
use readlab_record::Record;
use serde_json::Value;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A race that takes a second.
const ONLY: [&str; 4] = ["--method", "rust/read/scalar", "--state", "warm"];

/// The arguments of a race on a file of the home.
fn race(home: &Home, words: &[&str]) -> Vec<String> {
    let file = home.file("f", "a\nb\n");
    let words = [&["race", file.to_str().unwrap()], &super::QUICK[..], words].concat();
    words.into_iter().map(str::to_owned).collect()
}

/// Readlab in a separate mount namespace, after a script that changes it; `None` with a message if
/// that is not allowed.
fn after(script: &str, home: &Home, words: &[String]) -> Option<Said> {
    const NOT_PERMITTED: i32 = 77;
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can mount");
        return None;
    }
    let script = format!("{{ {script}; }} || exit {NOT_PERMITTED}; exec \"$@\"");
    let mut command = home.command("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", &script, "sh"]).args(words);
    let said = Said::by(&mut command);
    if said.code == Some(NOT_PERMITTED) || said.err.starts_with("unshare:") {
        eprintln!("SKIPPED: {}", said.err);
        return None;
    }
    Some(said)
}

fn json(said: &Said) -> Value {
    assert_eq!(said.code, Some(0), "{said}");
    serde_json::from_str(&said.out).unwrap()
}

/// What a system call of this number is answered with, for this process and all it starts: a
/// seccomp filter in classic BPF.
fn forbid(command: &mut Command, calls: &[i64], errno: i32) {
    let op = |code: u32, k: u32| libc::sock_filter { code: code.try_into().unwrap(), jt: 0, jf: 0, k };
    // The number of the call is the first word of what the filter is shown.
    let mut filter = vec![op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0)];
    for &call in calls {
        let is = op(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call.try_into().unwrap());
        filter.push(libc::sock_filter { jf: 1, ..is });
        let refuse = libc::SECCOMP_RET_ERRNO | u32::try_from(errno).unwrap();
        filter.push(op(libc::BPF_RET | libc::BPF_K, refuse));
    }
    filter.push(op(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    let install = move || {
        let program = libc::sock_fprog {
            len: filter.len().try_into().expect("a few instructions"),
            filter: filter.as_ptr().cast_mut(),
        };
        // SAFETY: both calls only read what they are given; the program points to as many
        // instructions as it says, which live as long as the closure does.
        let failed = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
        };
        if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: between fork and exec only system calls are made.
    unsafe { command.pre_exec(install) };
}

/// A way of closing a stream that should be read.
fn gone() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

/// That these words end quietly where nobody reads their output, and in one line where it has no
/// space.
fn assert_streams_may_end(home: &Home, verbs: Vec<Vec<String>>) {
    for words in verbs {
        let command = || {
            let mut command = Command::new(READLAB);
            command.args(&words).envs(home.environment()).current_dir(home.at(""));
            command
        };
        let left = command().stdout(gone()).output().unwrap();
        assert_eq!((left.status.code(), &*left.stderr), (Some(0), &b""[..]), "{words:?}: {left:?}");
        // Clap's own output ends as it likes, but does not panic.
        let filled = command().stdout(full()).output().unwrap();
        let said = String::from_utf8_lossy(&filled.stderr);
        assert!(said.lines().count() <= 1 && !said.contains("panicked"), "{words:?}: {said}");
        assert!(
            words[0] == "--help" || filled.status.code() == Some(2) && said.contains("No space left"),
            "{words:?}: {said}"
        );
    }
}

/// A verb of one word or two.
fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn a_closed_stream_ends_quietly_and_a_full_one_in_one_line() {
    let home = Home::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/race.jsonl");
    let mut verbs: Vec<Vec<String>> = ["man", "completions bash", "--help"].map(words).into();
    verbs.push(race(&home, &ONLY));
    verbs.push(race(&home, &[&ONLY[..], &["--export-json", "-"]].concat()));
    verbs.push(vec!["report".into(), golden.to_str().unwrap().into(), "-o".into(), "-".into()]);
    assert_streams_may_end(&home, verbs);
}

#[test]
fn an_error_that_cannot_be_printed_keeps_its_exit_code() {
    let home = Home::new();
    for stderr in [gone, full] {
        let mut command = Command::new(READLAB);
        command.args(["race", "none"]).envs(home.environment()).current_dir(home.at(""));
        assert_eq!(command.stderr(stderr()).status().unwrap().code(), Some(2));
        let mut command = Command::new(READLAB);
        command
            .args(race(&home, &ONLY))
            .envs(home.environment())
            .current_dir(home.at(""))
            .stdout(Stdio::null());
        assert_eq!(command.stderr(stderr()).status().unwrap().code(), Some(0));
    }
    let closed = home
        .command("sh")
        .args(["-c", "exec \"$@\" >&- 2>&-", "sh", READLAB])
        .args(race(&home, &ONLY))
        .output();
    assert_eq!(closed.unwrap().status.code(), Some(0));
}

/// The output of a program on a separate terminal.
fn on_a_terminal(home: &Home, kind: &str, words: &[String]) -> Option<String> {
    let line = shell_line(words);
    let said = Said::by(home.command("script").args(["-qec", &line, "/dev/null"]).env("TERM", kind));
    if said.code != Some(0) {
        eprintln!("SKIPPED: script makes no terminal: {said}");
        return None;
    }
    Some(said.out)
}

fn shell_line(words: &[String]) -> String {
    let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

/// A file system in memory with little room, taken away when dropped.
struct Little(PathBuf);

impl Little {
    fn room(home: &Home, size: &str) -> Result<Little, String> {
        let point = home.at("little");
        fs::create_dir(&point).unwrap();
        fs::set_permissions(&point, Permissions::from_mode(0o777)).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
            .arg(&point)
            .output();
        let mounted = mounted.map_err(|error| error.to_string())?;
        if mounted.status.success() {
            Ok(Little(point))
        } else {
            Err(String::from_utf8_lossy(&mounted.stderr).into())
        }
    }
}

impl Drop for Little {
    fn drop(&mut self) {
        if !Command::new("umount").arg(&self.0).status().is_ok_and(|status| status.success()) {
            eprintln!("{}: still mounted", self.0.display());
        }
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn on_a_read_only_root_a_folder_for_the_record_must_be_named_and_that_is_all() {
        let home = Home::new();
        let tmp = home.temporary();
        let script = format!("mount -t tmpfs none '{}' && mount -o remount,bind,ro /", tmp.display());
        let words = |more: &[&str]| [vec![READLAB.to_owned()], race(&home, more)].concat();
        let Some(said) = after(&script, &home, &words(&ONLY)) else { return };
        assert!(said.refusal().contains("/runs/") && said.err.contains("Read-only file system"), "{said}");
        let output = tmp.join("run");
        let more = ["--output", output.to_str().unwrap(), "--quiet", "--export-json", "-"];
        let words = words(&[&EVERY_METHOD, &more[..]].concat());
        let json = json(&after(&script, &home, &words).unwrap());
        for state in ["cold", "warm"] {
            assert_eq!(trials(&json, "rust/read/memchr", state)["outcome"], "measured");
        }
    }

    #[test]
    fn with_processes_hidden_an_ordinary_user_still_meters_all_that_is_its_own() {
        if let Some(why) = no_other_user() {
            return eprintln!("SKIPPED: {why}");
        }
        let home = Home::new();
        let hidden = "mount -t proc -o hidepid=2 proc /proc";
        let as_nobody = |words: Vec<String>| {
            [&["setpriv"], &AS_NOBODY[..], &[READLAB]]
                .concat()
                .into_iter()
                .map(str::to_owned)
                .chain(words)
                .collect::<Vec<_>>()
        };
        let words = as_nobody(race(&home, &[&ONLY[..], &["--quiet", "--export-json", "-"]].concat()));
        let Some(said) = after(hidden, &home, &words) else { return };
        let json = json(&said);
        for sample in trials(&json, "rust/read/scalar", "warm")["samples"].as_array().unwrap() {
            for meter in ["cpu_user_ns", "peak_rss_bytes", "minor_faults", "device_read_bytes"] {
                assert!(sample[meter].is_u64(), "{meter}: {sample}");
            }
        }
        let doctor = after(hidden, &home, &as_nobody(vec!["doctor".into()])).unwrap();
        assert!(doctor.code == Some(0) && doctor.out.contains("hidepid"), "{doctor}");
    }

    #[test]
    fn where_calls_are_forbidden_the_rest_is_measured_and_the_reason_reported() {
        const CACHESTAT: i64 = 451;
        let forbidden = [libc::SYS_io_uring_setup, libc::SYS_perf_event_open, CACHESTAT];
        for errno in [libc::EPERM, libc::ENOSYS] {
            let home = Home::new();
            let methods =
                [&EVERY_METHOD[..], &["--work", "newlines", "--quiet", "--export-json", "-"]].concat();
            let mut command = Command::new(READLAB);
            command.args(race(&home, &methods)).envs(home.environment()).current_dir(home.at(""));
            forbid(&mut command, &forbidden, errno);
            let output = command.output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), &*text), (Some(0), ""), "errno {errno}");
            let json: Value = serde_json::from_slice(&output.stdout).unwrap();
            for trial in json["trials"].as_array().unwrap() {
                let (id, reason) =
                    (trial["id"].as_str().unwrap(), trial["reason"].as_str().unwrap_or_default());
                if id.starts_with("rust/io_uring") || id.starts_with("rust/device") {
                    assert!(
                        trial["outcome"] == "unavailable" && reason.starts_with("io_uring: "),
                        "{id}: {reason}"
                    );
                    continue;
                }
                assert!(
                    ["measured", "unavailable"].contains(&trial["outcome"].as_str().unwrap()),
                    "{id}: {reason}"
                );
                if trial["outcome"] == "measured" {
                    let calls = &trial["counts"]["syscalls"];
                    assert!(
                        calls["value"].is_null() && calls["how"].as_str().unwrap().len() > 10,
                        "{id}: {calls}"
                    );
                }
            }
            for state in ["cold", "warm"] {
                let trial = trials(&json, "rust/read/memchr", state);
                assert_eq!(trial["outcome"], "measured", "{}", trial["reason"]);
                assert!(trial["samples"][0]["resident_before"].is_number(), "mincore or a probe tells it");
            }
        }
    }

    #[test]
    fn without_a_home_a_folder_must_be_named_and_nothing_is_written_elsewhere() {
        if let Some(why) = no_other_user() {
            return eprintln!("SKIPPED: {why}");
        }
        let home = Home::new();
        let (tmp, words) = (home.temporary(), race(&home, &ONLY));
        // A number that no user has: neither the environment nor the system names a home.
        let mut command = Command::new("setpriv");
        command.args(["--reuid=42424", "--regid=42424", "--clear-groups", READLAB]).args(&words);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("TMPDIR", &tmp)
            .current_dir("/");
        let said = Said::by(&mut assert_cmd::Command::from_std(command));
        if said.err.starts_with("setpriv:") {
            return eprintln!("SKIPPED: {said}");
        }
        assert!(said.refusal().contains("name one with --output"), "{said}");
        let mut command = Command::new("setpriv");
        command.args(["--reuid=42424", "--regid=42424", "--clear-groups", READLAB]).args(&words);
        command.args(["--output", tmp.join("run").to_str().unwrap()]);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("TMPDIR", &tmp)
            .current_dir("/");
        let said = Said::by(&mut assert_cmd::Command::from_std(command));
        assert!(said.code == Some(0) && said.out.contains("rust/read/scalar"), "{said}");
    }

    #[test]
    fn a_dumb_terminal_gets_no_escapes_and_no_terminal_those_of_a_name() {
        let home = Home::new();
        let file = home.file("\u{1b}[31mred\u{202e}", "a\nb\n");
        let words = [READLAB, "race", file.to_str().unwrap(), "--runs", "3", "--seed=7"].map(str::to_owned);
        let words: Vec<String> = words.into_iter().chain(ONLY.map(str::to_owned)).collect();
        let Some(dumb) = on_a_terminal(&home, "dumb", &words) else { return };
        assert!(!dumb.contains('\u{1b}') && dumb.contains("rust/read/scalar"), "{dumb:?}");
        let Some(full) = on_a_terminal(&home, "xterm", &words) else { return };
        assert!(full.contains("\u{1b}[") && full.contains("reading "), "progress is shown there");
        assert!(!full.contains("\u{1b}[31mred") && !full.contains('\u{202e}'), "{full:?}");
    }

    #[test]
    fn a_disk_that_is_full_under_the_record_ends_the_race_and_what_was_measured_is_shown() {
        let home = Home::new();
        let little = match Little::room(&home, "48k") {
            Ok(little) => little,
            Err(why) => return eprintln!("SKIPPED: {why}"),
        };
        let output = little.0.join("run");
        let file = home.file("f", "a\nb\n");
        let words = ["--runs", "1000", "--fills", "1", "--no-progress", "--output", output.to_str().unwrap()];
        let mut command = home.command(READLAB);
        let said = Said::by(command.arg("race").arg(&file).args(ONLY).args(words));
        assert_eq!((said.code, said.err.lines().count()), (Some(2), 1), "{said}");
        assert!(said.err.contains("record.jsonl: No space left on device"), "{said}");
        assert!(said.out.contains("rust/read/scalar"), "what was measured is shown: {said}");
        let record = Record::read(&output.join("record.jsonl")).unwrap();
        let samples: usize = record.trials.iter().map(|trial| trial.samples.len()).sum();
        eprintln!("{samples} samples were kept");
        assert!(record.end.is_none() && samples > 10);
        assert!(!output.join("report.html").exists(), "half a page is none");
    }

    #[test]
    fn a_suite_of_the_published_size_looks_for_room_before_it_writes() {
        let home = Home::new();
        let little = match Little::room(&home, "64m") {
            Ok(little) => little,
            Err(why) => return eprintln!("SKIPPED: {why}"),
        };
        let mut command = home.command(READLAB);
        let said = Said::by(command.env("XDG_CACHE_HOME", &little.0).args(["suite", "zip-lines", "--full"]));
        let refusal = said.err.lines().last().unwrap_or_default();
        let told = refusal.contains(little.0.to_str().unwrap()) && refusal.contains("GB are needed and");
        assert!(said.code == Some(2) && told, "{said}");
        let corpus = super::super::home::listed(&little.0.join("readlab/corpus"));
        assert!(corpus.is_empty(), "nothing was written: {corpus:?}");
    }

    /// These start every contender that is built.
    #[test]
    fn so_do_verbs_that_start_contenders() {
        assert_streams_may_end(&Home::new(), ["list", "doctor"].map(words).into());
    }
}
