//! An experiment: from a configuration to a plan, and the record of its execution.
//!
//! [`Experiment::prepare`] makes one from the user's options and a suite, [`Experiment::of_sweep`]
//! from the options of a sweep, [`Experiment::from_record`] from the record of an interrupted run.
//! [`execute()`] measures any of them.

mod affordable;
pub mod candidates;
pub mod command_parameters;
pub mod config;
pub mod deadline;
mod execute;
pub mod fleet;
mod header_lines;
pub mod memory;
pub mod options;
mod other_limits;
pub mod outcome;
pub mod participants;
pub mod planner;
mod prepare;
mod probe;
pub mod recorder;
mod references;
mod resume;
pub mod rules;
pub mod settings;
mod size_groups;
pub mod sweep;
pub mod target_spec;
mod targets;
pub mod template;
pub mod together;

pub use execute::{ExecuteError, execute};
use fleet::JoinedFleet;
use header_lines::OpeningLines;
use readlab_measure::interface::Sink;
use readlab_measure::memory_bound::MemoryControl;
use readlab_measure::plan::Plan;
use readlab_measure::sampler::{InspectPlan, picture_file};
use readlab_measure::search::SearchPlan;
use readlab_measure::settings::SettingControl;
use readlab_measure::target::CacheControl;
use readlab_model::target::Targets;
use readlab_record::{Record, RequestedName, RunKind};
use readlab_roster::discovery::Contenders;
use readlab_roster::server::Server;
use readlab_system::folder::output_file::{self, OutputFile};
use readlab_targets::target::Target;
use recorder::Recorder;
pub use resume::{InterruptedRun, SharedRunFacts};
use std::rc::Rc;
use std::time::{Duration, Instant};
use sweep::run::Sweep;
use targets::KnownTarget;
use together::ReaderGroup;

/// Everything that is decided before the first timed reading.
#[derive(Debug)]
pub struct Experiment {
    kind: RunKind,
    opening: OpeningLines,
    targets: Targets<KnownTarget>,
    /// The cache control of each target, which makes and proves its cache state.
    cache_controls: Vec<CacheControl>,
    /// Servers of files over HTTP; they run until they are dropped.
    servers: Vec<Server>,
    contenders: Rc<Contenders>,
    plan: Plan,
    procedure: Procedure,
    inspect_plan: InspectPlan,
    requested_names: Vec<RequestedName>,
    reader_group: ReaderGroup,
    /// The control of the settings of the system; `None` if the run races no values of settings.
    setting_control: Option<SettingControl>,
    /// The control groups of trials that are read under a bound on memory; `None` without bounds.
    memory_control: Option<MemoryControl>,
    begun: Instant,
    /// Time that a resumed run had taken when it was interrupted; zero for a new run.
    earlier_elapsed: Duration,
}

#[derive(Debug)]
enum Procedure {
    Rounds(Rounds),
    /// Files are written, or those of an earlier sweep are taken; then each method reads each file
    /// once.
    Sweep(Box<Sweep>),
}

#[derive(Debug)]
enum Rounds {
    /// All rounds, until each trial is settled.
    All,
    /// The rounds after the part of the run that this record holds.
    Resumed(Box<Record>),
    /// Rounds that search for the fastest candidates, then rounds that measure these.
    Search(Box<SearchPlan>),
}

impl Experiment {
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().map(|known| &known.target)
    }

    /// The names that the user expects to see measured.
    pub fn requested_names(&self) -> Vec<RequestedName> {
        self.requested_names.clone()
    }

    /// Writes the lines that come before anything is measured. Refuses flame graphs that would
    /// replace a file that is read, or a file that readlab did not write.
    pub fn write_first_lines(
        &mut self,
        fleet: Option<&JoinedFleet>,
        recorder: &mut Recorder,
    ) -> anyhow::Result<()> {
        self.check_flame_graphs()?;
        let mut lines = self.opening.lines(fleet, &self.plan.states).into_iter();
        Ok(lines.try_for_each(|line| recorder.append(line))?)
    }

    fn check_flame_graphs(&mut self) -> anyhow::Result<()> {
        let Some(paths) = self.inspect_plan.flame_graphs.as_mut().filter(|paths| paths.folder.is_dir())
        else {
            return Ok(());
        };
        let pictures = paths.picture_paths(self.plan.trials.iter().map(|planned| &planned.trial));
        let files: Vec<OutputFile> = pictures.iter().map(|file| picture_file(file)).collect();
        for known in &self.targets {
            paths.inputs.extend(known.target.backing_files(&output_file::file_names(&files))?);
        }
        output_file::check(&files, &paths.inputs)?;
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.earlier_elapsed + self.begun.elapsed()
    }
}
