//! The measured programs: the lab as its users start it, and the same loop without the lab.
//!
//! Both are started from their release builds; the results are read from their output or record.
//! Files of the bench are in the folder `bench` of the build.

use anyhow::{Context, bail};
use readlab::record::Record;
use readlab::trial::CacheState;
use readlab::units::Bytes;
use readlab_protocol::Archive;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where the programs are, and where files may be made.
#[derive(Debug)]
pub(crate) struct Programs {
    lab: PathBuf,
    standalone: PathBuf,
    relay: PathBuf,
    folder: PathBuf,
}

/// A race of the lab: which trials, on what, and how.
#[derive(Debug, Clone)]
pub(crate) struct Race<'a> {
    /// Name of its folder.
    pub(crate) name: &'a str,
    /// The trials by name; none for the line-up of `readlab race`.
    pub(crate) trials: &'a [&'a str],
    /// The file or URL.
    pub(crate) file: &'a Path,
    /// From which state, if not both.
    pub(crate) state: Option<CacheState>,
    /// Options of the lab's command line.
    pub(crate) options: &'a [&'a str],
}

/// A search of the lab: on what, from which state, and for what.
#[derive(Debug, Clone)]
pub(crate) struct Search<'a> {
    /// Name of its folder.
    pub(crate) name: &'a str,
    /// The file or URL.
    pub(crate) file: &'a Path,
    /// From which state.
    pub(crate) state: CacheState,
    /// Options of the lab's command line.
    pub(crate) options: &'a [&'a str],
}

impl Programs {
    /// The programs of the build that this one belongs to.
    pub(crate) fn beside_this_one() -> anyhow::Result<Programs> {
        let own = std::env::current_exe().context("where this program is")?;
        let release = own.parent().context("this program lies in a folder")?;
        let (lab, standalone) = (release.join("readlab"), release.join("examples/standalone"));
        let relay = release.join("readlab-relay");
        if let Some(absent) = [&lab, &standalone, &relay].into_iter().find(|path| !path.exists()) {
            bail!("{}: is not there; 'make bench' builds it", absent.display());
        }
        let folder = release.with_file_name("bench");
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Programs { lab, standalone, relay, folder })
    }

    /// Where files may be made.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The program that starts a contender and relays its messages.
    pub(crate) fn relay(&self) -> &Path {
        &self.relay
    }

    /// A file of text lines of this size, made unless it is there.
    pub(crate) fn lines(&self, size: Bytes) -> anyhow::Result<PathBuf> {
        let mut command = Command::new(&self.lab);
        command
            .args(["corpus", "make", "lines", &size.0.to_string(), "--folder"])
            .arg(self.folder.join("corpus"));
        Ok(PathBuf::from(output(command)?.trim_end_matches('\n')))
    }

    /// Searches, and reads the record.
    pub(crate) fn tune(&self, search: &Search) -> anyhow::Result<Record> {
        let folder = self.empty_folder(search.name)?;
        let mut command = Command::new(&self.lab);
        command.args(["tune", "--quiet", "--state", &search.state.to_string(), "--output"]).arg(&folder);
        command.args(search.options).arg("--").arg(search.file);
        let child = command.stdin(Stdio::null()).spawn().with_context(|| self.lab.display().to_string())?;
        Running { child, record: folder.join("record.jsonl") }.record()
    }

    /// A roster that has the lab's own Rust contender under several names.
    pub(crate) fn twins(&self, names: [&str; 2]) -> anyhow::Result<String> {
        let mut roster = String::new();
        for name in names {
            let script = self.folder.join(format!("{name}.sh"));
            let renamed = format!(r#"s/"contender":"rust"/"contender":"{name}"/"#);
            let text = format!("'{}' contender rust \"$@\" | sed -u '{renamed}'\n", self.lab.display());
            std::fs::write(&script, text).with_context(|| script.display().to_string())?;
            roster += &format!(
                "[[contender]]\nname = '{name}'\nabout = 'a twin'\nrun = ['/bin/sh', '{}']\n",
                script.display()
            );
        }
        let file = self.folder.join("twins.toml");
        std::fs::write(&file, roster).with_context(|| file.display().to_string())?;
        Ok(file.display().to_string())
    }

    /// The folder of a run, without what an earlier one left.
    fn empty_folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join("runs").join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        Ok(folder)
    }

    /// The same as the only content of a zip.
    pub(crate) fn zipped_lines(&self, size: Bytes) -> anyhow::Result<PathBuf> {
        let mut command = Command::new(&self.lab);
        command
            .args(["corpus", "make", "lines", &size.0.to_string(), "--in", "zip", "--folder"])
            .arg(self.folder.join("corpus"));
        Ok(PathBuf::from(output(command)?.trim_end_matches('\n')))
    }

    /// Starts a race; what it finds is in its folder when it has ended.
    pub(crate) fn start(&self, race: &Race) -> anyhow::Result<Running> {
        let folder = self.empty_folder(race.name)?;
        let mut command = Command::new(&self.lab);
        if race.trials.is_empty() {
            command.arg("race");
        } else {
            command.arg("suite").arg(self.suite(race)?);
        }
        if let Some(state) = race.state {
            command.args(["--state", &state.to_string()]);
        }
        command.args(["--quiet", "--output"]).arg(&folder).args(race.options).arg("--").arg(race.file);
        let child = command.stdin(Stdio::null()).spawn().with_context(|| self.lab.display().to_string())?;
        Ok(Running { child, record: folder.join("record.jsonl") })
    }

    /// Races, and reads the record.
    pub(crate) fn race(&self, race: &Race) -> anyhow::Result<Record> {
        self.start(race)?.record()
    }

    /// Makes the page of a record.
    pub(crate) fn report(&self, record: &Path, page: &Path) -> anyhow::Result<()> {
        let mut command = Command::new(&self.lab);
        command.arg("report").arg(record).arg("--output").arg(page);
        output(command).map(drop)
    }

    /// Runs `readlab --help`.
    pub(crate) fn help(&self) -> anyhow::Result<()> {
        let mut command = Command::new(&self.lab);
        command.arg("--help");
        output(command).map(drop)
    }

    /// Compares two records; returns whether the gate fails.
    pub(crate) fn compare(&self, before: &Path, now: &Path, options: &[&str]) -> anyhow::Result<bool> {
        let mut command = Command::new(&self.lab);
        command.arg("compare").args(options).arg("--").arg(before).arg(now);
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        match status.with_context(|| self.lab.display().to_string())?.code() {
            Some(0) => Ok(false),
            Some(3) => Ok(true),
            other => bail!("{command:?} ended with {other:?}"),
        }
    }

    /// The trials as a suite of the lab's.
    fn suite(&self, race: &Race) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join("suites");
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let file = folder.join(format!("{}.toml", race.name));
        let archive = archive(race.file)?;
        let trials: String = race.trials.iter().map(|trial| suite_trial(trial, archive)).collect();
        let text = format!(
            "name = {:?}\nabout = \"A figure of the bench.\"\nwork = \"newlines\"\ncontrols = false\n{trials}",
            race.name
        );
        std::fs::write(&file, text).with_context(|| file.display().to_string())?;
        Ok(file)
    }

    /// The same reading as a trial's, `count` times in a plain loop: the nanoseconds of each.
    pub(crate) fn alone(
        &self,
        trial: &readlab::record::Trial,
        file: &Path,
        count: usize,
    ) -> anyhow::Result<Vec<u64>> {
        let mut command = Command::new(&self.standalone);
        command.args([trial.method(), trial.scan().unwrap_or("-"), trial.work.word()]).arg(file);
        command
            .arg(count.to_string())
            .args(trial.params.0.iter().map(|(name, value)| format!("{name}={value}")));
        let lines = output(command)?;
        lines.lines().map(|line| line.parse().with_context(|| format!("standalone said {line:?}"))).collect()
    }

    /// The lab's own program as the contender `rust`, with these arguments.
    pub(crate) fn contender(&self, words: Vec<std::ffi::OsString>) -> readlab::linux::program::CommandLine {
        let args = ["contender", "rust"].map(Into::into).into_iter().chain(words).collect();
        readlab::linux::program::CommandLine { program: self.lab.clone().into(), args, env: Vec::new() }
    }
}

