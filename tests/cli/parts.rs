//! Tests of parts of a file: `readlab race FILE --range` and `--ranges`.

use crate::home::{Home, ProgramOutput, QUICK, Trials, contenders, items, paths_in};
use crate::machine::skip;
use crate::repository;
use crate::scripted_server::{Server, TEXT, good, raw, sized};
use readlab_record::Outcome;
use serde_json::Value;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE_BYTES: u64 = 4096;

/// A home with a file of 100 pages and three bytes. The page with number n contains n newlines.
fn home_with_pages() -> Home {
    let home = Home::new();
    let page = |number: usize| [vec![b'\n'; number], vec![b'x'; PAGE_BYTES as usize - number]].concat();
    let content: Vec<u8> = (0..100).flat_map(page).chain(*b"end").collect();
    home.file("f", content);
    home
}

const READ_AND_MMAP: &str = "--method rust/read/scalar --method rust/mmap/scalar --work newlines";

#[test]
fn a_range_is_read_proven_and_counted_alone() {
    let home = home_with_pages();
    let json = home.race_json("f", format!("--range {}:8KiB {READ_AND_MMAP}", 10 * PAGE_BYTES)).exits(0);
    let target = &json["targets"][0];
    assert_eq!(
        (&target["size_bytes"], &target["answer"]["newlines"]),
        (&8192.into(), &21.into()),
        "{target}"
    );
    let range = &target["range"];
    assert_eq!((&range["start_bytes"], &range["file_bytes"]), (&40_960.into(), &409_603.into()), "{range}");
    let record = home.record(&home.runs()[0]);
    let read = record.trials.iter().filter(|it| !it.trial.is_control());
    let read: Vec<_> = read.filter(|it| it.outcome == Some(Outcome::Measured)).collect();
    assert!(read.len() >= 4, "two methods in two states: {json}");
    for it in read {
        let is_cold = it.trial.state.to_string() == "cold";
        for sample in &it.samples {
            assert_eq!(sample.answer.newlines, Some(21), "{}", it.trial.id);
            assert_eq!(sample.resident_before, Some(if is_cold { 0.0 } else { 1.0 }), "{}", it.trial.id);
        }
    }
}

#[test]
fn a_range_begins_with_its_page_and_methods_of_whole_files_say_why_they_are_absent() {
    let home = home_with_pages();
    let words =
        "--range -4103:4100 --method rust/lines --method rust/read/scalar --work newlines --state warm";
    let json = home.race_json("f", words).exits(1);
    let target = &json["targets"][0];
    // The range begins at byte 405500, within the last but one whole page.
    assert_eq!(target["range"]["start_bytes"], 405_504 - PAGE_BYTES, "{target}");
    assert_eq!(target["size_bytes"], 409_600 - (405_504 - PAGE_BYTES), "{target}");
    let caution = target["cautions"][0].as_str().unwrap();
    assert!(
        caution.contains("is read from byte 401408, where a page begins, 4092 bytes before"),
        "{caution}"
    );
    let reason = &json.trial_with("method", "lines")["reason"];
    assert_eq!(reason, "it reads whole files, and only a part of one is read");
}

/// A server of the text that answers requests for ranges.
fn server_with_ranges() -> Server {
    Server::new(|request| match request.range.clone() {
        Some(range) => raw(&format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {}-{}/{}\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{}",
            range.start,
            range.end - 1,
            TEXT.len(),
            range.len(),
            &TEXT[range.clone()]
        )),
        None => good(request, &format!("Accept-Ranges: bytes\r\nContent-Length: {}\r\n", TEXT.len()), TEXT),
    })
}

