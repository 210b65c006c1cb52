//! Tests of `readlab verify`: the contenders of the first ring are right, each fault of
//! `tests/broken` is found and named, and what is no contender gets a line in time.

use crate::home::{Home, Said};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// How long a fault that hangs takes to be found. What answers at all answers in milliseconds.
const DEADLINE: &str = "10s";

/// The head of a file of `tests/broken/faults`: `// NAME: VALUE` lines.
fn head(fault: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(fault).unwrap();
    let lines = text.lines().map_while(|line| line.strip_prefix("// ")?.split_once(": "));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Builds the contender without a fault and those with one; `None` without a C compiler.
fn built(home: &Home) -> Option<String> {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("SKIPPED: faults of contenders: no cc on the PATH");
        return None;
    }
    let folder = home.at("broken");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/broken/build.sh");
    assert!(Command::new(script).arg(&folder).status().unwrap().success());
    Some(folder.join("roster.toml").to_str().unwrap().to_owned())
}

/// Why `verify` does not find the fault of this file, or finds another one.
fn missed(home: &Home, roster: &str, fault: &Path) -> Option<String> {
    let (name, head) = (fault.file_stem().unwrap().to_str().unwrap(), head(fault));
    let method = head.get("method").map_or("read", String::as_str);
    let said = home.readlab([
        "verify",
        name,
        "--roster",
        roster,
        "--method",
        method,
        "--deadline",
        DEADLINE,
        "--jobs",
        "2",
    ]);
    let out = said.out.to_lowercase();
    let is_found = match head.get("words") {
        None => said.code == Some(0),
        Some(words) => {
            let all = words.split(',').all(|word| out.contains(&word.trim().to_lowercase()));
            said.code == Some(1) && out.contains("failed") && out.contains("to repeat it: ") && all
        }
    };
    (!is_found).then(|| format!("{name}: {head:?}: {said}"))
}

