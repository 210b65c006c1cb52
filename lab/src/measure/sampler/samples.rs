//! From what was seen of one turn to its samples: what the contender said, over what the lab
//! metered from outside.

use super::ProcessSampler;
use crate::contender::session::Turn;
use crate::measure::meters::{CpuSplit, Metered, Missing};
use crate::measure::residency::ResidencyProof;
use crate::record::{Delivered, LimitKind, Sample, Trial, TurnSeen};
use crate::trial::{Answer, COMMAND, Transport};
use readlab_protocol::{SampleLine, TurnRequest};

/// Why a reading over http has no bytes from a device.
const BEHIND_SERVER: &str = "the server reads the device, not the contender";

/// What one page fault maps of pages that are there, where these are small: the kernel's
/// `fault_around_bytes`.
const MAPPED_AROUND_BYTES: u64 = 64 << 10;

/// What was seen of one turn.
pub(super) struct Observed {
    pub(super) before: Option<ResidencyProof>,
    pub(super) turn: Turn,
    pub(super) metered: Metered,
    pub(super) after: Option<ResidencyProof>,
    /// What the next layer read meanwhile, where there is one with a count of its own.
    pub(super) below: Option<Result<u64, String>>,
}

/// The page faults of what is raced. A command's are those of its own process: what starts it
/// faults too, some thirty times a reading, as forking makes its memory shared.
pub(super) fn minor_faults<'m>(trial: &Trial, metered: &'m Metered) -> &'m Result<u64, Missing> {
    if trial.contender() == COMMAND { &metered.child_minor_faults } else { &metered.minor_faults }
}

impl ProcessSampler<'_> {
    /// The samples of a turn, with what was metered around it shared out among its readings.
    pub(super) fn samples(&mut self, trial: &Trial, ask: TurnRequest, observed: &Observed) -> Vec<Sample> {
        let shared = u64::from(ask.lead + ask.count);
        let template = Sample {
            trial: trial.index,
            turn_readings: ask.lead + ask.count,
            peak_rss_bytes: self.peak(trial, observed),
            minor_faults: self
                .meter(trial, "minor_faults", minor_faults(trial, &observed.metered))
                .map(|n| n / shared),
            major_faults: self
                .meter(trial, "major_faults", &observed.metered.major_faults)
                .map(|n| n / shared),
            device_read_bytes: self.device_bytes(trial, observed).map(|n| n / shared),
            below_read_bytes: self.below_bytes(trial, observed).map(|n| n / shared),
            resident_before: observed.before.as_ref().and_then(ResidencyProof::share),
            resident_after: observed.after.as_ref().and_then(ResidencyProof::share),
            turn: self.seen(trial, shared, observed),
            ..Sample::default()
        };
        let lines = (0..).zip(&observed.turn.samples);
        lines.map(|(reading, line)| self.sample(&template, (reading, line), observed, shared)).collect()
    }

    /// One sample: what the contender said of it, over what the lab saw from outside.
    fn sample(
        &mut self,
        template: &Sample,
        (reading, line): (u32, &SampleLine),
        observed: &Observed,
        shared: u64,
    ) -> Sample {
        let mut cpu = |said: Option<u64>, name: &'static str, part: fn(&CpuSplit) -> u64| match said {
            Some(ns) => Some(ns),
            None => self.split(name, observed.metered.cpu_split.as_ref().map(part)).map(|ns| ns / shared),
        };
        Sample {
            reading,
            wall_ns: line.wall_ns,
            cpu_user_ns: cpu(line.cpu_user_ns, "cpu_user_ns", |split| split.user_ns),
            cpu_system_ns: cpu(line.cpu_system_ns, "cpu_system_ns", |split| split.system_ns),
            peak_rss_bytes: template.peak_rss_bytes.or(line.peak_rss_bytes),
            answer: Answer::from(line),
            ..template.clone()
        }
    }

    /// What was seen of the turn from outside.
    fn seen(&self, trial: &Trial, readings: u64, observed: &Observed) -> TurnSeen {
        let whole = &observed.metered.whole;
        let bytes = self.subject(trial.index).target.facts.size_bytes.saturating_mul(readings);
        let passed = whole.passed_bytes.as_ref().is_ok_and(|&passed| passed >= bytes);
        let mapped = |&faults: &u64| faults.saturating_mul(MAPPED_AROUND_BYTES) >= bytes;
        let delivered = match observed.metered.minor_faults.as_ref().is_ok_and(mapped) {
            _ if bytes == 0 => None,
            _ if passed => Some(Delivered::Calls),
            true => Some(Delivered::Faults),
            false => None,
        };
        TurnSeen {
            wall_ns: Some(observed.turn.seen_ns),
            cpu_ns: whole.cpu_ns.as_ref().ok().copied(),
            cpu_error_ns: whole.cpu_ns.is_ok().then_some(whole.cpu_error_ns),
            delayed_ns: whole.delayed_ns.as_ref().ok().copied(),
            lab_delayed_ns: whole.lab_delayed_ns.as_ref().ok().copied(),
            delivered,
        }
    }

    /// The high-water mark, unless the contender tells that of a program it started for each
    /// reading.
    fn peak(&mut self, trial: &Trial, observed: &Observed) -> Option<u64> {
        let told = observed.turn.samples.iter().all(|line| line.peak_rss_bytes.is_some());
        if told && !observed.metered.whole.alone {
            None
        } else {
            self.meter(trial, "peak_rss_bytes", &observed.metered.peak_rss_bytes)
        }
    }

    /// Bytes from the device, where it is the contender that makes the kernel fetch them.
    fn device_bytes(&mut self, trial: &Trial, observed: &Observed) -> Option<u64> {
        if !trial.is_control() && self.subject(trial.index).target.facts.over() == Transport::Http {
            self.missing.push(("device_read_bytes", BEHIND_SERVER.to_owned()));
            return None;
        }
        self.meter(trial, "device_read_bytes", &observed.metered.device_read_bytes)
    }

    /// Bytes that the next layer read. A control reads nothing through it.
    fn below_bytes(&mut self, trial: &Trial, observed: &Observed) -> Option<u64> {
        let counted = observed.below.clone().filter(|_| !trial.is_control())?;
        counted.map_err(|why| self.missing.push(("below_read_bytes", why))).ok()
    }

    /// A meter's reading, or a note of why there is none.
    fn meter(&mut self, trial: &Trial, name: &'static str, reading: &Result<u64, Missing>) -> Option<u64> {
        // These two do nothing that a meter sees but what is in their window.
        let is_plain = matches!(trial.limit(), Some(LimitKind::Device | LimitKind::Faults));
        if trial.is_control() && !is_plain {
            self.missing
                .push((name, "a control: what it does outside its window would be counted".to_owned()));
            return None;
        }
        self.split(name, reading.as_ref().copied())
    }

    fn split(&mut self, name: &'static str, reading: Result<u64, &Missing>) -> Option<u64> {
        reading.map_err(|why| self.missing.push((name, why.to_string()))).ok()
    }
}
