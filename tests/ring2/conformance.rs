//! Tests of conformance: every method × scan × work of the shipped program, through the protocol
//! and over files of awkward sizes, gives the answer of the simplest code.
//!
//! The contender itself lists its methods, scans and parameters, so a new one is tested
//! automatically.

use readlab::contender::methods::Contender;
use readlab::contender::roster::Roster;
use readlab::contender::session::{Session, SessionError};
use readlab::corpus::archive::Packed;
use readlab::corpus::oracle::{self, Truth};
use readlab::corpus::recipe::{CorpusKind, Recipe};
use readlab::target::source::ReadRequest;
use readlab::trial::{Answer, MethodId, Params, Work};
use readlab_protocol::{Archive, Cache, MethodLine, Reads, TurnRequest};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const WORKS: [Work; 4] = [Work::Newlines, Work::Lines, Work::Sum, Work::Discard];

/// For contenders that answer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// What awkward sizes are counted from beside each method's own blocks.
const PAGE: u64 = 4096;

/// Number of files at once, because readings sometimes wait for the device.
const THREADS: usize = 4;

/// A file and its correct answer.
struct Case {
    path: PathBuf,
    truth: Truth,
}

/// One session to run.
struct Talk<'a> {
    contender: &'a Contender,
    id: MethodId,
    params: Params,
    work: Work,
    case: &'a Case,
}

/// A folder on the file system of the build: elsewhere, for example in memory, `O_DIRECT` may be
/// refused.
fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A contender that comes with readlab, started by the program that was built for this test.
fn contender(name: &str) -> Contender {
    let mut entry = Roster::built_in().entry(name).expect("it comes with readlab").clone();
    for word in &mut entry.run {
        if word == "{self}" {
            env!("CARGO_BIN_EXE_readlab").clone_into(word);
        }
    }
    entry.query().unwrap()
}

fn case(path: PathBuf) -> Case {
    let truth = oracle::truth(&path).unwrap();
    Case { path, truth }
}

fn written(folder: &Path, name: &str, content: &[u8]) -> Case {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    case(path)
}

/// Lines of uneven length, with bytes of every value in between; the last one is not terminated.
fn text(bytes: u64) -> Vec<u8> {
    let byte = |at: u64| match at {
        at if at % 61 == 60 || at % 173 == 0 => b'\n',
        at => u8::try_from(at.wrapping_mul(2_654_435_761) >> 7 & 0xff).expect("one byte"),
    };
    let mut text: Vec<u8> = (0..bytes).map(byte).collect();
    if let Some(last) = text.last_mut() {
        *last = b'x';
    }
    text
}

/// The default sizes of a method.
fn blocks(method: &MethodLine) -> BTreeSet<u64> {
    let sizes = method.params.iter().filter(|param| param.name.ends_with("_bytes"));
    sizes.map(|param| param.default).filter(|&bytes| (2..=1 << 24).contains(&bytes)).chain([PAGE]).collect()
}

/// The files for one block size.
fn around(folder: &Path, block: u64) -> Vec<Case> {
    let sizes = [block - 1, block, block + 1];
    sizes.map(|bytes| written(folder, &format!("{bytes} bytes"), &text(bytes))).into()
}

/// The files that are awkward for everybody.
fn awkward(folder: &Path) -> Vec<Case> {
    vec![
        written(folder, "empty", b""),
        written(folder, "one byte", b"x"),
        written(folder, "one newline", b"\n"),
        written(folder, "no final newline", b"first\nsecond\nthird"),
        written(folder, "only newlines", &[b'\n'; 10_007]),
    ]
}

