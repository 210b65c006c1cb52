//! The samples of a trial, each packed into a few bytes of memory instead of hundreds. A race may
//! have a hundred thousand samples, and the lab must use little memory beside what it measures.
//!
//! Each sample is stored as its difference from the previous sample: the mask of fields that
//! changed, those that became `None`, and the new values as varints
//! (<https://protobuf.dev/programming-guides/encoding/#varints>). Nothing is rounded, so unpacking
//! returns the same samples. [`readlab_model::sample`] defines samples, and [`super::file`] writes
//! them to files.

use integer_encoding::{VarIntReader, VarIntWriter};
use readlab_model::sample::{DeliveryMeter, Meter, PressedProof, Sample};
use readlab_model::trial::{Answer, TrialIndex};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt::{self, Debug, Formatter};

/// Number of fields that a sample has besides its meters.
const OTHER_FIELD_COUNT: usize = 31;

const FIELD_COUNT: usize = Meter::ALL.len() + OTHER_FIELD_COUNT;

/// A bit for each field.
type FieldMask = [u64; FIELD_COUNT.div_ceil(64)];

/// The fields of a sample, in the order of [`pass_fields`].
type SampleFields = [Option<u64>; FIELD_COUNT];

/// The first sample is stored as its difference from these fields.
const NO_FIELDS: SampleFields = [None; FIELD_COUNT];

const PACKED_HERE_WORDS: &str = "these bytes were packed here, in memory";

/// Samples in the order in which they were added.
#[derive(Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "Vec<Sample>")]
pub struct Samples {
    packed: Vec<u8>,
    len: usize,
    last: SampleFields,
}

#[derive(Debug, Clone)]
pub struct Iter<'a> {
    packed: &'a [u8],
    remaining: usize,
    last: SampleFields,
}

impl Default for Samples {
    fn default() -> Samples {
        Samples { packed: Vec::new(), len: 0, last: NO_FIELDS }
    }
}

impl Samples {
    /// Adds a sample at the end.
    pub fn push(&mut self, sample: &Sample) {
        let fields = fields(sample);
        let places = || (0..FIELD_COUNT).filter(|&at| fields[at] != self.last[at]);
        let changed = mask(places());
        let lost = mask(places().filter(|&at| fields[at].is_none()));
        let values = places().filter_map(|at| fields[at]);
        for value in changed.into_iter().chain(lost).chain(values) {
            self.packed.write_varint(value).expect("memory takes what is written");
        }
        self.last = fields;
        self.len += 1;
    }

    pub fn iter(&self) -> Iter<'_> {
        Iter { packed: &self.packed, remaining: self.len, last: NO_FIELDS }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Iterator for Iter<'_> {
    type Item = Sample;

    fn next(&mut self) -> Option<Sample> {
        self.remaining = self.remaining.checked_sub(1)?;
        let mut value = || self.packed.read_varint::<u64>().expect(PACKED_HERE_WORDS);
        let [changed, lost]: [FieldMask; 2] = std::array::from_fn(|_| std::array::from_fn(|_| value()));
        for (at, field) in self.last.iter_mut().enumerate().filter(|(at, _)| has_bit(&changed, *at)) {
            *field = if has_bit(&lost, at) { None } else { Some(value()) };
        }
        Some(sample(&self.last))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
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

fn mask(places: impl Iterator<Item = usize>) -> FieldMask {
    places.fold(FieldMask::default(), |mut mask, at| {
        mask[at / 64] |= 1 << (at % 64);
        mask
    })
}

fn has_bit(mask: &FieldMask, at: usize) -> bool {
    (mask[at / 64] >> (at % 64)) & 1 == 1
}

fn fields(sample: &Sample) -> SampleFields {
    let (mut fields, mut at) = (NO_FIELDS, 0);
    pass_fields(&mut sample.clone(), |field| {
        fields[at] = field;
        at += 1;
        field
    });
    fields
}

fn sample(fields: &SampleFields) -> Sample {
    let (mut sample, mut fields) = (Sample::default(), fields.iter());
    pass_fields(&mut sample, |_| *fields.next().expect(PACKED_HERE_WORDS));
    sample
}

/// Replaces every field of a sample by what `pass` returns; fields that are always known are never
/// `None`. Fields that differ in almost every sample come first, so that the mask of changed fields
/// is short.
fn pass_fields(sample: &mut Sample, mut pass: impl FnMut(Option<u64>) -> Option<u64>) {
    let narrow = |value: u64| u32::try_from(value).expect(PACKED_HERE_WORDS);
    sample.wall_ns = pass(Some(sample.wall_ns)).expect(PACKED_HERE_WORDS);
    sample.reading = narrow(pass(Some(sample.reading.into())).expect(PACKED_HERE_WORDS));
    for meter in Meter::ALL {
        meter.field(sample).into_iter().for_each(|field| *field = pass(*field));
    }
    let Sample { round, position, turn_readings, fill, .. } = sample;
    for number in [round, position, turn_readings, fill] {
        *number = narrow(pass(Some((*number).into())).expect(PACKED_HERE_WORDS));
    }
    for share in [&mut sample.resident_before, &mut sample.resident_after] {
        *share = pass(share.map(f64::to_bits)).map(f64::from_bits);
    }
    sample.resident_is_estimate = pass(Some(sample.resident_is_estimate.into())) == Some(1);
    let delivered = pass(sample.turn.delivered.map(|by| u64::from(by == DeliveryMeter::Faults)));
    sample.turn.delivered =
        delivered.map(|by| if by == 0 { DeliveryMeter::Calls } else { DeliveryMeter::Faults });
    sample.rung = pass(sample.rung.map(u64::from)).map(narrow);
    let trial = pass(Some(u64::from(sample.trial))).expect(PACKED_HERE_WORDS);
    sample.trial = TrialIndex::new(usize::try_from(trial).expect(PACKED_HERE_WORDS));
    let Answer { bytes, newlines, lines, sum, files, blocks, products, output_digest: output, .. } =
        &mut sample.answer;
    for field in [bytes, newlines, lines, sum, files, blocks, products, output] {
        *field = pass(*field);
    }
    let Answer { folders, links, other_names, names, .. } = &mut sample.answer;
    for field in [folders, links, other_names, names] {
        *field = pass(*field);
    }
    let shares = |it: PressedProof| [it.steady_share, it.before_share, it.elsewhere_share].map(f64::to_bits);
    let numbers = |it: PressedProof| {
        [u64::from(it.untimed_readings), it.limit_bytes, it.process_bytes, it.non_cache_bytes]
    };
    let fields = sample.pressed.map(|it| (shares(it), numbers(it)));
    let [steady, before, elsewhere] = [0, 1, 2].map(|at| pass(fields.map(|it| it.0[at])));
    let [untimed, limit, process, held] = [0, 1, 2, 3].map(|at| pass(fields.map(|it| it.1[at])));
    sample.pressed = steady.map(|steady| {
        let share = |bits: Option<u64>| f64::from_bits(bits.expect(PACKED_HERE_WORDS));
        PressedProof {
            steady_share: f64::from_bits(steady),
            before_share: share(before),
            elsewhere_share: share(elsewhere),
            untimed_readings: narrow(untimed.expect(PACKED_HERE_WORDS)),
            limit_bytes: limit.expect(PACKED_HERE_WORDS),
            process_bytes: process.expect(PACKED_HERE_WORDS),
            non_cache_bytes: held.expect(PACKED_HERE_WORDS),
        }
    });
}

#[cfg(test)]
mod tests;
