//! The right answers about one target, found by the oracle before anything is measured: about its
//! bytes, and about what comes out of it if it is an archive.

use super::targets::OpenTarget;
use anyhow::Context;
use readlab_model::target::Decoded;
use readlab_protocol::Archive;
use readlab_system::terminal::printable::display_path;
use readlab_targets::corpus::archive::Packed;
use readlab_targets::corpus::block_truth::truth_of_blocks;
use readlab_targets::corpus::oracle::{self, ContinueCheck, Truth};
use readlab_targets::corpus::tree_truth::truth_of_files;
use readlab_targets::target::dictionary;
use readlab_targets::target::http::RequestVerb;
use readlab_targets::target::part::open_watched;
use readlab_targets::target::{Place, Target};

/// The right answers about a target.
#[derive(Debug, Clone)]
pub(super) struct ExpectedAnswers {
    /// About its bytes.
    pub(super) truth: Truth,
    /// About its content, where trials decode it.
    pub(super) decoded: Option<Truth>,
}

impl ExpectedAnswers {
    /// Reads a target once, and adds what was found to its facts. If it is an archive of a suite,
    /// its content is that of the suite's `first` target: no decoder is trusted.
    pub(super) fn find(
        open: &mut OpenTarget,
        first: Option<&ExpectedAnswers>,
        check: ContinueCheck,
    ) -> anyhow::Result<ExpectedAnswers> {
        let target = &mut open.target;
        let truth = truth(target, check)?;
        target.facts.digest = Some(truth.digest.clone());
        target.facts.answer = Some(truth.answer);
        let archive = open.form.archive.zip(first.map(|first| first.truth.clone()));
        target.facts.decoded = archive.as_ref().map(|(archive, content)| facts(*archive, content));
        Ok(ExpectedAnswers { truth, decoded: archive.map(|(_, content)| content) })
    }

    /// Whether the bytes that are visited are text: those that come out of an archive, if it is
    /// one.
    pub(super) fn is_text(&self) -> bool {
        self.decoded.as_ref().unwrap_or(&self.truth).text
    }

    /// Decodes the user's own archive once, and keeps the right answers about its content. If it
    /// cannot be decoded, the error says why.
    pub(super) fn decode(
        &mut self,
        target: &mut Target,
        archive: Archive,
        check: ContinueCheck,
    ) -> Result<(), String> {
        let path = target.file().expect("an archive behind a foreign server is never decoded");
        let dictionary = target.facts.dictionary.as_ref().map_or_else(|| Ok(Vec::new()), dictionary::bytes);
        let content = dictionary.and_then(|dictionary| {
            oracle::content(&Packed { path, archive, dictionary: &dictionary }, check)
        });
        match content {
            Ok(content) => {
                target.facts.decoded = Some(facts(archive, &content));
                self.decoded = Some(content);
                Ok(())
            }
            Err(cause) => {
                let how = if self.truth.archive == Some(archive) { "begins like" } else { "is named like" };
                let reason = format!("it {how} {} and cannot be decoded: {cause}", archive.noun());
                target.facts.cautions.push(reason.clone());
                Err(reason)
            }
        }
    }
}

/// What the record says about the content of an archive.
fn facts(archive: Archive, content: &Truth) -> Decoded {
    Decoded { archive, digest: content.digest.clone(), answer: content.answer }
}

/// The right answers about a file, or about what a server sends. Reading a URL also finds its size,
/// which servers need not declare.
fn truth(target: &mut Target, check: ContinueCheck) -> anyhow::Result<Truth> {
    if let Place::Tree(tree) = &target.place {
        return truth_of_files(tree.paths()?, check).map_err(anyhow::Error::from);
    }
    if let Place::Blocks(blocks) = &target.place {
        return truth_of_blocks(&blocks.places, check).with_context(|| display_path(blocks.file()));
    }
    let Place::Web(remote) = &target.place else {
        let file = target.file().expect("what is not behind a foreign server is a file");
        return oracle::truth_of(|| open_watched(file, target.part), check)
            .with_context(|| display_path(file));
    };
    let wait_check = || check(0);
    let opened = || remote.ask(RequestVerb::Get, &wait_check).map_err(std::io::Error::other);
    let found = oracle::truth_of(opened, check).with_context(|| remote.source.to_string())?;
    target.facts.size_bytes = found.answer.bytes.unwrap_or(0);
    Ok(found)
}