/// Every conversation about one method: each work, each scan.
fn talks<'a>(contender: &'a Contender, method: &'a MethodLine, cases: &'a [Case]) -> Vec<Talk<'a>> {
    let mut talks = Vec::new();
    for work in WORKS {
        for scan in method.scans.get(work.word()).into_iter().flatten() {
            let name = contender.receipt.contender.clone();
            let scan = (scan != "-").then(|| scan.clone());
            let id = MethodId { contender: name, method: method.method.clone(), scan };
            let talk = |case| Talk { contender, id: id.clone(), params: Params::default(), work, case };
            talks.extend(cases.iter().map(talk));
        }
    }
    talks
}

/// The methods of the Rust contender that read a file, with a message for each that does not work
/// here.
fn readers(contender: &Contender) -> Vec<&MethodLine> {
    let mut readers = Vec::new();
    for method in &contender.methods {
        match &method.unavailable {
            Some(reason) => eprintln!("SKIPPED: {}: {reason}", method.method),
            // Controls visit no bytes, except `resident`.
            None if method.cache == Cache::None && method.method != "resident" => {}
            None if !matches!(method.reads, Reads::File | Reads::Both) => {}
            // They read archives only.
            None if !method.decodes.is_empty() => {}
            None => readers.push(method),
        }
    }
    assert!(readers.len() >= 8, "too few methods: {readers:?}");
    readers
}

/// Runs all sessions, several at once; two readings each, the second after an untimed one.
fn converse(talks: &[Talk]) {
    assert!(!talks.is_empty());
    let next = AtomicUsize::new(0);
    let spoken = || {
        while let Some(talk) = talks.get(next.fetch_add(1, Ordering::Relaxed)) {
            talk.check();
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(spoken)).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    eprintln!("{} conversations", talks.len());
}

impl Talk<'_> {
    fn check(&self) {
        let what = format!("{} {} of {}", self.id, self.work, self.case.path.display());
        match self.answers() {
            Ok(answers) => {
                assert_eq!(answers.len(), 2, "{what}");
                for answer in answers {
                    let truth = &self.case.truth.answer;
                    assert!(answer.proves(self.work, truth), "{what}: {answer} instead of {truth}");
                }
            }
            Err(SessionError::Unavailable(reason)) => eprintln!("SKIPPED: {what}: {reason}"),
            Err(breach) if self.demands_text() => {
                assert!(breach.to_string().ends_with("did not contain valid UTF-8"), "{what}: {breach}");
            }
            Err(breach) => panic!("{what}: {breach}"),
        }
    }

    /// Whether the method only reads text, and this is none.
    fn demands_text(&self) -> bool {
        self.id.method == "read_to_string" && fs::read_to_string(&self.case.path).is_err()
    }

    fn answers(&self) -> Result<Vec<Answer>, SessionError> {
        let choice = self.contender.choose(&self.id, &self.params, self.work).unwrap();
        let word = self.case.path.as_os_str().to_owned();
        let request = ReadRequest { word, ..ReadRequest::default() };
        let command = self.contender.read_command(&choice, self.work, &request);
        let mut session = Session::start(&self.id.contender, &command)?;
        session.ready()?;
        let first = session.turn(TurnRequest { lead: 0, count: 1 }, PATIENCE)?;
        let second = session.turn(TurnRequest { lead: 1, count: 1 }, PATIENCE)?;
        Ok(first.samples.iter().chain(&second.samples).map(Answer::from).collect())
    }
}

#[test]
fn every_way_of_reading_is_right_on_files_that_are_awkward() {
    let (folder, rust) = (folder(), contender("rust"));
    let cases = awkward(folder.path());
    let talks: Vec<Talk> = readers(&rust).into_iter().flat_map(|m| talks(&rust, m, &cases)).collect();
    converse(&talks);
}

#[test]
fn every_way_of_reading_is_right_around_the_size_of_its_block() {
    let (folder, rust) = (folder(), contender("rust"));
    let methods = readers(&rust);
    let sizes: BTreeSet<u64> = methods.iter().flat_map(|method| blocks(method)).collect();
    let cases: Vec<(u64, Vec<Case>)> =
        sizes.into_iter().map(|block| (block, around(folder.path(), block))).collect();
    let mut all = Vec::new();
    for method in methods {
        let own = blocks(method);
        for (_, cases) in cases.iter().filter(|(block, _)| own.contains(block)) {
            all.extend(talks(&rust, method, cases));
        }
    }
    converse(&all);
}

