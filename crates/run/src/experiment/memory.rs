//! An experiment under bounds on memory. Each bound has its own targets in the record, after the
//! targets without a bound, and every trial of the pressed state is repeated on them. Trials of the
//! other states have no bound: cold and warm are the extremes between which a bound lies.

use super::settings::record_read_ahead;
use super::together::{ArrangedTargets, ReaderGroup};
use crate::experiment::targets::KnownTarget;
use anyhow::{Context, bail, ensure};
use readlab_measure::memory_bound::MemoryControl;
use readlab_measure::plan::{Budget, Plan, PlannedTrial, Rules};
use readlab_measure::settings::FixedSetting;
use readlab_model::target::layers::{self, Layer, LayerKind};
use readlab_model::target::memory::{MemoryBound, MemoryFacts};
use readlab_model::target::{TargetFacts, TargetIndex, Targets};
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use readlab_record::{Outcome, StartMode, Trial};
use readlab_system::file_status::is_dax;
use readlab_system::memory::page_bytes;
use readlab_system::memory_group::MemoryGroups;
use readlab_system::system_root::SystemRoot;
use readlab_system::system_setting::{SettingFiles, SystemSetting};
use readlab_targets::target::Target;
use readlab_targets::target::filesystem::{Backing, Filesystem};
use readlab_targets::target::layers::LayerChain;
use std::fs::File;

/// The time for readings under one bound, divided by the time for readings in another state. It is
/// above 1, because untimed readings come before each reading under a bound.
const BOUND_TIME_FACTOR: u64 = 2;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryBounds {
    /// The bounds in the order of the command line; empty if no memory is bounded.
    pub bounds: Vec<MemoryBound>,
    /// Whether all readers that read at the same time share one bound.
    pub is_shared: bool,
    /// The read-ahead that a suite asks for; `None` if the read-ahead of the machine is kept.
    pub read_ahead_bytes: Option<u64>,
    /// Whether the run goes on without the bounds if they cannot be made: true if a suite asks for
    /// them, and not the user.
    pub is_optional: bool,
}

impl MemoryBounds {
    /// Refuses bounds that are given twice.
    pub fn new(bounds: Vec<MemoryBound>, is_shared: bool) -> anyhow::Result<MemoryBounds> {
        for (at, bound) in bounds.iter().enumerate() {
            ensure!(!bounds[..at].contains(bound), "--memory: {bound} is given twice");
        }
        Ok(MemoryBounds { bounds, is_shared, read_ahead_bytes: None, is_optional: false })
    }

    pub fn is_given(&self) -> bool {
        !self.bounds.is_empty()
    }
}

/// Refuses bounds that cannot be made on this machine or for these targets. First removes the
/// control groups that killed runs of readlab left, because they may prevent new control groups.
pub(super) fn check_memory_bounds<'a>(targets: impl Iterator<Item = &'a Target>) -> anyhow::Result<()> {
    MemoryGroups::remove_abandoned();
    MemoryGroups::find()?;
    for target in targets {
        let path = &target.facts.path;
        if target.facts.transport().has_server() {
            bail!("{path} is read by a server, so a bound on a contender does not bound its page cache");
        }
        check_filesystem(target).with_context(|| path.clone())?;
    }
    Ok(())
}

/// Refuses a target that is always in memory, or never in the page cache. For a folder, examines
/// its first file and not the folder itself: DAX is an attribute of files, and an overlay shows
/// files of other file systems. The other files are examined when they are evicted.
fn check_filesystem(target: &Target) -> anyhow::Result<()> {
    let first = target.tree().and_then(|tree| tree.paths().ok()?.next()?.ok());
    let path = first.unwrap_or_else(|| target.facts.exact_path());
    let Ok(file) = File::open(&path) else { return Ok(()) };
    let filesystem = Filesystem::read(&file)?;
    let real = path.canonicalize()?;
    let layers = LayerChain::walk(&SystemRoot::default(), &real, &file).layers;
    match why_never_pressed(filesystem.backing, is_dax(&file), &layers) {
        Some(why) => bail!("what is on {filesystem} {why}, so that no bound makes it larger than memory"),
        None => Ok(()),
    }
}

