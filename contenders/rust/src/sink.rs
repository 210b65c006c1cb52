//! The receiver of the bytes that a method reads: the only interface between reading and use.
//!
//! Methods know nothing else about the use of the bytes. The lab's work is a [`crate::Consumer`];
//! your own program passes a closure.

/// Receives a file, piece by piece.
pub trait Sink {
    /// Receives the bytes that begin at `offset` of the file. They are borrowed for the call.
    fn take(&mut self, offset: u64, bytes: &[u8]);
}

impl<F: FnMut(u64, &[u8])> Sink for F {
    fn take(&mut self, offset: u64, bytes: &[u8]) {
        self(offset, bytes);
    }
}