#[test]
fn every_way_of_reading_is_right_on_64_mib() {
    let (folder, rust) = (folder(), contender("rust"));
    let recipe = Recipe { kind: CorpusKind::Lines, size_bytes: 64 << 20, seed: 1 };
    let cases = [case(readlab::corpus::make(folder.path(), recipe).unwrap().path)];
    let talks: Vec<Talk> = readers(&rust).into_iter().flat_map(|m| talks(&rust, m, &cases)).collect();
    converse(&talks);
}

/// What the oracle finds in an archive.
fn content(path: &Path, archive: Archive) -> std::io::Result<Truth> {
    oracle::content(&Packed { path, archive, dictionary: &[] }, &|_| Ok(()))
}

/// Files of awkward sizes in an archive, each with the correct answer of its content; and one
/// archive of several entries or members.
fn archived(folder: &Path, archive: Archive) -> Vec<Case> {
    let recipes = [0, 1, PAGE - 1, PAGE + 1, (1 << 16) + 1, 3_000_001].map(|size_bytes| Recipe {
        kind: CorpusKind::Gdelt,
        size_bytes,
        seed: 1,
    });
    let mut cases = Vec::new();
    for recipe in recipes {
        let made = readlab::corpus::make_forms(folder, recipe, &[None, Some(archive)]).unwrap();
        let truth = oracle::truth(&made[0].1.path).unwrap();
        assert_eq!(content(&made[1].1.path, archive).unwrap().answer, truth.answer);
        cases.push(Case { path: made[1].1.path.clone(), truth });
    }
    if ![Archive::Zip, Archive::Brotli].contains(&archive) {
        let members: Vec<u8> = cases.iter().flat_map(|case| fs::read(&case.path).unwrap()).collect();
        let path = folder.join("members");
        fs::write(&path, members).unwrap();
        cases.push(Case { truth: content(&path, archive).unwrap(), path });
    }
    cases
}

/// Whether a program is there; says so where it is not.
fn is_installed(program: &str) -> bool {
    let is_there = Command::new(program).arg("--help").output().is_ok();
    if !is_there {
        eprintln!("SKIPPED: {program}: not on the PATH");
    }
    is_there
}

#[test]
fn what_comes_out_of_archives_is_right() {
    let (folder, rust, command) = (folder(), contender("rust"), contender("command"));
    for (archive, methods, line) in [
        (Archive::Zip, 2, Some("unzip -p {} | wc -l")),
        (Archive::Gzip, 3, Some("gzip -dc {} | wc -l")),
        (Archive::Zstd, 2, Some("zstd -dc {} | wc -l")),
        (Archive::Lz4, 1, Some("lz4 -dc {} | wc -l")),
        (Archive::Xz, 1, Some("xz -dc -T0 {} | wc -l")),
        (Archive::Bzip2, 1, Some("bzip2 -dc {} | wc -l")),
        (Archive::Snappy, 1, None),
        (Archive::Brotli, 1, Some("brotli -dc {} | wc -l")),
    ] {
        let cases = archived(folder.path(), archive);
        let decoders = rust.methods.iter().filter(|method| method.decodes.contains(&archive));
        let decoders: Vec<&MethodLine> = decoders.filter(|method| method.cache != Cache::None).collect();
        assert_eq!(decoders.len(), methods, "{archive}");
        let mut talks: Vec<Talk> = decoders.into_iter().flat_map(|m| talks(&rust, m, &cases)).collect();
        let line = line.filter(|line| is_installed(line.split(' ').next().unwrap_or_default()));
        talks.extend(cases.iter().zip(line.into_iter().cycle()).map(|(case, line)| {
            let (id, params) = (MethodId::command(line), Params::default());
            Talk { contender: &command, id, params, work: Work::Newlines, case }
        }));
        converse(&talks);
    }
}

