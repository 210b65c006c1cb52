//! What to do about processes that keep the file in memory between turns, so that eviction fails
//! for every trial.
//!
//! One of our own contenders that does so breaks the contract: its trial is refused, its process
//! ended, and the others go on. A program of somebody else's is named once in a warning, and what
//! can be measured beside it is measured. Who holds a file is looked up in
//! [`crate::measure::holders`]; how often eviction is tried is in [`crate::measure::cache`].

use super::{PageCache, ProcessSampler};
use crate::linux::process::may_be_inspected;
use crate::measure::cache::CacheError;
use crate::measure::holders::{Hold, Holder, Processes};
use crate::measure::interface::{SampleError, TrialEnd};
use crate::measure::residency::ResidencyProof;
use crate::measure::target::MeasuredTarget;
use crate::record::{Line, Outcome, Trial};
use crate::target::identity::Identity;
use crate::trial::Transport;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How often a contender is looked at that has not let go of the file, with doubling pauses from
/// [`FIRST_PAUSE`]: some runtimes close a file in a thread of their own, after they have answered.
const LOOKS: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// How often in a run somebody is searched for who keeps pages and is none of our contenders that
/// can be seen: it takes seconds. The first search only looks; the others end contenders to see
/// whether the pages go with them.
const SEARCHES_MAX: u32 = 4;

/// How often pages must have gone with the end of one contender before it is refused: once may be
/// chance.
const SUSPICIONS: u32 = 2;

/// Most programs of others that are named at a time.
const NAMED_MAX: usize = 3;

/// What is known of holders in this run.
#[derive(Default)]
pub(super) struct Holding {
    /// Trials whose contenders were looked at after their first turn.
    checked: BTreeSet<usize>,
    /// Trials that are refused for keeping the file, with the reason.
    refused: BTreeMap<usize, String>,
    /// Trials with whose end the pages went, and how often.
    suspects: BTreeMap<usize, u32>,
    /// Processes of others that were named in a warning.
    named: BTreeSet<u32>,
    searches: u32,
}

impl Holding {
    /// That a trial keeps the file between turns, if it was seen to.
    pub(super) fn refusal(&self, trial: usize) -> Option<Outcome> {
        self.refused.get(&trial).map(|reason| Outcome::Refused { reason: reason.clone() })
    }
}

