//! The samples of a trial, packed in memory: a few bytes each, where plain values would take
//! hundreds. A race may have a hundred thousand samples, and the lab must stay small beside what it
//! measures.
//!
//! Each sample is held as what differs from the one before it: which fields do, which of those
//! became `None`, and the new values, all as the varints of Protocol Buffers
//! (<https://protobuf.dev/programming-guides/encoding/#varints>). Nothing is rounded; samples come
//! out as they went in. What samples are lives in [`super::sample`], and how files hold them in
//! [`super::file`].

use super::{Delivered, RequestMeters, Sample, TurnSeen};
use crate::trial::{Answer, TrialIndex};
use integer_encoding::{VarIntReader, VarIntWriter};
use serde::{Serialize, Serializer};
use std::fmt::{self, Debug, Formatter};

/// How many fields a sample has besides those of its turn.
const OWN: usize = 26;

/// How many fields a turn has.
const OF_TURN: usize = 13;

/// How many fields the requests of a reading have.
const OF_REQUESTS: usize = 6;

/// How many fields are packed.
const FIELDS: usize = OWN + OF_TURN + OF_REQUESTS;

/// A sample's fields, those that change from one to the next first; a field that is always known is
/// never `None`.
type SampleFields = [Option<u64>; FIELDS];

/// What the first sample is held against.
const NOTHING: SampleFields = [None; FIELDS];

const PACKED: &str = "these bytes were packed here, in memory";

/// Samples in the order in which they were added.
#[derive(Clone, PartialEq, Eq)]
pub struct Samples {
    packed: Vec<u8>,
    len: usize,
    last: SampleFields,
}

/// The samples one by one.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    packed: &'a [u8],
    left: usize,
    last: SampleFields,
}

impl Default for Samples {
    fn default() -> Samples {
        Samples { packed: Vec::new(), len: 0, last: NOTHING }
    }
}

impl Samples {
    /// Adds one at the end.
    pub fn push(&mut self, sample: &Sample) {
        let fields = fields(sample);
        let places = || (0..FIELDS).filter(|&at| fields[at] != self.last[at]);
        let mask = |places: &mut dyn Iterator<Item = usize>| places.fold(0_u64, |mask, at| mask | 1 << at);
        let changed = mask(&mut places());
        let lost = mask(&mut places().filter(|&at| fields[at].is_none()));
        let values = places().filter_map(|at| fields[at]);
        for value in [changed, lost].into_iter().chain(values) {
            self.packed.write_varint(value).expect("memory takes what is written");
        }
        self.last = fields;
        self.len += 1;
    }

    pub fn iter(&self) -> Iter<'_> {
        Iter { packed: &self.packed, left: self.len, last: NOTHING }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Iterator for Iter<'_> {
    type Item = Sample;

