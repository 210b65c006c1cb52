//! Tests with less than the usual rights: a read-only root, hidden processes, forbidden system
//! calls, no home, no terminal, streams that are closed or full, no space for the record.

use crate::home::{EVERY_METHOD, Home, ProgramOutput, QUICK, READLAB, Trials, Words, items};
use crate::machine::{AS_NOBODY, has_nobody, is_root, or_skip, skip};
use crate::mounted::Undo;
use crate::pseudo_terminal::{PseudoTerminal, command};
use crate::repository::record_file;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

const ONE_SECOND_RACE: &str = "--method rust/read/scalar --state warm";

/// A home with a file of two lines.
fn home() -> Home {
    Home::with_file("f", "a\nb\n")
}

/// Runs a program in a separate mount namespace, after a script that changes it; `None` with a
/// message if that is not allowed.
fn run_in_namespace(script: &str, home: &Home, line: &str) -> Option<ProgramOutput> {
    const NOT_PERMITTED: i32 = 77;
    if !is_root() {
        skip("only root can mount");
        return None;
    }
    let script = format!("{{ {script}; }} || exit {NOT_PERMITTED}; exec \"$@\"");
    let mut command = home.command("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", &script, "sh"]).args(line.words());
    let said = ProgramOutput::by(&mut command);
    let is_permitted = said.code != Some(NOT_PERMITTED) && !said.err.starts_with("unshare:");
    if !is_permitted {
        skip(&said.err);
    }
    is_permitted.then_some(said)
}

/// Makes these system calls fail with this error, for this process and all processes that it
/// starts, by a seccomp filter in classic BPF.
fn forbid(command: &mut Command, calls: &[i64], errno: i32) {
    let op = |code: u32, k: u32| libc::sock_filter { code: code.try_into().unwrap(), jt: 0, jf: 0, k };
    // The number of the call is the first word of the filter's input.
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
        // SAFETY: both calls only read their arguments. The program has the stated number of
        // instructions, which live as long as the closure.
        let failed = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
        };
        if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: between fork and exec only system calls are made.
    unsafe { command.pre_exec(install) };
}

/// A closed stream whose other end should be read.
fn closed_stream() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn full_stream() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

/// Asserts that these command lines end quietly if their output is closed, and with one line if it
/// has no space.
fn assert_streams_may_end(home: &Home, lines: &[&str]) {
    for line in lines {
        let with_stdout =
            |stdout: Stdio| ProgramOutput::by(home.command(READLAB).args(line.words()).stdout(stdout));
        with_stdout(closed_stream()).succeeds_silently();
        // Clap's own output may end in any way, but without a panic.
        let filled = with_stdout(full_stream());
        assert!(filled.err.lines().count() <= 1 && !filled.err.contains("panicked"), "{filled}");
        let is_named = filled.code == Some(2) && filled.err.contains("No space left");
        assert!(*line == "--help" || is_named, "{filled}");
    }
}

#[test]
fn a_closed_stream_ends_quietly_and_a_full_one_in_one_line() {
    let race = format!("race f {QUICK} {ONE_SECOND_RACE}");
    let report = |to: &str| format!("report {} -o {to}", record_file("race").display());
    let [page, export] = ["-", "/dev/null --export-json -"].map(report);
    assert_streams_may_end(&home(), &["man", "completions bash", "--help", "list", &race, &page, &export]);
}

#[test]
fn an_error_that_cannot_be_printed_keeps_its_exit_code() {
    let home = home();
    let race = format!("race f {QUICK} {ONE_SECOND_RACE}");
    let with_stderr = |stderr: Stdio, line: &str| {
        ProgramOutput::by(home.command(READLAB).args(line.words()).stderr(stderr))
    };
    with_stderr(closed_stream(), "race none").exits(2);
    with_stderr(full_stream(), "race none").exits(2);
    with_stderr(full_stream(), &race).exits(0);
    ProgramOutput::by(&mut home.shell(format!("exec readlab {race} >&- 2>&-"))).exits(0);
}

mod ring2 {
    use super::*;

    #[test]
    fn on_a_read_only_root_only_a_folder_for_the_record_must_be_named() {
        let home = home();
        let tmp = home.temporary();
        let script = format!("mount -t tmpfs none '{}' && mount -o remount,bind,ro /", tmp.display());
        let race = format!("'{READLAB}' race f {QUICK}");
        let Some(said) = run_in_namespace(&script, &home, &format!("{race} {ONE_SECOND_RACE}")) else {
            return;
        };
        said.refuses("/runs/").tells("Read-only file system").tells("with --output");
        let more = format!("{EVERY_METHOD} --output tmp/run --quiet --export-json -");
        let json = run_in_namespace(&script, &home, &format!("{race} {more}")).unwrap().exits(0).json();
        for state in ["cold", "warm"] {
            json.measured("rust/read/memchr", state);
        }
    }

