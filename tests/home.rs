//! A home folder for one test, the programs that the test starts in it, and their output and
//! exports. [`crate::fake`] has contenders of a few lines of shell.

use crate::machine::{self, AS_NOBODY};
use crate::schemas;
use readlab_record::Record;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::io::Write;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;
use tempfile::TempDir;

/// The program under test.
pub(crate) const READLAB: &str = env!("CARGO_BIN_EXE_readlab");

/// Options that suffice for a race of tiny files on a busy machine.
pub(crate) const QUICK: &str = "--runs 3 --budget 20m --no-progress --seed=7";

pub(crate) const EVERY_METHOD: &str = "--method rust/*/memchr --method rust/lines";

/// A home folder for one test, on the file system of the build. It contains only a folder for
/// temporary files.
pub(crate) struct Home(TempDir);

/// The output and exit code of a program.
pub(crate) struct ProgramOutput {
    command: String,
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The JSON export of a run, and its other output.
pub(crate) struct Export {
    json: Value,
    pub(crate) said: ProgramOutput,
}

/// The words of a command line: a list, or a text that is split as a shell splits it.
pub(crate) trait Words {
    fn words(self) -> Vec<OsString>;
}

pub(crate) trait Trials {
    fn trials(&self) -> &[Value];
    /// The only trial with this name in this state.
    fn trial(&self, id: &str, state: &str) -> &Value;
    fn trial_with(&self, field: &str, value: &str) -> &Value;
    /// A trial that must have this outcome, for a reason with these words.
    fn ended(&self, id: &str, state: &str, outcome: &str, why: &str) -> &Value;
    /// A trial that must have been measured.
    fn measured(&self, id: &str, state: &str) -> &Value;
}

/// The contenders of other languages that take part in every race. Contenders with SDKs for objects
/// take minutes to build, so the tests that need them build them.
const LANGUAGES: &str = "c cpp go java node python swift";

/// The folder of built contenders that all homes share. The first race that needs a contender
/// builds it there, once for all tests.
pub(crate) fn contenders() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("builder/.cache/readlab/contenders")
}

/// The folders of compilers' files. With another home, cargo would find no compiler, and Go would
/// compile its library again. The crates of a contender are compiled once for it and for its own
/// tests, as contenders/test.sh compiles them.
fn compiler_variables() -> Vec<(&'static str, PathBuf)> {
    let own = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let home = |name, folder| (name, std::env::var_os(name).map_or_else(|| own.join(folder), PathBuf::from));
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contenders/rust-objects/build/target");
    vec![
        home("CARGO_HOME", ".cargo"),
        home("RUSTUP_HOME", ".rustup"),
        home("GOCACHE", ".cache/go-build"),
        home("GOMODCACHE", "go/pkg/mod"),
        ("KEEP_TARGET", crates.into()),
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1".into()),
    ]
}

/// The files in a folder, without the marker of a folder that readlab made. Empty if there is no
/// folder.
pub(crate) fn paths_in(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().is_none_or(|name| name != ".readlab-folder")).collect()
}

/// Sets the permissions of a file or folder, in the notation of `chmod`.
pub(crate) fn set_mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The elements of a JSON array.
#[track_caller]
pub(crate) fn items(array: &Value) -> &[Value] {
    array.as_array().unwrap_or_else(|| panic!("no array: {array}"))
}

