//! The visitor that takes the bytes, and may stop early.
//!
//! Inside this crate a visitor says only whether it continues. [`StoppingVisitor`] keeps the value with
//! which it stopped, so that the layers below do not depend on its type.

use std::ops::ControlFlow;

/// Takes a file, piece by piece.
pub trait Visitor {
    /// Takes the bytes that begin at `offset` of the file, which are borrowed for the call. A break
    /// ends the reading.
    fn visit(&mut self, offset: u64, bytes: &[u8]) -> ControlFlow<()>;
}

impl<F: FnMut(u64, &[u8]) -> ControlFlow<()>> Visitor for F {
    fn visit(&mut self, offset: u64, bytes: &[u8]) -> ControlFlow<()> {
        self(offset, bytes)
    }
}

/// A user's visitor, the value with which it stopped, and the number of bytes that it took.
pub(crate) struct StoppingVisitor<F, B> {
    visit: F,
    pub(crate) broke: Option<B>,
    pub(crate) bytes: u64,
}

impl<F: FnMut(u64, &[u8]) -> ControlFlow<B>, B> StoppingVisitor<F, B> {
    pub(crate) fn new(visit: F) -> StoppingVisitor<F, B> {
        StoppingVisitor { visit, broke: None, bytes: 0 }
    }

    /// The value with which the visitor stopped, or the number of bytes.
    pub(crate) fn outcome(self) -> ControlFlow<B, u64> {
        self.broke.map_or(ControlFlow::Continue(self.bytes), ControlFlow::Break)
    }
}

impl<F: FnMut(u64, &[u8]) -> ControlFlow<B>, B> Visitor for StoppingVisitor<F, B> {
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
