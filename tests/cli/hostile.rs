//! Tests of difficult targets: not files, unreadable, with strange names, in memory, or changing
//! during a race.

use super::fake::{Fake, at_second_turn, roster};
use super::{AS_NOBODY, EVERY_METHOD, Home, READLAB, Said, no_other_user, trials};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

const ONLY: [&str; 4] = ["--method", "rust/read/scalar", "--state", "warm"];

#[test]
fn what_is_no_file_is_refused_in_one_line_that_names_it() {
    let home = Home::new();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, home.at("fifo"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _listener = UnixListener::bind(home.at("socket")).unwrap();
    symlink("nothing", home.at("link")).unwrap();
    for (path, reason) in [
        (home.at("none"), "none: no such file"),
        (home.at("a\x1b[31m\nb"), "a\\u{1b}[31m\\nb: no such file"),
        (home.at("link"), "link: a link to a file that does not exist"),
        (home.at("fifo"), "fifo: a pipe, which can be read only once, not a file"),
        (home.at("socket"), "socket: a socket, not a file"),
        ("/dev/zero".into(), "/dev/zero: a character device, which has no size, not a file"),
        ("/proc/self/status".into(), "the kernel makes it up while it is read"),
    ] {
        let said = home.race(&path, &[]);
        assert!(said.refusal().ends_with(reason), "{said}");
    }
    assert!(home.runs().is_empty(), "a refused target has no record");
}

#[test]
fn one_bad_target_among_good_ones_is_reported_before_anything_is_measured() {
    let home = Home::new();
    let good = home.file("good", "a\n");
    let said = home.readlab([OsStr::new("race"), good.as_os_str(), OsStr::new("none")]);
    assert!(said.refusal().ends_with("none: no such file"), "{said}");
    assert!(home.runs().is_empty());
}

#[test]
fn a_file_that_may_not_be_read_is_refused() {
    if let Some(why) = no_other_user() {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let home = Home::new();
    let file = home.file("secret", "x\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = home.command("setpriv");
    let said = Said::by(command.args(AS_NOBODY).args([READLAB, "race"]).arg(&file));
    if said.err.contains("setpriv:") {
        eprintln!("SKIPPED: other users may not run {READLAB}: {}", said.err);
        return;
    }
    assert!(said.refusal().ends_with("secret: no permission to read it"), "{said}");
}

#[test]
fn an_empty_file_is_raced() {
    let home = Home::new();
    let (json, said) = home.race_json(&home.file("empty", ""), &["--language", "rust"]);
    assert_eq!(said.code, Some(0), "{said}");
    for state in ["cold", "warm"] {
        let trial = trials(&json, "command/wc -l", state);
        assert_eq!(
            (&trial["outcome"], &trial["answer"]["newlines"]),
            (&"measured".into(), &0.into()),
            "{trial}"
        );
    }
    let spoiled = json["trials"].as_array().unwrap().iter().filter(|trial| trial["outcome"] != "measured");
    for trial in spoiled {
        assert_eq!(trial["outcome"], "unavailable", "{}: {}", trial["id"], trial["reason"]);
    }
}

#[test]
fn names_of_any_bytes_are_raced_and_reach_no_terminal_unescaped() {
    let home = Home::new();
    let words = [&ONLY[..], &["-c", "wc -l {}", "-c", "cat {} | wc -l"]].concat();
    for (name, shown) in [
        (&b"with space"[..], "with space"),
        (b"new\nline", "new\\nline"),
        (b"\x1b[31mred", "\\u{1b}[31mred"),
        (b"$(touch x) 'q' \"d\" ;", "$(touch x) 'q' \"d\" ;"),
        (b"latin1 \xe4", "latin1 \u{fffd}"),
        (b"-n", "-n"),
    ] {
        let file = home.file(OsStr::from_bytes(name), "a\nb\n");
        let said = home.race(&file, &words);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
        assert!(said.out.contains(shown), "no {shown:?} in {said}");
        assert!(!said.out.contains(|c: char| c.is_control() && c != '\n'), "{said}");
    }
    assert!(!home.at("x").exists(), "a name was run as a command");
    let (json, _) = home.race_json(&home.at(OsStr::from_bytes(b"latin1 \xe4")), &ONLY);
    assert!(json["targets"][0]["path_hex"].as_str().unwrap().ends_with("20e4"), "{}", json["targets"]);
}

/// A race in which a contender does something to the file at its first timed turn.
fn race_with(deed: &str, told: &str) {
    let home = Home::new();
    let file = home.file("victim", "a\nb\n".repeat(1000));
    let roster = roster(&home, &[Fake { name: "meddler", turn: &at_second_turn(deed) }]);
    let (json, said) =
        home.race_json(&file, &[&ONLY[..], &["--roster", &roster, "--method", "meddler/read"]].concat());
    assert_eq!(said.code, Some(1), "{said}");
    assert_eq!(json["end"]["reason"], "target_changed", "{}", json["end"]);
    let refused: Vec<_> =
        json["trials"].as_array().unwrap().iter().filter(|trial| trial["outcome"] == "refused").collect();
    assert_eq!(refused.len(), 1, "{json}");
    let reason = refused[0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("victim") && reason.contains(told) && reason.contains("while it was raced"),
        "{reason}"
    );
}

#[test]
fn a_file_that_shrinks_ends_the_race() {
    race_with("truncate -s 1000 \"$target\"", "shrank from 4000 to 1000 bytes");
}

#[test]
fn a_file_that_grows_ends_the_race() {
    race_with("echo more >> \"$target\"", "grew from 4000 to 4005 bytes");
}

#[test]
fn a_file_that_is_replaced_ends_the_race() {
    race_with(
        "cp \"$target\" \"$target.new\" && mv \"$target.new\" \"$target\"",
        "was replaced by another file",
    );
}

#[test]
fn a_file_that_is_removed_ends_the_race() {
    race_with("rm \"$target\"", "No such file");
}

#[test]
fn a_file_that_is_touched_ends_the_race() {
    race_with("touch -d '2001-01-01' \"$target\"", "was written to");
    race_with("chmod 600 \"$target\"", "was touched: rights, owner, links or name");
}

/// A file that is one hole; `None` with a message if the file system allows no file of this size.
fn hole(home: &Home, bytes: u64) -> Option<std::path::PathBuf> {
    let path = home.at("hole");
    let made = fs::File::create(&path).unwrap().set_len(bytes);
    made.map(|()| path).inspect_err(|why| eprintln!("SKIPPED: a file of {bytes} bytes: {why}")).ok()
}

#[test]
fn holes_are_read_correctly_and_reported() {
    let home = Home::new();
    let Some(file) = hole(&home, (8 << 20) + 1) else { return };
    let (json, said) = home.race_json(&file, &[&["--work", "newlines"], &EVERY_METHOD[..]].concat());
    assert_eq!(said.code, Some(0), "{said}");
    for (id, state) in [("rust/read/memchr", "cold"), ("command/wc -l", "warm")] {
        let all = json["trials"].as_array().unwrap();
        let is = |trial: &&serde_json::Value| trial["id"] == id && trial["state"] == state;
        assert!(all.iter().find(is).is_none_or(|trial| trial["outcome"] == "measured"), "{id} {state}");
    }
    let cautions = json["targets"][0]["cautions"].to_string();
    assert!(cautions.contains("are holes: they read as zeros and come from no device"), "{cautions}");
}

#[test]
fn a_mapped_file_that_becomes_shorter_kills_its_reader_and_not_the_lab() {
    let home = Home::new();
    let file = home.file("victim", vec![b'\n'; 32 << 20]);
    let record = home.at("run/record.jsonl");
    let words = ["--method", "rust/mmap/scalar", "--state", "warm", "--quiet", "--export-json", "-"];
    let mut race = home.command(READLAB);
    race.arg("race").arg(&file).args(words).args(["--output", "run", "--runs", "1000", "--budget", "100s"]);
    let said = std::thread::scope(|scope| {
        scope.spawn(|| {
            super::interrupt::wait_for_a_sample(&record);
            fs::File::options().write(true).open(&file).unwrap().set_len(1).unwrap();
        });
        Said::by(&mut race)
    });
    assert_eq!(said.code, Some(1), "{said}");
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["end"]["reason"], "target_changed");
    assert!(Path::new(&record).exists());
}

#[test]
fn suites_and_rosters_that_lie_in_the_current_folder_are_not_run() {
    let home = Home::new();
    home.file("f", "a\nb\n");
    let roster = "[[contender]]\nname = \"NAME\"\nabout = \"planted\"\nrun = [\"touch\", \"evidence\"]\n";
    let roster = ["rust", "planted"].map(|name| roster.replace("NAME", name)).concat();
    let suite =
        "name = \"newlines\"\nabout = \"planted\"\n[[trial]]\ntrial = \"command/touch evidence; wc -l {}\"\n";
    for folder in ["", "contenders", "suites", ".readlab", "readlab", ".config/readlab"] {
        fs::create_dir_all(home.at(folder)).unwrap();
        for (name, text) in [("roster.toml", &*roster), ("newlines", suite), ("newlines.toml", suite)] {
            fs::write(home.at(folder).join(name), text).unwrap();
        }
    }
    let list = home.readlab(["list"]);
    assert!(list.code == Some(0) && !list.out.contains("planted"), "{list}");
    let only = ["--runs", "1", "--fills", "1", "--no-progress"];
    let race = home.readlab([&["race", "f"], &only[..], &ONLY].concat());
    assert_eq!(race.code, Some(0), "{race}");
    let suite = home.readlab([&["suite", "newlines", "f"], &only[..]].concat());
    assert!(suite.out.contains("Mmap with AVX2"), "the one that comes with readlab: {suite}");
    assert!(!home.at("evidence").exists(), "what was found was run");
    // A named trial runs, so the evidence would be visible.
    let named = home.readlab([&["suite", "./newlines.toml", "f"], &only[..]].concat());
    assert!(home.at("evidence").exists(), "{named}");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_file_in_memory_is_raced_warm_with_the_reason_why_not_cold() {
        let Ok(file) = tempfile::NamedTempFile::new_in("/dev/shm") else {
            eprintln!("SKIPPED: no folder /dev/shm to write to");
            return;
        };
        fs::write(file.path(), "a\nb\n").unwrap();
        let (json, said) = Home::new().race_json(file.path(), &["--method", "rust/read/scalar"]);
        assert_eq!(said.code, Some(0), "{said}");
        if json["targets"][0]["filesystem"] != "tmpfs" {
            eprintln!("SKIPPED: /dev/shm is not in memory");
            return;
        }
        let cold = trials(&json, "rust/read/scalar", "cold");
        assert_eq!(cold["outcome"], "unavailable");
        assert!(cold["reason"].as_str().unwrap().contains("cold is impossible on tmpfs"), "{cold}");
        assert_eq!(trials(&json, "rust/read/scalar", "warm")["outcome"], "measured");
    }

    #[test]
    fn a_file_of_5_tb_ends_with_the_time_that_the_user_set() {
        let home = Home::new();
        let Some(file) = hole(&home, 5_000_000_000_000) else { return };
        let file = file.to_str().unwrap();
        for (words, told) in [
            (["--budget", "1s"], "took longer than 1.00 s (--budget)"),
            (["--max-time", "50ms"], "took longer than 500 ms (10 readings of --max-time)"),
        ] {
            let said = home.readlab([&["race", file, "--no-progress"], &words[..]].concat());
            assert!(said.refusal().contains(told), "{said}");
        }
        assert!(home.runs().is_empty(), "a race that never began has no record");
        // Without a time it is read for as long as it takes, and Ctrl-C ends that.
        let script = "\"$@\" & sleep 1; kill -INT $!; wait $!";
        let said = Said::by(home.command("bash").args([
            "-mc",
            script,
            "bash",
            READLAB,
            "race",
            file,
            "--no-progress",
        ]));
        assert_eq!((said.code, said.out.as_str()), (Some(130), ""), "{said}");
    }
}