impl Home {
    pub(crate) fn new() -> Home {
        let home = Home(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
        let cache = home.folder(".cache/readlab");
        fs::create_dir_all(contenders()).unwrap();
        std::os::unix::fs::symlink(contenders(), cache.join("contenders")).unwrap();
        // Every user that a test switches to needs access, and none may change files of another.
        for folder in [home.at(""), home.folder("tmp"), home.at(".cache"), cache] {
            set_mode(folder, 0o1777);
        }
        home
    }

    pub(crate) fn with_file(name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Home {
        let home = Home::new();
        home.file(name, content);
        home
    }

    /// A home where every language is built whose compiler is installed, for races that would
    /// otherwise build it and report so.
    pub(crate) fn with_languages() -> Home {
        static BUILT: Once = Once::new();
        let home = Home::new();
        BUILT.call_once(|| {
            let said = home.readlab(format!("build {LANGUAGES}"));
            eprintln!("contenders of other languages: {said}");
        });
        home
    }

    /// A home without any contender that another test built.
    pub(crate) fn without_contenders() -> Home {
        let home = Home::new();
        fs::remove_file(home.at(".cache/readlab/contenders")).unwrap();
        home
    }

    pub(crate) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// The folder for temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.at("tmp")
    }

    /// Writes a file. Its folder is made if it does not exist.
    pub(crate) fn file(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes an executable file, by another program: the kernel runs no file that is open for
    /// writing, and a process that another test starts shares the open files of this one for a
    /// moment.
    pub(crate) fn program(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut writer =
            Command::new("tee").arg(&path).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        writer.stdin.take().unwrap().write_all(content.as_ref()).unwrap();
        assert!(writer.wait().unwrap().success());
        set_mode(&path, 0o755);
        path
    }

    /// Makes a folder, with its parents.
    pub(crate) fn folder(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[track_caller]
    pub(crate) fn read(&self, name: impl AsRef<Path>) -> String {
        let path = self.at(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    #[track_caller]
    pub(crate) fn json(&self, name: impl AsRef<Path>) -> Value {
        let json = serde_json::from_str(&self.read(name)).unwrap();
        schemas::check(&json);
        json
    }

    #[track_caller]
    pub(crate) fn record(&self, run: impl AsRef<Path>) -> Record {
        Record::read(&self.at(run).join("record.jsonl")).unwrap()
    }

    /// Removes the last third of the lines of a record, as if its run had been killed.
    pub(crate) fn cut_short(&self, record: &str) {
        let whole = self.read(record);
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        self.file(record, lines[..lines.len() * 2 / 3].concat());
    }

    /// The environment of every run.
    pub(crate) fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        let own = [("HOME", self.0.path().into()), ("TMPDIR", self.temporary()), ("COLUMNS", "100".into())];
        own.into_iter().chain(compiler_variables()).collect()
    }

    /// A command that runs readlab, or another program that starts it.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.envs(self.environment()).current_dir(self.0.path());
        // With CI set, terminals that call themselves dumb would get colour, too.
        for name in ["XDG_DATA_HOME", "XDG_CACHE_HOME", "NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "CI"] {
            command.env_remove(name);
        }
        // The clock of the tests (`times.sh`) sets this variable, and cargo would build everything
        // anew.
        command.env_remove("RUSTC_BOOTSTRAP");
        command
    }

    /// A line for a shell in which this readlab is `readlab`.
    pub(crate) fn shell(&self, line: impl AsRef<OsStr>) -> Command {
        let folder = Path::new(READLAB).parent().unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let mut shell = self.command("sh");
        shell.arg("-c").arg(line).env("PATH", path);
        shell
    }

    pub(crate) fn readlab(&self, words: impl Words) -> ProgramOutput {
        ProgramOutput::by(self.command(READLAB).args(words.words()))
    }

    /// Runs readlab as a user who owns no file; `None` with a message if that is impossible.
    pub(crate) fn as_nobody(&self, words: impl Words) -> Option<ProgramOutput> {
        self.as_nobody_after(":", words)
    }

    /// The same, after a line of shell by the user of the tests.
    pub(crate) fn as_nobody_after(&self, line: &str, words: impl Words) -> Option<ProgramOutput> {
        if !machine::has_nobody() {
            return None;
        }
        let script = format!("{line} && exec setpriv \"$@\"");
        let mut command = self.command("sh");
        command.args(["-c", &script, "sh"]).args(AS_NOBODY).arg(READLAB);
        let said = ProgramOutput::by(command.args(words.words()));
        let is_kept_out = said.err.contains("setpriv:");
        if is_kept_out {
            machine::skip(format!("other users may not run {READLAB}: {}", said.err));
        }
        (!is_kept_out).then_some(said)
    }

    /// Starts readlab without waiting for it.
    pub(crate) fn start(&self, words: impl Words) -> Child {
        let mut command = self.command(READLAB);
        command.args(words.words()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Runs a quick race on a file with further words.
    pub(crate) fn race(&self, target: impl AsRef<OsStr>, words: impl Words) -> ProgramOutput {
        let mut command = self.command(READLAB);
        ProgramOutput::by(command.arg("race").arg(target).args(QUICK.words()).args(words.words()))
    }

    pub(crate) fn race_json(&self, target: impl AsRef<OsStr>, words: impl Words) -> Export {
        let quiet = ["--quiet", "--export-json", "-"].map(OsString::from);
        let words: Vec<OsString> = quiet.into_iter().chain(words.words()).collect();
        self.race(target, words).export()
    }

    /// A quick race that shows its tables and exports.
    pub(crate) fn race_shown(&self, target: impl AsRef<OsStr>, words: impl Words) -> Export {
        let mut words = words.words();
        words.extend(["--export-json", "export.json"].map(OsString::from));
        let said = self.race(target, words).exits(0);
        Export { json: self.json("export.json"), said }
    }

    /// The folders of runs that readlab left in this home's data folder.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.at(".local/share/readlab/runs")).into_iter().flatten();
        runs.map(|entry| entry.unwrap().path()).collect()
    }

    pub(crate) fn assert_no_temporary_file(&self) {
        let left = paths_in(self.temporary());
        assert!(left.is_empty(), "temporary files were left: {left:?}");
    }
}

impl ProgramOutput {
    pub(crate) fn by(command: &mut Command) -> ProgramOutput {
        let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
        ProgramOutput { command: words.join(" "), ..ProgramOutput::from(output) }
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> ProgramOutput {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Asserts that the program succeeded and wrote nothing to standard error.
    #[track_caller]
    pub(crate) fn succeeds_silently(self) -> ProgramOutput {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self}");
        self
    }

    /// Asserts that this text is on standard output.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> &ProgramOutput {
        assert!(self.out.contains(text), "no {text:?} on standard output: {self}");
        self
    }

    /// Asserts that this text is not on standard output.
    #[track_caller]
    pub(crate) fn hides(&self, text: &str) -> &ProgramOutput {
        assert!(!self.out.contains(text), "{text:?} is on standard output: {self}");
        self
    }

    /// Asserts that this text is on standard error.
    #[track_caller]
    pub(crate) fn tells(&self, text: &str) -> &ProgramOutput {
        assert!(self.err.contains(text), "no {text:?} on standard error: {self}");
        self
    }

    /// Returns the only line on standard error, and asserts the exit code of usage and environment.
    /// The first test that needs a contender also gets a line that it is built.
    #[track_caller]
    pub(crate) fn refusal(&self) -> &str {
        assert_eq!((self.code, self.out.as_str()), (Some(2), ""), "{self}");
        let lines = self.err.lines().filter(|line| !line.starts_with("readlab: building the contender "));
        let lines: Vec<&str> = lines.collect();
        let [line] = lines[..] else { panic!("it is not one line: {self}") };
        assert!(line.starts_with("readlab: ") && !line.contains(char::is_control), "{self}");
        line
    }

    /// Asserts a refusal with these words. A line feed after them means the end of its line.
    #[track_caller]
    pub(crate) fn refuses(&self, why: &str) -> &ProgramOutput {
        self.refusal();
        self.tells(why)
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let json = serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self}"));
        schemas::check(&json);
        json
    }

    /// The JSON on standard output, with the rest of the output.
    #[track_caller]
    pub(crate) fn export(self) -> Export {
        Export { json: self.json(), said: self }
    }
}

impl From<Output> for ProgramOutput {
    /// The output of a program that was started in another way.
    fn from(output: Output) -> ProgramOutput {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let command = String::new();
        ProgramOutput {
            command,
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}

impl Display for ProgramOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nexit {:?}\n-- out\n{}\n-- err\n{}", self.command, self.code, self.out, self.err)
    }
}

impl Export {
    /// The export of a run that wrote it into a file.
    pub(crate) fn from_file(said: ProgramOutput, json: Value) -> Export {
        Export { json, said }
    }

    /// Asserts that the run ended with this exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Export {
        Export { said: self.said.exits(code), ..self }
    }
}

impl Deref for Export {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.json
    }
}

impl Display for Export {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.said.fmt(f)
    }
}

