//! Delivers results of several threads in the order of the file.
//!
//! A result that comes early waits until all results before it were taken. Threads take pieces in
//! order, so at most as many results wait as pieces are in flight, unless one thread is held up for
//! long.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The results that wait for their turn, and the function that takes them.
pub(crate) struct Queue<T, B, F> {
    next: u64,
    waiting: BTreeMap<u64, (u64, T)>,
    take: F,
    broke: Option<B>,
}

impl<T, B, F: FnMut(T) -> ControlFlow<B>> Queue<T, B, F> {
    pub(crate) fn new(start: u64, take: F) -> Queue<T, B, F> {
        Queue { next: start, waiting: BTreeMap::new(), take, broke: None }
    }

    /// Adds the result for the bytes at an offset, then passes on all results that are next.
    pub(crate) fn put(&mut self, offset: u64, bytes: u64, made: T) -> ControlFlow<()> {
        self.waiting.insert(offset, (bytes, made));
        while let Some((bytes, made)) = self.waiting.remove(&self.next) {
            if self.broke.is_some() {
                return ControlFlow::Break(());
            }
            self.next += bytes;
            if let ControlFlow::Break(with) = (self.take)(made) {
                self.broke = Some(with);
                return ControlFlow::Break(());
            }
        }
        if self.broke.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(crate) fn broke(self) -> Option<B> {
        self.broke
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_wait_for_those_before_them_and_none_is_taken_after_a_break() {
        let mut taken = Vec::new();
        let mut queue = Queue::new(10, |made: char| {
            taken.push(made);
            if made == 'c' { ControlFlow::Break(made) } else { ControlFlow::Continue(()) }
        });
        assert!(queue.put(12, 3, 'b').is_continue());
        assert!(queue.put(10, 2, 'a').is_continue());
        assert!(queue.put(16, 1, 'd').is_continue());
        assert!(queue.put(15, 1, 'c').is_break());
        assert!(queue.put(17, 1, 'e').is_break());
        assert_eq!(queue.broke(), Some('c'));
        assert_eq!(taken, ['a', 'b', 'c']);
    }
}
