//! A sample: one timed reading with its metrics.

use super::RequestMeters;
use crate::trial::{Answer, TrialIndex};
use readlab_stats::Observation;
use serde::{Deserialize, Serialize};

/// One timed reading with everything metered around it. `None` is a meter that could not be read;
/// why is a [`Line::Missing`](super::Line::Missing) of the same trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub trial: TrialIndex,
    /// Which fill of the cache, from 0; samples that are not warm have one each and count up too.
    pub fill: u32,
    /// Which round, from 0, over the whole run of one state.
    pub round: u32,
    /// Place in the round's shuffled order, from 0.
    pub position: u32,
    /// In which rung of a search it was read, from 0; `None` for a reading that is reported.
    /// Since version 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<u32>,
    /// Which of the timed readings of its turn, from 0.
    pub reading: u32,
    /// How many readings, timed and leading, shared the turn; meters read from outside are shared
    /// out equally.
    pub turn_readings: u32,
    /// Open to close by the contender's monotonic clock.
    pub wall_ns: u64,
    /// CPU time in user mode.
    pub cpu_user_ns: Option<u64>,
    /// CPU time in the kernel.
    pub cpu_system_ns: Option<u64>,
    /// High-water mark of resident memory, mapped file pages included.
    pub peak_rss_bytes: Option<u64>,
    /// Page faults served without the device.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for the device.
    pub major_faults: Option<u64>,
    /// Bytes that the kernel fetched from the device for this process.
    pub device_read_bytes: Option<u64>,
    /// Bytes that the layer below the file system read for it: the program behind a FUSE file
    /// system from devices, a server from wherever. `None` also where there is no such layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below_read_bytes: Option<u64>,
    /// Share of the file's pages in the page cache before the turn, 0 to 1.
    pub resident_before: Option<f64>,
    /// Share of the file's pages in the page cache after the turn, 0 to 1.
    pub resident_after: Option<f64>,
    /// Whether these shares are estimates, from pages spread evenly over the file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub resident_is_estimate: bool,
    /// What the lab saw of the whole turn from outside.
    #[serde(default, skip_serializing_if = "TurnSeen::is_unknown")]
    pub turn: TurnSeen,
    /// What the contender says of its requests.
    #[serde(default, skip_serializing_if = "RequestMeters::is_unknown")]
    pub request: RequestMeters,
    /// Proof of work.
    pub answer: Answer,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(it: &bool) -> bool {
    !it
}

impl Sample {
    /// The value of a metric with its place in the rounds; `None` where the meter was not read.
    pub fn observation(&self, metric: Metric) -> Option<Observation> {
        Some(self.place(metric.value_in(self)?))
    }

    /// The CPU time of all threads, in user mode and in the kernel together, in nanoseconds.
    pub fn cpu_observation(&self) -> Option<Observation> {
        Some(self.place(self.cpu_user_ns?.saturating_add(self.cpu_system_ns?)))
    }

    #[expect(clippy::cast_precision_loss, reason = "exact up to 104 days and 9 PB")]
    fn place(&self, value: u64) -> Observation {
        Observation { value: value as f64, fill: self.fill, round: self.round }
    }
}

impl From<&Sample> for Observation {
    /// Its wall time in nanoseconds.
    fn from(sample: &Sample) -> Observation {
        sample.place(sample.wall_ns)
    }
}

impl From<Sample> for Observation {
    fn from(sample: Sample) -> Observation {
        Observation::from(&sample)
    }
}

/// What the lab saw of a whole turn from outside, untimed readings and answering included; the same
/// in all samples of the turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnSeen {
    /// From the lab's "go" to the first word of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<u64>,
    /// CPU time by the kernel's count, of the contender and the programs that it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// How wrong that count may be: that of other programs is in clock ticks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_error_ns: Option<u64>,
    /// Time in which the contender's threads could have run and had no processor, all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ns: Option<u64>,
    /// The same of the lab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lab_delayed_ns: Option<u64>,
    /// How often a processor was taken from one of the contender's threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u64>,
    /// Time of the machine's processors that its hypervisor gave to others, in clock ticks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<u64>,
    /// Time in which a task of the machine waited for a processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_ns: Option<u64>,
    /// Time in which a task of the machine waited for a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_pressure_ns: Option<u64>,
    /// Time in which a task of the machine waited for memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_pressure_ns: Option<u64>,
    /// Time in which its control groups had used up their quota of processors, over all processors
    /// on which its threads could have run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// Time in which the device below the file had work, whoever gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_busy_ns: Option<u64>,
    /// How enough bytes for every reading were seen to reach the contender; `None` where neither
    /// meter shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<Delivered>,
}

