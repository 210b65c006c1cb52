//! A home folder for one test, and the output of a run of the program in it, for all tests that
//! start readlab as its users do. [`crate::fake`] has contenders of a few lines of shell.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Once;
use tempfile::TempDir;

/// The program under test.
pub(crate) const READLAB: &str = env!("CARGO_BIN_EXE_readlab");

/// Enough for a race of tiny files on a busy machine.
pub(crate) const QUICK: [&str; 6] = ["--runs", "3", "--budget", "20m", "--no-progress", "--seed=7"];

/// Every method of Rust, each with one scan.
pub(crate) const EVERY_METHOD: [&str; 4] = ["--method", "rust/*/memchr", "--method", "rust/lines"];

/// A home folder for one test, on the file system of the build, with nothing in it but a folder for
/// temporary files.
pub(crate) struct Home {
    pub(crate) folder: TempDir,
}

/// The output and exit code of a run.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The contenders of other languages that take part in every race. Those with SDKs of objects take
/// minutes: the tests that need them have them built.
const LANGUAGES: [&str; 7] = ["c", "cpp", "go", "java", "node", "python", "swift"];

/// The folder of built contenders that all homes share: the first race that needs one builds it
/// there, once for all tests.
pub(crate) fn contenders() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("builder/.cache/readlab/contenders")
}

/// Where compilers have their files: with another home cargo would find none, and Go would compile
/// its library again. The crates of a contender are compiled once for it and for its own tests, as
/// contenders/test.sh compiles them.
fn settings_of_compilers() -> Vec<(&'static str, PathBuf)> {
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

/// The files in a folder, without the mark of a folder that readlab made; none if there is no
/// folder.
pub(crate) fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().is_none_or(|name| name != ".readlab-folder")).collect()
}

impl Home {
    pub(crate) fn new() -> Home {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        // Every user that a test switches to needs access, and none may change what another made.
        let shared = || fs::Permissions::from_mode(0o1777);
        fs::set_permissions(folder.path(), shared()).unwrap();
        let home = Home { folder };
        fs::create_dir(home.temporary()).unwrap();
        let cache = home.at(".cache/readlab");
        fs::create_dir_all(&cache).unwrap();
        fs::create_dir_all(contenders()).unwrap();
        std::os::unix::fs::symlink(contenders(), cache.join("contenders")).unwrap();
        for folder in [home.at(".cache"), cache] {
            fs::set_permissions(folder, shared()).unwrap();
        }
        fs::set_permissions(home.temporary(), shared()).unwrap();
        home
    }

    /// The same with every language built whose compiler is here, for races that would build them
    /// otherwise and say so.
    pub(crate) fn with_languages() -> Home {
        static BUILT: Once = Once::new();
        let home = Home::new();
        BUILT.call_once(|| {
            let said = home.readlab([&["build"], &LANGUAGES[..]].concat());
            eprintln!("contenders of other languages: {said}");
        });
        home
    }

    pub(crate) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder for temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.at("tmp")
    }

    pub(crate) fn file(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The environment of every run.
    pub(crate) fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        let own = [
            ("HOME", self.folder.path().to_owned()),
            ("TMPDIR", self.temporary()),
            ("COLUMNS", "100".into()),
        ];
        own.into_iter().chain(settings_of_compilers()).collect()
    }

    /// Readlab with these words, or another program that starts it.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.envs(self.environment()).current_dir(self.folder.path());
        // With CI set, colour is also for terminals that call themselves dumb.
        for name in ["XDG_DATA_HOME", "XDG_CACHE_HOME", "NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "CI"] {
            command.env_remove(name);
        }
        // Set by a clock of the tests (`times.sh`); cargo would build everything anew.
        command.env_remove("RUSTC_BOOTSTRAP");
        command
    }

    pub(crate) fn readlab(&self, words: impl IntoIterator<Item = impl AsRef<std::ffi::OsStr>>) -> Said {
        Said::by(self.command(READLAB).args(words))
    }

    /// A quick race on a file with further words.
    pub(crate) fn race(&self, target: &Path, words: &[&str]) -> Said {
        let mut command = self.command(READLAB);
        Said::by(command.arg("race").arg(target).args(QUICK).args(words))
    }

    /// What [`Home::race`] exports as JSON.
    pub(crate) fn race_json(&self, target: &Path, words: &[&str]) -> (Value, Said) {
        let said = self.race(target, &[&["--quiet", "--export-json", "-"], words].concat());
        let json = serde_json::from_str(&said.out);
        (json.unwrap_or_else(|error| panic!("{error}: {said}")), said)
    }

    /// Everything that readlab left in this home, below its own data folder.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.at(".local/share/readlab/runs")).into_iter().flatten();
        runs.map(|entry| entry.unwrap().path()).collect()
    }
}

impl Said {
    pub(crate) fn by(command: &mut Command) -> Said {
        let output = command.output().unwrap();
        Said {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// One line on standard error, which it returns, and the exit code of usage and environment.
    /// The first test that needs a contender is told that it is built.
    pub(crate) fn refusal(&self) -> &str {
        assert_eq!((self.code, self.out.as_str()), (Some(2), ""), "{self}");
        let lines = self.err.lines().filter(|line| !line.starts_with("readlab: building the contender "));
        let lines: Vec<&str> = lines.collect();
        let [line] = lines[..] else { panic!("it is not one line: {self}") };
        assert!(line.starts_with("readlab: ") && !line.contains(char::is_control), "{self}");
        line
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {:?}\n-- out\n{}\n-- err\n{}", self.code, self.out, self.err)
    }
}

/// The trials of an export by name and state.
pub(crate) fn trials<'a>(json: &'a Value, id: &str, state: &str) -> &'a Value {
    let all = json["trials"].as_array().unwrap();
    let found = all.iter().find(|trial| trial["id"] == id && trial["state"] == state);
    found.unwrap_or_else(|| {
        let known: Vec<_> = all.iter().map(|trial| (&trial["id"], &trial["state"])).collect();
        panic!("no {id} {state} among {known:?}")
    })
}

/// `Some(why)` if the tests cannot switch to a user who owns no file.
pub(crate) fn no_other_user() -> Option<&'static str> {
    let can = rustix::process::geteuid().is_root() && Path::new("/usr/bin/setpriv").exists();
    (!can).then_some("only root with setpriv can become a user that owns nothing")
}

/// The arguments that start a program as a user who owns no file.
pub(crate) const AS_NOBODY: [&str; 5] =
    ["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--"];