/// A running race.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    record: PathBuf,
}

impl Running {
    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where its record is written.
    pub(crate) fn path(&self) -> &Path {
        &self.record
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait().context("waiting for the lab")?.is_some())
    }

    /// Waits for its end and reads the record. That some trial failed (1) is in the record.
    pub(crate) fn record(mut self) -> anyhow::Result<Record> {
        let status = self.child.wait().context("waiting for the lab")?;
        if !matches!(status.code(), Some(0 | 1)) {
            bail!("the lab ended with {status}");
        }
        Ok(Record::read(&self.record)?)
    }
}

impl Drop for Running {
    /// A race that is dropped is ended; its contender exits at the end of its input.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // It may have ended by itself; in both cases it is reaped.
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}

/// A trial in a suite. A method that decodes archives reads the content, the others the bytes.
fn suite_trial(trial: &str, archive: Option<Archive>) -> String {
    let method = trial.strip_prefix("rust/").and_then(readlab_rust::method::registry::find);
    let target = archive.filter(|archive| method.is_some_and(|method| method.decodes.contains(archive)));
    let target = target.map(|archive| format!("target = \"{archive}\"\n")).unwrap_or_default();
    format!("[[trial]]\ntrial = {trial:?}\n{target}")
}

/// What kind of archive a file is, if it is one.
fn archive(file: &Path) -> anyhow::Result<Option<Archive>> {
    let mut head = Vec::new();
    let opened = File::open(file).and_then(|file| file.take(4).read_to_end(&mut head));
    opened.with_context(|| file.display().to_string())?;
    Ok(Archive::by_magic(&head))
}

/// What a program prints, if it ends well.
fn output(mut command: Command) -> anyhow::Result<String> {
    let done = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let done = done.with_context(|| command.get_program().display().to_string())?;
    if !done.status.success() {
        bail!("{command:?} ended with {}", done.status);
    }
    String::from_utf8(done.stdout).context("its output")
}
