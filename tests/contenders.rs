//! Tests of contenders in other languages, from their sources to a record: built on demand, raced,
//! and reported with a reason if a compiler or runtime is missing.

use assert_cmd::Command;
use readlab_record::{Line, Outcome, Record, WarmupEnd};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A contender in shell, which its build script writes. It has no clock: it claims 1000 ns for each
/// reading, less than the opening, the calls and the line of one take on any machine.
const SOURCES: &str = r#"
mkdir -p build
cat >build/read.sh <<'END'
echo '{"say":"hello","protocol":1,"contender":"fake","version":"7","runtime":"sh"}'
case $1 in
methods) echo '{"say":"method","method":"guess","scans":{"newlines":["-"]},"params":[],"about":"a guess","cache":"through"}' ;;
read)
    echo '{"say":"ready","params":{}}'
    while read -r go lead count; do
        left=$((lead + count))
        while [ "$left" -gt 0 ]; do
            left=$((left - 1)) newlines=0
            while read -r line; do newlines=$((newlines + 1)); done <"$5"
            [ "$left" -ge "$count" ] || echo "{\"say\":\"sample\",\"wall_ns\":1000,\"newlines\":$newlines}"
        done
        echo "{\"say\":\"done\",\"count\":$count}"
    done ;;
esac
END
"#;

const ROSTER: &str = "
[[contender]]
name = 'fake'
about = 'a guess'
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

fn readlab(home: &Path) -> Command {
    let mut command = Command::cargo_bin("readlab").unwrap();
    command.env("XDG_CACHE_HOME", home.join("cache")).env("XDG_DATA_HOME", home.join("data"));
    // Go compiles its library once, and not once for every home.
    command.env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go"));
    command
}

/// A folder with a roster, the sources of a contender, and a file of four lines.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sources")).unwrap();
    fs::write(folder.path().join("sources/make.sh"), SOURCES).unwrap();
    fs::write(folder.path().join("roster.toml"), ROSTER).unwrap();
    fs::write(folder.path().join("four.txt"), "a\nb\nc\nd\n").unwrap();
    folder
}

#[test]
fn one_that_cannot_be_built_is_reported_with_its_hint_and_does_not_stop_the_others() {
    let folder = folder();
    let mut command = readlab(folder.path());
    command.args(["build", "broken", "fake", "--roster"]).arg(folder.path().join("roster.toml"));
    let done = command.assert().code(1);
    let (out, err) = (&done.get_output().stdout, &done.get_output().stderr);
    assert_eq!(String::from_utf8_lossy(out), "fake 7 · sh\n");
    let err = String::from_utf8_lossy(err);
    assert!(err.contains("broken: it needs no-such-compiler: not found; install no-such-compiler"), "{err}");
}

#[test]
fn a_race_builds_what_it_needs_once_and_warms_it_up_until_it_is_steady() {
    let folder = folder();
    let race = |output: &str| {
        let mut command = readlab(folder.path());
        command
            .arg("race")
            .arg(folder.path().join("four.txt"))
            .arg("--roster")
            .arg(folder.path().join("roster.toml"));
        command.args([
            "--method",
            "fake/*",
            "--state",
            "warm",
            "-r",
            "2",
            "--fills",
            "1",
            "--no-progress",
            "--output",
        ]);
        let done = command.arg(folder.path().join(output)).assert().code(0);
        String::from_utf8_lossy(&done.get_output().stderr).into_owned()
    };
    assert!(race("first").contains("building the contender fake"));
    assert!(!race("second").contains("building the contender fake"), "it is built already");
    let record = Record::read(&folder.path().join("first/record.jsonl")).unwrap();
    let trial = record.trials.iter().find(|trial| trial.trial.contender() == "fake").unwrap();
    assert_eq!(trial.outcome, Some(Outcome::Measured));
    assert!(!trial.warmups.is_empty());
    assert!(trial.warmups.iter().all(|warmed| warmed.end == WarmupEnd::Steady && warmed.readings >= 20));
    assert!(record.warnings.iter().any(|text| text.contains("broken") && text.contains("no-such-compiler")));
}