impl ProcessSampler<'_> {
    /// Makes the file of a target cold. Where pages stay, who keeps them is looked for: a contender
    /// of this run is ended and its trial refused, and eviction is tried again.
    pub(super) fn evict(&mut self, target: usize) -> Result<ResidencyProof, CacheError> {
        let evicted = self.page_cache(target).evict();
        if !is_kept(&evicted) {
            return evicted;
        }
        let Some(file) = self.target(target).ground.identity() else { return evicted };
        let now = Processes::now();
        if self.end_own_holders(&now, target, &file) {
            let evicted = self.page_cache(target).evict();
            if !is_kept(&evicted) {
                return evicted;
            }
        }
        if !now.holders(&self.holding.named, &file).is_empty() || self.holding.searches == SEARCHES_MAX {
            return evicted;
        }
        self.holding.searches += 1;
        if self.name_others(&now, target, &file) {
            return evicted;
        }
        if self.holding.searches == 1 {
            return evicted;
        }
        let evicted = self.evict_without(target);
        if is_kept(&evicted) && self.holding.searches == 2 {
            let path = &self.target(target).target.facts.path;
            let text = format!(
                "{path}: some of its pages stay in the cache, and no process that this user can look into has them mapped"
            );
            self.notes.push(Line::Warning { text });
        }
        evicted
    }

    /// The state before a cold turn: nothing resident. A method past the page cache is measured
    /// even where pages stay, for its bytes come from the device all the same, which is proven
    /// after the turn.
    pub(super) fn make_cold(&mut self, trial: &Trial) -> Result<Option<ResidencyProof>, SampleError> {
        let waits = self.pool.has(trial.index);
        let evicted = self.evict(trial.target);
        self.not_refused(trial.index)?;
        if waits && !self.pool.has(trial.index) {
            let reason = "its process was ended to find out who keeps pages of the file in memory";
            return Err(SampleError::Unproven(reason.to_owned()));
        }
        match evicted {
            Err(CacheError::Remains { proof, .. }) if trial.bypasses_cache() => Ok(Some(proof)),
            evicted => evicted.map(Some).map_err(super::cache_trouble),
        }
    }

    /// Whether pages of the file are known to stay because of a program of somebody else's.
    pub(super) fn is_kept_by_others(&self) -> bool {
        !self.holding.named.is_empty()
    }

    /// The end of a trial that was seen to keep the file.
    pub(super) fn not_refused(&self, trial: usize) -> Result<(), SampleError> {
        match self.holding.refusal(trial) {
            Some(refused) => Err(SampleError::TrialEnd(TrialEnd::Trial(refused))),
            None => Ok(()),
        }
    }

    /// Looks once, after a contender's first turn, whether it has let go of the file, as the
    /// contract says.
    pub(super) fn has_let_go(&mut self, trial: usize) -> Result<(), SampleError> {
        let subject = self.subject(trial);
        let opens_it = subject.target.facts.over() == Transport::File && !self.planned(trial).is_control();
        let file = subject.ground.identity().filter(|_| opens_it);
        let waiting = self.pool.processes().into_iter().find(|(of, _)| *of == trial);
        let (Some(file), Some((_, process))) = (file, waiting) else { return Ok(()) };
        if !self.holding.checked.insert(trial) {
            return Ok(());
        }
        let mut pause = FIRST_PAUSE;
        for inspect in 1..=LOOKS {
            let now = Processes::now();
            let mut holders = now.holders(&now.family(process), &file);
            holders.sort_by_key(|holder| holder.hold == Hold::Open);
            let Some(holder) = holders.first() else { break };
            if inspect == LOOKS {
                self.refuse(trial, self.reason(trial, holder));
                return self.not_refused(trial);
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
        Ok(())
    }

    /// Refuses every trial whose contender, or a process that it started, has the file mapped, and
    /// ends those processes; whether there was one.
    fn end_own_holders(&mut self, now: &Processes, target: usize, file: &Identity) -> bool {
        let mut found = false;
        for (trial, process) in self.pool.processes() {
            let holders = now.holders(&now.family(process), file);
            let Some(first) = holders.iter().find(|holder| holder.hold == Hold::Mapped) else { continue };
            if !self.subject(trial).shares_file(self.target(target)) {
                continue;
            }
            self.refuse(trial, self.reason(trial, first));
            // What left the process group of its contender does not end with it.
            holders.iter().filter(|holder| holder.pid != process).for_each(Holder::kill);
            found = true;
        }
        found
    }

    /// Names the programs of others that have the file mapped, each once in a run; whether there
    /// are any.
    fn name_others(&mut self, now: &Processes, target: usize, file: &Identity) -> bool {
        let own = BTreeSet::from([std::process::id()]);
        let others = now.others_that_map(&own, file);
        let path = &self.target(target).target.facts.path;
        let named = others.iter().take(NAMED_MAX).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let more = match others.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let has = if others.len() == 1 { "has" } else { "have" };
        let text = format!(
            "{path}: {named}{more} {has} it mapped, so its pages cannot be evicted: methods through the page cache have no \
             cold state, and the cache is filled around the pages that stay"
        );
        if others.is_empty() {
            return false;
        }
        self.notes.push(Line::Warning { text });
        self.holding.named.extend(others.iter().map(|other| other.pid));
        true
    }

    /// Ends one waiting contender after the other, those that nobody can look into first, until the
    /// pages go. The ended are started anew before their next turn; the one with whose end they
    /// went is refused when that happens again.
    fn evict_without(&mut self, target: usize) -> Result<ResidencyProof, CacheError> {
        let shares = |(trial, _): &(usize, u32)| self.subject(*trial).shares_file(self.target(target));
        let mut waiting: Vec<(usize, u32)> = self.pool.processes().into_iter().filter(shares).collect();
        waiting.sort_by_key(|(trial, process)| {
            (!self.holding.suspects.contains_key(trial), may_be_inspected(*process))
        });
        for (trial, _) in waiting {
            self.pool.leave(trial);
            let evicted = self.page_cache(target).evict();
            if is_kept(&evicted) {
                continue;
            }
            let suspicions = self.holding.suspects.entry(trial).or_default();
            *suspicions += 1;
            if *suspicions == SUSPICIONS {
                let path = &self.subject(trial).target.facts.path;
                let reason = format!(
                    "pages of {path} could be evicted only when its process was ended, {SUSPICIONS} times: it keeps them in \
                     memory between turns"
                );
                self.refuse(trial, reason);
            }
            return evicted;
        }
        self.page_cache(target).evict()
    }

    fn refuse(&mut self, trial: usize, reason: String) {
        self.pool.leave(trial);
        self.holding.refused.insert(trial, reason);
    }

    fn reason(&self, trial: usize, holder: &Holder) -> String {
        let path = &self.subject(trial).target.facts.path;
        let Holder { hold, .. } = holder;
        let why = match hold {
            Hold::Mapped => "so nobody's cache can be emptied",
            Hold::Open => "which the contract forbids",
        };
        format!("it keeps {path} {hold} between turns ({holder}), {why}")
    }

    fn target(&self, target: usize) -> &MeasuredTarget<'_> {
        let subject = self.subjects.iter().find(|subject| subject.index == target);
        subject.expect("every target of the plan has its subject")
    }

    /// The pages of a target that has a file.
    pub(super) fn page_cache(&self, target: usize) -> &PageCache {
        self.target(target).cache().expect("only a target with a file has a state to be made")
    }
}

fn is_kept(evicted: &Result<ResidencyProof, CacheError>) -> bool {
    matches!(evicted, Err(CacheError::Remains { .. }))
}