#[test]
fn the_range_of_a_url_is_requested_from_a_server_that_answers_ranges() {
    let (home, server) = (Home::new(), server_with_ranges());
    let method = "--method rust/http/scalar";
    let json = home.race_json(server.url(), format!("--range 0:8 --work newlines {method}")).exits(0);
    let target = &json["targets"][0];
    assert_eq!((&target["size_bytes"], &target["answer"]["newlines"]), (&8.into(), &2.into()), "{target}");
    assert_eq!(json.measured("rust/http/scalar", "unknown")["answer"]["bytes"], 8);
    home.race(server.url(), format!("--range 8:9 {method}")).refuses("--range 8:9 is not within it");
    home.race(Server::new(sized).url(), format!("--range 0:8 {method}")).refuses("(Accept-Ranges)");
}

const TWO_METHODS: &str =
    "--method rust/places-pread/scalar --method rust/places-mmap/scalar --work newlines";

#[test]
fn ranges_of_a_list_are_read_proven_timed_and_merged_across_gaps() {
    let home = home_with_pages();
    // The ranges contain the 50 and 10 newlines of two pages, and ten of page 11.
    home.file("list", "204800 4096\n40960 4096\n45056 3\n\n45060 100\n");
    let json = home.race_json("f", format!("--ranges list --merge 0,1KiB {TWO_METHODS}")).exits(0);
    let target = &json["targets"][0];
    let ranges = &target["ranges"];
    assert_eq!(
        (&target["size_bytes"], &target["answer"]["newlines"]),
        (&8295.into(), &70.into()),
        "{target}"
    );
    assert_eq!((&ranges["reads"], &ranges["repeated_bytes"]), (&4.into(), &0.into()), "{ranges}");
    let is_raced = |trial: &&Value| trial["outcome"] == "measured" && trial["cache"] != "none";
    let trials: Vec<&Value> = json.trials().iter().filter(is_raced).collect();
    let merging = |trial: &&&Value| trial["params"]["merge_bytes"] == 1024;
    assert_eq!(trials.iter().filter(merging).count(), 2, "one method merges, in two states: {json}");
    assert!(trials.len() >= 6, "{json}");
    for trial in trials {
        assert_eq!(trial["answer"]["blocks"], 4, "{trial}");
        let readings = trial["summary"]["wall_ns"]["n"].as_u64().unwrap();
        assert_eq!(trial["latency"]["reads"], readings * 4, "{trial}");
        if trial["method"] == "places-pread" && trial["state"] == "warm" {
            // One byte is between the two ranges that are merged.
            let merged = if trial["params"]["merge_bytes"] == 1024 { 1 } else { 0 };
            assert_eq!(trial["summary"]["read_bytes"]["median"], 8295 + merged, "{trial}");
            assert_eq!(trial["amplification"], f64::from(8295 + merged) / 8295.0, "{trial}");
        }
    }
    // The cache state is proven for the whole file.
    let record = home.record(&home.runs()[0]);
    let measured = record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured));
    for it in measured.filter(|it| !it.trial.is_control()) {
        let right = if it.trial.state.to_string() == "cold" { 0.0 } else { 1.0 };
        assert!(it.samples.iter().all(|it| it.resident_before == Some(right)), "{}", it.trial.id);
    }
}

