//! Tests of races with inspection: flame graphs beside the record, traces of read calls, and the
//! reasons if they are not possible.

use crate::home::{Export, Home, QUICK, Trials, items, paths_in};
use crate::machine::skip;
use readlab_measure::inspect::profile;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The arguments of a race with inspection.
const INSPECTION: &str = "--state warm --flamegraph --trace";

/// Two megabytes of lines.
fn text() -> String {
    "a line of some length, so that there are not too many of them\n".repeat(32_768)
}

/// The export of a quick race with enough time for the inspection on a busy machine, because a
/// budget limits the inspection too.
fn inspected_race(home: &Home, words: &str) -> Export {
    home.file("f.txt", text());
    let quick = "--runs 3 --budget 20m --seed=7 --quiet --export-json -";
    home.readlab(format!("race f.txt {quick} {words}")).export()
}

fn folder(home: &Home) -> PathBuf {
    let runs = home.runs();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs.into_iter().next().unwrap()
}

/// The number of calls in the buckets of a histogram.
fn calls_in(histogram: &Value) -> u64 {
    items(&histogram["buckets"]).iter().map(|bucket| bucket[1].as_u64().unwrap()).sum()
}

/// The flame graph of a trial, checked by a strict XML parser; `None` with a message if none can be
/// made here.
fn flame_graph(trial: &Value, folder: &Path) -> Option<String> {
    let graph = &trial["flame_graph"];
    if let Err(why) = profile::can_sample() {
        skip(format!("no samples can be taken here: {why}"));
        assert!(graph.is_null(), "{trial}");
        return None;
    }
    let file = graph["file"].as_str().unwrap_or_else(|| panic!("no picture: {graph}"));
    let text = fs::read_to_string(folder.join(file)).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    roxmltree::Document::parse_with_options(&text, options).unwrap_or_else(|error| panic!("{error}"));
    // On a busy machine one reading may take all the time that a picture has.
    assert!(graph["samples"].as_u64().unwrap() > 50 && graph["readings"].as_u64().unwrap() > 0, "{graph}");
    assert!(graph["how"].as_str().unwrap().contains("997 samples a second"), "{graph}");
    Some(text)
}

#[test]
fn traces_show_sizes_offsets_and_latencies_or_why_there_are_no_calls() {
    let home = Home::new();
    let words = "--method rust/{read,mmap}/iterator --param buffer=64KiB --state warm --trace -c 'wc -l {}'";
    let json = inspected_race(&home, words).exits(0);
    let (size, block) = (text().len() as u64, 64 << 10);
    let read = &json.trial("rust/read/iterator@buffer=64KiB", "warm")["trace"];
    assert!(read["reason"].is_null() && read["bytes"] == size, "{read}");
    assert!(read["asked_bytes"]["p50"] == block && read["threads"] == 1, "{read}");
    let calls = read["calls"]["read"].as_u64().unwrap();
    assert!((size / block..size / block + 3).contains(&calls), "{read}");
    assert_eq!(read["sequential"], calls - 1, "{read}");
    let latency = &read["latency_ns"];
    assert_eq!((calls_in(latency), latency["n"].as_u64()), (calls, Some(calls)), "{latency}");
    assert!(read["in_calls_ns"].as_u64().unwrap() <= read["wall_ns"].as_u64().unwrap(), "{read}");
    let of_wc = &json.trial("command/wc -l", "warm")["trace"];
    assert_eq!(of_wc["bytes"], size, "a command is seen with its children: {of_wc}");
    let mapped = json.trial("rust/mmap/iterator", "warm")["trace"]["reason"].as_str().unwrap();
    assert!(mapped.starts_with(&format!("it makes no read calls: mmap of {size} bytes; ")), "{mapped}");
}

fn maps_of_ended_processes() -> BTreeSet<String> {
    let of_nobody = |name: &String| {
        let pid = name.strip_prefix("perf-").and_then(|rest| rest.strip_suffix(".map"));
        pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists())
    };
    let names = paths_in("/tmp").into_iter().map(|path| path.file_name().unwrap().to_owned());
    names.map(|name| name.to_string_lossy().into_owned()).filter(of_nobody).collect()
}

/// Counts newlines in Node.js.
const COUNT_IN_NODE: &str = "const t = require('fs').readFileSync(process.argv[2]); let n = 0; for (const b of t) n += b === 10; console.log(n);";

/// A lock for tests of commands. One of them places links at the names of maps that the others
/// would use.
static MAPS_LOCK: Mutex<()> = Mutex::new(());

mod ring2 {
    use super::*;

    #[test]
    fn pictures_hold_the_functions_of_a_contender_and_of_a_command() {
        let _alone = MAPS_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let home = Home::new();
        let json =
            inspected_race(&home, &format!("--method rust/buffered/iterator -c 'wc -l {{}}' {INSPECTION}"))
                .exits(0);
        if profile::can_sample().is_err() {
            let warned = json["warnings"].to_string();
            assert!(warned.contains("no flame graphs: "), "{warned}");
        }
        let folder = folder(&home);
        let of_rust = json.trial("rust/buffered/iterator", "warm");
        if let Some(text) = flame_graph(of_rust, &folder) {
            assert!(text.contains("readlab_rust"), "no function of the contender in {text}");
            let hottest = items(&of_rust["flame_graph"]["hottest"]);
            assert!(!hottest.is_empty() && hottest[0]["share"].as_f64().unwrap() > 0.0, "{hottest:?}");
            let page = fs::read_to_string(folder.join("report.html")).unwrap();
            let file = of_rust["flame_graph"]["file"].as_str().unwrap();
            assert!(page.contains(&format!("href=\"./{file}\"")), "the page leads to {file}");
            assert!(file.starts_with("flamegraphs/warm-") && !file.contains(".."), "{file}");
        }
        if let Some(text) = flame_graph(json.trial("command/wc -l", "warm"), &folder) {
            assert!(text.contains("<title>wc ("), "the command is a process of its own in {text}");
        }
        let control = json.trial("rust/null", "warm");
        let is_told = control["flame_graph"].is_null() && control["missing"]["flame_graph"].is_string();
        assert!(is_told, "{control}");
    }

