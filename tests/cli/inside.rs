//! Tests of races with inspection: flame graphs beside the record, traces of read calls, and the
//! reasons if they are not possible.

use super::{AS_NOBODY, Home, READLAB, Said, no_other_user, trials};
use readlab_measure::inspect::profile;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The arguments of a race with inspection.
const LOOK: [&str; 4] = ["--state", "warm", "--flamegraph", "--trace"];

/// Two megabytes of lines.
fn text() -> String {
    "a line of some length, so that there are not too many of them\n".repeat(32_768)
}

/// A quick race with enough time for the inspection on a busy machine: a budget limits that too.
fn race_json(home: &Home, target: &Path, words: &[&str]) -> (Value, Said) {
    let quick = ["--runs", "3", "--budget", "20m", "--seed=7", "--quiet", "--export-json", "-"];
    let said = Said::by(home.command(READLAB).arg("race").arg(target).args(quick).args(words));
    let json = serde_json::from_str(&said.out);
    (json.unwrap_or_else(|error| panic!("{error}: {said}")), said)
}

/// The folder of the only run of a home.
fn folder(home: &Home) -> PathBuf {
    let runs = home.runs();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs.into_iter().next().unwrap()
}

/// The flame graph of a trial, checked by a strict XML parser; `None` with a message if none can be
/// made here.
fn picture(trial: &Value, folder: &Path) -> Option<String> {
    let graph = &trial["flame_graph"];
    if let Err(why) = profile::can_sample() {
        eprintln!("SKIPPED: no samples can be taken here: {why}");
        assert!(graph.is_null(), "{trial}");
        return None;
    }
    let file = graph["file"].as_str().unwrap_or_else(|| panic!("no picture: {graph}"));
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    roxmltree::Document::parse_with_options(&text, options).unwrap_or_else(|error| panic!("{error}"));
    assert!(graph["samples"].as_u64().unwrap() > 50 && graph["readings"].as_u64().unwrap() > 1, "{graph}");
    assert!(graph["how"].as_str().unwrap().contains("997 samples a second"), "{graph}");
    Some(text)
}

#[test]
fn traces_show_sizes_offsets_and_latencies_or_why_there_are_no_calls() {
    let home = Home::new();
    let methods = ["--method", "rust/{read,mmap}/iterator", "--param", "buffer=64KiB", "--state", "warm"];
    let file = home.file("f.txt", text());
    let size = text().len() as u64;
    let (json, said) = race_json(&home, &file, &[&methods[..], &["--trace", "-c", "wc -l {}"]].concat());
    assert_eq!(said.code, Some(0), "{said}");
    let read = &trials(&json, "rust/read/iterator@buffer=64KiB", "warm")["trace"];
    assert_eq!((&read["reason"], read["bytes"].as_u64()), (&Value::Null, Some(size)), "{read}");
    assert_eq!(
        (read["asked_bytes"]["p50"].as_u64(), read["threads"].as_u64()),
        (Some(64 << 10), Some(1)),
        "{read}"
    );
    let calls = read["calls"]["read"].as_u64().unwrap();
    assert!((size / (64 << 10)..size / (64 << 10) + 3).contains(&calls), "{read}");
    assert_eq!(read["sequential"].as_u64(), Some(calls - 1), "{read}");
    let latency = &read["latency_ns"];
    let of_buckets: u64 =
        latency["buckets"].as_array().unwrap().iter().map(|bucket| bucket[1].as_u64().unwrap()).sum();
    assert_eq!((of_buckets, latency["n"].as_u64()), (calls, Some(calls)), "{latency}");
    assert!(read["in_calls_ns"].as_u64().unwrap() <= read["wall_ns"].as_u64().unwrap(), "{read}");
    let of_wc = &trials(&json, "command/wc -l", "warm")["trace"];
    assert_eq!(of_wc["bytes"].as_u64(), Some(size), "a command is seen with its children: {of_wc}");
    let mapped = trials(&json, "rust/mmap/iterator", "warm")["trace"]["reason"].as_str().unwrap().to_owned();
    assert!(mapped.starts_with(&format!("it makes no read calls: mmap of {size} bytes; ")), "{mapped}");
}

/// Maps of names in /tmp whose processes are gone.
fn maps_of_ended_processes() -> BTreeSet<String> {
    let of_nobody = |name: &String| {
        let pid = name.strip_prefix("perf-").and_then(|rest| rest.strip_suffix(".map"));
        pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists())
    };
    let names = std::fs::read_dir("/tmp").unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(of_nobody).collect()
}

/// Counts newlines in Node.js.
const COUNT: &str = "const t = require('fs').readFileSync(process.argv[2]); let n = 0; for (const b of t) n += b === 10; console.log(n);";