#[test]
fn ranges_that_are_not_within_the_file_are_refused_before_anything_is_read() {
    let home = home_with_pages();
    for (name, list) in [
        ("empty", ""),
        ("blank", "\n \n"),
        ("words", "0 1\noffset length\n"),
        ("nothing", "5 0\n"),
        ("beyond", "0 1\n409600 4\n"),
        ("far", "18446744073709551615 2\n"),
        ("right", "0 1\n"),
    ] {
        home.file(name, list);
    }
    for (target, words, why) in [
        ("f", "--range 400KiB:1MiB", "f: --range 400KiB:1MiB is not within it: it has 409603 bytes"),
        ("f", "--range 409603:", "is not within it"),
        ("f", "--range -409604:1", "is not within it"),
        ("f", "--range 5:0", "a range has at least one"),
        ("empty", "--range 0%:100%", "is not within it"),
        ("f", "--range 5", "'5' is no range: START:LENGTH"),
        (".", "--range 0:1", "--range reads a part of a file, and this is none"),
        ("f", "--range 0:1 --dictionary f", "not with --dictionary"),
        ("f", "--range 0:1 --readers 2 --copies .", "--copies: not with --range"),
        ("f", "--range 0:1 --pattern random", "cannot be used with"),
        ("f", "--range 0:1 --work part -c cat", "--work part is about commands, which read whole files"),
        ("f", "--ranges empty", "empty: no range in it"),
        ("f", "--ranges blank", "blank: no range in it"),
        ("f", "--ranges words", "words: line 2: 'offset length' is no range"),
        ("f", "--ranges nothing", "nothing: line 1: '5 0' is no range"),
        ("f", "--ranges beyond", "4 bytes from byte 409600 end behind "),
        ("f", "--ranges far", "end behind "),
        ("f", "--ranges missing", "missing: no such file"),
        ("f", "--ranges .", "Is a directory"),
        (".", "--ranges right", "--ranges reads a part of a file, and this is none"),
        ("f", "--ranges right --work lines", "a line may begin before a range"),
        ("f", "--ranges right --work part -c cat", "not with --ranges"),
        ("f", "--ranges right --range 0:1", "cannot be used with"),
        ("f", "--ranges right --pattern random", "cannot be used with"),
        ("f", "--sorted", "--ranges <LIST>"),
        ("f", "--merge 0", "--ranges <LIST>"),
        ("f", "--ranges right --merge 2GiB", "more than 1 GiB"),
        (
            "f",
            "--ranges right --merge 4KiB --method rust/places-mmap --state warm",
            "no method that is raced merges ranges",
        ),
    ] {
        home.race(target, words).exits(2).tells(why);
    }
}

/// A list with four ranges of the file, which contain 70 newlines in 8,295 bytes.
const FOUR_RANGES: &str = "204800 4096\n40960 4096\n45056 3\n45060 100\n";

#[test]
fn ranges_of_a_list_are_requested_from_a_server_each_or_many_at_once() {
    let home = home_with_pages();
    home.file("list", FOUR_RANGES);
    let methods = "--method rust/http-ranges/scalar --method rust/http-multirange/scalar --work newlines";
    let words = format!("--http --ranges list --merge 0,1KiB {methods}");
    let json = home.race_json("f", words).exits(0);
    let target = &json["targets"][0];
    assert_eq!(
        (&target["size_bytes"], &target["answer"]["newlines"], &target["ranges"]["reads"]),
        (&8295.into(), &70.into(), &4.into()),
        "{target}"
    );
    let is_raced = |trial: &&Value| trial["outcome"] == "measured" && trial["cache"] != "none";
    let trials: Vec<&Value> = json.trials().iter().filter(is_raced).collect();
    assert!(trials.len() >= 4, "two methods with two gaps: {json}");
    for trial in trials {
        let is_single = trial["method"] == "http-ranges";
        let is_merged = trial["params"]["merge_bytes"] == 1024;
        // Merged, the last three ranges are one, with one byte between them.
        let (requests, read_bytes) = if is_merged { (2, 8296) } else { (4, 8295) };
        let requests = if is_single { requests } else { 1 };
        let summary = &trial["summary"];
        assert_eq!(
            (&trial["answer"]["blocks"], &summary["requests"]["median"]),
            (&4.into(), &requests.into())
        );
        let found = summary["read_bytes"]["median"].as_u64().unwrap();
        // Of several ranges, each part of the answer has a head.
        assert!(if is_single { found == read_bytes } else { found > read_bytes }, "{trial}");
        let found = f64::from(u32::try_from(found).unwrap());
        assert_eq!(trial["amplification"], found / 8295.0, "{trial}");
    }
}

