//! The output of an experiment: its record, saved under the user's name for it, the page beside the
//! record, the table on standard output, and the exports.

use super::compare::record_path;
use super::exports::table_style;
use super::options::{OutputOptions, ShownRun};
use anyhow::{Context, bail};
use readlab_claims as claims;
use readlab_model::target::TargetFacts;
use readlab_record::history::History;
use readlab_record::{Record, RequestedName, RunKind};
use readlab_report::{self as report, Page};
use readlab_roster::discovery::Contenders;
use readlab_run::experiment::config::RunConfig;
use readlab_run::experiment::outcome::exit_code;
use readlab_run::experiment::recorder::Recorder;
use readlab_run::experiment::sweep::config::SweepConfig;
use readlab_run::experiment::sweep::run::PreparedSweep;
use readlab_run::experiment::target_spec::{
    ExaminedTargets, TargetSpecs, examine_all, transports, try_settings,
};
use readlab_run::experiment::{ExecuteError, Experiment, InterruptedRun, execute, participants};
use readlab_run::live::{LiveView, ShownProgress};
use readlab_system::folder::output_file::{self, InputFiles, OutputFile};
use readlab_system::folder::{REPORT, RunFolder, scratch};
use readlab_system::interrupt;
use readlab_system::markup;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::{Target, responsive_files};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

pub(super) struct RunEnd {
    pub(super) exit_code: u8,
    pub(super) record_path: PathBuf,
}

/// Runs an experiment on the targets of each run in turn. Returns the worst exit code.
pub(super) fn run(
    config: &RunConfig,
    runs: &[TargetSpecs],
    options: &OutputOptions,
) -> anyhow::Result<ExitCode> {
    run_until_interrupted(|| Ok(worst_exit_code(&run_each(config, runs, options)?)))
}

/// The worst exit code of the runs; the code of an interruption if no run began.
pub(super) fn worst_exit_code(ends: &[RunEnd]) -> u8 {
    ends.iter().map(|end| end.exit_code).max().unwrap_or_else(interrupt::exit_code)
}

/// Runs an experiment on the targets of each run in turn, until the user interrupts it.
pub(super) fn run_each(
    config: &RunConfig,
    runs: &[TargetSpecs],
    options: &OutputOptions,
) -> anyhow::Result<Vec<RunEnd>> {
    let live = LiveView::begin(shown_progress(options));
    let mut examined = examine_all(config, runs)?;
    check_before_runs(options, config, &examined)?;
    try_settings(config, &mut examined)?;
    let contenders = Rc::new(participants::discover(config, &transports(&examined), &live)?);
    let mut ends = Vec::new();
    for mut targets in examined {
        if interrupt::is_stop_requested() {
            break;
        }
        targets.begin_settings(config)?;
        ends.push(run_experiment(config, &contenders, targets, options, &live)?);
    }
    Ok(ends)
}

/// Resumes the run whose record has this path or name.
pub(super) fn resume(kind: RunKind, name: &str, options: &OutputOptions) -> anyhow::Result<ExitCode> {
    run_until_interrupted(|| {
        let path = record_path(History::of_user().as_ref(), name)?;
        let (interrupted, writer) = InterruptedRun::open(kind, &path)?;
        let interrupted = interrupted.refuse_fleet().with_context(|| display_path(&path))?;
        let live = LiveView::begin(shown_progress(options));
        let mut recorder = Recorder::with_writer(writer, live);
        let mut experiment = Experiment::from_record(interrupted, &recorder, options.quiet)?;
        check_options(options, Some(&path), &target_inputs(experiment.targets(), options)?)?;
        save_record(options, &path)?;
        experiment.write_first_lines(None, &mut recorder)?;
        execute_and_show(experiment, recorder, options)
    })
}

pub(super) fn run_sweep(config: &SweepConfig, options: &OutputOptions) -> anyhow::Result<ExitCode> {
    run_until_interrupted(|| {
        check_options_of_new_run(options, &InputFiles::default())?;
        let live = LiveView::begin(shown_progress(options));
        let Some(prepared) = PreparedSweep::prepare(config)? else { return Ok(interrupt::exit_code()) };
        run_in_new_folder(options, &live, |folder, recorder| {
            let experiment = Experiment::of_sweep(config, prepared, folder.path());
            begin_and_execute(experiment, recorder, options)
        })
    })
}

