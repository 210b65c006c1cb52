//! Who takes in the bytes that a method brings: the one seam between bringing and using.
//!
//! Methods know nothing else of what becomes of the bytes. The lab's work is a [`crate::Consumer`];
//! a program of one's own hands in a closure.

/// Takes in a file, piece by piece.
pub trait Sink {
    /// Takes in the bytes that begin at `offset` of the file. They are lent for the time of the
    /// call.
    fn take(&mut self, offset: u64, bytes: &[u8]);
}

impl<F: FnMut(u64, &[u8])> Sink for F {
    fn take(&mut self, offset: u64, bytes: &[u8]) {
        self(offset, bytes);
    }
}