#[test]
fn ranges_of_a_url_are_requested_from_a_server_that_answers_ranges() {
    let home = Home::new();
    home.file("list", "8 5\n0 4\n");
    home.file("beyond", "0 4\n8 6\n");
    // It answers one range, and several by the whole.
    let server = Server::new(|request| match request.range.clone() {
        Some(range) => raw(&format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {}-{}/{}\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{}",
            range.start,
            range.end - 1,
            TEXT.len(),
            range.len(),
            &TEXT[range.clone()]
        )),
        None => good(request, &format!("Accept-Ranges: bytes\r\nContent-Length: {}\r\n", TEXT.len()), TEXT),
    });
    let method = "--method rust/http-ranges/scalar --work newlines";
    let json = home.race_json(server.url(), format!("--ranges list {method}")).exits(0);
    let target = &json["targets"][0];
    assert_eq!((&target["size_bytes"], &target["answer"]["newlines"]), (&9.into(), &1.into()), "{target}");
    let answer = &json.measured("rust/http-ranges/scalar", "unknown")["answer"];
    assert_eq!((&answer["bytes"], &answer["blocks"]), (&9.into(), &2.into()), "{answer}");
    let several = "--method rust/http-multirange/scalar --work newlines";
    let json = home.race_json(server.url(), format!("--ranges list {several}"));
    let trial = json.trial_with("method", "http-multirange");
    assert!(trial["reason"].as_str().unwrap().contains("status 200 OK to several ranges"), "{trial}");
    let whole = home.race_json(server.url(), "--method rust/http-ranges --method rust/http/scalar");
    let reason = &whole.trial_with("method", "http-ranges")["reason"];
    assert_eq!(reason, "it reads the ranges of a list, which --ranges names, and the whole is read");
    home.race(server.url(), format!("--ranges beyond {method}")).refuses("6 bytes from byte 8 end behind ");
    home.race(Server::new(sized).url(), format!("--ranges list {method}")).refuses("(Accept-Ranges)");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_user_who_does_not_own_a_file_reads_a_part_of_it_warm_by_the_library() {
        let home = Home::with_file("f", "a line of text\n".repeat(2 << 20));
        let words = "--range 50%:25% --state warm --method rust/auto/scalar --quiet --export-json -";
        let Some(said) = home.as_nobody(format!("race f {QUICK} {words}")) else { return };
        said.json().measured("rust/auto/scalar", "warm");
    }

    #[test]
    fn the_library_of_an_object_store_joins_the_ranges_of_a_list() {
        let home = home_with_pages();
        home.file("list", FOUR_RANGES);
        let methods = "--method rust/http-ranges/scalar --method rust-objects/get_ranges --work newlines";
        let json = home.race_json("f", format!("--s3 --ranges list --merge 0 --state warm {methods}"));
        for method in ["http-ranges", "get_ranges"] {
            let trial = json.trial_with("method", method);
            if trial["outcome"] == "unavailable" {
                eprintln!("SKIPPED: {method}: {}", trial["reason"]);
                continue;
            }
            assert_eq!((&trial["answer"]["blocks"], &trial["answer"]["newlines"]), (&4.into(), &70.into()));
            let readings = items(&trial["samples"]).len();
            assert_eq!(trial["latency"]["reads"], readings * 4, "{trial}");
        }
    }

    #[test]
    fn an_interrupted_run_of_ranges_over_http_is_resumed() {
        let home = home_with_pages();
        home.file("list", FOUR_RANGES);
        let one = "--method rust/http-ranges/scalar --work newlines --state warm";
        home.readlab(format!("race f --http --ranges list {one} --runs 6 --output a --quiet")).exits(0);
        home.cut_short("a/record.jsonl");
        home.readlab("race --resume a/record.jsonl").exits(0).shows("4 ranges");
    }

    #[test]
    fn only_the_range_is_requested_from_a_server() {
        let home = home_with_pages();
        let words =
            "--range 40960:8KiB --method rust/http/scalar --method rust/http-ranged/scalar --work newlines";
        for served in ["--http", "--s3"] {
            let json = home.race_json("f", format!("{served} {words}")).exits(0);
            let target = &json["targets"][0];
            assert_eq!((&target["size_bytes"], &target["answer"]["newlines"]), (&8192.into(), &21.into()));
            for method in ["http", "http-ranged"] {
                let trial = json.trial_with("method", method);
                assert_eq!(
                    (&trial["outcome"], &trial["answer"]["bytes"]),
                    (&"measured".into(), &8192.into())
                );
            }
        }
    }

    #[test]
    fn a_list_from_standard_input_is_sorted_and_its_repeated_bytes_are_counted() {
        let home = home_with_pages();
        home.file("list", "8192 4096\n0 8193\n");
        let brief = "--state warm --runs 3 --no-progress --quiet --export-json -";
        let line = format!("readlab race f --ranges - --sorted {TWO_METHODS} {brief} < list");
        let json = ProgramOutput::by(&mut home.shell(line)).exits(0).json();
        let ranges = &json["targets"][0]["ranges"];
        assert_eq!((&ranges["list"], &ranges["is_sorted"]), (&"-".into(), &true.into()), "{ranges}");
        assert_eq!(
            (&ranges["repeated_bytes"], &ranges["shortest_bytes"]),
            (&1.into(), &4096.into()),
            "{ranges}"
        );
        let record = home.runs()[0].join("record.jsonl");
        let record = record.to_str().unwrap();
        home.cut_short(record);
        home.readlab(["race", "--resume", record]).exits(2).tells("its ranges came from standard input");
    }

    #[test]
    fn an_interrupted_run_of_a_million_ranges_is_resumed() {
        let home = home_with_pages();
        let list: String = (0..1_000_000).map(|n| format!("{} 7\n", n * 31 % 400_000)).collect();
        home.file("list", list);
        let one = "--method rust/places-pread/scalar --work newlines --state warm";
        home.readlab(format!("race f --ranges list {one} --runs 4 --output a --quiet")).exits(0);
        home.cut_short("a/record.jsonl");
        home.readlab("race --resume a/record.jsonl")
            .exits(0)
            .shows("1\u{202f}000\u{202f}000 ranges (7.00 MB)");
        home.cut_short("a/record.jsonl");
        std::fs::remove_file(home.at("list")).unwrap();
        home.readlab("race --resume a/record.jsonl").exits(2).tells("list: no such file");
    }

    #[test]
    fn a_long_list_is_read_cold_apart_merged_mapped_and_in_a_ring() {
        const RANGES: usize = 100_000;
        // The ranges have ten bytes between them.
        let home = Home::with_file("f", b"one line of forty\nbytes, thirty are read".repeat(RANGES));
        let list: String = (0..RANGES).map(|n| format!("{} 30\n", n * 40)).collect();
        home.file("list", list);
        let methods = ["places-pread", "places-mmap", "places-io_uring"];
        let named: String = methods.map(|method| format!(" --method rust/{method}/scalar")).concat();
        let words = format!("--ranges list --merge 0,1KiB{named} --work newlines --state cold");
        let json = home.race_json("f", words);
        for (method, trials) in methods.into_iter().zip([2, 1, 2]) {
            let raced: Vec<&Value> = json.trials().iter().filter(|it| it["method"] == method).collect();
            if let Some(absent) = raced.iter().find(|it| it["outcome"] == "unavailable") {
                skip(format!("{method}: {}", absent["reason"]));
                continue;
            }
            assert_eq!(raced.len(), trials, "{method}: {json}");
            for trial in raced {
                assert_eq!(trial["outcome"], "measured", "{trial}");
                let answer = &trial["answer"];
                assert_eq!((&answer["blocks"], &answer["newlines"]), (&RANGES.into(), &RANGES.into()));
                let samples = items(&trial["samples"]);
                assert_eq!(trial["latency"]["reads"], samples.len() * RANGES, "{trial}");
                assert!(samples.iter().all(|sample| sample["resident_before"] == 0.0), "{trial}");
            }
        }
    }

    #[test]
    fn a_search_tries_merge_gaps_and_every_language_reads_ranges() {
        let home = Home::with_languages();
        home.file("f", vec![b'x'; 4 << 20]);
        let list: String = (0..200).map(|n| format!("{} 512\n", n * 20_000)).collect();
        home.file("list", list);
        let only = "--method rust/places-pread --space threads=1 --merge 0,32KiB --state warm --budget 20s";
        let json =
            home.readlab(format!("tune f --ranges list {only} --quiet --export-json -")).exits(0).json();
        let merges = json.trials().iter().filter(|it| it["params"]["merge_bytes"] == 32 << 10);
        assert!(merges.count() > 0, "{json}");
        for method in ["c/places-pread", "go/places-ReadAt", "java/places-FileChannel", "python/places-pread"]
        {
            let json = home.race_json("f", format!("--ranges list --method {method} --state warm"));
            let trial = json.trial_with("contender", method.split('/').next().unwrap());
            if trial["outcome"] == "unavailable" {
                eprintln!("SKIPPED: {method}: {}", trial["reason"]);
                continue;
            }
            assert_eq!(trial["answer"]["blocks"], 200, "{trial}");
        }
    }

    /// The command of REFERENCE.md that prints the ranges of some columns of a Parquet file.
    fn pyarrow_command() -> String {
        let reference = std::fs::read_to_string(repository::path("REFERENCE.md")).unwrap();
        let line = reference.lines().find(|line| line.starts_with("python3 -c") && line.contains("pyarrow"));
        line.expect("REFERENCE.md has it").to_owned()
    }

    /// The `PATH` whose `python3` has pyarrow: the contender's, if a test has built it, or else the
    /// machine's. `None` with a message if neither has it.
    fn path_with_pyarrow() -> Option<OsString> {
        let has_pyarrow = |python: &Path| {
            let imported = Command::new(python).args(["-c", "import pyarrow.parquet"]).output();
            imported.is_ok_and(|output| output.status.success())
        };
        let path = env::var_os("PATH").unwrap();
        let built = paths_in(contenders()).into_iter().filter(|folder| {
            folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python-data-"))
        });
        let mut environments = built.map(|folder| folder.join("build/venv/bin"));
        if let Some(programs) = environments.find(|programs| has_pyarrow(&programs.join("python3"))) {
            let folders: Vec<PathBuf> = [programs].into_iter().chain(env::split_paths(&path)).collect();
            return Some(env::join_paths(folders).unwrap());
        }
        if has_pyarrow(Path::new("python3")) {
            return Some(path);
        }
        skip("neither the contender python-data, as far as it is built, nor this machine has pyarrow");
        None
    }

    #[test]
    fn the_ranges_that_pyarrow_prints_for_parquet_columns_can_be_raced() {
        let Some(path) = path_with_pyarrow() else { return };
        let home = Home::new();
        let make = "python3 -c 'import pyarrow as a, pyarrow.parquet as p; n = range(200000); \
                    p.write_table(a.table({\"id\": n, \"price\": [i * 0.5 for i in n], \"name\": [str(i) for i in n]}), \
                    \"data.parquet\", row_group_size=50000)'";
        for line in [make, &pyarrow_command()] {
            ProgramOutput::by(home.shell(line).env("PATH", &path)).exits(0);
        }
        let list = home.read("ranges.txt");
        // Two columns of four row groups.
        assert_eq!(list.lines().count(), 8, "{list}");
        let json =
            home.race_json("data.parquet", "--ranges ranges.txt --method rust/places-pread --state warm");
        assert_eq!(json.exits(0)["targets"][0]["ranges"]["reads"], 8);
    }

    #[test]
    fn an_interrupted_run_of_a_range_is_resumed_with_the_range() {
        let home = home_with_pages();
        let options =
            format!("race f --range 50%:25% {READ_AND_MMAP} --state warm --runs 6 --output a --quiet");
        home.readlab(options).exits(0);
        home.cut_short("a/record.jsonl");
        let said = home.readlab("race --resume a/record.jsonl").exits(0);
        said.shows("102 kB from byte 204\u{202f}800");
    }

    #[test]
    fn searches_and_several_readers_can_read_a_range() {
        let home = home_with_pages();
        let space = "--method rust/read --space buffer=16KiB|64KiB --state warm --budget 20s";
        let json =
            home.readlab(format!("tune f --range 0:64KiB {space} --quiet --export-json -")).exits(0).json();
        assert_eq!(json["targets"][0]["size_bytes"], 65_536, "{json}");
        let json =
            home.race_json("f", format!("--range 0:64KiB --readers 2 {READ_AND_MMAP} --state warm")).exits(0);
        assert_eq!(json["targets"][0]["size_bytes"], 2 * 65_536, "{json}");
    }
}

