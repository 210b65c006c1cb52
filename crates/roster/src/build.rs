//! Builds a contender from its sources: in its own folder, once, with a deadline, and with all
//! output in a log.
//!
//! This module also fills in the placeholders in the commands of a roster, such as `{sources}`. A
//! note in the build folder states that a contender is built, and with which compiler; if the
//! compiler changes, the contender is built again. The roster defines what each language needs.

use super::sources;
use readlab_catalog::roster::RosterEntry;
use readlab_system::file_status::FileStatus;
use readlab_system::folder::folder_of;
use readlab_system::interrupt;
use readlab_system::program::{self, CommandLine, ProgramError};
use readlab_system::trust::{self, Distrust};
use readlab_targets::target::responsive_folders;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Time limit of a build; enough for a compiler on a slow and busy machine.
const BUILD_TIMEOUT: Duration = Duration::from_secs(900);

/// Time limit of the command that checks for a dependency.
const DEPENDENCY_TIMEOUT: Duration = Duration::from_secs(20);

/// File in the build folder that names the compilers with which the contender was built.
const NOTE_FILE: &str = ".readlab-built";

/// File in the folder of the sources with all output of the build. Its name is hidden, because the
/// folder may be the user's and contain a `build.log`.
const LOG_FILE: &str = ".readlab-build.log";

/// The folder of a contender's sources, and of what is built from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildDir {
    sources: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("its sources: {0}")]
    NoSources(io::Error),
    #[error("{}: {cause}", .path.display())]
    Io { path: PathBuf, cause: io::Error },
    #[error("it needs {program}: {message}")]
    Missing { program: String, message: String },
    #[error("{message}")]
    Failed {
        /// The last line of output, or how the build ended.
        message: String,
        /// The file with all output.
        log: PathBuf,
    },
    #[error("not built within {BUILD_TIMEOUT:?}")]
    TooLong {
        /// The file with all output.
        log: PathBuf,
    },
    /// Another user could have changed files that would be executed.
    #[error(transparent)]
    Distrusted(#[from] Distrust),
    #[error("interrupted")]
    Interrupted,
}

impl BuildError {
    /// The file with all output of the build; `None` if no command was run.
    pub fn log_path(&self) -> Option<&Path> {
        match self {
            BuildError::Failed { log, .. } | BuildError::TooLong { log } => Some(log),
            _ => None,
        }
    }
}

impl BuildDir {
    /// The folder in which a contender is built; embedded sources are extracted if needed. `None`
    /// for a contender that is not built.
    pub fn for_entry(entry: &RosterEntry) -> Result<Option<BuildDir>, BuildError> {
        let Some(name) = &entry.sources else { return Ok(None) };
        let sources = match &entry.roster_path {
            Some(roster) => std::path::absolute(folder_of(roster).join(name)),
            None => sources::extracted_folder(name),
        };
        Ok(Some(BuildDir { sources: sources.map_err(BuildError::NoSources)? }))
    }

    /// The folder for the placeholder `{sources}`.
    pub fn sources_folder(&self) -> &Path {
        &self.sources
    }

    /// The folder for the placeholder `{build}`.
    pub fn output_folder(&self) -> PathBuf {
        self.sources.join("build")
    }

    /// The path of the contender's note. Each contender has its own note, even if several are built
    /// from the same sources.
    fn note_path(&self, entry: &RosterEntry) -> PathBuf {
        self.output_folder().join(format!("{NOTE_FILE}-{}", entry.name))
    }

    /// True if the contender was built with the compilers that are installed now, or needs no
    /// build.
    pub fn is_built(&self, entry: &RosterEntry) -> bool {
        entry.build.is_empty()
            || fs::read(self.note_path(entry))
                .is_ok_and(|note| note == self.compilers_text(entry).into_bytes())
    }

    /// A line for each program of the dependency checks, with its path, size and modification time;
    /// the line of a missing program says `none`. The programs are not started.
    fn compilers_text(&self, entry: &RosterEntry) -> String {
        let programs = entry.dependency_checks.iter().filter_map(|words| words.first());
        let found = programs.map(|program| {
            let program = fill_placeholders(program, Some(self));
            find_program(&program).and_then(|path| Some((path.metadata().ok()?, path))).map_or_else(
                || format!("{}: none\n", program.display()),
                |(meta, path)| {
                    let status = FileStatus::from(&meta);
                    format!("{} {} {}\n", path.display(), status.size_bytes, status.content_change_time.0)
                },
            )
        });
        found.collect()
    }

