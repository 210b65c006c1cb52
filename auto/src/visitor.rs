//! What takes the bytes: a visitor that may stop early.
//!
//! Inside of this crate a visitor says only whether it goes on; what it stopped with is kept by
//! [`Stopping`], so that nothing below needs its type.

use std::ops::ControlFlow;

/// Takes a file, piece by piece.
pub trait Visitor {
    /// Takes the bytes that begin at `offset` of the file, which are borrowed for the call. The
    /// reading ends at a break.
    fn visit(&mut self, offset: u64, bytes: &[u8]) -> ControlFlow<()>;
}

impl<F: FnMut(u64, &[u8]) -> ControlFlow<()>> Visitor for F {
    fn visit(&mut self, offset: u64, bytes: &[u8]) -> ControlFlow<()> {
        self(offset, bytes)
    }
}

/// A visitor of a user's with what it stopped with, and the number of bytes that it took.
pub(crate) struct Stopping<F, B> {
    visit: F,
    pub(crate) broke: Option<B>,
    pub(crate) bytes: u64,
}

impl<F: FnMut(u64, &[u8]) -> ControlFlow<B>, B> Stopping<F, B> {
    pub(crate) fn new(visit: F) -> Stopping<F, B> {
        Stopping { visit, broke: None, bytes: 0 }
    }

    /// What it stopped with, or the number of bytes.
    pub(crate) fn outcome(self) -> ControlFlow<B, u64> {
        self.broke.map_or(ControlFlow::Continue(self.bytes), ControlFlow::Break)
    }
}

impl<F: FnMut(u64, &[u8]) -> ControlFlow<B>, B> Visitor for Stopping<F, B> {
    fn visit(&mut self, offset: u64, bytes: &[u8]) -> ControlFlow<()> {
        self.bytes += bytes.len() as u64;
        match (self.visit)(offset, bytes) {
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
            ControlFlow::Break(with) => {
                self.broke = Some(with);
                ControlFlow::Break(())
            }
        }
    }
}