#[test]
fn each_fault_of_a_contender_is_found_and_named() {
    let home = Home::new();
    let Some(roster) = built(&home) else { return };
    let correct = home.readlab(["verify", "correct", "--roster", &roster]);
    assert_eq!(correct.code, Some(0), "{correct}");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/broken/faults");
    let faults = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let faults: Mutex<Vec<PathBuf>> = Mutex::new(faults.collect());
    assert!(faults.lock().unwrap().len() > 50);
    let found = |_| {
        let mut missed_here = Vec::new();
        loop {
            let Some(fault) = faults.lock().unwrap().pop() else { return missed_here };
            missed_here.extend(missed(&home, &roster, &fault));
        }
    };
    // Those that hang are waited for beside the others.
    let missed: Vec<String> = std::thread::scope(|scope| {
        let found = &found;
        let threads: Vec<_> = (0..10).map(|number| scope.spawn(move || found(number))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Every method that the patterns name and that can work here is right; the others say why they are
/// not verified. Of slow ones the first ring takes a few: all are verified by `contenders/test.sh`.
fn verified(name: &str, methods: &[&str]) {
    let mut arguments = vec!["verify", name];
    arguments.extend(methods.iter().flat_map(|method| ["--method", method]));
    let said = Home::new().readlab(arguments);
    if said.code == Some(2) && said.out.contains("not verified: it needs") {
        eprintln!("SKIPPED: verify {name}: {}", said.out);
        return;
    }
    assert_eq!(said.code, Some(0), "{said}");
    let ok = said.out.lines().filter(|line| line.contains(" ok ")).count();
    assert!(ok > if methods.is_empty() { 5 } else { methods.len() }, "{said}");
}

#[test]
fn rust_is_verified() {
    verified("rust", &[]);
}

#[test]
fn c_is_verified() {
    verified("c", &[]);
}

#[test]
fn python_is_verified() {
    verified("python", &["readinto", "http.client"]);
}

#[test]
fn node_is_verified() {
    verified("node", &["readSync", "createGunzip"]);
}

/// A roster with one contender that runs a line of shell.
fn of_shell(home: &Home, line: &str) -> Said {
    let roster =
        format!("[[contender]]\nname = 'mine'\nabout = 'no contender'\nrun = ['sh', '-c', '''{line}''']\n");
    let roster = home.file("roster.toml", roster);
    home.readlab(["verify", "mine", "--roster", roster.to_str().unwrap(), "--deadline", "2s"])
}

#[test]
fn what_is_no_contender_gets_a_line_with_the_reason_in_time() {
    let home = Home::new();
    for (line, reason) in [
        ("echo hello", "not a line of protocol"),
        ("exit 3", "it exited with 3"),
        ("sleep 100", "no answer within 2s"),
        ("printf '{\"say\":\"hel'", "it closed its output"),
        ("head -c 4000000 /dev/zero >&2; sleep 100", "no answer within 2s"),
    ] {
        let said = of_shell(&home, line);
        assert_eq!(said.code, Some(1), "{line}: {said}");
        let failed: Vec<&str> = said.out.lines().filter(|line| line.contains("FAILED")).collect();
        assert!(failed.len() == 1 && failed[0].contains(reason), "{line}: {said}");
        assert!(said.out.contains("to repeat it: sh -c "), "{said}");
    }
    let left = crate::home::listed(&home.at(".cache/readlab"));
    assert_eq!(left, [home.at(".cache/readlab/contenders")], "nothing is left behind");
}

#[test]
fn who_cannot_be_verified_is_named_with_the_reason() {
    let home = Home::new();
    let unknown = home.readlab(["verify", "nobody"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (Some(2), ""), "{unknown}");
    assert!(unknown.err.contains("no contender 'nobody' in the roster"), "{unknown}");
    let roster = "[[contender]]\nname = 'mine'\nabout = 'x'\nrun = ['no-such-program']\nhint = 'get it'\n";
    let roster = home.file("roster.toml", roster);
    let absent = home.readlab(["verify", "mine", "--roster", roster.to_str().unwrap()]);
    assert_eq!(absent.code, Some(2), "{absent}");
    assert!(absent.out.starts_with("mine: not verified: ") && absent.out.contains("; get it"), "{absent}");
    let none = home.readlab(["verify", "rust", "--method", "no-such-*"]);
    assert_eq!(none.code, Some(2), "{none}");
    assert!(none.err.contains("no method was verified"), "{none}");
}

#[test]
fn what_is_found_is_printed_as_json() {
    let said = Home::new().readlab(["verify", "rust", "--method", "{read,null}", "--json"]);
    assert_eq!(said.code, Some(0), "{said}");
    let found: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&found["schema"], &found["version"]), (&"readlab.verification".into(), &1.into()));
    let contender = &found["contenders"][0];
    assert_eq!(
        (&contender["contender"], &contender["receipt"]["contender"]),
        (&"rust".into(), &"rust".into())
    );
    let methods = contender["methods"].as_array().unwrap();
    let read = methods.iter().find(|method| method["method"] == "read").unwrap();
    assert_eq!(read["verdict"], "ok");
    assert!(read["sessions"].as_u64().unwrap() > 20 && read["answers"].as_u64().unwrap() > 200, "{read}");
}

mod ring2 {
    use super::Home;

    #[test]
    fn every_method_is_right_on_a_file_larger_than_its_segments() {
        let home = Home::new();
        let made = home.readlab(["corpus", "make", "lines", "64MiB"]);
        assert_eq!(made.code, Some(0), "{made}");
        let file = made.out.trim();
        for work in ["newlines", "lines", "sum", "discard"] {
            let said = home.readlab([
                "race",
                file,
                "--method",
                "rust/*/*",
                "--work",
                work,
                "--state",
                "warm",
                "-r",
                "1",
                "--quiet",
                "--no-progress",
                "--budget",
                "20m",
            ]);
            assert_eq!(said.code, Some(0), "{work}: {said}");
        }
    }

    #[test]
    fn commands_are_right_on_files_that_are_awkward() {
        let home = Home::new();
        let files = [
            ("empty", Vec::new()),
            ("one-byte", b"x".to_vec()),
            ("no-final-newline", b"first\nsecond\nthird".to_vec()),
            ("only-newlines", vec![b'\n'; 10_007]),
            ("a 'b' \"c\" $(d) %41", b"one\ntwo\n".to_vec()),
        ];
        for (name, content) in files {
            let file = home.file(name, content);
            for (work, commands) in [
                ("newlines", &["wc -l {}", "tr -cd '\\n' < {} | wc -c", "cat {} | wc -l"][..]),
                ("lines", &["awk 'END { print NR }' {}"]),
                ("discard", &["cat {}"]),
            ] {
                let words = commands.iter().flat_map(|command| ["-c", command]);
                let words = words.chain(["--method", "rust/read", "--work", work, "--state", "warm"]);
                let said = home.race(&file, &words.collect::<Vec<_>>());
                assert_eq!(said.code, Some(0), "{name}, {work}: {said}");
            }
        }
    }
}