/// Builds a contender that comes with readlab and races one of its methods on a small file, in an
/// archive if one is named (a gzip or bzip2 is padded with zeros), and methods for URLs on the same file over
/// HTTP. Prints a message if the toolchain is missing.
fn carried(name: &str, method: &str, archive: Option<&str>, over_http: &[&str]) {
    let folder = folder();
    let mut file = folder.path().join("four.txt");
    if let Some(archive) = archive {
        let mut make = readlab(folder.path());
        make.args(["corpus", "make", "gdelt", "100000", "--in", archive, "--folder"]).arg(folder.path());
        let made = make.assert().code(0);
        file = String::from_utf8_lossy(&made.get_output().stdout).trim_end().into();
        if ["gzip", "bzip2"].contains(&archive) {
            // Tapes and some devices pad a file; gzip and bzip2 accept it.
            let mut padded = fs::File::options().append(true).open(&file).unwrap();
            padded.write_all(&[0; 512]).unwrap();
        }
    }
    let built = readlab(folder.path()).args(["build", name]).output().unwrap();
    let err = String::from_utf8_lossy(&built.stderr);
    if !built.status.success() && err.contains(&format!("{name}: it needs ")) {
        eprintln!("SKIPPED: {err}");
        return;
    }
    assert!(built.status.success() && String::from_utf8_lossy(&built.stdout).starts_with(name), "{err}");
    let race = |output: &str, words: &[&str]| {
        let mut command = readlab(folder.path());
        command.arg("race").arg(&file).args(words).args(["--state", "warm"]);
        command
            .args(["-r", "2", "--fills", "1", "--no-progress", "--output"])
            .arg(folder.path().join(output));
        command.assert().code(0);
        let record = Record::read(&folder.path().join(output).join("record.jsonl")).unwrap();
        let its: Vec<_> = record.trials.into_iter().filter(|trial| trial.trial.contender() == name).collect();
        assert!(its.iter().all(|trial| trial.outcome == Some(Outcome::Measured)), "{its:?}");
        its.into_iter().map(|trial| trial.trial.decodes.map(|archive| archive.word())).collect::<Vec<_>>()
    };
    assert_eq!(race("file", &["--method", method]), [archive]);
    if !over_http.is_empty() {
        let wanted: Vec<&str> = over_http.iter().flat_map(|method| ["--method", method]).collect();
        assert_eq!(race("http", &[&["--http"], &wanted[..]].concat()), vec![None; over_http.len()]);
    }
}

#[test]
fn c_takes_part_where_a_compiler_is() {
    carried("c", "c/getline", None, &[]);
}

#[test]
fn a_line_about_a_warm_up_reads_back_as_it_was_written() {
    let text = r#"{"line":"warmup","trial":3,"readings":40,"wall_ns":5,"end":"no_steady_state"}"#;
    let line: Line = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&line).unwrap(), text);
}

/// The snippets of a contender in another language, by path.
fn snippets(contender: &str) -> Vec<PathBuf> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contenders").join(contender).join("snippets");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

mod ring2 {
    use super::*;

    #[test]
    fn cpp_takes_part_where_a_compiler_is() {
        carried("cpp", "cpp/getline", None, &[]);
        carried("cpp", "cpp/stdin.getline@synced=0", None, &[]);
    }

    #[test]
    fn go_takes_part_where_its_compiler_is() {
        carried("go", "go/bufio.Scanner/Bytes", None, &[]);
        carried("go", "go/gzip.Reader/Count", Some("gzip"), &[]);
        carried("go", "go/bzip2.NewReader/Count", Some("bzip2"), &[]);
    }

    #[test]
    fn node_takes_part_where_it_is() {
        carried("node", "node/readline", None, &[]);
        carried("node", "node/createGunzip/indexOf", Some("gzip"), &[]);
        carried("node", "node/createBrotliDecompress/indexOf", Some("brotli"), &[]);
    }

    #[test]
    fn python_takes_part_where_it_is() {
        carried("python", "python/lines", None, &[]);
        carried("python", "python/gzip.open/count", Some("gzip"), &[]);
        carried("python", "python/bz2.open/count", Some("bzip2"), &[]);
        carried("python", "python/lzma.open/count", Some("xz"), &[]);
    }

    #[test]
    fn java_takes_part_where_a_jdk_is() {
        let over_http = ["java/HttpClient/loop", "java/HttpClient-stream/loop"];
        carried("java", "java/FileChannel-direct/loop", None, &over_http);
    }

    #[test]
    fn java_reads_archives_where_a_jdk_is() {
        carried("java", "java/zip", Some("zip"), &[]);
        carried("java", "java/zip-bytes", Some("zip"), &[]);
        carried("java", "java/gzip", Some("gzip"), &[]);
        carried("java", "java/gzip-bytes", Some("gzip"), &[]);
    }