/// Why no bound makes a file with these layers larger than memory; `None` if a bound does.
fn why_never_pressed(backing: Backing, is_dax: bool, layers: &[Layer]) -> Option<&'static str> {
    const IN_MEMORY: &str = "lives in memory and nowhere else";
    const IN_OWN_CACHE: &str = "has a cache beside the page cache, which no control group bounds";
    match backing {
        Backing::Memory => Some(IN_MEMORY),
        Backing::Kernel => Some("is made up by the kernel while it is read"),
        Backing::OwnCache => Some(IN_OWN_CACHE),
        _ if is_dax => Some("is never in the page cache (DAX)"),
        Backing::Stacked => {
            // A file system on a device caches pages of its own, even if the device is in memory.
            let shown = layers::layer_of_bytes(layers)?;
            match shown.kind {
                LayerKind::Memory => Some(IN_MEMORY),
                LayerKind::Filesystem if shown.cache.is_some() => Some(IN_OWN_CACHE),
                _ => None,
            }
        }
        Backing::Device | Backing::Remote | Backing::Program => None,
    }
}

/// A warning about bounds on a machine with swap; `None` without bounds or without swap.
pub(super) fn swap_warning(bounds: &MemoryBounds, is_swap_on: bool) -> Option<String> {
    (bounds.is_given() && is_swap_on).then(|| {
        "swap is on: the control groups of --memory do not swap, so a process that needs more than was measured \
         for it is killed"
            .to_owned()
    })
}

/// A warning about several readers of one file, each with its own bound; `None` if there are no
/// such readers. The kernel charges a page only to the group that reads it first, so the other
/// groups keep more in memory than their bound.
pub(super) fn readers_warning(bounds: &MemoryBounds, reader_group: &ReaderGroup) -> Option<String> {
    let count = reader_group.max_readers_of_one_file().filter(|_| bounds.is_given() && !bounds.is_shared)?;
    Some(format!(
        "each reader has a bound of its own, and all read the same file: {count} readers may keep {count} times \
         their bound in memory; --memory-shared bounds them together"
    ))
}

/// Adds the targets of each bound, and repeats the trials of the pressed state on them, unless the
/// plan already has them. Returns the control of the bounds; `None` if there are none, or if no
/// bound can be made and the run goes on without them.
pub(super) fn arrange_bounds(
    arranged: ArrangedTargets,
    memory: &MemoryBounds,
    is_planned: bool,
) -> anyhow::Result<(ArrangedTargets, Option<MemoryControl>)> {
    // A suite may ask for bounds on a target whose state cannot be proven.
    if !memory.is_given() || !arranged.plan.states.contains(&CacheState::Pressed) {
        return Ok((arranged, None));
    }
    let ArrangedTargets { targets, cache_controls: caches, facts, plan, setting_control: settings } =
        arranged;
    let unbounded = facts.len();
    for KnownTarget { target, .. } in &targets {
        if let Some([one, other]) = equal_bounds(&memory.bounds, working_set_bytes(target, memory.is_shared))
        {
            bail!("--memory: {one} and {other} are the same bound of {}", target.facts.path);
        }
    }
    let budget = plan.rules.budget;
    let plan = if is_planned { plan } else { plan_under_bounds(plan, unbounded, memory.bounds.len()) };
    match begin_bounds(&targets, &facts, memory, &plan) {
        Ok((facts, control)) => Ok((
            ArrangedTargets { targets, cache_controls: caches, facts, plan, setting_control: settings },
            Some(control),
        )),
        Err(why) if memory.is_optional => {
            let facts = facts_under_bounds(facts, &targets, memory);
            let plan = plan_without_bounds(plan, budget, &format!("{why:#}"));
            Ok((
                ArrangedTargets { targets, cache_controls: caches, facts, plan, setting_control: settings },
                None,
            ))
        }
        Err(why) => bail!("--memory: {why:#}"),
    }
}