/// By which meter bytes were seen to reach a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivered {
    /// As many bytes as the readings have passed through read calls (`rchar`).
    Calls,
    /// As many page faults as it takes to map the readings' pages, sixteen at a time.
    Faults,
}

impl TurnSeen {
    /// Whether nothing is known, as in records of before.
    pub fn is_unknown(&self) -> bool {
        *self == TurnSeen::default()
    }

    /// Whether it has any of the meters of disturbance that records have had since readings of the
    /// whole machine were added.
    pub fn has_disturbance(&self) -> bool {
        let meters = [
            self.preemptions,
            self.steal_ns,
            self.cpu_pressure_ns,
            self.io_pressure_ns,
            self.memory_pressure_ns,
            self.throttled_ns,
            self.device_busy_ns,
        ];
        meters.iter().any(Option::is_some)
    }
}

/// One number that a sample holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Open to close.
    WallNs,
    /// CPU time in user mode.
    CpuUserNs,
    /// CPU time in the kernel.
    CpuSystemNs,
    /// High-water mark of resident memory.
    PeakRssBytes,
    /// Page faults served without the device.
    MinorFaults,
    /// Page faults that waited for the device.
    MajorFaults,
    /// Bytes fetched from the device.
    DeviceReadBytes,
    /// Resolving a server's name.
    DnsNs,
    /// Connecting to a server.
    ConnectNs,
    /// Agreeing on encryption.
    TlsNs,
    /// Until the first byte of the content.
    FirstByteNs,
    Requests,
    /// Repeated requests.
    Retries,
}

impl Metric {
    /// All of them, in the order of tables.
    pub const ALL: [Metric; 13] = [
        Metric::WallNs,
        Metric::CpuUserNs,
        Metric::CpuSystemNs,
        Metric::PeakRssBytes,
        Metric::MinorFaults,
        Metric::MajorFaults,
        Metric::DeviceReadBytes,
        Metric::DnsNs,
        Metric::ConnectNs,
        Metric::TlsNs,
        Metric::FirstByteNs,
        Metric::Requests,
        Metric::Retries,
    ];

    /// Whether only requests to a server have it.
    pub fn is_of_requests(self) -> bool {
        matches!(
            self,
            Metric::DnsNs
                | Metric::ConnectNs
                | Metric::TlsNs
                | Metric::FirstByteNs
                | Metric::Requests
                | Metric::Retries
        )
    }

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Metric::WallNs => "wall_ns",
            Metric::CpuUserNs => "cpu_user_ns",
            Metric::CpuSystemNs => "cpu_system_ns",
            Metric::PeakRssBytes => "peak_rss_bytes",
            Metric::MinorFaults => "minor_faults",
            Metric::MajorFaults => "major_faults",
            Metric::DeviceReadBytes => "device_read_bytes",
            Metric::DnsNs => "dns_ns",
            Metric::ConnectNs => "connect_ns",
            Metric::TlsNs => "tls_ns",
            Metric::FirstByteNs => "first_byte_ns",
            Metric::Requests => "requests",
            Metric::Retries => "retries",
        }
    }

    /// Its value in a sample.
    pub fn value_in(self, sample: &Sample) -> Option<u64> {
        match self {
            Metric::WallNs => Some(sample.wall_ns),
            Metric::CpuUserNs => sample.cpu_user_ns,
            Metric::CpuSystemNs => sample.cpu_system_ns,
            Metric::PeakRssBytes => sample.peak_rss_bytes,
            Metric::MinorFaults => sample.minor_faults,
            Metric::MajorFaults => sample.major_faults,
            Metric::DeviceReadBytes => sample.device_read_bytes,
            Metric::DnsNs => sample.request.dns_ns,
            Metric::ConnectNs => sample.request.connect_ns,
            Metric::TlsNs => sample.request.tls_ns,
            Metric::FirstByteNs => sample.request.first_byte_ns,
            Metric::Requests => sample.request.requests,
            Metric::Retries => sample.request.retries,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_the_place_of_its_sample_and_an_unread_meter_is_none() {
        let cpu = |user, system| Sample {
            fill: 2,
            round: 7,
            wall_ns: 9,
            cpu_user_ns: user,
            cpu_system_ns: system,
            ..Sample::default()
        };
        let both = cpu(Some(5), Some(3));
        let observation = |value| Observation { value, fill: 2, round: 7 };
        assert_eq!(Observation::from(&both), observation(9.0));
        assert_eq!(both.observation(Metric::CpuUserNs), Some(observation(5.0)));
        assert_eq!(both.observation(Metric::MajorFaults), None);
        assert_eq!(both.cpu_observation(), Some(observation(8.0)));
        assert_eq!(cpu(Some(5), None).cpu_observation(), None);
    }
}
