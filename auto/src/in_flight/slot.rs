//! One slot of a ring: its part of the buffer memory, its job, and the read that is in flight.

use super::{Job, Plan, Registered, is_passing};
use crate::buffer::Buffer;
use crate::{ReadError, Visitor};
use io_uring::{opcode, squeue, types};
use std::io;
use std::ops::{ControlFlow, Range};
use std::os::fd::AsRawFd;

/// One read and the memory it fills.
pub(super) struct Slot<'a> {
    /// The slot's part of the buffer memory.
    pub(super) part: Range<usize>,
    /// The buffers that a vectored read fills; the kernel may access the list until the read has
    /// completed.
    pub(super) vector: Vec<libc::iovec>,
    pub(super) job: Option<Job<'a>>,
    pub(super) filled: usize,
    pub(super) full: bool,
    /// Value of `filled` when a read past the cache last ended within a block.
    pub(super) ended_at: usize,
}

impl<'a> Slot<'a> {
    pub(super) fn new(index: usize, part_bytes: usize) -> Slot<'a> {
        let part = index * part_bytes..(index + 1) * part_bytes;
        Slot { part, vector: Vec::new(), job: None, filled: 0, full: false, ended_at: 0 }
    }

    /// Takes a job of which nothing has been read yet.
    pub(super) fn begin(&mut self, job: Option<Job<'a>>) {
        (self.job, self.filled, self.full, self.ended_at) = (job, 0, false, 0);
    }

    /// The range of the slot's memory that the next read must fill.
    pub(super) fn missing_range(&self) -> Option<Range<usize>> {
        self.job.as_ref().map(|job| self.filled..job.requested_bytes())
    }

    pub(super) fn entry(&mut self, memory: &mut Buffer, index: usize, plan: &Plan) -> Option<squeue::Entry> {
        let (job, lacking) = (self.job.as_ref()?, self.missing_range()?);
        let buffer = &mut memory[self.part.clone()];
        let offset = job.range.start + lacking.start as u64;
        let fd = types::Fd(job.file.as_raw_fd());
        if plan.vectored {
            self.vector = vectors(buffer, lacking, plan.buffer_bytes);
            let (vector, count) = (self.vector.as_ptr(), self.vector.len() as u32);
            return Some(opcode::Readv::new(fd, vector, count).offset(offset).build());
        }
        let len = lacking.len() as u32;
        let start = buffer[lacking].as_mut_ptr();
        Some(if plan.registered != Registered::No {
            opcode::ReadFixed::new(fd, start, len, index as u16).offset(offset).build()
        } else {
            opcode::Read::new(fd, start, len).offset(offset).build()
        })
    }

    /// Records the result of a read. Returns whether the slot is complete. A short read is
    /// continued. Past the cache it is continued from the beginning of the block in which it ended.
    /// The file ends where a second read returns no more, or where a read returns no bytes.
    pub(super) fn complete(&mut self, result: i32) -> Result<bool, ReadError> {
        let job = self.job.as_mut().expect("a completed read has a job");
        if let Ok(count) = usize::try_from(result) {
            self.filled += count;
            let is_complete = self.filled as u64 >= job.range.end - job.range.start;
            self.full = is_complete || count == 0 || self.filled <= self.ended_at;
            let of_last_block = (self.filled as u64 % job.block_bytes) as usize;
            if self.full {
                self.filled = self.filled.max(self.ended_at);
            } else if of_last_block > 0 {
                self.ended_at = self.filled;
                self.filled -= of_last_block;
            }
            return Ok(self.full);
        }
        if is_passing(Some(-result)) {
            return Ok(false);
        }
        if let (libc::EINVAL | libc::EOPNOTSUPP, Some(file)) = (-result, job.fallback.take()) {
            (job.file, job.block_bytes) = (file, 1);
            return Ok(false);
        }
        let at = job.range.start + self.filled as u64;
        Err(ReadError::at(at, io::Error::from_raw_os_error(-result)))
    }

    /// Delivers the bytes of the slot, buffer by buffer.
    pub(super) fn deliver(
        &mut self,
        memory: &Buffer,
        buffer_bytes: usize,
        visitor: &mut impl Visitor,
    ) -> ControlFlow<()> {
        self.full = false;
        let Some(job) = &self.job else { return ControlFlow::Continue(()) };
        let mut at = job.range.start;
        // Past the cache whole blocks are read, and the last block may end behind the range.
        let wanted = usize::try_from(job.range.end - job.range.start).unwrap_or(usize::MAX);
        for piece in memory[self.part.clone()][..self.filled.min(wanted)].chunks(buffer_bytes) {
            visitor.visit(at, piece)?;
            at += piece.len() as u64;
        }
        ControlFlow::Continue(())
    }
}

impl Job<'_> {
    /// The number of bytes to request. Past the cache only whole blocks are possible.
    pub(super) fn requested_bytes(&self) -> usize {
        (self.range.end - self.range.start).next_multiple_of(self.block_bytes) as usize
    }
}

/// Splits `range` into buffers of `buffer_bytes`, as an iovec list for the kernel.
pub(super) fn vectors(buffer: &mut [u8], range: Range<usize>, buffer_bytes: usize) -> Vec<libc::iovec> {
    let mut vectors = Vec::with_capacity(range.len().div_ceil(buffer_bytes) + 1);
    let mut start = range.start;
    while start < range.end {
        let end = range.end.min((start / buffer_bytes + 1) * buffer_bytes);
        let part = &mut buffer[start..end];
        vectors.push(libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() });
        start = end;
    }
    vectors
}
