//! Tests of contenders in other languages, from their sources to a record: built on demand, raced,
//! and reported with a reason if a compiler or runtime is missing.

use crate::fake;
use crate::home::{Home, ProgramOutput};
use crate::machine::{skip, succeeds_or_skip, works};
use crate::repository;
use readlab_record::{Outcome, WarmupEnd};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A roster of a fake that is built, and a contender that cannot be built.
const ROSTER: &str = "
[[contender]]
name = 'fake'
about = 'a fake'
sources = 'sources'
build = [['sh', 'make.sh']]
run = ['sh', '{build}/read.sh']
warmup = 'until steady'
[[contender]]
name = 'broken'
about = 'does not build'
sources = 'sources'
dependency = [['no-such-compiler', '-v']]
build = [['no-such-compiler']]
run = ['{build}/broken']
hint = 'install no-such-compiler'
";

/// A short race of warm readings, whose folder is `run`.
const SHORT_RACE: &str = "--state warm -r 2 --fills 1 --no-progress --output run";

/// A home with a roster, the sources of a contender, and a file of four lines.
fn home() -> Home {
    let home = Home::without_contenders();
    fake::roster(&home, &[("fake", "answer")]);
    let script = home.at("fake.sh");
    home.file("sources/make.sh", format!("mkdir -p build && cp '{}' build/read.sh\n", script.display()));
    home.file("roster.toml", ROSTER);
    home.file("four.txt", "a\nb\nc\nd\n");
    home
}

#[test]
fn a_contender_that_cannot_be_built_is_reported_with_its_hint_and_does_not_stop_the_others() {
    let said = home().readlab("build broken fake --roster roster.toml").exits(1);
    assert_eq!(said.out, "fake 1 · sh\n");
    said.tells("broken: it needs no-such-compiler: not found; install no-such-compiler");
}

#[test]
fn a_race_builds_a_contender_once_and_warms_it_up_until_it_is_steady() {
    let home = home();
    let race =
        || home.readlab(format!("race four.txt --roster roster.toml --method fake/* {SHORT_RACE}")).exits(0);
    race().tells("building the contender fake");
    let record = home.record("run");
    fs::remove_dir_all(home.at("run")).unwrap();
    assert!(!race().err.contains("building the contender fake"), "it is built already");
    let trial = record.trials.iter().find(|trial| trial.trial.contender() == "fake").unwrap();
    assert_eq!(trial.outcome, Some(Outcome::Measured));
    assert!(!trial.warmups.is_empty());
    assert!(trial.warmups.iter().all(|warmed| warmed.end == WarmupEnd::Steady && warmed.readings >= 20));
    assert!(record.warnings.iter().any(|text| text.contains("broken") && text.contains("no-such-compiler")));
}

/// Builds a contender that comes with readlab. Races each of these methods on a small file, or in
/// an archive if one is named (a gzip or bzip2 is padded with zeros), and races methods for URLs on
/// the file over HTTP. Prints a message if the toolchain is missing.
fn assert_built_in_contender(name: &str, methods: &[(&str, Option<&str>)], over_http: &[&str]) {
    let home = Home::new();
    let built = home.readlab(["build", name]);
    if built.err.contains(&format!("{name}: it needs ")) {
        return skip(built.err);
    }
    assert!(built.exits(0).out.starts_with(name));
    // The archives that the methods of the contender decoded. All methods must have been measured.
    let race = |words: &str| {
        let _ = fs::remove_dir_all(home.at("run"));
        home.readlab(format!("race {words} {SHORT_RACE}")).exits(0);
        let all = home.record("run").trials.into_iter();
        let its: Vec<_> = all.filter(|trial| trial.trial.contender() == name).collect();
        assert!(its.iter().all(|trial| trial.outcome == Some(Outcome::Measured)), "{its:?}");
        its.into_iter()
            .map(|trial| trial.trial.decoded_format.map(|archive| archive.word()))
            .collect::<Vec<_>>()
    };
    let plain = home.file("four.txt", "a\nb\nc\nd\n");
    for (method, archive) in methods {
        let file = archive.map_or_else(|| plain.clone(), |archive| corpus_archive(&home, archive));
        assert_eq!(race(&format!("{} --method {name}/{method}", file.display())), [*archive]);
    }
    if !over_http.is_empty() {
        let wanted: String = over_http.iter().map(|method| format!(" --method {name}/{method}")).collect();
        assert_eq!(race(&format!("four.txt --http{wanted}")), vec![None; over_http.len()]);
    }
}

/// A file of the corpus in an archive of this kind.
fn corpus_archive(home: &Home, archive: &str) -> PathBuf {
    let made = home.readlab(format!("corpus --folder c make gdelt 100000 --in {archive}")).exits(0);
    let file = home.at(made.out.trim_end());
    if !["gzip", "bzip2"].contains(&archive) {
        return file;
    }
    // Tapes and some devices pad a file, and gzip and bzip2 accept the padding.
    let padded = file.with_file_name(format!("padded-{}", file.file_name().unwrap().display()));
    fs::write(&padded, [fs::read(file).unwrap(), vec![0; 512]].concat()).unwrap();
    padded
}