#[test]
fn a_url_is_read_from_the_byte_where_its_range_begins() {
    let (home, server) = (Home::new(), server_with_ranges());
    let words = "--range 1:6 --work sum --method rust/http/scalar";
    let json = home.race_json(server.url(), words).exits(0);
    let target = &json["targets"][0];
    assert_eq!((&target["range"]["start_bytes"], &target["size_bytes"]), (&1.into(), &6.into()), "{target}");
    let cautions = target["cautions"].to_string();
    assert!(!cautions.contains("where a page begins"), "{cautions}");
    let trial = json.measured("rust/http/scalar", "unknown");
    let sum = TEXT.as_bytes()[1..7].iter().map(|byte| u64::from(*byte)).sum::<u64>() % 256;
    assert_eq!((&trial["answer"]["bytes"], &trial["answer"]["sum"]), (&6.into(), &sum.into()), "{trial}");
}

#[test]
fn bytes_before_a_range_are_read_and_count_for_no_rate() {
    let home = home_with_pages();
    let words = "--range -4103:4100 --method rust/read/scalar --work newlines --state warm";
    let json = home.race_json("f", words).exits(0);
    let range = &json["targets"][0]["range"];
    assert_eq!((&range["before_bytes"], &range["length_bytes"]), (&4092.into(), &8192.into()), "{range}");
    let trial = json.trial("rust/read/scalar", "warm");
    assert_eq!((&trial["bytes_in"], &trial["bytes_out"]), (&8192.into(), &4100.into()), "{trial}");
    let amplification = trial["amplification"].as_f64().unwrap();
    assert!((amplification - 8192.0 / 4100.0).abs() < 1e-9, "{trial}");
}

