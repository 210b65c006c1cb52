//! The samples of a trial, packed in memory: a few bytes each, where plain values would take
//! hundreds. A race may have a hundred thousand samples, and the lab must stay small beside what it
//! measures.
//!
//! Each sample is held as what differs from the one before it: which fields do, which of those
//! became `None`, and the new values, all as the varints of Protocol Buffers
//! (<https://protobuf.dev/programming-guides/encoding/#varints>). Nothing is rounded; samples come
//! out as they went in. What samples are is in [`readlab_model::sample`], and how files hold them in
//! [`super::file`].

use integer_encoding::{VarIntReader, VarIntWriter};
use readlab_model::sample::{Delivered, Meter, Sample};
use readlab_model::trial::{Answer, TrialIndex};
use serde::{Serialize, Serializer};
use std::fmt::{self, Debug, Formatter};

/// Fields that are different in almost every sample: they come first, so that the mask of what
/// changed is short.
const FIRST: usize = 2;

/// How many other fields a sample has besides its meters.
const OTHERS: usize = 18;

/// How many fields are packed.
const FIELDS: usize = FIRST + Meter::ALL.len() + OTHERS;

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
    let Answer { bytes, newlines, lines, sum, files, blocks, products, output } = sample.answer;
    let number = |number: u32| Some(u64::from(number));
    let others: [_; OTHERS] = [
        number(sample.round),
        number(sample.position),
        number(sample.turn_readings),
        number(sample.fill),
        sample.resident_before.map(f64::to_bits),
        sample.resident_after.map(f64::to_bits),
        Some(u64::from(sample.resident_is_estimate)),
        sample.turn.delivered.map(|by| u64::from(by == Delivered::Faults)),
        sample.rung.map(u64::from),
        Some(u64::from(sample.trial)),
        bytes,
        newlines,
        lines,
        sum,
        files,
        blocks,
        products,
        output,
    ];
    let first = [Some(sample.wall_ns), number(sample.reading)];
    let meters = Meter::ALL.map(|meter| meter.read(sample));
    let mut all = first.into_iter().chain(meters).chain(others);
    std::array::from_fn(|_| all.next().flatten())
}

fn sample(fields: &SampleFields) -> Sample {
    let number = |field: Option<u64>| u32::try_from(field.expect(PACKED)).expect(PACKED);
    let ([wall_ns, reading], rest) = fields.split_first_chunk::<FIRST>().expect(PACKED);
    let (meters, others) = rest.split_last_chunk::<OTHERS>().expect(PACKED);
    let [
        round,
        position,
        turn_readings,
        fill,
        resident_before,
        resident_after,
        resident_is_estimate,
        delivered,
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
    ] = *others;
    let mut sample = Sample {
        trial: TrialIndex::new(usize::try_from(trial.expect(PACKED)).expect(PACKED)),
        fill: number(fill),
        round: number(round),
        position: number(position),
        rung: rung.map(|rung| number(Some(rung))),
        reading: number(*reading),
        turn_readings: number(turn_readings),
        wall_ns: wall_ns.expect(PACKED),
        resident_before: resident_before.map(f64::from_bits),
        resident_after: resident_after.map(f64::from_bits),
        resident_is_estimate: resident_is_estimate == Some(1),
        answer: Answer { bytes, newlines, lines, sum, files, blocks, products, output },
        ..Sample::default()
    };
    sample.turn.delivered = delivered.map(|by| if by == 0 { Delivered::Calls } else { Delivered::Faults });
    for (value, meter) in meters.iter().zip(Meter::ALL) {
        meter.field(&mut sample).into_iter().for_each(|field| *field = *value);
    }
    sample
}

#[cfg(test)]
mod tests;