#[test]
fn who_reads_urls_is_right_on_files_that_are_served() {
    let (folder, rust, command) = (folder(), contender("rust"), contender("command"));
    let mut files = awkward(folder.path());
    files.extend(around(folder.path(), 128 << 10));
    files.push(written(folder.path(), "larger than any buffer", &text((3 << 20) + 17)));
    let mut servers: Vec<Child> = files.iter().map(|case| serve(&case.path)).collect();
    let urls = servers.iter_mut().map(url);
    let cases: Vec<Case> =
        urls.zip(files).map(|(url, file)| Case { path: url.into(), truth: file.truth }).collect();
    let methods = rust.methods.iter().filter(|it| it.reads == Reads::Url && it.cache != Cache::None);
    let mut all: Vec<Talk> = methods.flat_map(|method| talks(&rust, method, &cases)).collect();
    all.extend(talks(&rust, rust.methods.iter().find(|method| method.method == "http").unwrap(), &cases));
    let set = |name: &str, value| Params(BTreeMap::from([(name.to_owned(), value)]));
    for talk in all.iter_mut().skip(1).step_by(2) {
        let is_ranged = talk.id.method == "http-ranged";
        talk.params = if is_ranged { set("part_bytes", 64 << 10) } else { set("buffer_bytes", 7) };
    }
    for (line, work) in [("curl -s {} | wc -l", Work::Newlines), ("curl -sf {}", Work::Discard)] {
        let (id, params) = (MethodId::command(line), Params::default());
        all.extend(cases.iter().map(|case| Talk {
            contender: &command,
            id: id.clone(),
            params: params.clone(),
            work,
            case,
        }));
    }
    converse(&all);
    for server in &mut servers {
        drop(server.stdin.take());
        assert!(server.wait().unwrap().success());
    }
}

/// Readlab's own server of a file, as the lab starts it.
fn serve(file: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_readlab"));
    command.arg("serve").arg(file).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Its first message.
fn url(server: &mut Child) -> String {
    let mut url = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
    url.trim_end().to_owned()
}

#[test]
fn commands_are_right_on_all_of_them() {
    let (folder, command) = (folder(), contender("command"));
    let mut cases = awkward(folder.path());
    cases.extend(around(folder.path(), PAGE));
    let mut talks = Vec::new();
    for (line, work) in [
        ("wc -l {}", Work::Newlines),
        ("tr -cd '\\n' < {} | wc -c", Work::Newlines),
        ("awk 'END { print NR }' {}", Work::Lines),
        ("cat {}", Work::Discard),
    ] {
        let talk = |case| Talk {
            contender: &command,
            id: MethodId::command(line),
            params: Params::default(),
            work,
            case,
        };
        talks.extend(cases.iter().map(talk));
    }
    converse(&talks);
}

#[test]
fn names_of_any_bytes_reach_the_contender() {
    use std::os::unix::ffi::OsStrExt;
    let (folder, rust, command) = (folder(), contender("rust"), contender("command"));
    let name = std::ffi::OsStr::from_bytes(b"a 'b' \"c\"\n$(d) \x1b[31m\xff\xfe");
    let path = folder.path().join(name);
    fs::write(&path, "one\ntwo").unwrap();
    let cases = [case(path)];
    let mut talks: Vec<Talk> = readers(&rust).into_iter().flat_map(|m| talks(&rust, m, &cases)).collect();
    for line in ["wc -l {}", "cat {} | wc -l"] {
        let (id, params) = (MethodId::command(line), Params::default());
        talks.push(Talk { contender: &command, id, params, work: Work::Newlines, case: &cases[0] });
    }
    converse(&talks);
}