#[test]
fn one_untimed_cold_reading_shows_the_part_that_a_warm_command_reads() {
    let home = Home::with_file("large", "a line of text\n".repeat(1 << 20));
    let words = "-c 'head -n 10 {}' -c 'cat {}' --work part --state warm --method 'command/*'";
    let json = home.race_json("large", words).exits(0);
    let share = |command: &str| json.trial(&format!("command/{command}"), "warm")["share_read"].as_f64();
    let of_head = share("head -n 10").unwrap();
    assert!(of_head > 0.0 && of_head < 0.6, "{of_head}");
    assert_eq!(share("cat"), Some(1.0));
    assert!(json.trial("command/cat", "warm")["throughput_bytes_per_s"].is_u64());
    let record = home.record(&home.runs()[0]);
    for it in record.trials.iter().filter(|it| !it.trial.is_control()) {
        let shown = (it.trial.state.to_string(), it.samples.is_empty(), it.cold_probe.len());
        assert_eq!(shown, ("warm".to_owned(), false, 1), "{}", it.trial.id);
    }
}

#[test]
fn where_a_command_cannot_read_cold_its_part_is_not_known_and_a_warning_says_why() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return skip("there is no /dev/shm") };
    let (home, file) = (Home::new(), memory.path().join("f"));
    std::fs::write(&file, "a line of text\n".repeat(1 << 10)).unwrap();
    let words = "-c 'head -n 10 {}' --work part --state warm --method 'command/*' --export-json export.json";
    home.race(&file, words).exits(0);
    let json = home.json("export.json");
    let warnings = json["warnings"].to_string();
    assert!(warnings.contains("which share it reads is not known, as no cold reading shows it"), "{json}");
}