    /// Locks the folder, because another readlab may be building the same contender. Waits as long
    /// as a build may take.
    fn lock(&self) -> Result<File, BuildError> {
        let io = |cause| BuildError::Io { path: self.sources.clone(), cause };
        let folder = File::open(&self.sources).map_err(io)?;
        let deadline = Instant::now() + BUILD_TIMEOUT;
        loop {
            match folder.try_lock() {
                Ok(()) => return Ok(folder),
                Err(TryLockError::WouldBlock) if interrupt::is_stop_requested() => {
                    return Err(BuildError::Interrupted);
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                Err(cause) => return Err(io(cause.into())),
            }
        }
    }

    fn run_build(&self, entry: &RosterEntry) -> Result<(), BuildError> {
        // Trust is checked before anything is written there, and again before each command, because
        // earlier commands may have created files.
        entry.build.iter().try_for_each(|words| check_trust(entry, words, Some(self)))?;
        let path = self.sources.join(LOG_FILE);
        let io = |cause| BuildError::Io { path: path.clone(), cause };
        // The note is removed first: if this build fails, an earlier build no longer counts.
        let note = self.note_path(entry);
        remove_if_present(&note).map_err(|cause| BuildError::Io { path: note.clone(), cause })?;
        let log = create_anew(&path).map_err(io)?;
        let deadline = Instant::now() + BUILD_TIMEOUT;
        for words in &entry.build {
            let line = command_line(entry, words, Some(self))?;
            let left = deadline.saturating_duration_since(Instant::now());
            match program::run_to_end(&line, &self.sources, &log, left) {
                Ok(status) if status.success() => {}
                Ok(status) => {
                    return Err(BuildError::Failed {
                        message: last_line_or_status(File::open(&path).map_err(io)?, status),
                        log: path,
                    });
                }
                Err(ProgramError::Timeout(_)) => return Err(BuildError::TooLong { log: path }),
                Err(ProgramError::Interrupted) => return Err(BuildError::Interrupted),
                Err(error) => {
                    let message = format!("{}: {error}", line.program.display());
                    return Err(BuildError::Failed { message, log: path });
                }
            }
        }
        create_anew(&note)
            .and_then(|mut file| file.write_all(self.compilers_text(entry).as_bytes()))
            .map_err(|cause| BuildError::Io { path: note, cause })
    }
}

fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Creates a file that belongs to readlab, and replaces an earlier file; does not follow a symbolic
/// link.
fn create_anew(path: &Path) -> io::Result<File> {
    remove_if_present(path)?;
    File::create_new(path)
}

/// Builds a contender, and makes the command that starts it.
pub trait Build {
    /// Builds the contender. If this fails because a dependency is missing, the error names the
    /// dependency.
    fn build(&self) -> Result<(), BuildError>;

    /// Builds the contender unless it is built with the present compilers. Calls `about_to` before
    /// the build begins. A missing dependency is an error before that.
    fn build_if_needed(&self, about_to: impl FnOnce()) -> Result<(), BuildError>;

    fn command(&self) -> Result<CommandLine, BuildError>;

    /// The error for the first dependency that is missing; `None` if all are installed.
    fn missing_dependency(&self, place: &BuildDir) -> Option<BuildError>;
}

impl Build for RosterEntry {
    fn build(&self) -> Result<(), BuildError> {
        let Some(place) = BuildDir::for_entry(self)? else { return Ok(()) };
        if self.build.is_empty() {
            return self.missing_dependency(&place).map_or(Ok(()), Err);
        }
        let _lock = place.lock()?;
        build_under_lock(self, &place)
    }

    fn build_if_needed(&self, about_to: impl FnOnce()) -> Result<(), BuildError> {
        let Some(place) = BuildDir::for_entry(self)?.filter(|place| !place.is_built(self)) else {
            return Ok(());
        };
        if let Some(missing) = self.missing_dependency(&place) {
            return Err(missing);
        }
        let _lock = place.lock()?;
        // Another readlab may have built the contender while this one waited.
        if place.is_built(self) {
            return Ok(());
        }
        about_to();
        build_under_lock(self, &place)
    }

