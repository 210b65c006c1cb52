//! The condition of a ranking in words: the cache state, the transport, the archive, and other
//! facts that distinguish the ranking from others of its record.

use super::super::name::target_names;
use super::super::words;
use super::Ranking;
use super::pieces::Pieces;
use readlab_model::target::{TargetFacts, TargetIndex, Targets};
use readlab_model::trial::{CacheState, Transport, Work};
use readlab_record::{Record, Trial};
use std::collections::BTreeSet;

impl Ranking {
    /// Cache state, transport and archive: `cold`, `pressed to 50%`, `cold over http`,
    /// `cold, out of the zip`.
    pub fn condition(&self) -> String {
        let source = self.archive.map_or_else(String::new, |archive| format!(", out of the {archive}"));
        self.state_and_transport() + &source
    }

    /// The condition, with the facts that distinguish the ranking from others of the record.
    pub fn full_condition(&self) -> String {
        self.condition() + &self.distinction
    }

    /// The title: `Cold · newlines`, `Cold over http · newlines`, `Cold · newlines · out of the
    /// zip`.
    pub fn title(&self) -> String {
        let source = self.archive.map_or_else(String::new, |archive| format!(" · out of the {archive}"));
        format!("{} · {}{source}", words::capitalized(&self.state_and_transport()), self.work)
    }

    fn state_and_transport(&self) -> String {
        let is_above_cache = self.state == CacheState::Cold && self.cold_above.is_some();
        let above = if is_above_cache { " above a cache" } else { "" };
        match (self.state, self.transport) {
            (CacheState::Unknown, over) if over.has_server() => {
                format!("over {} ({})", over.word(), over.cache_unknown_words())
            }
            (CacheState::Unknown, over) => over.cache_unknown_words().to_owned(),
            (CacheState::Pressed, _) => match self.memory {
                Some(bound) => format!("pressed to {bound}"),
                None => CacheState::Pressed.to_string(),
            },
            (state, Transport::File | Transport::Tree | Transport::Places) => format!("{state}{above}"),
            (state, over) => format!("{state}{above} over {}", over.word()),
        }
    }
}

/// Which facts, beyond the condition, distinguish the rankings of a record.
#[derive(Debug, Clone)]
pub(super) struct DistinguishingFacts {
    work_differs: bool,
    /// The names of the targets; `None` if all trials read the same one.
    target_names: Option<Targets<String>>,
    /// Whether some trials read blocks of a file and others the whole file.
    blocks_differ: bool,
    readers_differ: bool,
    settings_differ: bool,
}

impl DistinguishingFacts {
    /// Compares all trials of a record except controls, which are not ranked.
    pub(super) fn for_record(record: &Record) -> DistinguishingFacts {
        let ranked = || record.trials.iter().map(|it| &it.trial).filter(|trial| !trial.is_control());
        let target = |trial: &Trial| record.target_of(trial);
        let has_targets = differ(ranked().map(|trial| target(trial).map(|target| &target.path)));
        let has_readers = record.targets.iter().any(|target| target.reader_count.is_some());
        DistinguishingFacts {
            work_differs: differ(ranked().map(|trial| trial.work)),
            target_names: has_targets.then(|| target_names(&record.targets)),
            blocks_differ: differ(ranked().filter_map(target).map(|target| target.blocks().is_some())),
            readers_differ: has_readers || differ(ranked().map(|trial| target(trial)?.concurrent_readers())),
            settings_differ: differ(ranked().map(|trial| target(trial)?.settings_words())),
        }
    }

    /// The distinguishing facts in parentheses: the work, the name of the target, its blocks, the
    /// number of ranks or readers, and the settings of the system.
    pub(super) fn words(&self, work: Work, target: TargetIndex, facts: Option<&TargetFacts>) -> String {
        let name = self.target_names.as_ref().and_then(|names| names.get(target)).cloned();
        let blocks = facts.filter(|_| self.blocks_differ).and_then(|facts| Pieces::from_facts(facts, work));
        let together = facts.filter(|_| self.readers_differ).and_then(readers_words);
        let settings = facts.filter(|_| self.settings_differ).and_then(TargetFacts::settings_words);
        let parts = [
            self.work_differs.then(|| work.to_string()),
            name,
            blocks.map(Pieces::words),
            together,
            settings,
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}

fn differ<T: Ord>(values: impl Iterator<Item = T>) -> bool {
    values.collect::<BTreeSet<T>>().len() > 1
}

/// The number of ranks or readers that read a target together, in words; `None` if the record has
/// no such number.
pub(super) fn readers_words(facts: &TargetFacts) -> Option<String> {
    let plural = |count: Option<u32>, word| count.map(|count| words::plural(count as usize, word));
    let has_copies = facts.copies_folder.is_some() && facts.reader_count > Some(1);
    let of_copies = if has_copies { " of copies" } else { "" };
    let readers = || plural(facts.reader_count, "reader").map(|readers| readers + of_copies);
    plural(facts.rank_count, "rank").or_else(readers)
}
