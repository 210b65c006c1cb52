//! What one run reads: one or more targets as the user asked for them, examined, and served where
//! they are read over http.

use super::deadline::Deadline;
use crate::contender::server::Server;
use crate::corpus::Form;
use crate::experiment::planner::TargetForm;
use crate::record::TargetRef;
use crate::target::{Accept, Place, Target, TargetFacts, shown, url};
use crate::trial::Transport;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// What one run reads, the plain file first.
pub(super) type TargetSpecs = Vec<TargetSpec>;

/// One target as it was asked for.
pub(super) struct TargetSpec {
    /// A path or a URL.
    word: PathBuf,
    form: Form,
    over: Transport,
}

impl TargetSpec {
    /// A path, or a URL, whose bytes are as they are.
    pub(super) fn plain(word: &Path, over: Transport) -> TargetSpec {
        let over = if url::is_url(word.as_os_str()) { Transport::Http } else { over };
        TargetSpec { word: word.to_owned(), form: None, over }
    }

    /// A file of some form.
    pub(super) fn form(form: Form, path: &Path) -> TargetSpec {
        TargetSpec { word: path.to_owned(), form, over: Transport::File }
    }

    /// What a record says was read.
    pub(super) fn again(facts: &TargetFacts, aim: &TargetRef) -> TargetSpec {
        TargetSpec { word: facts.place(), form: aim.form, over: aim.over }
    }

    /// Finds everything out about it; a server is asked while `deadline` lasts.
    pub(super) fn examine(
        &self,
        accept: Accept,
        deadline: &Deadline,
    ) -> anyhow::Result<(TargetForm, Target)> {
        let target = if url::is_url(self.word.as_os_str()) {
            let word = self.word.to_str().with_context(|| format!("{}: not a URL", shown(&self.word)))?;
            Target::ask(word.parse().map_err(crate::target::TargetError::from)?, &|| deadline.check())?
        } else {
            Target::examine_as(&self.word, accept)?
        };
        Ok((TargetForm { form: self.form, over: self.over }, target))
    }
}

/// A server for each file that contenders ask for over http.
pub(super) fn serve(shapes: &[TargetForm], targets: &mut [Target]) -> anyhow::Result<Vec<Server>> {
    let mut servers = Vec::new();
    for (shape, target) in shapes.iter().zip(targets) {
        if let (Place::File(file), Transport::Http) = (&target.place, shape.over) {
            let server = Server::start(file)?;
            target.serve(server.url.clone());
            servers.push(server);
        }
    }
    Ok(servers)
}