impl Trials for Value {
    #[track_caller]
    fn trials(&self) -> &[Value] {
        items(&self["trials"])
    }

    #[track_caller]
    fn trial(&self, id: &str, state: &str) -> &Value {
        let found = self.trials().iter().find(|trial| trial["id"] == id && trial["state"] == state);
        found.unwrap_or_else(|| {
            let known: Vec<_> = self.trials().iter().map(|trial| (&trial["id"], &trial["state"])).collect();
            panic!("no {id} {state} among {known:?}")
        })
    }

    #[track_caller]
    fn trial_with(&self, field: &str, value: &str) -> &Value {
        let found = self.trials().iter().find(|trial| trial[field] == value);
        found.unwrap_or_else(|| panic!("no trial with the {field} {value}: {}", self["trials"]))
    }

    #[track_caller]
    fn ended(&self, id: &str, state: &str, outcome: &str, why: &str) -> &Value {
        let trial = self.trial(id, state);
        assert_eq!(trial["outcome"], outcome, "{trial}");
        assert!(trial["reason"].as_str().unwrap_or_default().contains(why), "no {why:?}: {trial}");
        trial
    }

    #[track_caller]
    fn measured(&self, id: &str, state: &str) -> &Value {
        self.ended(id, state, "measured", "")
    }
}

impl Words for &str {
    fn words(self) -> Vec<OsString> {
        shell_words::split(self).unwrap().into_iter().map(OsString::from).collect()
    }
}

impl Words for String {
    fn words(self) -> Vec<OsString> {
        self.as_str().words()
    }
}

impl Words for &String {
    fn words(self) -> Vec<OsString> {
        self.as_str().words()
    }
}

impl<T: AsRef<OsStr>> Words for &[T] {
    fn words(self) -> Vec<OsString> {
        self.iter().map(|word| word.as_ref().to_owned()).collect()
    }
}

impl<T: AsRef<OsStr>, const N: usize> Words for [T; N] {
    fn words(self) -> Vec<OsString> {
        self[..].words()
    }
}

impl<T: AsRef<OsStr>> Words for Vec<T> {
    fn words(self) -> Vec<OsString> {
        self[..].words()
    }
}