    #[test]
    fn swift_takes_part_where_its_compiler_is() {
        let scans = [
            "bytes/for",
            "data/for-unsafe",
            "dataTask-delegate/for-unsafe",
            "dataTask-completion/for-unsafe",
        ];
        let over_http = scans.map(|scan| format!("swift/{scan}"));
        carried("swift", "swift/read/for-unsafe", None, &over_http.each_ref().map(String::as_str));
    }

    #[test]
    fn the_archives_of_a_suite_are_read_beside_the_plain_file_by_the_same_truth() {
        if ["unzip", "gzip", "wc"]
            .iter()
            .any(|program| std::process::Command::new(program).arg("--version").output().is_err())
        {
            eprintln!("SKIPPED: unzip, gzip and wc are not all installed");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let suite = folder.path().join("suite.toml");
        let text = "name = 'x'\nabout = 'x'\nwork = 'newlines'\nstate = 'both'\ncontrols = false\ncorpus = { kind = 'gdelt', size_bytes = 300000, seed = 1 }
        [[trial]]\ntrial = 'command/wc -l {}'\n[[trial]]\ntrial = 'command/unzip -p {} | wc -l'\ntarget = 'zip'
        [[trial]]\ntrial = 'rust/zip'\ntarget = 'zip'
        [[trial]]\ntrial = 'command/gzip -dc {} | wc -l'\ntarget = 'gzip'
        [[trial]]\ntrial = 'rust/gzip'\ntarget = 'gzip'\n";
        fs::write(&suite, text).unwrap();
        let mut command = readlab(folder.path());
        command.arg("suite").arg(&suite).args([
            "-r",
            "2",
            "--fills",
            "1",
            "--no-progress",
            "--percentiles",
            "--output",
        ]);
        let done = command.arg(folder.path().join("run")).assert().code(0);
        let shown = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
        assert!(shown.contains("out (") && shown.contains("p99"), "{shown}");
        let record = Record::read(&folder.path().join("run/record.jsonl")).unwrap();
        assert_eq!(record.targets.len(), 3);
        for archive in &record.targets[1..] {
            assert!(archive.size_bytes < record.targets[0].size_bytes);
            assert_eq!(archive.decoded.as_ref().map(|decoded| decoded.answer), record.targets[0].answer);
            assert_eq!(archive.answer.and_then(|answer| answer.bytes), Some(archive.size_bytes));
        }
        assert!(record.fills.iter().any(|fill| fill.target == 1), "the zip is filled too");
        assert_eq!(record.trials.len(), 10);
        assert!(record.trials.iter().all(|trial| trial.outcome == Some(Outcome::Measured)));
    }

    #[test]
    fn every_snippet_in_java_compiles() {
        let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let compiles_for = |release| {
            let mut command = Command::new("javac");
            command.args(["--release", release]);
            command
        };
        if let Err(error) = compiles_for("17").arg("-version").output() {
            return eprintln!("SKIPPED: the snippets in Java: javac: {error}");
        }
        for file in snippets("java") {
            let is_newer = fs::read_to_string(&file).unwrap().starts_with("// needs: Java 22");
            let release = if is_newer { "22" } else { "17" };
            if is_newer && !compiles_for(release).arg("-version").output().unwrap().status.success() {
                eprintln!("SKIPPED: {}: no JDK {release} or later", file.display());
                continue;
            }
            let done =
                compiles_for(release).args(["-Werror", "-d"]).arg(out.path()).arg(&file).output().unwrap();
            assert!(done.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&done.stderr));
        }
    }

    #[test]
    fn every_snippet_in_swift_compiles() {
        let compiler = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contenders/swift/swiftc.sh");
        if !Command::new(&compiler).output().is_ok_and(|done| done.status.success()) {
            return eprintln!("SKIPPED: the snippets in Swift: no Swift compiler");
        }
        let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        if !out.path().starts_with(root) {
            return eprintln!(
                "SKIPPED: the snippets in Swift: the compiler sees only what lies within the project"
            );
        }
        for file in snippets("swift") {
            let program = out.path().join("program");
            let done = Command::new(&compiler).arg(&program).arg(&file).output().unwrap();
            assert!(done.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&done.stderr));
        }
    }
}