/// The snippets of a contender in another language, by path.
fn snippets(contender: &str) -> Vec<PathBuf> {
    let folder = repository::path("contenders").join(contender).join("snippets");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Races one method on a file with these words, warm; `None` with a message if its language is not
/// installed.
fn race_lines(home: &Home, method: &str, file: &str, words: &str) -> Option<ProgramOutput> {
    let (contender, _) = method.split_once('/').unwrap();
    let built = home.readlab(["build", contender]);
    if built.code != Some(0) {
        skip(built.err);
        return None;
    }
    Some(home.race(file, format!("--method {method} --state warm {words}")))
}

#[test]
fn lines_that_end_at_a_lone_carriage_return_are_explained() {
    let home = Home::new();
    home.file("progress", "10 %\r20 %\r30 %\n".repeat(100));
    let Some(said) = race_lines(&home, "python/lines", "progress", "") else { return };
    let why = "(the file has 200 carriage returns (\\r) without a newline, and it ends a line at each)";
    said.exits(1).tells("it answered 300 lines").tells(why);
}

/// For each method of Python that reads a file through a buffer whose size is a parameter, prints
/// how many reads of the kernel a small and a large buffer take.
const READS_BY_BUFFER: &str = "
import os
import sys
from methods import METHODS
from request import Request

def kernel_reads(method, work, size):
    words = [method.name, method.scans[work][0], work, sys.argv[1], f'buffer_bytes={size}']
    request = Request.parse(words)
    before = count()
    request.method.read(request)
    return count() - before

def count():
    with open('/proc/self/io') as file:
        return int(next(line for line in file if line.startswith('syscr')).split()[1])

for method in METHODS:
    buffers = [param for param in method.params if param.name == 'buffer_bytes']
    if buffers and method.reads == 'file' and not method.decodes and not method.unavailable:
        print(method.name, *(kernel_reads(method, 'newlines', size) for size in (4096, 1 << 20)))
";

#[test]
fn a_buffer_of_python_changes_how_the_file_is_read() {
    if !succeeds_or_skip("python3 --version") {
        return;
    }
    let home = Home::new();
    let file = home.file("text", "a line of text\n".repeat(1 << 17));
    let mut python = home.command("python3");
    python.args(["-B", "-c", READS_BY_BUFFER]).arg(file);
    let said = ProgramOutput::by(python.env("PYTHONPATH", repository::path("contenders/python")));
    let said = said.succeeds_silently();
    assert!(said.out.contains("binary-lines "), "{said}");
    for line in said.out.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let counts: Vec<u64> = words[1..].iter().map(|count| count.parse().unwrap()).collect();
        assert!(counts[0] > 10 * counts[1], "{line}: the buffer does not count");
    }
}

mod ring2 {
    use super::*;
    use readlab_model::target::TargetIndex;

    #[test]
    fn c_takes_part_if_a_compiler_is_installed() {
        assert_built_in_contender("c", &[("getline", None)], &[]);
    }

    #[test]
    fn lines_that_end_at_a_separator_of_unicode_are_explained() {
        let home = Home::new();
        home.file("pages", "one line\u{2028}another line\u{85}and a third\n".repeat(100));
        let Some(said) = race_lines(&home, "java/Scanner", "pages", "") else { return };
        let why =
            "(the file has 200 other line separators (U+0085, U+2028, U+2029), and it ends a line at each)";
        said.exits(1).tells("it answered 300 lines").tells(why);
    }

    #[test]
    fn a_line_that_is_too_long_for_a_scanner_is_explained_with_the_option_that_takes_it() {
        let home = Home::new();
        home.file("long", format!("short\n{}\n", "x".repeat(1 << 20)));
        let Some(said) = race_lines(&home, "go/bufio.Scanner/Bytes", "long", "") else { return };
        let option = "--param line_bytes_max=4194304";
        said.exits(1).tells(&format!("a line has 65536 bytes or more, and {option} takes longer ones"));
        race_lines(&home, "go/bufio.Scanner/Bytes", "long", option).unwrap().exits(0);
    }

    #[test]
    fn cpp_takes_part_if_a_compiler_is_installed() {
        assert_built_in_contender("cpp", &[("getline", None), ("stdin.getline@synced=0", None)], &[]);
    }

    #[test]
    fn go_takes_part_if_its_compiler_is_installed() {
        let [gzip, bzip2] = [("gzip.Reader/Count", Some("gzip")), ("bzip2.NewReader/Count", Some("bzip2"))];
        assert_built_in_contender("go", &[("bufio.Scanner/Bytes", None), gzip, bzip2], &[]);
    }

    #[test]
    fn node_takes_part_if_it_is_installed() {
        let brotli = ("createBrotliDecompress/indexOf", Some("brotli"));
        assert_built_in_contender(
            "node",
            &[("readline", None), ("createGunzip/indexOf", Some("gzip")), brotli],
            &[],
        );
    }

