//! The table of meters: what each counts, its unit, how the readings of those who read together
//! become one, and where exports have it. A new meter is a field of the sample, a line here, its
//! reading in `measure`, and a column in `report`.

use crate::sample::Sample;
use serde::{Deserialize, Serialize};

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

/// How the readings of all ranks or readers of one turn become that of all together; one that is
/// missing makes it missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joint {
    Sum,
    /// They share what is counted, or do it at the same time.
    Largest,
}

/// What a meter is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Each reading, as every target has it.
    Reading,
    /// Each reading, where there is a layer below the file system.
    Layer,
    /// The requests of a reading to a server.
    Requests,
    /// The whole turn, seen from outside.
    Turn,
}

macro_rules! meters {
    ($($meter:ident = $name:literal, $words:literal, $unit:ident, $joint:ident, $scope:ident, $csv:expr, $($field:ident).+;)*) => {
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
            pub fn words(self) -> &'static str {
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

meters! {
    CpuUserNs = "cpu_user_ns", "CPU time in user mode", Nanoseconds, Sum, Reading, Some("cpu_user_ns"), cpu_user_ns;
    CpuSystemNs = "cpu_system_ns", "CPU time in the kernel", Nanoseconds, Sum, Reading, Some("cpu_system_ns"), cpu_system_ns;
    PeakRssBytes = "peak_rss_bytes", "peak memory", Memory, Largest, Reading, Some("peak_rss_bytes"), peak_rss_bytes;
    MinorFaults = "minor_faults", "minor page faults", Count, Sum, Reading, Some("minor_faults"), minor_faults;
    MajorFaults = "major_faults", "major page faults", Count, Sum, Reading, Some("major_faults"), major_faults;
    DeviceReadBytes = "device_read_bytes", "bytes from the device", Bytes, Sum, Reading, Some("device_read_bytes"), device_read_bytes;
    BelowReadBytes = "below_read_bytes", "bytes from the layer below", Bytes, Sum, Layer, Some("below_read_bytes"), below_read_bytes;
    DnsNs = "dns_ns", "resolving the name", Nanoseconds, Largest, Requests, Some("dns_ns"), request.dns_ns;
    ConnectNs = "connect_ns", "connecting", Nanoseconds, Largest, Requests, Some("connect_ns"), request.connect_ns;
    TlsNs = "tls_ns", "agreeing on encryption", Nanoseconds, Largest, Requests, Some("tls_ns"), request.tls_ns;
    FirstByteNs = "first_byte_ns", "until the first byte", Nanoseconds, Largest, Requests, Some("first_byte_ns"), request.first_byte_ns;
    Requests = "requests", "requests", Count, Sum, Requests, Some("requests"), request.requests;
    Retries = "retries", "repeated requests", Count, Sum, Requests, Some("retries"), request.retries;
    TurnWallNs = "turn.wall_ns", "time of the turn", Nanoseconds, Largest, Turn, Some("turn_wall_ns"), turn.wall_ns;
    TurnCpuNs = "turn.cpu_ns", "CPU time of the turn", Nanoseconds, Sum, Turn, None, turn.cpu_ns;
    TurnCpuErrorNs = "turn.cpu_error_ns", "error of the CPU time of the turn", Nanoseconds, Sum, Turn, None, turn.cpu_error_ns;
    DelayedNs = "turn.delayed_ns", "waiting for a processor", Nanoseconds, Sum, Turn, Some("delayed_ns"), turn.delayed_ns;
    LabDelayedNs = "turn.lab_delayed_ns", "readlab waiting for a processor", Nanoseconds, Sum, Turn, Some("lab_delayed_ns"), turn.lab_delayed_ns;
    Preemptions = "turn.preemptions", "preemptions", Count, Sum, Turn, Some("preemptions"), turn.preemptions;
    StealNs = "turn.steal_ns", "processors given to others by the hypervisor", Nanoseconds, Sum, Turn, Some("steal_ns"), turn.steal_ns;
    CpuPressureNs = "turn.cpu_pressure_ns", "tasks waiting for a processor", Nanoseconds, Sum, Turn, Some("cpu_pressure_ns"), turn.cpu_pressure_ns;
    IoPressureNs = "turn.io_pressure_ns", "tasks waiting for a device", Nanoseconds, Sum, Turn, Some("io_pressure_ns"), turn.io_pressure_ns;
    MemoryPressureNs = "turn.memory_pressure_ns", "tasks waiting for memory", Nanoseconds, Sum, Turn, Some("memory_pressure_ns"), turn.memory_pressure_ns;
    ThrottledNs = "turn.throttled_ns", "throttled by a quota of processors", Nanoseconds, Largest, Turn, Some("throttled_ns"), turn.throttled_ns;
    DeviceBusyNs = "turn.device_busy_ns", "device busy", Nanoseconds, Largest, Turn, Some("device_busy_ns"), turn.device_busy_ns;
}

impl Meter {
    /// Those that tables and exports summarise over the readings of a trial, in their order.
    pub fn summarised() -> impl Iterator<Item = Meter> + Clone {
        let is_summarised = |meter: &Meter| matches!(meter.scope(), Scope::Reading | Scope::Requests);
        std::iter::once(Meter::WallNs).chain(Meter::ALL.into_iter().filter(is_summarised))
    }

    /// Whether only requests to a server have it.
    pub fn is_of_requests(self) -> bool {
        self.scope() == Scope::Requests
    }
}
