//! The measured programs: the lab as its users start it, and the same loop without the lab.
//!
//! Both are started from their release builds; the results are read from their output or record.
//! Files of the bench are in the folder `bench` of the build.

use crate::lab::{Lab, Revision};
use crate::options::Options;
use crate::running::Running;
use anyhow::{Context, bail};
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_protocol::Archive;
use readlab_record::Record;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the programs are, and where files may be made.
#[derive(Debug)]
pub(crate) struct Programs {
    lab: Lab,
    before: Option<Lab>,
    standalone: PathBuf,
    relay: PathBuf,
    slowed: PathBuf,
    locked: PathBuf,
    folder: PathBuf,
    repeats: Option<NonZeroUsize>,
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
    pub(crate) state: CacheState,
    /// Options of the lab's command line.
    pub(crate) options: &'a [&'a str],
}

impl Programs {
    /// The programs of the build that this one belongs to.
    pub(crate) fn beside_this_one(options: &Options) -> anyhow::Result<Programs> {
        let own = std::env::current_exe().context("where this program is")?;
        let release = own.parent().context("this program lies in a folder")?;
        let (program, standalone) = (release.join("readlab"), release.join("examples/standalone"));
        let (relay, slowed) = (release.join("readlab-relay"), release.join("readlab-slowed"));
        let locked = release.join("readlab-locked");
        let all = [&program, &standalone, &relay, &slowed, &locked];
        if let Some(absent) = all.into_iter().find(|path| !path.exists()) {
            bail!("{}: is not there; 'make bench' builds it", absent.display());
        }
        let before = options
            .before
            .as_deref()
            .map(|path| path.canonicalize().with_context(|| path.display().to_string()));
        let before = before.transpose()?.map(|program| Lab { revision: Revision::Before, program });
        let folder = release.with_file_name("bench");
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let lab = Lab { revision: Revision::Now, program };
        let repeats = options.repeats;
        Ok(Programs { lab, before, standalone, relay, slowed, locked, folder, repeats })
    }

    /// The readlab of this build, then the older one beside which it is measured, if there is one.
    pub(crate) fn labs(&self) -> impl DoubleEndedIterator<Item = &Lab> {
        [&self.lab].into_iter().chain(&self.before)
    }

    /// The readlab of this build.
    pub(crate) fn lab(&self) -> &Lab {
        &self.lab
    }

    /// How often something is repeated: as the user says, else so often.
    pub(crate) fn repeats(&self, usual: usize) -> usize {
        self.repeats.map_or(usual, NonZeroUsize::get)
    }

    /// The reader that can be slowed by a known share of its time.
    pub(crate) fn slowed(&self) -> &Path {
        &self.slowed
    }

    /// A roster with the reader whose threads wait for each other.
    pub(crate) fn locked(&self) -> anyhow::Result<String> {
        self.roster("locked", &self.locked)
    }

    /// A roster with one contender, which is this program.
    pub(crate) fn roster(&self, name: &str, program: &Path) -> anyhow::Result<String> {
        let text = format!(
            "[[contender]]\nname = '{name}'\nabout = 'made for a figure'\nrun = ['{}']\n",
            program.display()
        );
        let file = self.folder.join(format!("{name}.toml"));
        std::fs::write(&file, text).with_context(|| file.display().to_string())?;
        Ok(file.display().to_string())
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
        let mut command = self.lab.command("corpus");
        command.args(["make", "lines", &size.0.to_string(), "--folder"]).arg(self.folder.join("corpus"));
        Ok(PathBuf::from(output(command)?.trim_end_matches('\n')))
    }

    /// Searches, and reads the record.
    pub(crate) fn tune(&self, search: &Search) -> anyhow::Result<Record> {
        let folder = self.empty_folder(search.name)?;
        let mut command = self.lab.command("tune");
        command.args(["--quiet", "--state", &search.state.to_string(), "--output"]).arg(&folder);
        command.args(search.options).arg("--").arg(search.file);
        Running::start(command, &folder)?.record()
    }

    /// A roster that has the lab's own Rust contender under several names.
    pub(crate) fn twins(&self, names: [&str; 2]) -> anyhow::Result<String> {
        let mut roster = String::new();
        for name in names {
            let script = self.folder.join(format!("{name}.sh"));
            let renamed = format!(r#"s/"contender":"rust"/"contender":"{name}"/"#);
            let text =
                format!("'{}' contender rust \"$@\" | sed -u '{renamed}'\n", self.lab.program.display());
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
    pub(crate) fn empty_folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join("runs").join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        Ok(folder)
    }

    /// The same as the only content of an archive.
    pub(crate) fn packed_lines(&self, size: Bytes, archive: Archive) -> anyhow::Result<PathBuf> {
        let mut command = self.lab.command("corpus");
        command
            .args(["make", "lines", &size.0.to_string(), "--in", archive.word(), "--folder"])
            .arg(self.folder.join("corpus"));
        Ok(PathBuf::from(output(command)?.trim_end_matches('\n')))
    }

    /// Starts a race; what it finds is in its folder when it has ended.
    pub(crate) fn start(&self, race: &Race) -> anyhow::Result<Running> {
        let folder = self.empty_folder(race.name)?;
        let mut command = self.command(&self.lab, race, &folder)?;
        command.arg("--quiet");
        Running::start(command, &folder)
    }

    /// The command by which a readlab races, and writes its record into a folder.
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
        // Nothing closes the options: a caller may add some.
        command.arg("--output").arg(folder).args(race.options).arg(race.file);
        Ok(command)
    }

    /// Races, and reads the record.
    pub(crate) fn race(&self, race: &Race) -> anyhow::Result<Record> {
        self.start(race)?.record()
    }

    /// Makes the page of a record.
    pub(crate) fn report(&self, record: &Path, page: &Path) -> anyhow::Result<()> {
        let mut command = self.lab.command("report");
        command.arg(record).arg("--output").arg(page);
        output(command).map(drop)
    }

    /// Runs `readlab --help`.
    pub(crate) fn help(&self) -> anyhow::Result<()> {
        output(self.lab.command("--help")).map(drop)
    }

    /// Compares two records; returns whether the gate fails.
    pub(crate) fn compare(&self, before: &Path, now: &Path, options: &[&str]) -> anyhow::Result<bool> {
        let mut command = self.lab.command("compare");
        command.args(options).arg("--").arg(before).arg(now);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        match status.with_context(|| self.lab.program.display().to_string())?.code() {
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
        trial: &readlab_record::Trial,
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
    pub(crate) fn contender(&self, words: Vec<std::ffi::OsString>) -> readlab_system::program::CommandLine {
        let args = ["contender", "rust"].map(Into::into).into_iter().chain(words).collect();
        readlab_system::program::CommandLine {
            program: self.lab.program.clone().into(),
            args,
            ..readlab_system::program::CommandLine::default()
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
