//! Executes an experiment: its trials are measured, and whatever is found goes to the record.

use super::other_limits::{self, FioPoint, fio};
use super::recorder::Recorder;
use super::targets::KnownTarget;
use super::together::of_one_target;
use super::{Experiment, Procedure, Rounds};
use readlab_measure::interface::Sink;
use readlab_measure::plan::Budget;
use readlab_measure::round;
use readlab_measure::sampler::ProcessSampler;
use readlab_measure::search;
use readlab_record::{EndReason, Line, RecordError, RunKind};
use readlab_system::interrupt;
use readlab_targets::target::Place;
use std::path::Path;
use std::time::{Duration, Instant};

/// The blocks and depths at which fio reads the device: those at which our own methods are best.
const FIO_POINTS: [FioPoint; 2] =
    [FioPoint { block_bytes: 128 << 10, depth: 16 }, FioPoint { block_bytes: 1 << 20, depth: 8 }];

#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The record cannot be written further, as on a full disk. What it holds can be shown.
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("{0:#}")]
    Sweep(anyhow::Error),
}

pub fn execute(experiment: Experiment, recorder: &mut Recorder) -> Result<EndReason, ExecuteError> {
    let (before, readers) = (experiment.elapsed(), experiment.readers());
    let (begun, budget) = (Instant::now(), experiment.plan.rules.budget);
    let Experiment { kind, targets, caches, servers, contenders, plan, procedure, inspect, .. } = experiment;
    let rounds = match procedure {
        Procedure::Rounds(rounds) => rounds,
        Procedure::Sweep(sweep) => {
            return sweep.execute(&contenders, plan, recorder).map_err(ExecuteError::Sweep);
        }
    };
    recorder.display().expect(&plan);
    if let Rounds::Rest(record) = &rounds {
        recorder.display().recall(record);
    }
    if !matches!(rounds, Rounds::Rest(_)) {
        note_links(kind, &targets, recorder)?;
    }
    let measured = targets.iter().zip(caches).enumerate();
    let measured = measured.map(|(index, (target, cache))| target.measured(index, cache)).collect();
    // Where each has a copy of its own, there is a target for each number of them.
    let shares_file = !readers.is_empty() && targets.len() == 1;
    let of_readers = shares_file.then(|| of_one_target(&plan));
    let sampled = of_readers.as_ref().unwrap_or(&plan);
    let mut sampler = ProcessSampler::new(sampled, &contenders, measured)
        .reading_together(readers)
        .inspecting(inspect)
        .after(before);
    let end = match &rounds {
        Rounds::All => round::run(&plan, &mut sampler, recorder),
        Rounds::Rest(record) => round::resume(&plan, record, &mut sampler, recorder),
        Rounds::Search(tuning) => search::run(tuning, &mut sampler, recorder),
    };
    drop(sampler);
    drop(servers);
    let end = end?;
    if let Some(Place::File(file)) = targets.first().map(|known| &known.target.place)
        && kind == RunKind::Limits
        && !interrupt::requested()
    {
        let left = match budget {
            Budget::Advised(_) => None,
            Budget::Firm(time) => Some(Duration::from(time).saturating_sub(before + begun.elapsed())),
        };
        compare_with_fio(recorder, file, left)?;
    }
    Ok(end)
}

/// Records the speed of the interfaces on the way to foreign servers. That one is not known is said
/// where limits are asked for.
fn note_links(kind: RunKind, targets: &[KnownTarget], recorder: &mut Recorder) -> Result<(), RecordError> {
    for (index, known) in targets.iter().enumerate() {
        let Place::Web(remote) = &known.target.place else { continue };
        match other_limits::link(remote, index) {
            Ok(Some(limit)) => recorder.append(Line::Limit(Box::new(limit)))?,
            Err(error) if kind == RunKind::Limits => {
                recorder.append(Line::Warning { text: format!("no limit of the link: {error}") })?;
            }
            Ok(None) | Err(_) => {}
        }
    }
    Ok(())
}

/// Records what fio reads from the same device, in what is left of a firm time. If it cannot run, a
/// warning says why.
fn compare_with_fio(recorder: &mut Recorder, file: &Path, left: Option<Duration>) -> Result<(), RecordError> {
    for point in FIO_POINTS {
        recorder.display().activity("fio reads the device");
        match fio(file, 0, point, left.map(|left| left / FIO_POINTS.len() as u32)) {
            Ok(limit) => recorder.append(Line::Limit(Box::new(limit)))?,
            Err(error) => {
                return recorder.append(Line::Warning { text: format!("no limit by fio: {error}") });
            }
        }
    }
    Ok(())
}