/// Executes `work` until it is done or the user interrupts it. An error after an interruption counts
/// as its consequence and is not reported.
pub(super) fn run_until_interrupted(work: impl FnOnce() -> anyhow::Result<u8>) -> anyhow::Result<ExitCode> {
    interrupt::install_handlers().context("cannot listen for Ctrl-C")?;
    scratch::report_leftovers();
    match work() {
        Err(_) if interrupt::is_stop_requested() => Ok(ExitCode::from(interrupt::exit_code())),
        done => Ok(ExitCode::from(done?)),
    }
}

/// Refuses output options that would fail after the runs.
fn check_before_runs(
    options: &OutputOptions,
    config: &RunConfig,
    examined: &[ExaminedTargets],
) -> anyhow::Result<()> {
    let rosters = config.user.selection.rosters.iter();
    let mut inputs = InputFiles::at(rosters.chain(&config.suite_file).map(PathBuf::as_path));
    inputs.join(target_inputs(examined.iter().flat_map(ExaminedTargets::targets), options)?);
    check_options_of_new_run(options, &inputs)?;
    let runs = examined.len();
    let saved = options.save.is_some().then_some(("--save", "record"));
    let folder = options.output.is_some().then_some(("--output", "folder"));
    let exported = options.export_files().first().map(|file| (file.option, "file"));
    if let (Some((option, what)), true) = (saved.or(folder).or(exported), runs > 1) {
        bail!("{option} names one {what}, and each of the {runs} targets gets one");
    }
    Ok(())
}

/// The files of the targets that an output of these options could replace.
pub(super) fn target_inputs<'a>(
    targets: impl Iterator<Item = &'a Target>,
    options: &OutputOptions,
) -> anyhow::Result<InputFiles> {
    let files = options.export_files();
    let names = output_file::file_names(&files);
    let mut inputs = InputFiles::default();
    for target in targets {
        inputs.extend(target.backing_files(&names)?);
    }
    Ok(inputs)
}

/// The files that a record is about, and the record itself. Files on a file system that does not
/// answer are left out, because no output can go there either.
pub(super) fn inputs_of_record(record: &Record, path: &Path) -> InputFiles {
    let files = responsive_files(record.targets.iter().flat_map(TargetFacts::local_files).collect());
    InputFiles::at(files.iter().map(PathBuf::as_path).chain([path]))
}

/// Runs an experiment on the targets of one run.
fn run_experiment(
    config: &RunConfig,
    contenders: &Rc<Contenders>,
    targets: ExaminedTargets,
    options: &OutputOptions,
    live: &LiveView,
) -> anyhow::Result<RunEnd> {
    run_in_new_folder(options, live, |_, recorder| {
        let experiment = Experiment::prepare(config, contenders, targets, &recorder)?;
        let record_path = recorder.path().to_owned();
        Ok(RunEnd { exit_code: begin_and_execute(experiment, recorder, options)?, record_path })
    })
}

/// Begins a record in a new folder. If the run does not begin, the folder is removed.
fn run_in_new_folder<T>(
    options: &OutputOptions,
    live: &LiveView,
    run: impl FnOnce(&RunFolder, Recorder) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let folder = RunFolder::make(options.output.as_deref())?;
    let recorder = Recorder::begin(&folder, live.clone());
    let done = recorder.map_err(anyhow::Error::from).and_then(|recorder| run(&folder, recorder));
    done.inspect_err(|_| folder.remove_if_unused())
}

/// Writes the first lines of the record and names the record. Then executes the experiment and shows
/// it.
fn begin_and_execute(
    mut experiment: Experiment,
    mut recorder: Recorder,
    options: &OutputOptions,
) -> anyhow::Result<u8> {
    experiment.write_first_lines(None, &mut recorder)?;
    if let Err(error) = name_record(&mut recorder, options) {
        recorder.withdraw()?;
        return Err(error);
    }
    execute_and_show(experiment, recorder, options)
}

/// Gives a record its path and the user's name for it. Must run before anything is measured, so that
/// a run that is killed leaves a named record. The caller removes a record that cannot be named.
pub(super) fn name_record(recorder: &mut Recorder, options: &OutputOptions) -> anyhow::Result<()> {
    recorder.publish()?;
    save_record(options, recorder.path())
}

