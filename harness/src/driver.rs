//! Runs a benchmark under `cargo bench`: starts `readlab race` with the benchmark itself as a
//! contender, and compares the record with an earlier one.
//!
//! Records are in `target/readlab/CRATE/BENCHMARK/RUN/WORK`. A run is `last`, `before`, or has the
//! name of a baseline. Readers with another work are raced separately, because their answers
//! differ.

use crate::options::Options;
use crate::{AS_CONTENDER, DeclaredReader, Harness, UsageError, Work};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The name of the latest run.
const LAST_RUN: &str = "last";
/// The name of the run before the latest.
const PREVIOUS_RUN: &str = "before";
/// The exit code of `readlab compare` if a record cannot be read or compared.
const NOT_COMPARABLE: u8 = 2;

/// Races the readers and compares the record. Returns the highest exit code of readlab.
pub(crate) fn measure(harness: &Harness, options: &Options) -> Result<ExitCode, UsageError> {
    let file = harness.readable()?;
    let mut by_work = BTreeMap::<Work, Vec<&DeclaredReader>>::new();
    for declared in harness.matching(options.filter.as_deref())? {
        by_work.entry(declared.work).or_default().push(declared);
    }
    let runs = Runs::from_harness(harness)?;
    let baseline = runs.baseline(options)?;
    let mut code = 0;
    for (work, readers) in by_work {
        let output = runs.cleared_folder(options.save_baseline.as_deref().unwrap_or(LAST_RUN), work)?;
        let names = readers
            .iter()
            .flat_map(|reader| ["--method".to_owned(), format!("{}/{}", harness.name, reader.name)]);
        let mut race = readlab_command();
        race.arg("race")
            .arg(&file)
            .arg("--roster")
            .arg(&runs.roster)
            .args(["--work", work.word()])
            .args(names);
        race.arg("--output").arg(&output).args(&options.race);
        code = code.max(run_on_terminal(race)?);
        let earlier = baseline.join(work.word());
        if earlier.exists() {
            let mut compare = readlab_command();
            compare.arg("compare").arg(&earlier).arg(&output);
            let compared = run_on_terminal(compare)?;
            // Another version of readlab may have written the run before: the race is as good without it.
            if options.baseline.is_some() || compared != NOT_COMPARABLE {
                code = code.max(compared);
            }
        }
    }
    Ok(ExitCode::from(code))
}

/// The folder with the records of one benchmark's runs.
struct Runs {
    folder: PathBuf,
    roster: PathBuf,
}

impl Runs {
    /// Makes the folder, with a roster that lists this program as a contender.
    fn from_harness(harness: &Harness) -> Result<Runs, UsageError> {
        let program = env::current_exe().map_err(|cause| folder_error("this program", cause))?;
        let folder =
            target_folder(&program).join("readlab").join(harness.name).join(benchmark_name(&program));
        let roster = folder.join("roster.toml");
        let text = format!(
            "[[contender]]\nname = {:?}\nlanguage = \"Rust\"\nabout = \"readers of a benchmark\"\nrun = [{:?}, {AS_CONTENDER:?}]\n",
            harness.name,
            program.display().to_string(),
        );
        let made = fs::create_dir_all(&folder).and_then(|()| fs::write(&roster, text));
        made.map_err(|cause| folder_error(&roster.display().to_string(), cause))?;
        Ok(Runs { folder, roster })
    }

    /// The run to compare with: the named baseline, or else the run before. For the latter, the
    /// last run is renamed to `before`.
    fn baseline(&self, options: &Options) -> Result<PathBuf, UsageError> {
        if let Some(name) = &options.baseline {
            let folder = self.folder.join(name);
            let cause = || io::Error::new(io::ErrorKind::NotFound, "no baseline of this name was saved");
            return if folder.is_dir() { Ok(folder) } else { Err(folder_error(name, cause())) };
        }
        let (last, before) = (self.folder.join(LAST_RUN), self.folder.join(PREVIOUS_RUN));
        if options.save_baseline.is_none() && last.exists() {
            remove_if_present(&before)
                .and_then(|()| fs::rename(&last, &before))
                .map_err(|cause| folder_error(LAST_RUN, cause))?;
        }
        Ok(if options.save_baseline.is_none() { before } else { last })
    }

    /// Returns the folder for the record of a run, and removes a record that is there.
    fn cleared_folder(&self, run: &str, work: Work) -> Result<PathBuf, UsageError> {
        let folder = self.folder.join(run).join(work.word());
        let parent = self.folder.join(run);
        remove_if_present(&folder)
            .and_then(|()| fs::create_dir_all(&parent))
            .map_err(|cause| folder_error(run, cause))?;
        Ok(folder)
    }
}

/// The folder `target`. Cargo stores a benchmark as `target/release/deps/NAME-HASH`.
fn target_folder(program: &Path) -> PathBuf {
    let of_cargo = program.ancestors().nth(3).map(Path::to_owned);
    env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).or(of_cargo).unwrap_or_else(|| "target".into())
}

/// The name of the benchmark, from the program's name without cargo's hash.
fn benchmark_name(program: &Path) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.rsplit_once('-').map_or(name.clone(), |(name, _)| name.to_owned())
}

fn readlab_command() -> Command {
    Command::new(env::var_os("READLAB").unwrap_or_else(|| OsString::from("readlab")))
}

/// Runs readlab on the terminal and returns its exit code.
fn run_on_terminal(mut command: Command) -> Result<u8, UsageError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|cause| UsageError::NoProgram { program, cause })?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(130))
}

/// Removes a folder, if it exists.
fn remove_if_present(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn folder_error(what: &str, cause: io::Error) -> UsageError {
    UsageError::Folder { what: what.to_owned(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benchmark_name_and_target_folder_come_from_the_program_path() {
        let program = Path::new("/p/target/release/deps/own-readers-0a1b2c");
        assert_eq!(benchmark_name(program), "own-readers");
        if env::var_os("CARGO_TARGET_DIR").is_none() {
            assert_eq!(target_folder(program), Path::new("/p/target"));
        }
    }

    #[test]
    fn the_last_run_becomes_the_run_before_unless_a_baseline_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs { folder: folder.path().to_owned(), roster: PathBuf::new() };
        fs::create_dir_all(runs.cleared_folder(LAST_RUN, Work::Lines).unwrap()).unwrap();
        assert_eq!(runs.baseline(&Options::default()).unwrap(), folder.path().join(PREVIOUS_RUN));
        assert!(
            folder.path().join(PREVIOUS_RUN).join("lines").is_dir() && !folder.path().join(LAST_RUN).exists()
        );
        let named = Options { baseline: Some("main".to_owned()), ..Options::default() };
        assert!(runs.baseline(&named).unwrap_err().to_string().contains("no baseline"));
        fs::create_dir_all(runs.cleared_folder("main", Work::Lines).unwrap()).unwrap();
        assert_eq!(runs.baseline(&named).unwrap(), folder.path().join("main"));
        assert!(!runs.cleared_folder("main", Work::Lines).unwrap().exists(), "an earlier one makes room");
    }
}
