//! One execution of a command: start, output, end, and the kernel's account of its resources.
//!
//! The clock runs from before the fork until the command is known to have ended, even if another
//! process still holds its output. After that its scheduling is read and it is reaped. The kernel
//! counts the peak memory of a process from its fork on. Therefore the child is forked rather than
//! spawned into this process's memory. Then it inherits only this process's anonymous memory, a
//! fraction of a mebibyte and less than any program needs.

use crate::output::Output;
use crate::relay::Relay;
use crate::scheduling;
use crate::secrets::Secrets;
use readlab_protocol::contender::CpuTime;
use readlab_protocol::serve::Refusal;
use readlab_protocol::{
    CHECK_VARIABLE, MAP_SUFFIX, MAP_VARIABLE, MAP_VARIABLE_PREFIX, SUCCESS_VARIABLE, SampleLine,
};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, pidfd_open, waitid};
use std::ffi::{CStr, OsStr, OsString};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Instant;

/// Runtimes, besides those of Python, that write the names of their functions because of variables.
const NAMING_RUNTIMES: [&str; 3] = ["java", "node", "nodejs"];

/// Length limit for the name of a file that a command makes before it runs.
const NAME_BYTES: usize = 256;

/// Programs that end with exit code 2 if they could not read some of their files.
const ENDING_WITH_2_AFTER_UNREAD_FILES: [&str; 6] = ["grep", "egrep", "fgrep", "zgrep", "rg", "ls"];

/// Executes the words once, with their output in `output`. Returns times and the kernel's
/// accounting, without an answer.
pub(crate) fn execute(
    words: &[OsString],
    secrets: &Secrets,
    output: &mut Output,
) -> Result<SampleLine, Refusal> {
    let name = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let (relay, stderr) = Relay::start(secrets.hiding()).map_err(|error| not_started(&name, &error))?;
    let mut command = command(words, secrets);
    with_map(&mut command, words);
    command.stderr(stderr);
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| not_started(&name, &error))?;
    let ended = child.stdout.take().map_or(Ok(None), |stdout| drain(&child, stdout, output));
    let failed = |what: String| Refusal::Failed(format!("{name} {what}"));
    let not_waited = |error: io::Error| failed(format!("could not be waited for: {error}"));
    wait_until_ended(&child).map_err(not_waited)?;
    let end = ended.as_ref().ok().copied().flatten().unwrap_or_else(Instant::now);
    let wall_ns = u64::try_from(end.duration_since(start).as_nanos()).unwrap_or(u64::MAX);
    let scheduling = scheduling::changed_by(child.id());
    let (status, usage) = reap(&child).map_err(not_waited)?;
    let cpu = CpuTime::from(&usage);
    if let Some(before) = std::env::var_os(MAP_VARIABLE) {
        remove_empty_map(before, child.id());
    }
    // The relay ends when no process can write to it any more.
    drop(command);
    relay.end();
    ended.map_err(|error| failed(format!("could not be heard: {error}")))?;
    let accepted = std::env::var(SUCCESS_VARIABLE).ok();
    if !is_success(status, accepted.as_deref()) {
        let advice = if accepted.is_none() { advice_on_exit_code(&name, status) } else { "" };
        return Err(failed(how_it_ended(status) + advice));
    }
    Ok(SampleLine {
        wall_ns,
        cpu_user_ns: Some(cpu.user_ns),
        cpu_system_ns: Some(cpu.system_ns),
        // The kernel keeps the largest of the command and its reaped children, not their sum.
        peak_rss_bytes: u64::try_from(usage.ru_maxrss).ok().map(|kib| kib * 1024),
        scheduling,
        ..SampleLine::default()
    })
}

/// How an unsuccessful program ended, as the end of a sentence.
pub(crate) fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => format!("ended: {status}"),
    }
}

/// True if a program ended with one of the accepted exit codes, a list separated by commas. Without a
/// list, only exit code 0 is accepted.
fn is_success(status: ExitStatus, accepted: Option<&str>) -> bool {
    let Some(accepted) = accepted else { return status.success() };
    status.code().is_some_and(|code| accepted.split(',').any(|it| it.parse::<i32>() == Ok(code)))
}