/// Begins the control of the bounds of a plan, with the read-ahead that a suite asks for. Returns
/// the facts of all targets, and the control.
fn begin_bounds(
    targets: &Targets<KnownTarget>,
    facts: &Targets<TargetFacts>,
    memory: &MemoryBounds,
    plan: &Plan,
) -> anyhow::Result<(Targets<TargetFacts>, MemoryControl)> {
    if memory.is_optional {
        check_memory_bounds(targets.iter().map(|known| &known.target))?;
    }
    let groups = MemoryGroups::find()?;
    let mut facts = facts.clone();
    let read_ahead = memory.read_ahead_bytes.and_then(|bytes| prepare_read_ahead(bytes, &mut facts));
    let facts = facts_under_bounds(facts, targets, memory);
    let bound_of = |planned: &PlannedTrial| {
        let memory = facts.get(planned.trial.target)?.memory_bound.clone()?;
        Some((planned.trial.index, memory))
    };
    let bounds = plan.trials.iter().filter_map(bound_of).collect();
    let how = groups.description();
    let control = MemoryControl::begin(groups, bounds, read_ahead).context(how)?;
    Ok((facts, control))
}

/// The facts of the targets without a bound, followed by the facts of the same targets under each
/// bound.
fn facts_under_bounds(
    mut facts: Targets<TargetFacts>,
    targets: &Targets<KnownTarget>,
    memory: &MemoryBounds,
) -> Targets<TargetFacts> {
    let unbounded = facts.clone();
    for &bound in &memory.bounds {
        for (index, own) in unbounded.numbered() {
            let KnownTarget { target, .. } = &targets[index.under_first_condition(targets.len())];
            let facts_of_bound = memory_facts(target, bound, memory.is_shared);
            // The same file without a bound already has the cautions.
            let (memory, cautions) = (Some(facts_of_bound), Vec::new());
            facts.push(TargetFacts { memory_bound: memory, cautions, ..own.clone() });
        }
    }
    facts
}

/// Prepares to set the read-ahead that a suite asks for; `None` if the targets have this read-ahead
/// already, or if the user may not set it. A caution on the first target says what was found.
fn prepare_read_ahead(bytes: u64, facts: &mut Targets<TargetFacts>) -> Option<FixedSetting> {
    let found = facts.iter().filter_map(TargetFacts::read_ahead).find(|found| found.bytes != bytes)?;
    let (wanted, found) = (Bytes(bytes).exact_text(), Bytes(found.bytes).exact_text());
    let files = SettingFiles::find(&SystemRoot::default(), SystemSetting::ReadAhead, facts.iter());
    let fixed = files.and_then(|files| FixedSetting::find(files, &wanted));
    let caution = match &fixed {
        Ok(_) => format!("The read-ahead is {wanted} during this run, as the suite asks, and was {found}"),
        Err(why) => format!(
            "The suite asks for a read-ahead of {wanted}, and it is {found}, which a page fault of a mapping may \
             fetch: {why}"
        ),
    };
    facts.iter_mut().take(1).for_each(|facts| facts.cautions.push(caution.clone()));
    let fixed = fixed.ok()?;
    facts.iter_mut().for_each(|facts| record_read_ahead(Some(bytes), facts));
    Some(fixed)
}

/// Two bounds that are the same number of bytes for this working set; `None` if all differ.
fn equal_bounds(bounds: &[MemoryBound], working_set_bytes: u64) -> Option<[MemoryBound; 2]> {
    let bytes = |bound: &MemoryBound| bound.in_bytes(working_set_bytes);
    bounds.iter().enumerate().find_map(|(at, other)| {
        let one = bounds[..at].iter().find(|one| bytes(one) == bytes(other))?;
        Some([*one, *other])
    })
}

fn memory_facts(target: &Target, bound: MemoryBound, is_shared: bool) -> MemoryFacts {
    let working_set_bytes = working_set_bytes(target, is_shared);
    MemoryFacts { bound, cache_bytes: bound.in_bytes(working_set_bytes), working_set_bytes, is_shared }
}