    #[test]
    fn the_configuration_of_bun_in_the_users_folder_is_not_run() {
        let home = Home::with_file("four.txt", "a\nb\nc\nd\n");
        home.file("planted.js", "require('fs').writeFileSync('RAN', '')\n");
        home.file("bunfig.toml", "preload = ['./planted.js']\n");
        let Some(said) = race_lines(&home, "bun/readFile", "four.txt", "") else { return };
        said.exits(0);
        assert!(!home.at("RAN").exists());
    }

    #[test]
    fn python_takes_part_if_it_is_installed() {
        let [gzip, bzip2] = [("gzip.open/count", Some("gzip")), ("bz2.open/count", Some("bzip2"))];
        assert_built_in_contender(
            "python",
            &[("lines", None), gzip, bzip2, ("lzma.open/count", Some("xz"))],
            &[],
        );
    }

    #[test]
    fn java_takes_part_and_reads_archives_if_a_jdk_is_installed() {
        let [zip, gzip] = ["zip", "gzip"].map(Some);
        let archives = [("zip", zip), ("zip-bytes", zip), ("gzip", gzip), ("gzip-bytes", gzip)];
        let methods = [&archives[..], &[("FileChannel-direct/loop", None)]].concat();
        assert_built_in_contender("java", &methods, &["HttpClient/loop", "HttpClient-stream/loop"]);
    }

    #[test]
    fn swift_takes_part_if_its_compiler_is_installed() {
        let tasks = ["dataTask-delegate/for-unsafe", "dataTask-completion/for-unsafe"];
        let over_http = [&["bytes/for", "data/for-unsafe"], &tasks[..]].concat();
        assert_built_in_contender("swift", &[("read/for-unsafe", None)], &over_http);
    }

    #[test]
    fn the_archives_of_a_suite_have_the_same_answer_as_the_plain_file() {
        if !["unzip -v", "gzip --version", "wc --version"].into_iter().all(succeeds_or_skip) {
            return;
        }
        let home = Home::new();
        let text = "name = 'x'\nabout = 'x'\nwork = 'newlines'\nstate = 'both'\ncontrols = false\ncorpus = { kind = 'gdelt', size_bytes = 300000, seed = 1 }
        [[trial]]\ntrial = 'command/wc -l {}'\n[[trial]]\ntrial = 'command/unzip -p {} | wc -l'\ntarget = 'zip'
        [[trial]]\ntrial = 'rust/zip'\ntarget = 'zip'
        [[trial]]\ntrial = 'command/gzip -dc {} | wc -l'\ntarget = 'gzip'
        [[trial]]\ntrial = 'rust/gzip'\ntarget = 'gzip'\n";
        home.file("suite.toml", text);
        let said = home.readlab("suite suite.toml -r 2 --fills 1 --no-progress --percentiles --output run");
        said.exits(0).shows("out (").shows("p99");
        let record = home.record("run");
        assert_eq!(record.targets.len(), 3);
        let plain = record.targets.first().unwrap();
        for archive in record.targets.iter().skip(1) {
            assert!(archive.size_bytes < plain.size_bytes);
            assert_eq!(archive.decoded.as_ref().map(|decoded| decoded.answer), plain.answer);
            assert_eq!(archive.answer.and_then(|answer| answer.bytes), Some(archive.size_bytes));
        }
        assert!(record.fills.iter().any(|fill| fill.target == TargetIndex::new(1)), "the zip is filled too");
        assert_eq!(record.trials.len(), 10);
        assert!(record.trials.iter().all(|trial| trial.outcome == Some(Outcome::Measured)));
    }

    #[test]
    fn every_snippet_in_java_compiles() {
        if !succeeds_or_skip("javac --release 17 -version") {
            return;
        }
        let home = Home::new();
        let has_newer = works("javac --release 22 -version");
        for file in snippets("java") {
            let is_newer = fs::read_to_string(&file).unwrap().starts_with("// needs: Java 22");
            if is_newer && !has_newer {
                skip(format!("{}: no JDK 22 or later", file.display()));
                continue;
            }
            let release = if is_newer { "22" } else { "17" };
            let mut javac = Command::new("javac");
            javac.args(["--release", release, "-Werror", "-d"]).arg(home.at("")).arg(&file);
            ProgramOutput::by(&mut javac).exits(0);
        }
    }

    #[test]
    fn every_snippet_in_swift_compiles() {
        let compiler = repository::path("contenders/swift/swiftc.sh");
        if !Command::new(&compiler).output().is_ok_and(|done| done.status.success()) {
            return skip("the snippets in Swift: no Swift compiler");
        }
        let home = Home::new();
        if !home.at("").starts_with(repository::path("")) {
            return skip("the snippets in Swift: the compiler sees only what lies within the project");
        }
        for file in snippets("swift") {
            ProgramOutput::by(Command::new(&compiler).arg(home.at("program")).arg(&file)).exits(0);
        }
    }
}
