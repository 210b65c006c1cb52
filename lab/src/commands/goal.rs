//! What one run reads: one or more targets as the user asked for them, examined, and served where they are read over http.

use super::patience::Patience;
use crate::contender::server::Server;
use crate::corpus::Form;
use crate::experiment::planner::Shape;
use crate::record::Aim;
use crate::target::{Accept, Place, Target, TargetFacts, shown, url};
use crate::trial::Over;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// What one run reads, the plain file first.
pub(super) type Goal = Vec<Wanted>;

/// One target as it was asked for.
pub(super) struct Wanted {
    /// A path or a URL.
    word: PathBuf,
    form: Form,
    over: Over,
}

impl Wanted {
    /// A path, or a URL, whose bytes are as they are.
    pub(super) fn plain(word: &Path, over: Over) -> Wanted {
        let over = if url::is_url(word.as_os_str()) { Over::Http } else { over };
        Wanted { word: word.to_owned(), form: None, over }
    }

    /// A file of some form.
    pub(super) fn form(form: Form, path: &Path) -> Wanted {
        Wanted { word: path.to_owned(), form, over: Over::File }
    }

    /// What a record says was read.
    pub(super) fn again(facts: &TargetFacts, aim: &Aim) -> Wanted {
        Wanted { word: facts.place(), form: aim.form, over: aim.over }
    }

    /// Finds everything out about it; a server is asked while `patience` lasts.
    pub(super) fn examine(&self, accept: Accept, patience: &Patience) -> anyhow::Result<(Shape, Target)> {
        let target = if url::is_url(self.word.as_os_str()) {
            let word = self.word.to_str().with_context(|| format!("{}: not a URL", shown(&self.word)))?;
            Target::ask(word.parse().map_err(crate::target::TargetError::from)?, &|| patience.go_on())?
        } else {
            Target::examine_as(&self.word, accept)?
        };
        Ok((Shape { form: self.form, over: self.over }, target))
    }
}

/// A server for each file that contenders ask for over http.
pub(super) fn serve(shapes: &[Shape], targets: &mut [Target]) -> anyhow::Result<Vec<Server>> {
    let mut servers = Vec::new();
    for (shape, target) in shapes.iter().zip(targets) {
        if let (Place::File(file), Over::Http) = (&target.place, shape.over) {
            let server = Server::start(file)?;
            target.serve(server.url.clone());
            servers.push(server);
        }
    }
    Ok(servers)
}
