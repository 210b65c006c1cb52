//! A sample is one timed reading with the values of all meters. The table of meters states for each
//! meter what it counts, its unit, how the values of concurrent readings are combined, and which
//! exports have it.

use crate::trial::{Answer, TrialIndex};
use readlab_protocol::SampleLine;
use readlab_stats::Observation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! sample {
    ($($(#[$about:meta])* $meter:ident = $name:literal, $words:literal, $unit:ident, $joint:ident, $scope:ident, $csv:expr, $field:ident;)*) => {
        /// One timed reading with the values of all meters. `None` means that a meter could not be
        /// read; the record states the reason. The table of [`Meter`] explains each meter.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct Sample {
            pub trial: TrialIndex,
            /// Number of the fill (one eviction and refill of the page cache) before this reading,
            /// from 0. Readings that are not warm have no fill; for them the number rises with
            /// every reading.
            pub fill: u32,
            /// Number of the round, from 0, counted over all rounds of one cache state.
            pub round: u32,
            /// Position of the trial in the shuffled order of the round, from 0.
            pub position: u32,
            /// Number of the search rung in which the reading was taken, from 0; `None` for a
            /// reported reading.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub rung: Option<u32>,
            /// Number of this reading among the timed readings of its turn, from 0.
            pub reading: u32,
            /// Number of readings in the turn, timed and leading. Meters read from outside are
            /// divided by it.
            pub turn_readings: u32,
            /// Time from opening the file to closing it, by the contender's monotonic clock.
            pub wall_ns: u64,
            $($(#[$about])* pub $field: Option<u64>,)*
            /// Share of the file's pages in the page cache before the turn, 0 to 1.
            pub resident_before: Option<f64>,
            /// Share of the file's pages in the page cache after the turn, 0 to 1.
            pub resident_after: Option<f64>,
            /// True if both residency shares are estimates from a sample of pages spread evenly
            /// over the file.
            #[serde(default, skip_serializing_if = "crate::is_default")]
            pub resident_is_estimate: bool,
            /// What proves the state of a pressed reading; `None` in other states.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub pressed: Option<PressedProof>,
            #[serde(default, skip_serializing_if = "crate::is_default")]
            pub turn: TurnSeen,
            #[serde(default, skip_serializing_if = "crate::is_default")]
            pub request: RequestMeters,
            /// The answer, which proves that the work was done.
            pub answer: Answer,
        }
    };
}

impl Sample {
    pub fn observation(&self, meter: Meter) -> Option<Observation> {
        Some(self.observation_of(meter.read(self)?))
    }

    /// Bytes from the device ÷ `bytes`, which is for example the size of the target: how many times
    /// each byte was fetched on average. `None` if bytes from the device were not counted.
    pub fn device_reads_per_byte(&self, bytes: u64) -> Option<f64> {
        Some(self.device_read_bytes? as f64 / bytes.max(1) as f64)
    }

    /// The CPU time of all threads, in user mode and in the kernel together, in nanoseconds.
    pub fn cpu_observation(&self) -> Option<Observation> {
        Some(self.observation_of(self.cpu_user_ns?.saturating_add(self.cpu_system_ns?)))
    }

    fn observation_of(&self, value: u64) -> Observation {
        Observation { value: value as f64, fill: self.fill, round: self.round }
    }
}

impl From<&Sample> for Observation {
    fn from(sample: &Sample) -> Observation {
        sample.observation_of(sample.wall_ns)
    }
}

impl From<Sample> for Observation {
    fn from(sample: Sample) -> Observation {
        Observation::from(&sample)
    }
}

macro_rules! turn_seen {
    ($($(#[$about:meta])* $meter:ident = $name:literal, $words:literal, $unit:ident, $joint:ident, $scope:ident, $csv:expr, turn.$field:ident;)*) => {
        /// Meters that the lab reads from outside for a whole turn, untimed readings included. All
        /// samples of a turn have the same values.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct TurnSeen {
            $(
                $(#[$about])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<u64>,
            )*
            /// Which meter shows that enough bytes reached the contender; `None` if none does.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub delivered: Option<DeliveryMeter>,
        }
    };
}

/// The proof that a reading was made under its bound on memory, and in the steady state. If each
/// reader has a control group, the numbers are sums over these groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PressedProof {
    /// Share of the working set that was in the page cache in the steady state, after the last of
    /// the untimed readings. The kernel also reads pages around the blocks of a file, so the share
    /// can exceed 1.
    pub steady_share: f64,
    /// The same share right before the reading.
    pub before_share: f64,
    /// Number of untimed readings under the bound until residency and refaults were steady.
    pub untimed_readings: u32,
    /// The limit of the control group: the bound on the page cache and `process_bytes`.
    pub limit_bytes: u64,
    /// Memory that the group needed besides the page cache of the target: memory of its processes,
    /// and pages of other files such as the program.
    pub process_bytes: u64,
    /// Memory of the group after the reading, without page cache.
    #[serde(rename = "held_bytes")]
    pub non_cache_bytes: u64,
    /// Share of the working set that was in the page cache before the reading, but is charged to
    /// other groups; a lower limit.
    pub elsewhere_share: f64,
}

/// Bytes that the kernel maps around a page fault on a file in the page cache, if the pages are
/// small: `fault_around_bytes`, 64 KiB by default.
pub const FAULT_AROUND_BYTES: u64 = 64 << 10;

/// The size of a small page. New memory causes at most one page fault for each.
pub const PAGE_BYTES: u64 = 4096;

/// Most page faults that a running contender causes in a turn apart from its buffers and the
/// mapping of a file: memory for its counts and its answer.
pub const OWN_FAULTS_MAX: u64 = 128;

/// Which meter shows that the bytes reached a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Delivered")]
pub enum DeliveryMeter {
    /// Read calls returned as many bytes as the readings contain (`rchar`; for a command minus
    /// `wchar`, the bytes that its processes wrote).
    Calls,
    /// There were enough page faults to map nearly all pages of the readings, at sixteen pages per
    /// fault, beyond the page faults that the process causes itself. Page faults of a command prove
    /// nothing.
    Faults,
}

impl TurnSeen {
    /// True if no meter of the turn is known.
    pub fn is_unknown(&self) -> bool {
        *self == TurnSeen::default()
    }
}

macro_rules! request_meters {
    ($($(#[$about:meta])* $meter:ident = $name:literal, $words:literal, $unit:ident, $joint:ident, $scope:ident, $csv:expr, request.$field:ident;)*) => {
        /// The requests of one reading. `None` means that the contender's client does not report
        /// the value.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct RequestMeters {
            $(
                $(#[$about])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<u64>,
            )*
        }

        impl RequestMeters {
            /// The name and length of a request phase that is longer than the window of the reading
            /// and so cannot be true; `None` if all phases fit into the window.
            pub fn phase_longer_than(&self, wall_ns: u64) -> Option<(&'static str, u64)> {
                let meters = [$(($name, MeterUnit::$unit, self.$field)),*];
                let parts = meters.into_iter().filter(|(_, unit, _)| *unit == MeterUnit::Nanoseconds);
                let mut known = parts.filter_map(|(name, _, ns)| Some((name, ns?)));
                known.find(|(_, ns)| *ns > wall_ns)
            }
        }

        impl From<&SampleLine> for RequestMeters {
            fn from(line: &SampleLine) -> RequestMeters {
                RequestMeters { $($field: line.$field),* }
            }
        }
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeterUnit {
    Nanoseconds,
    /// Bytes that were transferred.
    Bytes,
    /// Bytes of occupied memory.
    Memory,
    Count,
}

/// How the values of all ranks or readers of one turn are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JointRule {
    /// The sum of the values; missing if one value is missing.
    Sum,
    /// The largest value, because the readers share what is counted or do it at the same time.
    Largest,
}

/// What a meter describes; decides where exports have the meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One value for each reading, for every target.
    Reading,
    /// One value for each reading, if there is a layer below the file system.
    Layer,
    /// One value for each reading; exports have the meter only if a reading has a value.
    WhereCounted,
    /// One value for each reading: about its requests to a server.
    Requests,
    /// One value for the whole turn, seen from outside.
    Turn,
    /// One value for the whole turn: the disturbance by other work of the machine.
    Disturbance,
}

macro_rules! meter {
    ($($(#[$about:meta])* $meter:ident = $name:literal, $words:literal, $unit:ident, $joint:ident, $scope:ident, $csv:expr, $($field:ident).+;)*) => {
        /// A meter of a sample, in the order of tables.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Meter {
            /// Time from open to close, by the contender's clock. This meter is never missing.
            WallNs,
            $(#[doc = $words] $meter,)*
        }

        impl Meter {
            /// All meters whose value may be missing.
            pub const ALL: [Meter; [$($name),*].len()] = [$(Meter::$meter),*];

            /// The meter's name in records and exports.
            pub fn name(self) -> &'static str {
                match self {
                    Meter::WallNs => "wall_ns",
                    $(Meter::$meter => $name,)*
                }
            }

            /// The meter's name in tables and messages.
            pub const fn words(self) -> &'static str {
                match self {
                    Meter::WallNs => "wall time",
                    $(Meter::$meter => $words,)*
                }
            }

            pub fn unit(self) -> MeterUnit {
                match self {
                    Meter::WallNs => MeterUnit::Nanoseconds,
                    $(Meter::$meter => MeterUnit::$unit,)*
                }
            }

            pub fn joint_rule(self) -> JointRule {
                match self {
                    Meter::WallNs => JointRule::Largest,
                    $(Meter::$meter => JointRule::$joint,)*
                }
            }

            pub fn scope(self) -> Scope {
                match self {
                    Meter::WallNs => Scope::Reading,
                    $(Meter::$meter => Scope::$scope,)*
                }
            }

            /// The meter's heading in comma-separated values; `None` if it has no column there.
            pub fn csv_heading(self) -> Option<&'static str> {
                match self {
                    Meter::WallNs => Some("wall_ns"),
                    $(Meter::$meter => $csv,)*
                }
            }

            /// The meter's value in a sample.
            pub fn read(self, sample: &Sample) -> Option<u64> {
                match self {
                    Meter::WallNs => Some(sample.wall_ns),
                    $(Meter::$meter => sample.$($field).+,)*
                }
            }

            /// The field of a sample that holds the meter's value; `None` for the wall time, which
            /// is never missing.
            pub fn field(self, sample: &mut Sample) -> Option<&mut Option<u64>> {
                match self {
                    Meter::WallNs => None,
                    $(Meter::$meter => Some(&mut sample.$($field).+),)*
                }
            }
        }
    };
}

/// Generates from the table the structures that hold the values, and the properties of each meter.
macro_rules! meters {
    (sample { $($own:tt)* } request { $($request:tt)* } turn { $($turn:tt)* }) => {
        sample! { $($own)* }
        request_meters! { $($request)* }
        turn_seen! { $($turn)* }
        meter! { $($own)* $($request)* $($turn)* }
    };
}

// Each entry is one meter: a comment for its field; its name, words and unit; how values of several
// readers are combined; what it describes; its heading in comma-separated values; its field.
meters! {
    sample {
        /// CPU time in user mode.
        CpuUserNs = "cpu_user_ns", "CPU time in user mode", Nanoseconds, Sum, Reading, Some("cpu_user_ns"), cpu_user_ns;
        /// CPU time in the kernel.
        CpuSystemNs = "cpu_system_ns", "CPU time in the kernel", Nanoseconds, Sum, Reading, Some("cpu_system_ns"), cpu_system_ns;
        /// High-water mark of resident memory, mapped file pages included; for a command, the
        /// mark of its largest process.
        PeakRssBytes = "peak_rss_bytes", "peak memory", Memory, Largest, Reading, Some("peak_rss_bytes"), peak_rss_bytes;
        /// Page faults served without the device.
        MinorFaults = "minor_faults", "minor page faults", Count, Sum, Reading, Some("minor_faults"), minor_faults;
        /// Page faults that waited for the device.
        MajorFaults = "major_faults", "major page faults", Count, Sum, Reading, Some("major_faults"), major_faults;
        /// Bytes that the kernel fetched from the device for this process.
        DeviceReadBytes = "device_read_bytes", "bytes from the device", Bytes, Sum, Reading, Some("device_read_bytes"), device_read_bytes;
        /// Bytes that the layer below the file system read for this reading: the program behind a
        /// FUSE file system from devices, a server from any source. `None` also if there is no such
        /// layer.
        #[serde(skip_serializing_if = "Option::is_none")]
        BelowReadBytes = "below_read_bytes", "bytes from the layer below", Bytes, Sum, Layer, Some("below_read_bytes"), below_read_bytes;
        /// Number of bytes that the reads of blocks requested, as the contender reports it. It is
        /// more than the bytes of the blocks if the contender merges blocks or rounds its reads
        /// out.
        #[serde(skip_serializing_if = "Option::is_none")]
        ReadBytes = "read_bytes", "bytes that reads asked for", Bytes, Sum, WhereCounted, Some("read_bytes"), read_bytes;
        /// Pages of files that were read from the device again after the kernel had reclaimed them,
        /// counted in the control group of a pressed reading.
        #[serde(skip_serializing_if = "Option::is_none")]
        Refaults = "refaults", "pages read again", Count, Sum, WhereCounted, Some("refaults"), refaults;
        /// Pages that the kernel examined in order to reclaim memory: pages of the control group of
        /// a pressed reading, or of the whole machine if the kernel does not count pages by group
        /// (control groups of version 1).
        #[serde(skip_serializing_if = "Option::is_none")]
        PagesScanned = "pages_scanned", "pages scanned for reclaim", Count, Sum, WhereCounted, Some("pages_scanned"), pages_scanned;
        /// Time in which a task of the control group of a pressed reading waited for memory; `None`
        /// if the kernel counts it for the whole machine only (`memory_pressure_ns`).
        #[serde(skip_serializing_if = "Option::is_none")]
        MemoryStallNs = "memory_stall_ns", "waiting for memory", Nanoseconds, Largest, WhereCounted, Some("memory_stall_ns"), memory_stall_ns;
    }
    request {
        /// Time to resolve the server's name for the first connection.
        DnsNs = "dns_ns", "resolving the name", Nanoseconds, Largest, Requests, Some("dns_ns"), request.dns_ns;
        /// Time to make the first connection.
        ConnectNs = "connect_ns", "connecting", Nanoseconds, Largest, Requests, Some("connect_ns"), request.connect_ns;
        /// Time of the TLS handshake of the first connection.
        TlsNs = "tls_ns", "agreeing on encryption", Nanoseconds, Largest, Requests, Some("tls_ns"), request.tls_ns;
        /// Time from the beginning of the window to the first byte of the content.
        FirstByteNs = "first_byte_ns", "until the first byte", Nanoseconds, Largest, Requests, Some("first_byte_ns"), request.first_byte_ns;
        /// Number of requests, repeated requests included.
        Requests = "requests", "requests", Count, Sum, Requests, Some("requests"), request.requests;
        /// Number of requests that were repeated after a failure.
        Retries = "retries", "repeated requests", Count, Sum, Requests, Some("retries"), request.retries;
    }
    turn {
        /// Time from the lab's "go" to the first word of the answer.
        TurnWallNs = "turn.wall_ns", "time of the turn", Nanoseconds, Largest, Turn, Some("turn_wall_ns"), turn.wall_ns;
        /// CPU time of the contender and of the programs that it ran, as the kernel counts it.
        TurnCpuNs = "turn.cpu_ns", "CPU time of the turn", Nanoseconds, Sum, Turn, None, turn.cpu_ns;
        /// Largest error of `cpu_ns`: the kernel counts the CPU time of other programs in clock
        /// ticks.
        TurnCpuErrorNs = "turn.cpu_error_ns", "error of the CPU time of the turn", Nanoseconds, Sum, Turn, None, turn.cpu_error_ns;
        /// Time in which the contender's threads were runnable and had no processor, summed over
        /// all threads.
        DelayedNs = "turn.delayed_ns", "waiting for a processor", Nanoseconds, Sum, Turn, Some("delayed_ns"), turn.delayed_ns;
        /// Time in which the lab's own threads were runnable and had no processor.
        LabDelayedNs = "turn.lab_delayed_ns", "readlab waiting for a processor", Nanoseconds, Sum, Turn, Some("lab_delayed_ns"), turn.lab_delayed_ns;
        /// Number of times that a thread of the contender was preempted.
        Preemptions = "turn.preemptions", "preemptions", Count, Sum, Disturbance, Some("preemptions"), turn.preemptions;
        /// Time of the machine's processors that its hypervisor gave to other guests, in clock
        /// ticks.
        StealNs = "turn.steal_ns", "processors given to others by the hypervisor", Nanoseconds, Sum, Disturbance, Some("steal_ns"), turn.steal_ns;
        /// Time in which a task of the machine waited for a processor.
        CpuPressureNs = "turn.cpu_pressure_ns", "tasks waiting for a processor", Nanoseconds, Sum, Disturbance, Some("cpu_pressure_ns"), turn.cpu_pressure_ns;
        /// Time in which a task of the machine waited for a device.
        IoPressureNs = "turn.io_pressure_ns", "tasks waiting for a device", Nanoseconds, Sum, Disturbance, Some("io_pressure_ns"), turn.io_pressure_ns;
        /// Time in which a task of the machine waited for memory.
        MemoryPressureNs = "turn.memory_pressure_ns", "tasks waiting for memory", Nanoseconds, Sum, Disturbance, Some("memory_pressure_ns"), turn.memory_pressure_ns;
        /// Time in which the contender's control groups had used up their CPU quota, summed over
        /// all processors on which its threads could have run.
        ThrottledNs = "turn.throttled_ns", "throttled by a quota of processors", Nanoseconds, Largest, Disturbance, Some("throttled_ns"), turn.throttled_ns;
        /// Time in which the device below the file was busy, for whichever process.
        DeviceBusyNs = "turn.device_busy_ns", "device busy", Nanoseconds, Largest, Disturbance, Some("device_busy_ns"), turn.device_busy_ns;
    }
}

impl Meter {
    /// The meters that tables and exports summarise over the readings of a trial, in table order.
    pub fn summarised() -> impl Iterator<Item = Meter> + Clone {
        let is_summarised =
            |meter: &Meter| matches!(meter.scope(), Scope::Reading | Scope::WhereCounted | Scope::Requests);
        std::iter::once(Meter::WallNs).chain(Meter::ALL.into_iter().filter(is_summarised))
    }

    /// True if exports have the meter only when a reading has a value.
    pub fn is_optional(self) -> bool {
        matches!(self.scope(), Scope::WhereCounted | Scope::Requests)
    }

    /// True if the meter describes a whole turn, untimed readings included, and not a single
    /// reading.
    pub fn describes_turn(self) -> bool {
        matches!(self.scope(), Scope::Turn | Scope::Disturbance)
    }

    /// The share of one reading in the value of its turn. A value that describes the whole turn, or
    /// that concurrent readings share, is not divided.
    pub fn value_of_reading(self, turn_value: u64, readings: u64) -> u64 {
        let is_shared = self.describes_turn() || self.joint_rule() == JointRule::Largest;
        if is_shared { turn_value } else { turn_value / readings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation_has_the_location_of_its_sample_and_an_unread_meter_is_none() {
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
        assert_eq!(both.observation(Meter::CpuUserNs), Some(observation(5.0)));
        assert_eq!(both.observation(Meter::MajorFaults), None);
        assert_eq!(both.cpu_observation(), Some(observation(8.0)));
        assert_eq!(cpu(Some(5), None).cpu_observation(), None);
    }

    #[test]
    fn a_request_phase_longer_than_the_window_is_found() {
        let parts = RequestMeters { tls_ns: Some(5), first_byte_ns: Some(9), ..RequestMeters::default() };
        assert_eq!(parts.phase_longer_than(9), None);
        assert_eq!(parts.phase_longer_than(8), Some(("first_byte_ns", 9)));
    }
}