    fn command(&self) -> Result<CommandLine, BuildError> {
        let place = BuildDir::for_entry(self)?;
        command_line(self, &self.run, place.as_ref())
    }

    fn missing_dependency(&self, place: &BuildDir) -> Option<BuildError> {
        self.dependency_checks.iter().find_map(|words| {
            let line = match command_line(self, words, Some(place)) {
                Ok(line) => line,
                Err(error) => return Some(error),
            };
            let message = dependency_error(&line, place.sources_folder())?;
            let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
            Some(BuildError::Missing { program: program.to_owned(), message })
        })
    }
}

fn build_under_lock(entry: &RosterEntry, place: &BuildDir) -> Result<(), BuildError> {
    place.run_build(entry).map_err(|error| match error {
        BuildError::Failed { .. } => entry.missing_dependency(place).unwrap_or(error),
        other => other,
    })
}

/// A command of the roster with its placeholders filled in and the contender's environment.
pub(super) fn command_line(
    entry: &RosterEntry,
    words: &[String],
    place: Option<&BuildDir>,
) -> Result<CommandLine, BuildError> {
    check_trust(entry, words, place)?;
    let mut words = words.iter().map(|word| fill_placeholders(word, place));
    let env = entry.env.iter().map(|(name, value)| (name.into(), fill_placeholders(value, place)));
    Ok(CommandLine {
        program: words.next().unwrap_or_default(),
        args: words.collect(),
        env: env.collect(),
        ..CommandLine::default()
    })
}

/// Checks that other users cannot change files that the command executes or reads: the user's
/// roster, the folder of the sources with the configuration files above it, a program that is named
/// by its path, files of the contender that the words name, and folders in the environment with
/// their entries. Programs on the PATH are trusted, because the user chose the PATH.
fn check_trust(entry: &RosterEntry, words: &[String], place: Option<&BuildDir>) -> Result<(), Distrust> {
    if let Some(place) = place {
        trust::check_configuration_above(&place.sources)?;
    }
    let folder = place.map_or(Path::new(""), BuildDir::sources_folder);
    let is_path = |(index, word): &(usize, &String)| {
        !word.starts_with("{self}") && (word.starts_with('{') || *index == 0 && word.contains('/'))
    };
    let paths = words.iter().enumerate().filter(is_path);
    let paths = paths.map(|(_, word)| folder.join(fill_placeholders(word, place)));
    let is_folder = |value: &&String| value.starts_with('{') && !value.starts_with("{self}");
    let folders = entry.env.values().filter(is_folder);
    // A value may be a list of folders, as in LD_LIBRARY_PATH.
    let lists = folders.map(|value| fill_placeholders(value, place));
    let in_environment =
        lists.flat_map(|list| env::split_paths(&list).collect::<Vec<_>>()).flat_map(folder_with_entries);
    let sources = place.map(|place| place.sources.clone());
    let of_entry = entry.roster_path.clone().into_iter().chain(sources);
    of_entry.chain(paths).chain(in_environment).try_for_each(|path| trust::check(&path))
}

/// A folder and the paths directly in it; only the path if it is not a folder.
fn folder_with_entries(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.insert(0, folder);
    paths
}

/// Fills in `{self}`, `{sources}`, `{build}` and `{toolchains}` in a word of the roster.
pub(super) fn fill_placeholders(word: &str, place: Option<&BuildDir>) -> OsString {
    let mut places = vec![("{self}", own_program()), ("{toolchains}", toolchains_folder().into_os_string())];
    if let Some(place) = place {
        places.push(("{sources}", place.sources_folder().into()));
        places.push(("{build}", place.output_folder().into()));
    }
    replace_placeholders(word, &places)
}

/// The path of a program, with symbolic links resolved.
fn find_program(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.canonicalize().ok();
    }
    path_folders().iter().find_map(|folder| folder.join(program).canonicalize().ok())
}

/// The folders of the PATH whose file systems respond. The others would block this process for ever:
/// no word of the command line leads to them, so nothing limits the wait.
fn path_folders() -> &'static [PathBuf] {
    static FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FOLDERS.get_or_init(|| {
        let path = env::var_os("PATH");
        responsive_folders(&path.as_deref().map(named_folders).unwrap_or_default())
    })
}