    fn next(&mut self) -> Option<Sample> {
        self.left = self.left.checked_sub(1)?;
        let mut value = || self.packed.read_varint::<u64>().expect(PACKED);
        let (changed, lost) = (value(), value());
        for (at, field) in self.last.iter_mut().enumerate().filter(|(at, _)| changed & 1 << at != 0) {
            *field = if lost & 1 << at == 0 { Some(value()) } else { None };
        }
        Some(sample(&self.last))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Samples {
    type Item = Sample;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<Sample> for Samples {
    fn from_iter<I: IntoIterator<Item = Sample>>(samples: I) -> Samples {
        let mut packed = Samples::default();
        samples.into_iter().for_each(|sample| packed.push(&sample));
        packed
    }
}

impl Serialize for Samples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl Debug for Samples {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

fn fields(sample: &Sample) -> SampleFields {
    let Sample {
        trial,
        fill,
        round,
        position,
        rung,
        reading,
        turn_readings,
        wall_ns,
        cpu_user_ns,
        cpu_system_ns,
        peak_rss_bytes,
        minor_faults,
        major_faults,
        device_read_bytes,
        below_read_bytes,
        resident_before,
        resident_after,
        resident_is_estimate,
        turn,
        request,
        answer: Answer { bytes, newlines, lines, sum, files, blocks, products, output },
    } = *sample;
    let number = |number: u32| Some(u64::from(number));
    let own: [_; OWN] = [
        Some(wall_ns),
        number(reading),
        cpu_user_ns,
        cpu_system_ns,
        minor_faults,
        number(round),
        number(position),
        peak_rss_bytes,
        major_faults,
        device_read_bytes,
        below_read_bytes,
        number(turn_readings),
        number(fill),
        resident_before.map(f64::to_bits),
        resident_after.map(f64::to_bits),
        Some(u64::from(resident_is_estimate)),
        rung.map(u64::from),
        Some(u64::from(trial)),
        bytes,
        newlines,
        lines,
        sum,
        files,
        blocks,
        products,
        output,
    ];
    let mut fields = [None; FIELDS];
    let (first, rest) = fields.split_at_mut(OWN);
    let (of_turn, of_requests) = rest.split_at_mut(OF_TURN);
    first.copy_from_slice(&own);
    of_turn.copy_from_slice(&turn_fields(turn));
    of_requests.copy_from_slice(&request_fields(request));
    fields
}

fn request_fields(request: RequestMeters) -> [Option<u64>; OF_REQUESTS] {
    let RequestMeters { dns_ns, connect_ns, tls_ns, first_byte_ns, requests, retries } = request;
    [dns_ns, connect_ns, tls_ns, first_byte_ns, requests, retries]
}

fn turn_fields(turn: TurnSeen) -> [Option<u64>; OF_TURN] {
    let TurnSeen {
        wall_ns,
        cpu_ns,
        cpu_error_ns,
        delayed_ns,
        lab_delayed_ns,
        preemptions,
        steal_ns,
        cpu_pressure_ns,
        io_pressure_ns,
        memory_pressure_ns,
        throttled_ns,
        device_busy_ns,
        delivered,
    } = turn;
    [
        wall_ns,
        cpu_ns,
        delayed_ns,
        lab_delayed_ns,
        cpu_error_ns,
        delivered.map(|by| u64::from(by == Delivered::Faults)),
        preemptions,
        steal_ns,
        cpu_pressure_ns,
        io_pressure_ns,
        memory_pressure_ns,
        throttled_ns,
        device_busy_ns,
    ]
}

fn sample(fields: &SampleFields) -> Sample {
    let number = |field: Option<u64>| u32::try_from(field.expect(PACKED)).expect(PACKED);
    let (own, rest) = fields.split_first_chunk::<OWN>().expect(PACKED);
    let (turn, requests) = rest.split_first_chunk::<OF_TURN>().expect(PACKED);
    let [
        wall_ns,
        reading,
        cpu_user_ns,
        cpu_system_ns,
        minor_faults,
        round,
        position,
        peak_rss_bytes,
        major_faults,
        device_read_bytes,
        below_read_bytes,
        turn_readings,
        fill,
        resident_before,
        resident_after,
        resident_is_estimate,
        rung,
        trial,
        bytes,
        newlines,
        lines,
        sum,
        files,
        blocks,
        products,
        output,
    ] = *own;
    Sample {
        trial: TrialIndex::new(usize::try_from(trial.expect(PACKED)).expect(PACKED)),
        fill: number(fill),
        round: number(round),
        position: number(position),
        rung: rung.map(|rung| number(Some(rung))),
        reading: number(reading),
        turn_readings: number(turn_readings),
        wall_ns: wall_ns.expect(PACKED),
        cpu_user_ns,
        cpu_system_ns,
        peak_rss_bytes,
        minor_faults,
        major_faults,
        device_read_bytes,
        below_read_bytes,
        resident_before: resident_before.map(f64::from_bits),
        resident_after: resident_after.map(f64::from_bits),
        resident_is_estimate: resident_is_estimate == Some(1),
        turn: turn_seen(turn),
        request: request_meters(requests.try_into().expect(PACKED)),
        answer: Answer { bytes, newlines, lines, sum, files, blocks, products, output },
    }
}

fn request_meters(fields: [Option<u64>; OF_REQUESTS]) -> RequestMeters {
    let [dns_ns, connect_ns, tls_ns, first_byte_ns, requests, retries] = fields;
    RequestMeters { dns_ns, connect_ns, tls_ns, first_byte_ns, requests, retries }
}

fn turn_seen(fields: &[Option<u64>; OF_TURN]) -> TurnSeen {
    let [
        wall_ns,
        cpu_ns,
        delayed_ns,
        lab_delayed_ns,
        cpu_error_ns,
        delivered,
        preemptions,
        steal_ns,
        cpu_pressure_ns,
        io_pressure_ns,
        memory_pressure_ns,
        throttled_ns,
        device_busy_ns,
    ] = *fields;
    TurnSeen {
        wall_ns,
        cpu_ns,
        cpu_error_ns,
        delayed_ns,
        lab_delayed_ns,
        preemptions,
        steal_ns,
        cpu_pressure_ns,
        io_pressure_ns,
        memory_pressure_ns,
        throttled_ns,
        device_busy_ns,
        delivered: delivered.map(|by| if by == 0 { Delivered::Calls } else { Delivered::Faults }),
    }
}

#[cfg(test)]
mod tests;