/// Executes an experiment and shows its record. If the record could not be written to its end, for
/// example on a full disk, the written part is shown.
fn execute_and_show(
    experiment: Experiment,
    mut recorder: Recorder,
    options: &OutputOptions,
) -> anyhow::Result<u8> {
    let requested = experiment.requested_names();
    let end = match execute(experiment, &mut recorder) {
        Err(ExecuteError::Sweep(error)) => return Err(error),
        end => end,
    };
    finish_and_show(recorder, end.map(drop), &requested, options)
}

/// Shows a complete record, or its written part; returns the exit code.
pub(super) fn finish_and_show(
    recorder: Recorder,
    end: Result<(), ExecuteError>,
    requested: &[RequestedName],
    options: &OutputOptions,
) -> anyhow::Result<u8> {
    let path = recorder.finish();
    let record = Record::read(&path)?;
    let shown = show_results(options, &record, &path);
    end?;
    shown?;
    Ok(exit_code(&record, requested))
}

pub(super) fn shown_progress(options: &OutputOptions) -> ShownProgress {
    if options.quiet || options.no_progress {
        return ShownProgress::Nothing;
    }
    ShownProgress::Progress { has_styles: options.color.is_on(&std::io::stderr()) }
}

/// Saves a record under the name that the user requested.
fn save_record(options: &OutputOptions, record: &Path) -> anyhow::Result<()> {
    if let Some(name) = &options.save {
        History::of_user()?.save(name, record)?;
    }
    Ok(())
}

/// Writes the page beside the record, the table to standard output, and the exports.
fn show_results(options: &OutputOptions, record: &Record, path: &Path) -> anyhow::Result<()> {
    let mut page = Page::from_record(record);
    page.lists_all |= options.lists_all;
    page.center = options.stats;
    if let Some(file) = &options.claims {
        page.judged_claims = vec![claims::judge(&claims::read(file)?, Some(record))];
    }
    let beside = path.with_file_name(REPORT);
    let inputs = inputs_of_record(record, path);
    let paged = page_output_file(&beside).write(&inputs, |out| out.write_all(report::html(&page).as_bytes()));
    let exports = options.exports();
    let written = paged.and(exports.write(&ShownRun { record, page: &page }, &inputs));
    if options.quiet || exports.uses_standard_output() {
        return Ok(written?);
    }
    // The results are shown even if the page or an export could not be written.
    let mut table = report::terminal_page(&page, table_style(options.color), Some(&display_path(path)));
    if options.percentiles {
        table += &report::percentile_tables(&page);
    }
    let printed = std::io::stdout().write_all(table.as_bytes());
    written?;
    printed.context("standard output")
}

fn page_output_file(file: &Path) -> OutputFile<'_> {
    OutputFile { option: "the page", file, is_earlier_output: markup::is_own_page }
}

/// Checks the options of a new run as [`check_options`] does. Its record and page will be in the
/// folder that the user names.
fn check_options_of_new_run(options: &OutputOptions, inputs: &InputFiles) -> anyhow::Result<()> {
    let Some(named) = &options.output else { return check_options(options, None, inputs) };
    let folder = RunFolder::make(Some(named))?;
    let checked = check_options(options, Some(&folder.record_path()), inputs);
    folder.remove_if_unused();
    checked
}

/// Refuses exports that could not be written or that would replace the record or its page, and
/// claims that could not be judged.
pub(super) fn check_options(
    options: &OutputOptions,
    record: Option<&Path>,
    inputs: &InputFiles,
) -> anyhow::Result<()> {
    options.claims.as_deref().map(claims::read).transpose()?;
    let mut inputs = inputs.clone();
    // A record that exists already is resumed, so it is an input, too.
    inputs.join(InputFiles::at(options.claims.as_deref().into_iter().chain(record)));
    let page = record.map(|record| record.with_file_name(REPORT));
    let new_record = record.filter(|record| !record.exists());
    let mut files = options.export_files();
    files.extend(page.as_deref().map(page_output_file));
    files.extend(new_record.map(|file| OutputFile {
        option: "the record",
        file,
        is_earlier_output: |_| false,
    }));
    Ok(output_file::check(&files, &inputs)?)
}
