//! The measured programs: the lab as its users start it, and the same loop without the lab. Results
//! are read from their output or record. Files of the bench are in the folder `bench` of the build.

use crate::Options;
use crate::pairwise::RecordExport;
use anyhow::{Context, bail, ensure};
use readlab_model::trial::{CacheState, TrialId};
use readlab_model::units::Bytes;
use readlab_record::{Outcome, Record, TrialRecord};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The environment variable with the folder of compilers that are not on the PATH, and this folder
/// in the checkout.
const TOOLCHAINS: [&str; 2] = ["READLAB_TOOLCHAINS", concat!(env!("CARGO_MANIFEST_DIR"), "/../toolchains")];

#[derive(Debug)]
pub(crate) struct Programs {
    release: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) lab: Lab,
    before: Option<Lab>,
    pub(crate) options: Options,
}

/// A readlab program. Each revision judges its records by its own statistics, through its own
/// export.
#[derive(Debug, Clone)]
pub(crate) struct Lab {
    pub(crate) revision: Revision,
    pub(crate) program: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revision {
    /// The revision of this bench.
    Now,
    Before,
}

/// A race of the lab: its trials, its target and its options.
#[derive(Debug, Clone)]
pub(crate) struct Race<'a> {
    pub(crate) name: &'a str,
    /// The only trials, without controls. Empty for the line-up of `readlab race`.
    pub(crate) trials: &'a [&'a str],
    /// The target: a file or a URL.
    pub(crate) file: &'a Path,
    /// The only state, or `None` for both.
    pub(crate) state: Option<CacheState>,
    pub(crate) options: &'a [&'a str],
}

#[derive(Debug)]
pub(crate) struct RunningLab {
    child: Child,
    record: PathBuf,
}

impl Programs {
    pub(crate) fn in_release_folder(options: Options) -> anyhow::Result<Programs> {
        let own = std::env::current_exe().context("where this program is")?;
        let release = own.parent().context("a program is in a folder")?.to_owned();
        let folder = release.with_file_name("bench");
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let before = options.before.as_ref();
        let before = before.map(|path| path.canonicalize().with_context(|| path.display().to_string()));
        let before = before.transpose()?.map(|program| Lab { revision: Revision::Before, program });
        let lab = Lab { revision: Revision::Now, program: release.join("readlab") };
        let programs = Programs { release, folder, lab, before, options };
        let all = [programs.lab.program.clone(), programs.standalone(), programs.slowed_program()];
        if let Some(absent) = all.iter().find(|path| !path.exists()) {
            bail!("{}: is not there; 'make bench' builds it", absent.display());
        }
        Ok(programs)
    }

    fn standalone(&self) -> PathBuf {
        self.release.join("examples/standalone")
    }

    /// The contender whose readings are slow for a known reason.
    pub(crate) fn slowed_program(&self) -> PathBuf {
        self.release.join("readlab-slowed")
    }

    /// The readlab of this build, then the older readlab of `--before`, if there is one.
    pub(crate) fn labs(&self) -> impl DoubleEndedIterator<Item = &Lab> {
        [&self.lab].into_iter().chain(&self.before)
    }

    /// The number of repetitions: the user's option, or else `usual`.
    pub(crate) fn repeats(&self, usual: usize) -> usize {
        self.options.repeats.map_or(usual, NonZeroUsize::get)
    }