/// Held by tests of commands in whose names for maps one of them plants links.
static MAPS: Mutex<()> = Mutex::new(());

mod ring2 {
    use super::*;

    #[test]
    fn pictures_hold_the_functions_of_a_contender_and_of_a_command() {
        let _alone = MAPS.lock().unwrap_or_else(PoisonError::into_inner);
        let home = Home::new();
        let words = ["--method", "rust/buffered/iterator", "-c", "wc -l {}"];
        let (json, said) = race_json(&home, &home.file("f.txt", text()), &[&words[..], &LOOK].concat());
        assert_eq!(said.code, Some(0), "{said}");
        if profile::can_sample().is_err() {
            let warned = json["warnings"].to_string();
            assert!(warned.contains("no flame graphs: "), "{warned}");
        }
        let folder = folder(&home);
        let of_rust = trials(&json, "rust/buffered/iterator", "warm");
        if let Some(text) = picture(of_rust, &folder) {
            assert!(text.contains("readlab_rust"), "no function of the contender in {text}");
            let hottest = of_rust["flame_graph"]["hottest"].as_array().unwrap();
            assert!(!hottest.is_empty() && hottest[0]["share"].as_f64().unwrap() > 0.0, "{hottest:?}");
            let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
            let file = of_rust["flame_graph"]["file"].as_str().unwrap();
            assert!(page.contains(&format!("href=\"./{file}\"")), "the page leads to {file}");
            assert!(file.starts_with("flamegraphs/warm-") && !file.contains(".."), "{file}");
        }
        if let Some(text) = picture(trials(&json, "command/wc -l", "warm"), &folder) {
            assert!(text.contains("<title>wc ("), "the command is a process of its own in {text}");
        }
        let control = trials(&json, "rust/null", "warm");
        assert!(
            control["flame_graph"].is_null() && control["missing"]["flame_graph"].is_string(),
            "{control}"
        );
    }

    #[test]
    fn threads_together_bring_the_file_once_and_rings_have_no_read_calls() {
        let home = Home::new();
        let words = ["--method", "rust/{pread,io_uring}/iterator", "--param", "buffer=16KiB,threads=2"];
        let file = home.file("f.txt", text());
        let (json, said) = race_json(&home, &file, &[&words[..], &["--state", "both", "--trace"]].concat());
        assert_eq!(said.code, Some(0), "{said}");
        for trial in json["trials"].as_array().unwrap() {
            let trace = &trial["trace"];
            match (trial["method"].as_str(), trial["outcome"].as_str()) {
                (Some("pread"), _) => {
                    assert_eq!(trace["bytes"].as_u64(), Some(text().len() as u64), "{trial}");
                    let sum = |of: &str| -> u64 {
                        let buckets = trace[of]["buckets"].as_array().unwrap().iter();
                        buckets.map(|bucket| bucket[1].as_u64().unwrap()).sum()
                    };
                    let calls = trace["calls"]["pread"].as_u64().unwrap();
                    assert_eq!(
                        [sum("asked_bytes"), sum("got_bytes"), sum("latency_ns")],
                        [calls; 3],
                        "{trace}"
                    );
                }
                (Some("io_uring"), Some("measured")) => {
                    assert!(trace["reason"].as_str().unwrap().contains("io_uring has none"), "{trace}");
                }
                (Some("io_uring"), _) => eprintln!("SKIPPED: no io_uring here: {}", trial["reason"]),
                (Some("wc -l {}"), _) => {}
                _ => assert!(trace.is_null(), "a control was looked into: {trial}"),
            }
        }
    }