    #[test]
    fn with_hidden_processes_an_ordinary_user_still_measures_its_contenders() {
        if !has_nobody() {
            return;
        }
        let home = home();
        let hidden = "mount -t proc -o hidepid=2 proc /proc";
        let as_nobody = |words: &str| format!("setpriv {} '{READLAB}' {words}", AS_NOBODY.join(" "));
        let race = format!("race f {QUICK} {ONE_SECOND_RACE} --quiet --export-json -");
        let Some(said) = run_in_namespace(hidden, &home, &as_nobody(&race)) else { return };
        for sample in items(&said.exits(0).json().trial("rust/read/scalar", "warm")["samples"]) {
            for meter in ["cpu_user_ns", "peak_rss_bytes", "minor_faults", "device_read_bytes"] {
                assert!(sample[meter].is_u64(), "{meter}: {sample}");
            }
        }
        run_in_namespace(hidden, &home, &as_nobody("doctor")).unwrap().exits(0).shows("hidepid");
    }

    #[test]
    fn with_forbidden_system_calls_the_rest_is_measured_and_the_reason_reported() {
        const CACHESTAT: i64 = 451;
        let forbidden = [libc::SYS_io_uring_setup, libc::SYS_perf_event_open, CACHESTAT];
        for errno in [libc::EPERM, libc::ENOSYS] {
            let home = home();
            let mut command = home.command(READLAB);
            let words = format!("race f {QUICK} {EVERY_METHOD} --work newlines --quiet --export-json -");
            forbid(command.args(words.words()), &forbidden, errno);
            let json = ProgramOutput::by(&mut command).succeeds_silently().json();
            for trial in json.trials() {
                let (id, outcome) = (trial["id"].as_str().unwrap(), trial["outcome"].as_str().unwrap());
                let reason = trial["reason"].as_str().unwrap_or_default();
                if id.starts_with("rust/io_uring") || id.starts_with("rust/device") {
                    assert!(outcome == "unavailable" && reason.starts_with("io_uring: "), "{id}: {reason}");
                    continue;
                }
                assert!(["measured", "unavailable"].contains(&outcome), "{id}: {reason}");
                if outcome == "measured" {
                    let calls = &trial["counts"]["syscalls"];
                    let is_told = calls["value"].is_null() && calls["how"].as_str().unwrap().len() > 10;
                    assert!(is_told, "{id}: {calls}");
                }
            }
            for state in ["cold", "warm"] {
                let trial = json.measured("rust/read/memchr", state);
                assert!(trial["samples"][0]["resident_before"].is_number(), "mincore or a probe tells it");
            }
        }
    }

    #[test]
    fn without_a_home_a_folder_must_be_named_and_nothing_is_written_elsewhere() {
        if !has_nobody() {
            return;
        }
        let home = home();
        let race = |more: &str| {
            // No user has this number, so neither the environment nor the system names a home.
            let mut command = Command::new("setpriv");
            command.args(["--reuid=42424", "--regid=42424", "--clear-groups", READLAB, "race"]);
            command
                .arg(home.at("f"))
                .args(format!("{QUICK} {ONE_SECOND_RACE} {more}").words())
                .current_dir("/");
            let path = std::env::var_os("PATH").unwrap();
            ProgramOutput::by(command.env_clear().env("PATH", path).env("TMPDIR", home.temporary()))
        };
        let said = race("");
        if said.err.starts_with("setpriv:") {
            return skip(said);
        }
        said.refuses("name one with --output");
        race(&format!("--output {}", home.at("tmp/run").display())).exits(0).shows("rust/read/scalar");
    }

    #[test]
    fn no_terminal_gets_the_escapes_of_a_name() {
        let home = Home::new();
        let file = home.file("\u{1b}[31mred\u{202e}", "a\nb\n");
        let line = format!("'{READLAB}' race '{}' --runs 3 --seed=7 {ONE_SECOND_RACE}", file.display());
        let mut race = PseudoTerminal::start(command(&home, &line), 80, 24);
        assert_eq!(race.finish(), Some(0), "{}", race.text());
        let output = String::from_utf8_lossy(&race.output);
        assert!(output.contains("\u{1b}[") && output.contains("reading "), "progress is shown there");
        assert!(!output.contains("\u{1b}[31mred") && !output.contains('\u{202e}'), "{output:?}");
    }

    #[test]
    fn a_disk_that_becomes_full_ends_the_race_and_the_results_are_shown() {
        let home = home();
        let mut undo = Undo::default();
        let mounted = undo.mount(&["-t", "tmpfs", "-o", "size=48k", "none"], &home.at("little"));
        if or_skip(mounted).is_none() {
            return;
        }
        let words = "--runs 1000 --fills 1 --no-progress --output little/run";
        let said = home.readlab(format!("race f {ONE_SECOND_RACE} {words}")).exits(2);
        assert_eq!(said.err.lines().count(), 1, "{said}");
        said.tells("record.jsonl: No space left on device");
        // The measured results are shown.
        said.shows("rust/read/scalar");
        let record = home.record("little/run");
        let samples: usize = record.trials.iter().map(|trial| trial.samples.len()).sum();
        eprintln!("{samples} samples were kept");
        assert!(record.end.is_none() && samples > 10);
        assert!(!home.at("little/run/report.html").exists(), "half a page is none");
    }
}