    #[test]
    fn threads_together_bring_the_file_once_and_rings_have_no_read_calls() {
        let words =
            "--method rust/{pread,io_uring}/iterator --param buffer=16KiB,threads=2 --state both --trace";
        let json = inspected_race(&Home::new(), words).exits(0);
        for trial in json.trials() {
            let trace = &trial["trace"];
            match (trial["method"].as_str(), trial["outcome"].as_str()) {
                (Some("pread"), _) => {
                    assert_eq!(trace["bytes"], text().len(), "{trial}");
                    for histogram in ["asked_bytes", "got_bytes", "latency_ns"] {
                        assert_eq!(trace["calls"]["pread"], calls_in(&trace[histogram]), "{trace}");
                    }
                }
                (Some("io_uring"), Some("measured")) => {
                    assert!(trace["reason"].as_str().unwrap().contains("io_uring has none"), "{trace}");
                }
                (Some("io_uring"), _) => skip(format!("no io_uring here: {}", trial["reason"])),
                (Some("wc -l {}"), _) => {}
                _ => assert!(trace.is_null(), "a control was looked into: {trial}"),
            }
        }
    }

    #[test]
    fn a_user_who_may_not_see_the_kernel_gets_the_command_that_allows_it() {
        let home = Home::with_file("f.txt", text());
        let words = format!(
            "{QUICK} --method rust/read/iterator --output tmp/run --export-json - --quiet {INSPECTION}"
        );
        let Some(said) = home.as_nobody(format!("race f.txt {words}")) else { return };
        let json = said.exits(0).json();
        let trial = json.trial("rust/read/iterator", "warm");
        assert!(trial["trace"]["latency_ns"]["n"].as_u64().unwrap() > 1, "tracing needs no rights: {trial}");
        match readlab_system::perf::paranoid_level() {
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
        let _alone = MAPS_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let home = Home::new();
        let before = maps_of_ended_processes();
        home.file("count.js", COUNT_IN_NODE);
        let words = "--method java/FileChannel* --method node/readFile* -c 'node count.js {}'";
        let json = inspected_race(&home, &format!("{words} {INSPECTION}")).exits(0);
        let folder = folder(&home);
        let mut seen = 0;
        for trial in json.trials().iter().filter(|trial| trial["outcome"] == "measured") {
            let mine = match trial["contender"].as_str().unwrap() {
                "java" => "ChannelMethods",
                // V8 names functions of other files in this way.
                "node" => ".js:",
                _ if trial["id"].as_str().unwrap().starts_with("command/node") => "count.js",
                _ => continue,
            };
            seen += 1;
            let Some(text) = flame_graph(trial, &folder) else { return };
            let graph = &trial["flame_graph"];
            assert!(text.contains(mine), "no {mine} in the picture of {}: {graph}", trial["id"]);
        }
        if seen == 0 {
            skip("neither java nor node could be raced here");
        }
        let left: Vec<_> = maps_of_ended_processes().difference(&before).cloned().collect();
        assert!(left.is_empty(), "maps were left: {left:?}");
    }

    /// Links at the names of the maps of the next processes. They are removed when dropped.
    struct PlantedLinks(Vec<PathBuf>);

    impl PlantedLinks {
        /// The kernel assigns process ids in sequence.
        fn at(victim: &Path) -> PlantedLinks {
            let mut process = std::process::Command::new("true").spawn().unwrap();
            process.wait().unwrap();
            let name = |pid| PathBuf::from(format!("/tmp/perf-{pid}.map"));
            let planted = |path: &PathBuf| std::os::unix::fs::symlink(victim, path).is_ok();
            PlantedLinks((process.id()..process.id() + 10_000).map(name).filter(planted).collect())
        }
    }

    impl Drop for PlantedLinks {
        fn drop(&mut self) {
            self.0.iter().for_each(|path| fs::remove_file(path).unwrap());
        }
    }

    #[test]
    fn a_link_that_has_the_name_of_a_map_is_not_written_through() {
        let _alone = MAPS_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let home = Home::new();
        let victim = home.file("victim", "precious");
        home.file("count.js", COUNT_IN_NODE);
        let planted = PlantedLinks::at(&victim);
        let commands = "-c 'node count.js {}' -c 'timeout 60 node count.js {}'";
        let json = inspected_race(&home, &format!("--method node/readFile* {commands} {INSPECTION}"));
        drop(planted);
        assert_eq!(home.read("victim"), "precious", "{json}");
        if profile::can_sample().is_err() {
            return skip("no samples can be taken here");
        }
        // Flame graphs exist, but without names of functions.
        assert!(json.trials().iter().any(|trial| trial["flame_graph"]["file"].is_string()), "{json}");
    }
}
