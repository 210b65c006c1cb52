//! Measures readings of a file whose first half is in the page cache and whose second half is not.
//! The state is made again before each reading; the methods take turns within this process.

use super::{decided, judged};
use crate::pairs;
use crate::programs::Programs;
use crate::row::Row;
use anyhow::Context;
use readlab_analysis::stats::Ratio;
use readlab_measure::cache::{Eviction, PageCache, TargetCache};
use readlab_model::trial::TrialId;
use readlab_model::units::Bytes;
use readlab_rust::method::registry;
use readlab_rust::{Reading, Sample, Work};
use std::fs::File;
use std::io::Read;
use std::path::Path;

const FILE: Bytes = Bytes(1_000_000_000);
const ROUNDS: usize = 7;

pub(super) fn rows(programs: &Programs, fields: &[(&'static str, Vec<&'static str>)]) -> Vec<Row> {
    let row = |(auto, fixed): &(&str, Vec<&str>)| {
        let figure = format!("{auto}, half cached {FILE}");
        kept_up(programs, auto, fixed)
            .map(|(ratio, best)| judged(&figure, &ratio, &best))
            .unwrap_or_else(|error| Row::failed(figure, &error))
    };
    fields.iter().map(row).collect()
}

fn kept_up(programs: &Programs, auto: &str, fixed: &[&str]) -> anyhow::Result<(Ratio, String)> {
    let file = programs.lines(FILE)?;
    let heat = walls(&file, fixed, ROUNDS)?;
    let medians: Vec<f64> = heat.iter().map(|walls| pairs::median(walls)).collect();
    let best = (0..fixed.len()).min_by(|&a, &b| medians[a].total_cmp(&medians[b]));
    let best = fixed[best.context("no fixed method")?];
    let ratio = decided(|rounds| {
        let fresh = walls(&file, &[best, auto], rounds)?;
        let pairs: Vec<(f64, f64)> = fresh[0].iter().copied().zip(fresh[1].iter().copied()).collect();
        let found = pairs::ratio(&pairs);
        Ok(Ratio { estimate: found.estimate, ci95: found.ci95, pairs: pairs.len() })
    })?;
    Ok((ratio, best.to_owned()))
}

/// The wall times in nanoseconds of each method, round by round.
fn walls(file: &Path, methods: &[&str], rounds: usize) -> anyhow::Result<Vec<Vec<f64>>> {
    let cache = PageCache::open(file, Eviction::OfFile)?;
    let mut readings =
        methods.iter().map(|method| reading(method, file)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut walls = vec![Vec::new(); methods.len()];
    for _ in 0..rounds {
        for (reading, walls) in readings.iter_mut().zip(&mut walls) {
            cache.evict()?;
            let half = FILE.0 / 2;
            std::io::copy(&mut File::open(file)?.take(half), &mut std::io::sink())?;
            walls.extend(pairs::floats([Sample::take(reading)?.wall_ns]));
        }
    }
    Ok(walls)
}

/// The trial of this name as a reading within this process, with the best scan that there is.
fn reading(name: &str, file: &Path) -> anyhow::Result<Reading> {
    let all = std::thread::available_parallelism()?.to_string();
    let id: TrialId = name.replace("=all", &format!("={all}")).parse()?;
    let method = registry::find(&id.method.method).with_context(|| format!("{name}: no such method"))?;
    let scan = method.scans(Work::Newlines)[0];
    let spelled = |(given, &value): (&String, &u64)| {
        let param = method.params.iter().find(|param| param.name == given);
        param.map(|param| (param.name, value)).with_context(|| format!("{name}: no parameter {given}"))
    };
    let settings = id.params.0.iter().map(spelled).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Reading::new(method.name, scan, Work::Newlines, file, settings)?)
}