    /// The folder of a run, without files of an earlier run.
    pub(crate) fn empty_folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join("runs").join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        Ok(folder)
    }

    /// A file of text lines of this size. It is made only if it does not exist.
    pub(crate) fn lines(&self, size: Bytes) -> anyhow::Result<PathBuf> {
        self.corpus(&["make", "lines", &size.0.to_string()])
    }

    /// A zip whose only content is a file of text lines of this size.
    pub(crate) fn zipped_lines(&self, size: Bytes) -> anyhow::Result<PathBuf> {
        self.corpus(&["make", "lines", &size.0.to_string(), "--in", "zip"])
    }

    /// A tree of files with the sizes of source code.
    pub(crate) fn source_tree(&self, files: usize) -> anyhow::Result<PathBuf> {
        self.corpus(&["tree", "source", &files.to_string()])
    }

    fn corpus(&self, words: &[&str]) -> anyhow::Result<PathBuf> {
        let mut command = self.lab.command("corpus");
        command.args(words).arg("--folder").arg(self.folder.join("corpus"));
        Ok(PathBuf::from(output(&mut command)?.trim_end_matches('\n')))
    }

    pub(crate) fn roster(&self, name: &str, contenders: &[(&str, &[&str])]) -> anyhow::Result<String> {
        let entry = |(name, run): &(&str, &[&str])| {
            format!("[[contender]]\nname = '{name}'\nabout = 'made for the bench'\nrun = {run:?}\n")
        };
        let file = self.folder.join(format!("{name}.toml"));
        let text: String = contenders.iter().map(entry).collect();
        std::fs::write(&file, text).with_context(|| file.display().to_string())?;
        Ok(file.display().to_string())
    }

    /// A roster with the contender whose readings are slow for a known reason.
    pub(crate) fn slowed_roster(&self) -> anyhow::Result<String> {
        self.roster("slowed", &[("slowed", &[&self.slowed_program().display().to_string()])])
    }

    pub(crate) fn start(&self, race: &Race) -> anyhow::Result<RunningLab> {
        self.start_with(&self.lab, race)
    }

    pub(crate) fn start_with(&self, lab: &Lab, race: &Race) -> anyhow::Result<RunningLab> {
        let folder = self.empty_folder(race.name)?;
        let mut command = self.command(lab, race, &folder)?;
        command.arg("--quiet");
        RunningLab::start(command, &folder)
    }

    /// Measures something `repeats` times with each lab. Returns the results of each lab, those of
    /// this build first. The order of the labs alternates, because one run may affect the next.
    pub(crate) fn in_turns<T>(
        &self,
        repeats: usize,
        mut measure: impl FnMut(&Lab, usize) -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<(&Lab, Vec<T>)>> {
        let mut found: Vec<(&Lab, Vec<T>)> = self.labs().map(|lab| (lab, Vec::new())).collect();
        for nth in 0..repeats {
            for (lab, results) in &mut found {
                results.push(measure(lab, nth)?);
            }
            found.reverse();
        }
        found.sort_by_key(|(lab, _)| lab.revision != Revision::Now);
        Ok(found)
    }

    /// The command by which a readlab races and writes its record into a folder.
    pub(crate) fn command(&self, lab: &Lab, race: &Race, folder: &Path) -> anyhow::Result<Command> {
        let mut command = if race.trials.is_empty() {
            lab.command("race")
        } else {
            let mut command = lab.command("suite");
            command.arg(self.suite(race)?);
            command
        };
        if let Some(state) = race.state {
            command.args(["--state", &state.to_string()]);
        }
        // No argument ends the options, because a caller may add some.
        command.arg("--output").arg(folder).args(race.options).arg(race.file);
        Ok(command)
    }

    pub(crate) fn race(&self, race: &Race) -> anyhow::Result<Record> {
        self.start(race)?.record()
    }

    fn suite(&self, race: &Race) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join("suites");
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let file = folder.join(format!("{}.toml", race.name));
        let is_zip = race.file.extension().is_some_and(|ending| ending == "zip");
        let trial = |trial: &&str| {
            let decodes = is_zip && ["rust/zip", "rust/decoder"].contains(trial);
            format!("[[trial]]\ntrial = {trial:?}\n{}", if decodes { "target = \"zip\"\n" } else { "" })
        };
        let trials: String = race.trials.iter().map(trial).collect();
        let text = format!(
            "name = {:?}\nabout = \"A figure of the bench.\"\nwork = \"newlines\"\ncontrols = false\n{trials}",
            race.name
        );
        std::fs::write(&file, text).with_context(|| file.display().to_string())?;
        Ok(file)
    }

    /// Does the same reading as a trial `count` times in a plain loop, and returns the nanoseconds
    /// of each.
    pub(crate) fn times_in_loop(
        &self,
        trial: &readlab_record::Trial,
        file: &Path,
        count: usize,
    ) -> anyhow::Result<Vec<u64>> {
        let settings = trial.params.0.iter().map(|(name, value)| format!("{name}={value}"));
        let mut command = Command::new(self.standalone());
        command.args([trial.method(), trial.scan().unwrap_or("-"), trial.work.word()]);
        let lines = output(command.arg(file).arg(count.to_string()).args(settings))?;
        lines.lines().map(|line| line.parse().with_context(|| format!("standalone said {line:?}"))).collect()
    }
}

