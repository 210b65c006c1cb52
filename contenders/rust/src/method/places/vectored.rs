//! The method `places-preadv`: one preadv(2) for blocks that are near each other, each block into a
//! buffer of its own, and the gaps between blocks into a buffer that is not visited. Blocks that
//! overlap are read by different calls, because a call writes each byte to one buffer only.

use super::super::{Fault, Method};
use super::{
    BlocksAnswer, PLACES_PREAD, PlacesReader, PlacesTarget, Stretch, Stretches, THREADS, block_fault,
    by_threads, open,
};
use crate::scan::Visit;
use crate::setting::Param;
use readlab_auto::buffer::Buffer;
use readlab_protocol::Places;
use rustix::io::{Errno, preadv};
use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut};
use std::mem;
use std::time::Instant;

/// Largest gap between two blocks of one call. The default is above 0, because without merging each
/// call would be a pread(2).
const MERGE: Param = Param::new("merge_bytes", 64 << 10, 0, 1 << 30);

pub(crate) const PLACES_PREADV: Method = Method {
    name: "places-preadv",
    about: "preadv(2) of the blocks that follow each other with at most `merge` bytes between them, each into memory of \
            its own, by threads that take them in turn",
    params: &[MERGE, THREADS],
    build: |settings| {
        let (threads, merge_bytes) = (settings.get(&THREADS), settings.get(&MERGE));
        Ok(Box::new(PlacesTarget::new(Preadv { threads, merge_bytes })))
    },
    ..PLACES_PREAD
};

struct Preadv {
    threads: u64,
    merge_bytes: u64,
}

impl PlacesReader for Preadv {
    fn read(&mut self, places: &Places, visit: Visit) -> Result<BlocksAnswer, Fault> {
        let (file, stretches) = (open(places)?, Stretches::with_separate_buffers(places, self.merge_bytes));
        let longest_bytes = stretches.longest_bytes()?;
        by_threads(
            stretches.len(),
            self.threads,
            || Ok((Buffer::new(longest_bytes)?, Buffer::new(longest_bytes)?)),
            |(blocks, gaps), number, all| {
                let stretch = stretches.get(number)?;
                let begun = Instant::now();
                let mut slices = block_slices(places, &stretch, blocks, gaps);
                let mut at = stretch.offset;
                fill_slices(&file, &mut slices, &mut at)
                    .map_err(|cause| block_fault(places, offset_of_block_at(places, &stretch, at), cause))?;
                let took = begun.elapsed();
                all.count_read_bytes(stretch.bytes as u64);
                let mut rest = &blocks[..];
                for block in stretch.blocks() {
                    let (bytes, others) = rest.split_at(places.bytes_of(block) as usize);
                    all.latencies.record(took);
                    all.visit(block as u64, bytes, visit);
                    rest = others;
                }
                Ok(())
            },
        )
    }
}

/// The buffers for the bytes of a stretch, in the order of the file.
fn block_slices<'b>(
    places: &Places,
    stretch: &Stretch,
    mut blocks: &'b mut [u8],
    mut gaps: &'b mut [u8],
) -> Vec<IoSliceMut<'b>> {
    let (mut slices, mut at) = (Vec::new(), stretch.offset);
    for block in stretch.blocks() {
        let range = places.range_of(block);
        slices.extend(take_buffer(&mut gaps, range.start - at));
        slices.extend(take_buffer(&mut blocks, range.end - range.start));
        at = range.end;
    }
    slices
}

/// Takes this number of bytes from the begin of `memory`; `None` for 0 bytes.
fn take_buffer<'b>(memory: &mut &'b mut [u8], bytes: u64) -> Option<IoSliceMut<'b>> {
    let (next, rest) = mem::take(memory).split_at_mut(bytes as usize);
    *memory = rest;
    if next.is_empty() { None } else { Some(IoSliceMut::new(next)) }
}

fn offset_of_block_at(places: &Places, stretch: &Stretch, at: u64) -> u64 {
    let mut lacking = stretch.blocks().filter(|block| places.range_of(*block).end > at);
    lacking.next().map_or(stretch.offset, |block| places.offsets[block])
}

/// Calls preadv(2) until all slices are full. `at` is the offset in the file, which each call moves on.
fn fill_slices(file: &File, mut slices: &mut [IoSliceMut<'_>], at: &mut u64) -> io::Result<()> {
    while !slices.is_empty() {
        match preadv(file, slices, *at) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                *at += count as u64;
                IoSliceMut::advance_slices(&mut slices, count);
            }
            Err(Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    Ok(())
}