/// Bytes that the readings of one group keep in memory if they all fit.
fn working_set_bytes(target: &Target, is_shared: bool) -> u64 {
    let facts = &target.facts;
    if let Some(copies) = target.copies.as_ref().filter(|_| is_shared) {
        return copies.tree_target.facts.size_bytes;
    }
    if let Some(places) = facts.places() {
        // A block that is smaller than a page brings a page into memory.
        return places
            .distinct_blocks
            .saturating_mul(places.block_bytes.max(page_bytes()))
            .min(places.file_bytes);
    }
    if let Some(ranges) = &facts.ranges {
        return ranges.pages_bytes.min(ranges.file_bytes);
    }
    facts.cached_bytes()
}

/// Repeats each trial of the pressed state on the targets of each bound. The record has the
/// `unbounded` targets without a bound first, then the targets of the first bound, and so on.
/// Controls are left out, because they have no bound.
pub(super) fn plan_under_bounds(plan: Plan, unbounded: usize, bounds: usize) -> Plan {
    let budget = match plan.rules.budget {
        Budget::Advised(time) => Budget::Advised(time_with_bounds(time, plan.states.len(), bounds)),
        firm @ Budget::Firm(_) => firm,
    };
    let numbers =
        |target: TargetIndex| (1..=bounds).map(move |bound| target.under_condition(bound, unbounded));
    let is_pressed = |trial: &Trial| trial.state == CacheState::Pressed;
    let (mut trials, mut absent) = (Vec::new(), Vec::new());
    for planned in plan.trials {
        if !is_pressed(&planned.trial) {
            trials.push(planned);
        } else if planned.trial.start_session == StartMode::EachReading {
            let reason = "its contender is started before each reading, so its untimed readings cannot make \
                          the state under a bound steady"
                .to_owned();
            absent.push((planned.trial, Outcome::Unavailable { reason }));
        } else if !planned.trial.is_control() {
            trials.extend(numbers(planned.trial.target).map(|target| planned.on_target(target)));
        }
    }
    absent.extend(plan.absent_trials);
    let absent_on_each = |(trial, outcome): (Trial, Outcome)| {
        if !is_pressed(&trial) {
            return vec![(trial, outcome)];
        }
        let on = |target: TargetIndex| (Trial { target, ..trial.clone() }, outcome.clone());
        numbers(trial.target).map(on).collect()
    };
    let absent = absent.into_iter().flat_map(absent_on_each).collect();
    let mut plan =
        Plan { trials, absent_trials: absent, rules: Rules { budget, ..plan.rules }, states: plan.states };
    plan.number_trials();
    plan
}

/// The plan of a run that goes on without its bounds: the trials under bounds are unavailable for
/// this reason, and the budget is that of the other states.
fn plan_without_bounds(plan: Plan, budget: Budget, reason: &str) -> Plan {
    let Plan { trials, absent_trials: absent, rules, states } = plan;
    let is_pressed = |planned: &PlannedTrial| planned.trial.state == CacheState::Pressed;
    let (pressed, trials): (Vec<_>, Vec<_>) = trials.into_iter().partition(is_pressed);
    let unavailable =
        |planned: PlannedTrial| (planned.trial, Outcome::Unavailable { reason: reason.to_owned() });
    let absent = pressed.into_iter().map(unavailable).chain(absent).collect();
    let states = states.into_iter().filter(|state| *state != CacheState::Pressed).collect();
    let mut plan = Plan { trials, absent_trials: absent, rules: Rules { budget, ..rules }, states };
    plan.number_trials();
    plan
}

