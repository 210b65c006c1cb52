//! A sample: one timed reading with everything metered around it; and the table of meters: what
//! each counts, in which unit, how readings taken together become one, where exports have it.

use crate::trial::{Answer, TrialIndex};
use readlab_protocol::SampleLine;
use readlab_stats::Observation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! sample {
    ($($(#[$about:meta])* $meter:ident = $name:literal, $words:literal, $unit:ident, $joint:ident, $scope:ident, $csv:expr, $field:ident;)*) => {
        /// One timed reading with everything metered around it. `None` is a meter that could not be
        /// read; the record says why. What each meter means is in the table of [`Meter`].
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct Sample {
            pub trial: TrialIndex,
            /// Which fill of the cache, from 0; samples that are not warm have one each and count up too.
            pub fill: u32,
            /// Which round, from 0, over the whole run of one state.
            pub round: u32,
            /// Place in the round's shuffled order, from 0.
            pub position: u32,
            /// In which rung of a search, from 0; `None` for a reported reading.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub rung: Option<u32>,
            /// Which of the timed readings of its turn, from 0.
            pub reading: u32,
            /// Readings, timed and leading, of the turn; meters read from outside are shared out equally.
            pub turn_readings: u32,
            /// Open to close by the contender's monotonic clock.
            pub wall_ns: u64,
            $($(#[$about])* pub $field: Option<u64>,)*
            /// Share of the file's pages in the page cache before the turn, 0 to 1.
            pub resident_before: Option<f64>,
            /// Share of the file's pages in the page cache after the turn, 0 to 1.
            pub resident_after: Option<f64>,
            /// Whether these shares are estimates, from pages spread evenly over the file.
            #[serde(default, skip_serializing_if = "crate::is_default")]
            pub resident_is_estimate: bool,
            #[serde(default, skip_serializing_if = "crate::is_default")]
            pub turn: TurnSeen,
            #[serde(default, skip_serializing_if = "crate::is_default")]
            pub request: RequestMeters,
            /// Proof of work.
            pub answer: Answer,
        }
    };
}

impl Sample {
    pub fn observation(&self, meter: Meter) -> Option<Observation> {
        Some(self.place(meter.read(self)?))
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
    fn from(sample: &Sample) -> Observation {
        sample.place(sample.wall_ns)
    }
}

impl From<Sample> for Observation {
    fn from(sample: Sample) -> Observation {
        Observation::from(&sample)
    }
}

macro_rules! turn_seen {
    ($($(#[$about:meta])* $meter:ident = $name:literal, $words:literal, $unit:ident, $joint:ident, $scope:ident, $csv:expr, turn.$field:ident;)*) => {
        /// What the lab saw of a turn from outside, with untimed readings; the same in all its samples.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct TurnSeen {
            $(
                $(#[$about])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<u64>,
            )*
            /// How enough bytes were seen to reach the contender; `None` where neither meter shows it.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub delivered: Option<Delivered>,
        }
    };
}

/// By which meter bytes were seen to reach a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivered {
    /// As many bytes as the readings have passed through read calls (`rchar`; of a command without
    /// what its processes wrote, `wchar`).
    Calls,
    /// As many page faults as it takes to map the readings' pages, sixteen at a time.
    Faults,
}

impl TurnSeen {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == TurnSeen::default()
    }
}

macro_rules! request_meters {
    ($($(#[$about:meta])* $meter:ident = $name:literal, $words:literal, $unit:ident, $joint:ident, $scope:ident, $csv:expr, request.$field:ident;)*) => {
        /// The requests of a reading. `None` is what the contender's client does not say.
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
            /// The part of the window that cannot be within it, with its name; `None` if all parts can.
            pub fn longer_than(&self, wall_ns: u64) -> Option<(&'static str, u64)> {
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

/// What a meter counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeterUnit {
    Nanoseconds,
    /// Bytes that were moved.
    Bytes,
    /// Bytes of memory.
    Memory,
    Count,
}

/// How the readings of all ranks or readers of one turn become that of all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joint {
    /// One that is missing makes it missing.
    Sum,
    /// They share what is counted, or do it at the same time.
    Largest,
}

/// What a meter is about, and so where exports have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Each reading, as every target has it.
    Reading,
    /// Each reading, where there is a layer below the file system.
    Layer,
    /// Each reading, where it was counted: exports have it only then.
    WhereCounted,
    /// The requests of a reading to a server.
    Requests,
    /// The whole turn, seen from outside.
    Turn,
    /// What other work took from the turn.
    Disturbance,
}

macro_rules! meter {
    ($($(#[$about:meta])* $meter:ident = $name:literal, $words:literal, $unit:ident, $joint:ident, $scope:ident, $csv:expr, $($field:ident).+;)*) => {
        /// A meter of a sample, in the order of tables.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Meter {
            /// From open to close, by the contender's clock; the one that is never missing.
            WallNs,
            $(#[doc = $words] $meter,)*
        }

        impl Meter {
            /// All that may be missing.
            pub const ALL: [Meter; [$($name),*].len()] = [$(Meter::$meter),*];

            /// The name in records and exports.
            pub fn name(self) -> &'static str {
                match self {
                    Meter::WallNs => "wall_ns",
                    $(Meter::$meter => $name,)*
                }
            }

            /// What people call it.
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

            pub fn joint(self) -> Joint {
                match self {
                    Meter::WallNs => Joint::Largest,
                    $(Meter::$meter => Joint::$joint,)*
                }
            }

            pub fn scope(self) -> Scope {
                match self {
                    Meter::WallNs => Scope::Reading,
                    $(Meter::$meter => Scope::$scope,)*
                }
            }

            /// Its heading in comma-separated values; `None` where they leave it out.
            pub fn csv(self) -> Option<&'static str> {
                match self {
                    Meter::WallNs => Some("wall_ns"),
                    $(Meter::$meter => $csv,)*
                }
            }

            /// Its reading in a sample.
            pub fn read(self, sample: &Sample) -> Option<u64> {
                match self {
                    Meter::WallNs => Some(sample.wall_ns),
                    $(Meter::$meter => sample.$($field).+,)*
                }
            }

            /// Where a sample keeps it; `None` for the one that is never missing.
            pub fn field(self, sample: &mut Sample) -> Option<&mut Option<u64>> {
                match self {
                    Meter::WallNs => None,
                    $(Meter::$meter => Some(&mut sample.$($field).+),)*
                }
            }
        }
    };
}

/// Makes of the table the structures that hold the readings, and what is known of each meter.
macro_rules! meters {
    (sample { $($own:tt)* } request { $($request:tt)* } turn { $($turn:tt)* }) => {
        sample! { $($own)* }
        request_meters! { $($request)* }
        turn_seen! { $($turn)* }
        meter! { $($own)* $($request)* $($turn)* }
    };
}

// One meter an entry: what it is in its structure; its name, words and unit; how the readings of all
// readers become one; what it is about; its heading in comma-separated values; its field.
meters! {
    sample {
        /// CPU time in user mode.
        CpuUserNs = "cpu_user_ns", "CPU time in user mode", Nanoseconds, Sum, Reading, Some("cpu_user_ns"), cpu_user_ns;
        /// CPU time in the kernel.
        CpuSystemNs = "cpu_system_ns", "CPU time in the kernel", Nanoseconds, Sum, Reading, Some("cpu_system_ns"), cpu_system_ns;
        /// High-water mark of resident memory, mapped file pages included.
        PeakRssBytes = "peak_rss_bytes", "peak memory", Memory, Largest, Reading, Some("peak_rss_bytes"), peak_rss_bytes;
        /// Page faults served without the device.
        MinorFaults = "minor_faults", "minor page faults", Count, Sum, Reading, Some("minor_faults"), minor_faults;
        /// Page faults that waited for the device.
        MajorFaults = "major_faults", "major page faults", Count, Sum, Reading, Some("major_faults"), major_faults;
        /// Bytes that the kernel fetched from the device for this process.
        DeviceReadBytes = "device_read_bytes", "bytes from the device", Bytes, Sum, Reading, Some("device_read_bytes"), device_read_bytes;
        /// Bytes that the layer below the file system read for it: the program behind a FUSE file
        /// system from devices, a server from wherever. `None` also where there is no such layer.
        #[serde(skip_serializing_if = "Option::is_none")]
        BelowReadBytes = "below_read_bytes", "bytes from the layer below", Bytes, Sum, Layer, Some("below_read_bytes"), below_read_bytes;
    }
    request {
        /// Resolving the server's name, for the first connection.
        DnsNs = "dns_ns", "resolving the name", Nanoseconds, Largest, Requests, Some("dns_ns"), request.dns_ns;
        /// Making the first connection.
        ConnectNs = "connect_ns", "connecting", Nanoseconds, Largest, Requests, Some("connect_ns"), request.connect_ns;
        /// Agreeing on its encryption.
        TlsNs = "tls_ns", "agreeing on encryption", Nanoseconds, Largest, Requests, Some("tls_ns"), request.tls_ns;
        /// From the beginning of the window to the first byte of the content.
        FirstByteNs = "first_byte_ns", "until the first byte", Nanoseconds, Largest, Requests, Some("first_byte_ns"), request.first_byte_ns;
        /// Requests, repeated ones included.
        Requests = "requests", "requests", Count, Sum, Requests, Some("requests"), request.requests;
        /// Requests that were repeated after a failure.
        Retries = "retries", "repeated requests", Count, Sum, Requests, Some("retries"), request.retries;
    }
    turn {
        /// From the lab's "go" to the first word of the answer.
        TurnWallNs = "turn.wall_ns", "time of the turn", Nanoseconds, Largest, Turn, Some("turn_wall_ns"), turn.wall_ns;
        /// CPU time by the kernel's count, of the contender and the programs that it ran.
        TurnCpuNs = "turn.cpu_ns", "CPU time of the turn", Nanoseconds, Sum, Turn, None, turn.cpu_ns;
        /// How wrong that count may be: that of other programs is in clock ticks.
        TurnCpuErrorNs = "turn.cpu_error_ns", "error of the CPU time of the turn", Nanoseconds, Sum, Turn, None, turn.cpu_error_ns;
        /// Time in which the contender's threads could have run and had no processor, all together.
        DelayedNs = "turn.delayed_ns", "waiting for a processor", Nanoseconds, Sum, Turn, Some("delayed_ns"), turn.delayed_ns;
        /// The same of the lab.
        LabDelayedNs = "turn.lab_delayed_ns", "readlab waiting for a processor", Nanoseconds, Sum, Turn, Some("lab_delayed_ns"), turn.lab_delayed_ns;
        /// How often a processor was taken from one of the contender's threads.
        Preemptions = "turn.preemptions", "preemptions", Count, Sum, Disturbance, Some("preemptions"), turn.preemptions;
        /// Time of the machine's processors that its hypervisor gave to others, in clock ticks.
        StealNs = "turn.steal_ns", "processors given to others by the hypervisor", Nanoseconds, Sum, Disturbance, Some("steal_ns"), turn.steal_ns;
        /// Time in which a task of the machine waited for a processor.
        CpuPressureNs = "turn.cpu_pressure_ns", "tasks waiting for a processor", Nanoseconds, Sum, Disturbance, Some("cpu_pressure_ns"), turn.cpu_pressure_ns;
        /// Time in which a task of the machine waited for a device.
        IoPressureNs = "turn.io_pressure_ns", "tasks waiting for a device", Nanoseconds, Sum, Disturbance, Some("io_pressure_ns"), turn.io_pressure_ns;
        /// Time in which a task of the machine waited for memory.
        MemoryPressureNs = "turn.memory_pressure_ns", "tasks waiting for memory", Nanoseconds, Sum, Disturbance, Some("memory_pressure_ns"), turn.memory_pressure_ns;
        /// Time in which its control groups had used up their quota of processors, over all processors
        /// on which its threads could have run.
        ThrottledNs = "turn.throttled_ns", "throttled by a quota of processors", Nanoseconds, Largest, Disturbance, Some("throttled_ns"), turn.throttled_ns;
        /// Time in which the device below the file had work, whoever gave it.
        DeviceBusyNs = "turn.device_busy_ns", "device busy", Nanoseconds, Largest, Disturbance, Some("device_busy_ns"), turn.device_busy_ns;
    }
}

impl Meter {
    /// Those that tables and exports summarise over the readings of a trial, in their order.
    pub fn summarised() -> impl Iterator<Item = Meter> + Clone {
        let is_summarised =
            |meter: &Meter| matches!(meter.scope(), Scope::Reading | Scope::WhereCounted | Scope::Requests);
        std::iter::once(Meter::WallNs).chain(Meter::ALL.into_iter().filter(is_summarised))
    }

    /// Whether exports have it only where some reading has it.
    pub fn is_optional(self) -> bool {
        matches!(self.scope(), Scope::WhereCounted | Scope::Requests)
    }

    /// Whether it is of a whole turn, with its untimed readings, and none of a single reading.
    pub fn is_of_turn(self) -> bool {
        matches!(self.scope(), Scope::Turn | Scope::Disturbance)
    }

    /// What one of so many readings has of what was counted around their turn. What is counted of the
    /// turn, and what they have at the same time, is not divided.
    pub fn of_reading(self, of_turn: u64, readings: u64) -> u64 {
        if self.is_of_turn() || self.joint() == Joint::Largest { of_turn } else { of_turn / readings }
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
        assert_eq!(both.observation(Meter::CpuUserNs), Some(observation(5.0)));
        assert_eq!(both.observation(Meter::MajorFaults), None);
        assert_eq!(both.cpu_observation(), Some(observation(8.0)));
        assert_eq!(cpu(Some(5), None).cpu_observation(), None);
    }

    #[test]
    fn no_part_of_a_window_is_longer_than_it() {
        let parts = RequestMeters { tls_ns: Some(5), first_byte_ns: Some(9), ..RequestMeters::default() };
        assert_eq!(parts.longer_than(9), None);
        assert_eq!(parts.longer_than(8), Some(("first_byte_ns", 9)));
    }
}