/// The folders that a PATH names. An empty entry means the current folder, where another user may
/// have put a program.
fn named_folders(path: &OsStr) -> Vec<PathBuf> {
    env::split_paths(path).filter(|folder| !folder.as_os_str().is_empty()).collect()
}

/// Why the command that checks a dependency fails; `None` if it succeeds.
fn dependency_error(line: &CommandLine, folder: &Path) -> Option<String> {
    // The file has no name, so it disappears even if the lab is killed.
    let Ok(said) = tempfile::tempfile() else { return None };
    match program::run_to_end(line, folder, &said, DEPENDENCY_TIMEOUT) {
        Ok(status) if status.success() => None,
        Ok(status) => Some(last_line_or_status(said, status)),
        Err(ProgramError::Io(cause)) if cause.kind() == io::ErrorKind::NotFound => {
            Some("not found".to_owned())
        }
        Err(error) => Some(error.to_string()),
    }
}

/// The last line of a log that is not blank; if there is none, how the command ended.
fn last_line_or_status(log: impl Read + Seek, status: ExitStatus) -> String {
    program::last_line(log).unwrap_or_else(|| format!("it ended with {status}"))
}

/// Environment variable that names the folder of toolchains that are not on the PATH.
const TOOLCHAINS_VARIABLE: &str = "READLAB_TOOLCHAINS";

fn own_program() -> OsString {
    std::env::current_exe().map_or_else(|_| "readlab".into(), PathBuf::into_os_string)
}

/// The source checkout in which this program was built.
const CHECKOUT_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The folder of toolchains that are not on the PATH: the folder in the environment variable; for a
/// program that is still in its source checkout, the folder in the checkout; otherwise a folder in
/// the user's cache.
fn toolchains_folder() -> PathBuf {
    if let Some(named) = std::env::var_os(TOOLCHAINS_VARIABLE) {
        return named.into();
    }
    let checkout = Path::new(CHECKOUT_FOLDER).canonicalize().ok();
    let checkout = checkout.filter(|checkout| Path::new(&own_program()).starts_with(checkout));
    checkout.unwrap_or_else(|| sources::cache_folder().unwrap_or_default()).join("toolchains")
}