/// The advised time of a run with this number of states, of which the pressed one is read under
/// several bounds. `time` is that of a run which reads every state as often.
pub(super) fn time_with_bounds(time: Nanos, states: usize, bounds: usize) -> Nanos {
    let (states, bounds) = (states.max(1) as u64, bounds as u64);
    let parts = states.saturating_sub(1).saturating_add(bounds.saturating_mul(BOUND_TIME_FACTOR));
    Nanos(time.0.saturating_mul(parts) / states)
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_measure::plan::testing::{COLD, plan, rules_for_readings};
    use readlab_model::target::TargetKind;
    use readlab_model::target::device::ReadAhead;
    use readlab_model::target::places::{Pattern, PlacesFacts, RangesFacts};
    use readlab_model::target::tree::TreeFacts;
    use readlab_targets::target::Place;
    use readlab_targets::target::copies::Copies;
    use std::fs;
    use std::path::PathBuf;

    const PRESSED: CacheState = CacheState::Pressed;

    #[test]
    fn each_bound_is_given_once() {
        let bounds = |words: &[&str]| {
            MemoryBounds::new(words.iter().map(|word| word.parse().unwrap()).collect(), false)
        };
        assert!(bounds(&["25%", "50%", "1MiB"]).is_ok_and(|bounds| bounds.is_given()));
        assert!(bounds(&[]).is_ok_and(|bounds| !bounds.is_given()));
        assert_eq!(bounds(&["50%", "50.0%"]).unwrap_err().to_string(), "--memory: 50% is given twice");
    }

    #[test]
    fn pressed_trials_are_repeated_on_the_targets_of_each_bound_and_others_are_not() {
        let mut plan =
            plan(rules_for_readings(1), &[("a", COLD), ("device", PRESSED), ("a", PRESSED), ("b", PRESSED)]);
        plan.trials[3].trial.target = TargetIndex::new(1);
        plan.rules.budget = Budget::Advised(Nanos(10));
        let absent = Outcome::Unavailable { reason: String::new() };
        plan.absent_trials.push((plan.trials[2].trial.clone(), absent));
        let plan = plan_under_bounds(plan, 2, 3);
        let shown: Vec<(&str, TargetIndex)> =
            plan.trials.iter().map(|it| (it.trial.method(), it.trial.target)).collect();
        let right = [("a", 0), ("a", 2), ("a", 4), ("a", 6), ("b", 3), ("b", 5), ("b", 7)];
        assert_eq!(shown, right.map(|(method, target)| (method, TargetIndex::new(target))));
        let absent: Vec<TargetIndex> = plan.absent_trials.iter().map(|(trial, _)| trial.target).collect();
        assert_eq!(absent, [2, 4, 6].map(TargetIndex::new));
        assert_eq!(
            plan.rules.budget,
            Budget::Advised(Nanos(35)),
            "one other state, and six parts for bounds"
        );
        let numbers: Vec<u64> = plan.trials.iter().map(|it| it.trial.index.into()).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn where_no_bound_can_be_made_the_bounds_of_a_suite_are_unavailable_and_the_rest_goes_on() {
        let mut plan = plan(rules_for_readings(1), &[("a", COLD), ("a", PRESSED), ("b", PRESSED)]);
        plan.trials[2].trial.start_session = StartMode::EachReading;
        let budget = Budget::Advised(Nanos(10));
        plan.rules.budget = budget;
        let plan = plan_without_bounds(plan_under_bounds(plan, 1, 2), budget, "no group");
        let measured: Vec<TargetIndex> = plan.trials.iter().map(|it| it.trial.target).collect();
        assert_eq!(
            (measured, plan.states, plan.rules.budget),
            (vec![TargetIndex::new(0)], vec![COLD], budget)
        );
        let absent: Vec<(&str, TargetIndex, u64)> =
            plan.absent_trials.iter().map(|(it, _)| (it.method(), it.target, it.index.into())).collect();
        let right = [("a", 1, 1), ("a", 2, 2), ("b", 1, 3), ("b", 2, 4)];
        assert_eq!(absent, right.map(|(method, target, index)| (method, TargetIndex::new(target), index)));
        let reasons: Vec<&str> =
            plan.absent_trials.iter().filter_map(|(_, outcome)| outcome.reason()).collect();
        assert_eq!(reasons[..2], ["no group"; 2]);
        assert!(reasons[2].starts_with("its contender is started before each reading"), "the nearer reason");
    }

    #[test]
    fn what_is_in_memory_anyway_or_never_in_the_page_cache_has_no_pressed_state() {
        let layer = |kind| Layer::new(kind, "");
        let overlay_on = |kind| [layer(LayerKind::Overlay), layer(LayerKind::File), layer(kind)];
        let own_cache = layer(LayerKind::Filesystem).with_unevictable_cache("its own", "it is beside");
        let overlay_on_own_cache = [layer(LayerKind::Overlay), layer(LayerKind::File), own_cache];
        let two_overlays_on_memory = [LayerKind::Overlay, LayerKind::File, LayerKind::Overlay]
            .into_iter()
            .chain([LayerKind::File, LayerKind::Memory])
            .map(layer)
            .collect::<Vec<_>>();
        let image_in_memory =
            [LayerKind::Filesystem, LayerKind::Loop, LayerKind::File, LayerKind::Memory].map(layer);
        let none: &[Layer] = &[];
        let cases: [(Backing, bool, &[Layer], Option<&str>); 13] = [
            (Backing::Memory, false, none, Some("lives in memory")),
            (Backing::Kernel, false, none, Some("is made up by the kernel")),
            (Backing::OwnCache, false, none, Some("has a cache beside")),
            (Backing::Device, true, none, Some("is never in the page cache (DAX)")),
            (Backing::Stacked, true, none, Some("is never in the page cache (DAX)")),
            (Backing::Stacked, false, &overlay_on(LayerKind::Memory), Some("lives in memory")),
            (Backing::Stacked, false, &two_overlays_on_memory, Some("lives in memory")),
            (Backing::Stacked, false, &overlay_on_own_cache, Some("has a cache beside")),
            (Backing::Stacked, false, &overlay_on(LayerKind::Filesystem), None),
            (Backing::Stacked, false, none, None),
            (Backing::Device, false, &image_in_memory, None),
            (Backing::Remote, false, none, None),
            (Backing::Program, false, none, None),
        ];
        for (backing, is_dax, layers, why) in cases {
            let said = why_never_pressed(backing, is_dax, layers);
            let is_right = match why {
                Some(words) => said.is_some_and(|said| said.starts_with(words)),
                None => said.is_none(),
            };
            assert!(is_right, "{backing:?}, {is_dax}, {layers:?}: {said:?}");
        }
    }

    #[test]
    fn a_read_ahead_that_cannot_be_set_is_a_caution_and_one_that_is_there_is_none() {
        let read_ahead =
            |bytes| ReadAhead { bytes, setting_path: "/no-such-folder/read_ahead_kb".to_owned() };
        let first = TargetIndex::new(0);
        let with_one = |facts: TargetFacts| -> Targets<TargetFacts> { [facts].into_iter().collect() };
        let facts = |bytes| {
            with_one(TargetFacts { own_read_ahead: Some(read_ahead(bytes)), ..TargetFacts::default() })
        };
        let mut large = facts(8 << 20);
        assert!(prepare_read_ahead(128 << 10, &mut large).is_none());
        let said = &large[first].cautions[0];
        assert!(
            said.starts_with("The suite asks for a read-ahead of 128KiB, and it is 8MiB, which"),
            "{said}"
        );
        assert!(said.ends_with("/no-such-folder/read_ahead_kb does not exist"), "{said}");
        assert_eq!(large[first].read_ahead(), Some(read_ahead(8 << 20)), "nothing was set");
        let mut usual = facts(128 << 10);
        assert!(prepare_read_ahead(128 << 10, &mut usual).is_none() && usual[first].cautions.is_empty());
        assert!(
            prepare_read_ahead(128 << 10, &mut with_one(TargetFacts::default())).is_none(),
            "none is known"
        );
    }

    #[test]
    fn a_size_and_a_share_may_be_the_same_bound() {
        let bounds = ["25%", "32MiB", "50%"].map(|word| word.parse::<MemoryBound>().unwrap());
        assert_eq!(equal_bounds(&bounds, 64 << 20), Some([bounds[1], bounds[2]]));
        assert_eq!(equal_bounds(&bounds, 65 << 20), None);
    }

    #[test]
    fn the_working_set_is_what_fits_in_memory_and_is_read_again() {
        let page = page_bytes();
        let places = |block_bytes, distinct, file_bytes| {
            let (pattern, reads) = (Pattern::Random, 100);
            let kind = TargetKind::Places(PlacesFacts {
                pattern,
                block_bytes,
                read_count: reads,
                distinct_blocks: distinct,
                file_bytes,
            });
            TargetFacts { size_bytes: reads * block_bytes, kind, ..TargetFacts::default() }
        };
        let ranges = |pages_bytes, file_bytes| {
            let ranges = RangesFacts {
                list_path: "-".to_owned(),
                is_sorted: false,
                read_count: 3,
                shortest_bytes: 1,
                longest_bytes: 9,
                repeated_bytes: 4,
                pages_bytes,
                file_bytes,
            };
            TargetFacts { size_bytes: 20, ranges: Some(ranges), ..TargetFacts::default() }
        };
        let links = TargetKind::Tree(TreeFacts { repeated_bytes: 300, ..TreeFacts::default() });
        let of_size = |size_bytes| TargetFacts { size_bytes, ..TargetFacts::default() };
        for (what, facts, bytes) in [
            ("a file", of_size(1000), 1000),
            ("a folder with hard links", TargetFacts { kind: links, ..of_size(1000) }, 700),
            ("blocks within pages", places(page / 8, 10, 1 << 30), 10 * page),
            ("blocks of several pages", places(4 * page, 10, 1 << 30), 40 * page),
            ("blocks that repeat", places(page, 1, 1 << 30), page),
            ("blocks in every page of a short file", places(page / 8, 100, 20 * page + 7), 20 * page + 7),
            ("ranges", ranges(3 * page, 1 << 30), 3 * page),
            ("ranges up to the end of a file", ranges(3 * page, 2 * page + 7), 2 * page + 7),
        ] {
            let place = Place::File(PathBuf::new());
            let target = Target { place, part: None, copies: None, facts, evictable: Vec::new() };
            assert_eq!(working_set_bytes(&target, false), bytes, "{what}");
            assert_eq!(working_set_bytes(&target, true), bytes, "{what}, of all readers");
        }
    }

    #[test]
    fn the_working_set_of_readers_with_one_bound_has_all_their_copies() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        fs::write(&file, "x".repeat(1000)).unwrap();
        let copies = Some(Copies::make(&file, folder.path(), 2, &|_| Ok(())).unwrap());
        let target = Target { copies, ..Target::examine(&file).unwrap() };
        assert_eq!(working_set_bytes(&target, false), 1000, "each reader has a bound for its copy");
        assert_eq!(working_set_bytes(&target, true), 3000);
    }

    #[test]
    fn a_machine_that_swaps_is_noted_if_memory_is_bounded() {
        let given = MemoryBounds::new(vec!["50%".parse().unwrap()], false).unwrap();
        let said = swap_warning(&given, true).unwrap();
        assert!(said.starts_with("swap is on: the control groups of --memory do not swap"), "{said}");
        assert_eq!(swap_warning(&given, false), None);
        assert_eq!(swap_warning(&MemoryBounds::default(), true), None);
    }

    #[test]
    fn readers_of_one_file_with_a_bound_each_keep_more_of_it_in_memory() {
        let warning = |is_shared, counts: &[u32], copies_in: Option<&str>| {
            let bounds = MemoryBounds::new(vec!["50%".parse().unwrap()], is_shared).unwrap();
            let reader_group = ReaderGroup::of_readers(counts.iter().copied(), copies_in.map(Into::into));
            readers_warning(&bounds, &reader_group)
        };
        let said = warning(false, &[1, 4], None).unwrap();
        assert!(said.contains("4 readers may keep 4 times their bound in memory"), "{said}");
        let without = [
            warning(true, &[1, 4], None),
            warning(false, &[1, 4], Some("/copies")),
            warning(false, &[1], None),
            warning(false, &[], None),
            readers_warning(&MemoryBounds::default(), &ReaderGroup::of_readers([4], None)),
        ];
        assert!(without.iter().all(Option::is_none), "{without:?}");
    }

    #[test]
    fn a_contender_that_is_started_for_each_reading_has_no_bound() {
        let mut plan = plan(rules_for_readings(1), &[("a", PRESSED)]);
        plan.trials[0].trial.start_session = StartMode::EachReading;
        let plan = plan_under_bounds(plan, 1, 1);
        assert!(plan.trials.is_empty());
        assert!(
            plan.absent_trials[0]
                .1
                .reason()
                .unwrap()
                .starts_with("its contender is started before each reading")
        );
    }
}
