//! The file of readlab's own on which contenders are warmed up before they read a file of a sweep,
//! never on that file: the caches below the page cache remember what was read, and nobody can empty
//! them.
//!
//! A contender reads one path for as long as it lives. So it is given the path of a link, which
//! leads to readlab's own file first and is changed to lead to the next file before its timed turn.
//! Commands get no link, for some refuse it; each of their readings is a process of its own, which
//! another contender process warms up as well.

use super::SweepTarget;
use crate::contender::discovery::Contenders;
use crate::measure::cache::Eviction;
use crate::measure::interface::{Sampler, TrialEnd};
use crate::measure::plan::Plan;
use crate::measure::sampler::{PooledSession, ProcessSampler};
use crate::measure::target::{CacheControl, MeasuredTarget};
use crate::record::{Line, Outcome};
use crate::target::{Place, Target, shown};
use crate::trial::{COMMAND, Params};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A file of readlab's own, and a link that leads to it or to the file that is read next.
#[derive(Debug)]
pub struct WarmUp {
    at: SweepTarget,
    file: PathBuf,
    link: PathBuf,
    /// What was said already.
    said: RefCell<BTreeSet<String>>,
}

/// What became of a contender on that file.
pub(super) enum WarmedUp {
    /// It waits, and the link that it was given leads to the file that it reads next.
    Waiting(Box<PooledSession>, Params),
    /// Another process of it was warmed up.
    Another,
    /// It could not be, and starts cold: why.
    Not(String),
}

impl WarmUp {
    /// By a file that holds what is known of it, with a link beside it.
    #[must_use]
    pub fn on(file: &Path, at: SweepTarget) -> WarmUp {
        let (file, link) = (file.to_owned(), file.with_file_name("next"));
        WarmUp { at, file, link, said: RefCell::default() }
    }

    /// Whether something is said for the first time: what fails once fails before every file.
    pub(super) fn is_news(&self, text: &str) -> bool {
        self.said.borrow_mut().insert(text.to_owned())
    }

    /// Makes the link lead to a file; whoever opens it meanwhile gets one file or the other.
    fn lead_to(&self, file: &Path) -> io::Result<()> {
        let new = self.link.with_extension("new");
        symlink(file, &new)?;
        fs::rename(&new, &self.link)
    }

    /// Starts the contender of a plan's only trial and has it read readlab's own file until it is
    /// warm; notes what it did beside reading.
    ///
    /// # Errors
    /// If its trial or the run ends by it.
    pub(super) fn warm_up(
        &self,
        next: &Path,
        plan: &Plan,
        contenders: &Contenders,
        noted: &mut Vec<Line>,
    ) -> Result<WarmedUp, TrialEnd> {
        let trial = &plan.trials[0].trial;
        let is_command = trial.contender() == COMMAND;
        let lead =
            |file: &Path| self.lead_to(file).map_err(|cause| format!("{}: {cause}", shown(&self.link)));
        if let Err(reason) = lead(&self.file) {
            return Ok(WarmedUp::Not(reason));
        }
        let place = if is_command { self.at.target.place.clone() } else { Place::File(self.link.clone()) };
        let target = &Target { place, ..self.at.target.clone() };
        let cache_control = match CacheControl::of(target, Eviction::OfFile) {
            Ok(cache_control) => cache_control,
            Err(error) => return Ok(WarmedUp::Not(error.to_string())),
        };
        let subject = MeasuredTarget {
            index: trial.target,
            target,
            truth: &self.at.truth,
            decoded: None,
            cache_control,
        };
        let mut sampler = ProcessSampler::new(plan, contenders, vec![subject]);
        let params = match sampler.open(trial.index) {
            Ok(params) => params,
            // It is started once more, for its own file, and says the same.
            Err(TrialEnd::Trial(_)) => return Ok(WarmedUp::Another),
            Err(ending) => return Err(ending),
        };
        let rehearsed = sampler.warm_up(trial.index);
        noted.extend(sampler.notes().into_iter().filter(is_of_conduct));
        match rehearsed {
            Ok(()) => {}
            // It may fail here and not there: a file system that knows no O_DIRECT.
            Err(TrialEnd::Trial(Outcome::Failed { reason } | Outcome::Unavailable { reason })) => {
                return Ok(WarmedUp::Not(reason));
            }
            Err(ending) => return Err(ending),
        }
        if is_command {
            return Ok(WarmedUp::Another);
        }
        Ok(match (lead(next), sampler.take_session(trial.index)) {
            (Ok(()), Some(seat)) => WarmedUp::Waiting(Box::new(seat), params),
            (Ok(()), None) => WarmedUp::Not("memory ran short".to_owned()),
            (Err(reason), _) => WarmedUp::Not(reason),
        })
    }
}

/// What is missing or warmed there is so of another file than the one that is measured.
fn is_of_conduct(line: &Line) -> bool {
    matches!(line, Line::LeftBehind { .. } | Line::Scheduling { .. })
}