    #[test]
    fn terminal_markdown_and_a_page_elsewhere_show_the_inspection() {
        let home = Home::new();
        let file = home.file("f.txt", text());
        let words = [
            "--method",
            "rust/read/iterator",
            "--export-markdown",
            "t.md",
            "--flamegraph=my pictures",
            "--trace",
        ];
        let said = home.race(&file, &[&words[..], &["--state", "warm"]].concat());
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said}");
        let markdown = std::fs::read_to_string(home.at("t.md")).unwrap();
        for text in [&said.out, &markdown] {
            assert!(text.contains("calls: ") && text.contains("at the median"), "{text}");
        }
        assert!(markdown.contains("### Inside a reading"), "{markdown}");
        let record = folder(&home).join("record.jsonl");
        let page = home.at("page.html");
        let made = home.readlab(["report".as_ref(), record.as_os_str(), "-o".as_ref(), page.as_os_str()]);
        assert_eq!(made.code, Some(0), "{made}");
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("how long read calls took") && page.contains("Inside a reading"));
        if profile::can_sample().is_ok() {
            let link = format!("href=\"{}/my%20pictures/warm-", home.at("").display()).replace("//", "/");
            assert!(page.contains(&link), "no {link} in the page");
            assert!(said.out.contains("flame graph ") && said.out.contains("samples in "), "{said}");
        }
    }

    #[test]
    fn a_user_who_may_not_see_the_kernel_gets_the_command_that_allows_it() {
        if let Some(why) = no_other_user() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let home = Home::new();
        let file = home.file("f.txt", text());
        let mut command = home.command("setpriv");
        command.args(AS_NOBODY).arg(READLAB).arg("race").arg(&file).args(super::super::QUICK);
        command.args(["--method", "rust/read/iterator", "--output", "run", "--export-json", "-", "--quiet"]);
        let said = Said::by(command.args(LOOK));
        assert_eq!(said.code, Some(0), "{said}");
        let json: Value = serde_json::from_str(&said.out).unwrap();
        let trial = trials(&json, "rust/read/iterator", "warm");
        assert!(trial["trace"]["latency_ns"]["n"].as_u64().unwrap() > 1, "tracing needs no rights: {trial}");
        match readlab_system::perf::paranoid() {
            Some(2) => {
                let graph = trial["flame_graph"].to_string();
                assert!(graph.contains("sudo sysctl kernel.perf_event_paranoid=1"), "{graph}");
            }
            Some(3..) | None => {
                let warned = json["warnings"].to_string();
                assert!(warned.contains("no flame graphs: "), "{warned}");
            }
            Some(_) => assert!(trial["flame_graph"]["file"].is_string(), "{trial}"),
        }
    }

    #[test]
    fn runtimes_that_compile_name_their_functions_and_leave_no_map() {
        let _alone = MAPS.lock().unwrap_or_else(PoisonError::into_inner);
        let home = Home::new();
        let before = maps_of_ended_processes();
        home.file("count.js", COUNT);
        let words = ["--method", "java/FileChannel*", "--method", "node/readFile*", "-c", "node count.js {}"];
        let (json, said) = race_json(&home, &home.file("f.txt", text()), &[&words[..], &LOOK].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let folder = folder(&home);
        let mut seen = 0;
        for trial in json["trials"].as_array().unwrap() {
            let contender = trial["contender"].as_str().unwrap();
            let runs_node = trial["id"].as_str().unwrap().starts_with("command/node");
            if !["java", "node"].contains(&contender) && !runs_node || trial["outcome"] != "measured" {
                continue;
            }
            seen += 1;
            let Some(text) = picture(trial, &folder) else { return };
            let mine = match contender {
                "java" => "ChannelMethods",
                // As V8 names functions of files that are not its own.
                "node" => ".js:",
                _ => "count.js",
            };
            assert!(
                text.contains(mine),
                "no {mine} in the picture of {}: {}",
                trial["id"],
                trial["flame_graph"]
            );
        }
        if seen == 0 {
            eprintln!("SKIPPED: neither java nor node could be raced here");
        }
        let left: Vec<_> = maps_of_ended_processes().difference(&before).cloned().collect();
        assert!(left.is_empty(), "maps were left: {left:?}");
    }

    /// Links at the names of the maps of the next processes, removed when dropped.
    struct Planted(Vec<std::path::PathBuf>);

    impl Planted {
        /// The kernel gives numbers one after the other.
        fn at(victim: &std::path::Path) -> Planted {
            let mut process = std::process::Command::new("true").spawn().unwrap();
            process.wait().unwrap();
            let name = |pid| std::path::PathBuf::from(format!("/tmp/perf-{pid}.map"));
            let planted = |path: &std::path::PathBuf| std::os::unix::fs::symlink(victim, path).is_ok();
            Planted((process.id()..process.id() + 10_000).map(name).filter(planted).collect())
        }
    }

    impl Drop for Planted {
        fn drop(&mut self) {
            self.0.iter().for_each(|path| std::fs::remove_file(path).unwrap());
        }
    }

    #[test]
    fn a_link_that_has_the_name_of_a_map_is_not_written_through() {
        let _alone = MAPS.lock().unwrap_or_else(PoisonError::into_inner);
        let home = Home::new();
        let victim = home.file("victim", "precious");
        home.file("count.js", COUNT);
        let planted = Planted::at(&victim);
        let words = ["--method", "node/readFile*", "-c", "node count.js {}"];
        let (json, said) = race_json(&home, &home.file("f.txt", text()), &[&words[..], &LOOK].concat());
        drop(planted);
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious", "{said}");
        if profile::can_sample().is_err() {
            return eprintln!("SKIPPED: no samples can be taken here");
        }
        let mut trials = json["trials"].as_array().unwrap().iter();
        assert!(trials.any(|trial| trial["flame_graph"]["file"].is_string()), "without names: {said}");
    }
}
