//! What is true of one target, found by the oracle before anything is measured: of its bytes, and
//! of what comes out of it.

use super::deadline::Deadline;
use crate::corpus::oracle::{self, Truth};
use crate::measure::target::{CacheControl, MeasuredTarget};
use crate::target::{Decoded, Target};
use readlab_protocol::Archive;

/// What is true of a target.
pub(super) struct ExpectedAnswers {
    pub(super) truth: Truth,
    pub(super) decoded: Option<Truth>,
}

impl ExpectedAnswers {
    /// The target as those see it who carry out the plan.
    pub(super) fn subject<'a>(
        &'a self,
        (index, target): (usize, &'a Target),
        cache_control: CacheControl,
    ) -> MeasuredTarget<'a> {
        MeasuredTarget { index, target, truth: &self.truth, decoded: self.decoded.as_ref(), cache_control }
    }

    /// Decodes the user's own archive once, and keeps what is true of what comes out; or tells why
    /// it cannot be decoded.
    pub(super) fn decode(
        &mut self,
        target: &mut Target,
        archive: Archive,
        deadline: &Deadline,
    ) -> Result<&Truth, String> {
        let file = target.file().expect("what somebody else's server gives is never decoded");
        match oracle::content(file, archive, &|| deadline.check()) {
            Ok(content) => {
                target.facts.decoded = Some(facts(archive, &content));
                Ok(self.decoded.insert(content))
            }
            Err(cause) => {
                let reason = format!("it begins like a {archive} and cannot be decoded: {cause}");
                target.facts.cautions.push(reason.clone());
                Err(reason)
            }
        }
    }
}

/// What the record says of the content of an archive.
pub(super) fn facts(archive: Archive, content: &Truth) -> Decoded {
    Decoded { archive, digest: content.digest.clone(), answer: content.answer }
}