fn replace_placeholders(word: &str, places: &[(&str, OsString)]) -> OsString {
    let mut filled = OsString::new();
    let mut rest = word;
    let next = |rest: &str| {
        let found = places.iter().filter_map(|(name, value)| Some((rest.find(name)?, name.len(), value)));
        found.min_by_key(|(at, _, _)| *at)
    };
    while let Some((at, length, value)) = next(rest) {
        filled.push(&rest[..at]);
        filled.push(value);
        rest = &rest[at + length..];
    }
    filled.push(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::Query;
    use readlab_catalog::roster::Roster;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    fn entry(folder: &Path, text: &str) -> RosterEntry {
        let path = folder.join("roster.toml");
        fs::write(&path, format!("[[contender]]\nname = 'x'\nabout = 'x'\nsources = '.'\n{text}")).unwrap();
        Roster::load(&path).unwrap().entries.remove(0)
    }

    #[test]
    fn a_contender_is_built_once_and_again_when_its_compiler_changes() {
        let folder = tempfile::tempdir().unwrap();
        // Another program writes it: a process that another test starts shares the open files of this one for a
        // moment, and the kernel runs no file that is open for writing.
        let version = |text: &str| {
            let script = format!("#!/bin/sh\n[ $# -gt 0 ] || {{ mkdir -p build; echo {text} >>count; }}\n");
            let write = ["-c", "printf %s \"$1\" >cc.sh && chmod 755 cc.sh", "sh", &script];
            let written = Command::new("sh").args(write).current_dir(&folder).status();
            assert!(written.unwrap().success());
        };
        version("built");
        let entry = entry(
            folder.path(),
            "dependency = [['{sources}/cc.sh', '--version']]\nbuild = [['./cc.sh']]\nrun = ['x']",
        );
        let built = || fs::read_to_string(folder.path().join("count")).unwrap_or_default().lines().count();
        entry.build_if_needed(|| {}).unwrap();
        entry.build_if_needed(|| panic!("it is built")).unwrap();
        assert_eq!(built(), 1);
        version("'built again'");
        entry.build_if_needed(|| {}).unwrap();
        assert_eq!(built(), 2);
    }

    #[test]
    fn a_build_follows_no_symbolic_link_and_overwrites_no_file_of_the_user() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let entry = entry(folder.path(), "build = [['mkdir', '-p', 'build']]\nrun = ['x']");
        fs::write(at("precious"), "the user's").unwrap();
        fs::write(at("build.log"), "the user's").unwrap();
        fs::create_dir(at("build")).unwrap();
        for link in [LOG_FILE, "build/.readlab-built-x"] {
            std::os::unix::fs::symlink(at("precious"), at(link)).unwrap();
        }
        entry.build().unwrap();
        for name in ["precious", "build.log"] {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "the user's", "{name}");
        }
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_rejected_before_writing() {
        let folder = tempfile::tempdir().unwrap();
        let entry = entry(folder.path(), "build = [['true']]\nrun = ['x']");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        fs::write(folder.path().join(LOG_FILE), "what was said before").unwrap();
        assert!(matches!(entry.build(), Err(BuildError::Distrusted(_))));
        assert_eq!(fs::read_to_string(folder.path().join(LOG_FILE)).unwrap(), "what was said before");
    }

    #[test]
    fn each_contender_of_shared_sources_is_built() {
        let folder = tempfile::tempdir().unwrap();
        let first =
            entry(folder.path(), "build = [['sh', '-c', 'mkdir -p build; echo >>count']]\nrun = ['x']");
        let second = RosterEntry { name: "y".to_owned(), ..first.clone() };
        for entry in [&first, &second, &first, &second] {
            entry.build_if_needed(|| {}).unwrap();
        }
        assert_eq!(fs::read_to_string(folder.path().join("count")).unwrap().lines().count(), 2);
    }

    #[test]
    fn a_contender_without_a_build_still_needs_its_runtime() {
        let folder = tempfile::tempdir().unwrap();
        let there = entry(folder.path(), "dependency = [['true']]\nrun = ['true']");
        there.build_if_needed(|| panic!("there is nothing to build")).unwrap();
        there.build().unwrap();
        let absent = entry(folder.path(), "dependency = [['no-such-runtime']]\nrun = ['no-such-runtime']");
        absent.build_if_needed(|| panic!("there is nothing to build")).unwrap();
        assert_eq!(absent.build().unwrap_err().to_string(), "it needs no-such-runtime: not found");
        assert_eq!(absent.query().unwrap_err().to_string(), "it needs no-such-runtime: not found");
    }

    #[test]
    fn a_failed_build_reports_the_last_line_or_the_missing_compiler() {
        let folder = tempfile::tempdir().unwrap();
        let broken = entry(
            folder.path(),
            "build = [['sh', '-c', 'echo first; echo broken >&2; exit 1']]\nrun = ['x']",
        );
        let error = broken.build().unwrap_err();
        assert_eq!(error.to_string(), "broken");
        assert!(fs::read_to_string(error.log_path().unwrap()).unwrap().contains("first"));
        assert!(!BuildDir::for_entry(&broken).unwrap().unwrap().is_built(&broken));
        let text =
            "dependency = [['no-such-compiler', '--version']]\nbuild = [['no-such-compiler']]\nrun = ['x']";
        let missing = entry(folder.path(), text);
        let built_once = missing.build_if_needed(|| panic!("nothing is built where the compiler is missing"));
        for error in [missing.build(), built_once] {
            assert_eq!(error.unwrap_err().to_string(), "it needs no-such-compiler: not found");
        }
    }

    #[test]
    fn no_program_is_looked_up_in_the_current_folder() {
        assert_eq!(named_folders(OsStr::new(":/bin::/sbin:")), [Path::new("/bin"), Path::new("/sbin")]);
        assert_eq!(named_folders(OsStr::new("")), Vec::<PathBuf>::new());
    }

    #[test]
    fn placeholders_are_filled_in_anywhere_in_a_word() {
        let places = [("{build}", OsString::from("/b")), ("{sources}", OsString::from("/s"))];
        assert_eq!(replace_placeholders("{sources}/x:{build}:{other}", &places), "/s/x:/b:{other}");
        assert_eq!(replace_placeholders("plain", &places), "plain");
    }
}