/// Advice on how to race a command whose exit code 1 is an answer, such as that of `grep` without a
/// match, or that read all but some files of a folder.
fn advice_on_exit_code(name: &str, status: ExitStatus) -> &'static str {
    let program = Path::new(name).file_name().and_then(OsStr::to_str).unwrap_or_default();
    match status.code() {
        Some(1) => "; if that is no failure, --success 0,1 accepts exit code 1",
        Some(2) if ENDING_WITH_2_AFTER_UNREAD_FILES.contains(&program) => {
            "; if it could not read some files, --success 0,2 accepts exit code 2, and {list} names only files that can \
             be read"
        }
        _ => "",
    }
}

fn not_started(name: &str, error: &io::Error) -> Refusal {
    let reason = format!("{name}: {error}");
    if error.kind() == io::ErrorKind::NotFound {
        Refusal::Unavailable(reason)
    } else {
        Refusal::Failed(reason)
    }
}

/// The command without input, and with its output connected to this contender.
fn command(words: &[OsString], secrets: &Secrets) -> Command {
    let mut command = Command::new(words.first().cloned().unwrap_or_default());
    command.args(words.iter().skip(1)).env_remove(CHECK_VARIABLE).env_remove(SUCCESS_VARIABLE);
    secrets.withhold_from(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let die_with_us = || Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: between fork and exec one system call is made and nothing is allocated.
    unsafe { command.pre_exec(die_with_us) };
    command
}

/// Prepares a command whose functions must be named. The child makes the file to which its runtime
/// writes their names, and gets the variables that make it write. Any other program gets no
/// variables, because a runtime that it starts would write to a file that nobody made first.
fn with_map(command: &mut Command, words: &[OsString]) {
    let Some(before) = std::env::var_os(MAP_VARIABLE) else { return };
    command.env_remove(MAP_VARIABLE);
    let is_runtime = words.first().is_some_and(|program| is_naming_runtime(program));
    for (name, value) in std::env::vars_os() {
        let plain = name.to_str().and_then(|name| name.strip_prefix(MAP_VARIABLE_PREFIX));
        if let Some(plain) = plain {
            command.env_remove(&name);
            if is_runtime {
                command.env(plain, value);
            }
        }
    }
    if is_runtime {
        create_map_first(command, before);
    }
}

/// Whether a program writes the names of its functions itself.
fn is_naming_runtime(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    NAMING_RUNTIMES.contains(&name) || name.starts_with("python")
}

/// Makes the child create a file with its process number in the name. If something exists at this
/// path, such as a link, it is not written to, and the program does not run.
fn create_map_first(command: &mut Command, before: OsString) {
    let create = move || {
        let mut name = [0; NAME_BYTES];
        let mut rest = &mut name[..];
        rest.write_all(before.as_bytes())?;
        write!(rest, "{}{MAP_SUFFIX}\0", getpid().as_raw_nonzero())?;
        let name = CStr::from_bytes_until_nul(&name).map_err(io::Error::other)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::open(name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made, and bytes are written to an array
    // of the child. Only the error for a name that is too long allocates, and then no program runs.
    unsafe { command.pre_exec(create) };
}

/// Removes the file that a command made if its runtime wrote nothing to it. The lab removes a file
/// that it reads.
fn remove_empty_map(mut path: OsString, pid: u32) {
    path.push(format!("{pid}{MAP_SUFFIX}"));
    let is_empty = std::fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_file() && facts.len() == 0);
    if is_empty {
        // A file of another owner cannot be removed, and stays.
        let _ = std::fs::remove_file(path);
    }
}

/// Reads the output of a child. Returns the time at which the child was seen to have ended, or
/// `None` if it closed its output before. On kernels without process descriptors only the end of
/// the output is seen.
fn drain(child: &Child, stdout: ChildStdout, output: &mut Output) -> io::Result<Option<Instant>> {
    match pidfd_open(Pid::from_child(child), PidfdFlags::empty()) {
        Ok(process) => output.drain(stdout, process),
        Err(_) => output.drain_whole(stdout).map(|()| None),
    }
}

/// Waits until the child has ended. The child is not reaped, so that its scheduling can still be
/// read.
fn wait_until_ended(child: &Child) -> io::Result<()> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(Pid::from_child(child)), options) {
            Err(rustix::io::Errno::INTR) => {}
            waited => return waited.map(drop).map_err(io::Error::from),
        }
    }
}