impl Lab {
    /// A command of the lab, without input. Compilers that are not on the PATH are those of this
    /// checkout, wherever the program is.
    pub(crate) fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(verb).stdin(Stdio::null());
        let [variable, folder] = TOOLCHAINS;
        if std::env::var_os(variable).is_none() {
            command.env(variable, folder);
        }
        command
    }

    /// Builds every contender that can be built here, so that no race has to build.
    pub(crate) fn build(&self) -> anyhow::Result<()> {
        let mut command = self.command("build");
        let status =
            command.stdout(Stdio::null()).status().with_context(|| self.program.display().to_string())?;
        // Exit code 1 means that some contender could not be built. Races then go on without it.
        ensure!(matches!(status.code(), Some(0 | 1)), "{command:?} ended with {status}");
        Ok(())
    }

    /// The lab's results of a record. The page that comes with them stays beside the record.
    pub(crate) fn export(&self, record: &Path) -> anyhow::Result<RecordExport> {
        let mut command = self.command("report");
        command.arg(record).args(["--export-json", "-"]);
        serde_json::from_str(&output(&mut command)?).with_context(|| format!("what {command:?} printed"))
    }
}

impl RunningLab {
    /// Starts a command that writes its record into this folder.
    pub(crate) fn start(mut command: Command, folder: &Path) -> anyhow::Result<RunningLab> {
        let child = command.spawn().with_context(|| command.get_program().display().to_string())?;
        Ok(RunningLab { child, record: folder.join("record.jsonl") })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_over(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait().context("waiting for the lab")?.is_some())
    }

    /// Waits for the end of the race, and returns the path of its record. Exit code 1 means that
    /// some trial failed, which is in the record.
    pub(crate) fn finish(mut self) -> anyhow::Result<PathBuf> {
        let status = self.child.wait().context("waiting for the lab")?;
        ensure!(matches!(status.code(), Some(0 | 1)), "the lab ended with {status}");
        Ok(self.record.clone())
    }

    pub(crate) fn record(self) -> anyhow::Result<Record> {
        Ok(Record::read(&self.finish()?)?)
    }
}

impl Drop for RunningLab {
    /// Ends a race that is dropped. Its contender exits at the end of its input.
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Ends a program that still runs.
pub(crate) fn end(child: &mut Child) {
    if matches!(child.try_wait(), Ok(None)) {
        // The program may have ended by itself. In both cases it is reaped.
        let _ = child.kill().and_then(|()| child.wait());
    }
}

/// The trial of this name in a record, or the one with its contender and method, if it was
/// measured.
pub(crate) fn measured_trial<'r>(record: &'r Record, name: &str) -> anyhow::Result<&'r TrialRecord> {
    measured_trial_of(record, name, |_| true)
}

/// The trial of this name that was read under a bound on memory, if it was measured.
pub(crate) fn pressed_trial<'r>(record: &'r Record, name: &str) -> anyhow::Result<&'r TrialRecord> {
    measured_trial_of(record, name, |it| it.trial.state == CacheState::Pressed)
}

fn measured_trial_of<'r>(
    record: &'r Record,
    name: &str,
    is_wanted: fn(&TrialRecord) -> bool,
) -> anyhow::Result<&'r TrialRecord> {
    let TrialId { method, params } = TrialId::parse_written(name).with_context(|| name.to_owned())?;
    let names = (method.contender.as_str(), method.method.as_str());
    let is_of_method =
        |it: &&TrialRecord| (it.trial.contender(), it.trial.method()) == names && is_wanted(it);
    let mut of_method = record.trials.iter().filter(is_of_method).peekable();
    let first = of_method.peek().copied();
    let found = of_method.find(|it| it.trial.id.params == params).or(first);
    let found = found.with_context(|| format!("no trial {name}: {}", record.warnings.join("; ")))?;
    match &found.outcome {
        Some(Outcome::Measured) => Ok(found),
        other => bail!("{name}: {}", other.as_ref().and_then(Outcome::reason).unwrap_or("cut short")),
    }
}

/// The output of a program, if it exits successfully.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let program = command.get_program().display().to_string();
    let done = command.stdin(Stdio::null()).output().with_context(|| program.clone())?;
    let why = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{command:?} ended with {}: {}", done.status, why.trim());
    String::from_utf8(done.stdout).with_context(|| format!("what {program} prints"))
}
