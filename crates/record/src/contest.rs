//! The contest of a trial: what it has in common with those that it can be faster than. What comes
//! out of an archive is not compared with the archive's bytes.

use super::Trial;
use readlab_model::trial::Work;
use readlab_protocol::Archive;

/// The same done with the same bytes: of trials in one contest, one can be the faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contest {
    target: usize,
    decodes: Option<Archive>,
    work: Work,
}

impl Trial {
    pub fn contest(&self) -> Contest {
        Contest { target: self.target, decodes: self.decodes, work: self.work }
    }
}