/// Reaps the child and returns its accounting, which `std` does not provide.
fn reap(child: &Child) -> io::Result<(ExitStatus, libc::rusage)> {
    let pid = libc::pid_t::try_from(child.id()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    loop {
        // SAFETY: both pointers are to live locals of the right type; `wait4` writes them or fails.
        let reaped = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
        if reaped == pid {
            // SAFETY: `wait4` reaped the child, and has thereby filled in the usage.
            return Ok((ExitStatus::from_raw(status), unsafe { usage.assume_init() }));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_protocol::remote::SECRET_VARIABLES;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    fn execute(words: &[OsString]) -> Result<SampleLine, Refusal> {
        super::execute(words, &Secrets::with_variables("/f", &[]), &mut Output::default())
    }

    #[test]
    fn a_command_is_started_without_secrets() {
        let command = command(&words("true"), &Secrets::with_variables("/f", &[]));
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).collect();
        for name in SECRET_VARIABLES {
            assert!(removed.contains(&(OsStr::new(name), None)), "{name}");
        }
    }

    #[test]
    fn a_command_makes_the_file_for_its_functions_itself() {
        let folder = std::env::temp_dir().join(format!("readlab-map-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let mut command = command(&words("true"), &Secrets::with_variables("/f", &[]));
        create_map_first(&mut command, folder.join("map-").into());
        let mut child = command.spawn().unwrap();
        child.wait().unwrap();
        let made = std::fs::metadata(folder.join(format!("map-{}.map", child.id()))).map(|it| it.len());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(made.unwrap(), 0);
        let map = |pid| std::env::temp_dir().join(format!("readlab-map-{}-{pid}.map", std::process::id()));
        let before = std::env::temp_dir().join(format!("readlab-map-{}-", std::process::id()));
        for (pid, text) in [(1, ""), (2, "10 10 f\n")] {
            std::fs::write(map(pid), text).unwrap();
            remove_empty_map(before.clone().into(), pid);
        }
        let left = [map(1), map(2)].map(|path| path.exists());
        let _ = std::fs::remove_file(map(2));
        assert_eq!(left, [false, true], "one with names is read by the lab");
        create_map_first(&mut command, "/no/such/folder/".into());
        assert!(command.spawn().is_err(), "without it the program does not run");
    }

    #[test]
    fn only_a_runtime_that_is_the_program_itself_gets_the_variables_for_names() {
        let is_named = |program: &str| is_naming_runtime(OsStr::new(program));
        for program in ["node", "/usr/bin/node", "nodejs", "./jdk/bin/java", "python", "python3.12"] {
            assert!(is_named(program), "{program}");
        }
        for program in ["sh", "/bin/sh", "bash", "timeout", "strace", "env", "./node.sh", "wc", "", "/"] {
            assert!(!is_named(program), "{program}");
        }
    }

    #[test]
    fn the_output_is_drained_within_the_measured_time() {
        let mut output = Output::default();
        let secrets = Secrets::with_variables("/f", &[]);
        let sample = super::execute(&words("head -c 100000 /dev/zero"), &secrets, &mut output).unwrap();
        assert!(sample.wall_ns > 0 && output.bytes == 100_000, "{}", output.bytes);
    }

    #[test]
    fn a_command_ends_when_its_process_ends_and_not_its_output() {
        let mut output = Output::default();
        let secrets = Secrets::with_variables("/f", &[]);
        let left_behind = ["sh", "-c", "sleep 5 & head -c 100000 /dev/zero; echo 7"].map(OsString::from);
        let begun = Instant::now();
        let sample = super::execute(&left_behind, &secrets, &mut output).unwrap();
        assert!(sample.wall_ns < 4_000_000_000 && begun.elapsed().as_secs() < 4, "{}", sample.wall_ns);
        assert_eq!(output.bytes, 100_002, "what it printed itself is read whole");
    }

    #[test]
    fn the_peak_memory_is_that_of_the_command() {
        let peak = |text| execute(&words(text)).unwrap().peak_rss_bytes.unwrap();
        assert!(peak("true") < 8 << 20, "{}", peak("true"));
        assert!(
            peak("head -c 1 /dev/zero") < peak("dd if=/dev/zero of=/dev/null bs=64M count=1 status=none")
        );
    }

    #[test]
    fn the_peak_memory_of_processes_at_the_same_time_is_that_of_the_largest() {
        let dd = "dd bs=64M count=1 status=none iflag=fullblock";
        let peak = |script: String| {
            execute(&["sh".into(), "-c".into(), script.into()]).unwrap().peak_rss_bytes.unwrap()
        };
        let one = peak(format!("{dd} if=/dev/zero of=/dev/null; true"));
        let both = peak(format!("{dd} if=/dev/zero | {dd} of=/dev/null"));
        assert!(one >= 64 << 20 && both >= 64 << 20, "{one}, {both}");
        assert!(both < one + (32 << 20), "no sum: {one}, {both}");
    }

    #[test]
    fn only_commands_that_change_their_scheduling_report_it() {
        assert_eq!(execute(&words("true")).unwrap().scheduling, None);
        let nicer = execute(&words("nice -n 3 true")).unwrap().scheduling.unwrap();
        assert_eq!(nicer.nice, scheduling::own_scheduling().unwrap().nice + 3);
        let batch = execute(&words("chrt --batch 0 true")).unwrap().scheduling.unwrap();
        assert_eq!(batch.policy, readlab_protocol::Policy::Batch);
        let own = scheduling::own_scheduling().unwrap().processors;
        let one = execute(&["taskset".into(), "-c".into(), own[0].to_string().into(), "true".into()]);
        let one = one.unwrap().scheduling.map(|scheduling| scheduling.processors);
        assert_eq!(one, Some(own[..1].to_vec()).filter(|_| own.len() > 1));
    }

    #[test]
    fn only_accepted_exit_codes_are_no_failure() {
        let ended = |code: i32| ExitStatus::from_raw(code << 8);
        let of = |codes: Option<&str>| [0, 1, 2].map(|code| is_success(ended(code), codes));
        assert_eq!(of(None), [true, false, false]);
        assert_eq!(of(Some("0,1")), [true, true, false]);
        assert_eq!(of(Some("2")), [false, false, true]);
        let killed = ExitStatus::from_raw(9);
        assert!(
            !is_success(killed, Some("0,1,9")) && !is_success(killed, None),
            "a signal is never accepted"
        );
    }

    #[test]
    fn failures_name_the_program_and_how_it_ended() {
        let failed = |what: &str| Refusal::Failed(what.to_owned());
        let advice = "; if that is no failure, --success 0,1 accepts exit code 1";
        let said = format!("false ended with exit code 1{advice}");
        assert_eq!(execute(&words("false")).unwrap_err(), failed(&said));
        let shell = execute(&["sh".into(), "-c".into(), "grep -c x /dev/null".into()]).unwrap_err();
        assert_eq!(shell, failed(&format!("sh ended with exit code 1{advice}")));
        let other = execute(&["sh".into(), "-c".into(), "exit 2".into()]).unwrap_err();
        assert_eq!(other, failed("sh ended with exit code 2"));
        let Refusal::Failed(unread) = execute(&words("grep -c x /no/such/file")).unwrap_err() else {
            panic!("it was started")
        };
        assert!(
            unread.starts_with("grep ended with exit code 2; if it could not read some files"),
            "{unread}"
        );
        assert!(unread.contains("--success 0,2") && unread.contains("{list}"), "{unread}");
        let killed = execute(&["sh".into(), "-c".into(), "kill -9 $$".into()]);
        assert_eq!(killed.unwrap_err(), failed("sh was killed by signal 9"));
        let absent = execute(&words("/no/such/program")).unwrap_err();
        assert!(matches!(&absent, Refusal::Unavailable(reason) if reason.starts_with("/no/such/program: ")));
    }
}
