//! Executes an experiment: measures its trials and writes all results to the record.

use super::other_limits::{self, FioJob, measure_fio_limit};
use super::recorder::Recorder;
use super::targets::{KnownTarget, measured_targets};
use super::together::plan_for_measured_targets;
use super::{Experiment, Procedure, Rounds};
use readlab_measure::interface::Sink;
use readlab_measure::plan::Budget;
use readlab_measure::round;
use readlab_measure::sampler::ProcessSampler;
use readlab_measure::search;
use readlab_model::target::{TargetIndex, Targets};
use readlab_record::{EndReason, Line, RecordError, RunKind};
use readlab_system::interrupt;
use readlab_targets::target::Place;
use std::path::Path;
use std::time::{Duration, Instant};

/// The block sizes and queue depths at which fio reads the device. Readlab's own methods are
/// fastest at these.
const FIO_JOBS: [FioJob; 2] =
    [FioJob { block_bytes: 128 << 10, queue_depth: 16 }, FioJob { block_bytes: 1 << 20, queue_depth: 8 }];

#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The record cannot be written further, for example on a full disk. The lines that it holds
    /// can be shown.
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("{0:#}")]
    Sweep(anyhow::Error),
}

pub fn execute(experiment: Experiment, recorder: &mut Recorder) -> Result<EndReason, ExecuteError> {
    let (before, readers) = (experiment.elapsed(), experiment.reader_counts_by_trial());
    let (begun, budget) = (Instant::now(), experiment.plan.rules.budget);
    let Experiment { kind, targets, cache_controls: caches, servers, contenders, plan, procedure, .. } =
        experiment;
    let Experiment { inspect_plan: inspect, setting_control: settings, memory_control: memory, .. } =
        experiment;
    let rounds = match procedure {
        Procedure::Rounds(rounds) => rounds,
        Procedure::Sweep(sweep) => {
            return sweep.execute(&contenders, plan, recorder).map_err(ExecuteError::Sweep);
        }
    };
    recorder.display().expect_trials(&plan);
    if let Rounds::Resumed(record) = &rounds {
        recorder.display().add_record(record);
    }
    if !matches!(rounds, Rounds::Resumed(_)) {
        record_link_speeds(kind, &targets, recorder)?;
    }
    // If each reader reads a separate copy, there is a target for each number of readers, and none
    // is shared.
    let shares_file = !readers.is_empty() && targets.len() == 1;
    let is_shared = shares_file || settings.is_some() || memory.is_some();
    let shared = is_shared.then(|| plan_for_measured_targets(&plan, targets.len()));
    let sampled = shared.as_ref().unwrap_or(&plan);
    let mut sampler = ProcessSampler::new(sampled, &contenders, measured_targets(&targets, caches))
        .with_reader_counts(readers)
        .with_inspections(inspect)
        .with_settings(settings)
        .with_memory_control(memory)
        .with_earlier_time(before);
    let end = match &rounds {
        Rounds::All => round::run(&plan, &mut sampler, recorder),
        Rounds::Resumed(record) => round::resume(&plan, record, &mut sampler, recorder),
        Rounds::Search(tuning) => search::run(tuning, &mut sampler, recorder),
    };
    drop(sampler);
    drop(servers);
    let end = end?;
    if let Some(Place::File(file)) = targets.first().map(|known| &known.target.place)
        && kind == RunKind::Limits
        && !interrupt::is_stop_requested()
    {
        let left = match budget {
            Budget::Advised(_) => None,
            Budget::Firm(time) => Some(Duration::from(time).saturating_sub(before + begun.elapsed())),
        };
        record_fio_rates(recorder, file, left)?;
    }
    Ok(end)
}

/// Records the speed of the network interfaces through which foreign servers are reached. An
/// unknown speed is reported only by `readlab limits`.
fn record_link_speeds(
    kind: RunKind,
    targets: &Targets<KnownTarget>,
    recorder: &mut Recorder,
) -> Result<(), RecordError> {
    for (index, known) in targets.numbered() {
        let Place::Web(remote) = &known.target.place else { continue };
        match other_limits::link_limit(remote, index) {
            Ok(Some(limit)) => recorder.append(Line::Limit(Box::new(limit)))?,
            Err(error) if kind == RunKind::Limits => {
                recorder.append(Line::Warning { text: format!("no limit of the link: {error}") })?;
            }
            Ok(None) | Err(_) => {}
        }
    }
    Ok(())
}

/// Records fio's read rate on the same device, within the rest of a firm budget. If fio cannot run,
/// a warning says why.
fn record_fio_rates(recorder: &mut Recorder, file: &Path, left: Option<Duration>) -> Result<(), RecordError> {
    for point in FIO_JOBS {
        recorder.display().show_activity("fio reads the device");
        match measure_fio_limit(
            file,
            TargetIndex::new(0),
            point,
            left.map(|left| left / FIO_JOBS.len() as u32),
        ) {
            Ok(limit) => recorder.append(Line::Limit(Box::new(limit)))?,
            Err(error) => {
                return recorder.append(Line::Warning { text: format!("no limit by fio: {error}") });
            }
        }
    }
    Ok(())
}
