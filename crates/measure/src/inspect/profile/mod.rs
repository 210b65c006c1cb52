//! Profiles of where a contender spends the processor's time: stacks sampled in an untimed run,
//! named, folded and drawn.
//!
//! Sampling interrupts the process, so no number of a race comes from this run. This module uses
//! neither contenders nor caches: the caller starts a process with [`additions`], begins its
//! [`Profiling`], makes it work, ends the profiling, and gets the [`Profile`].

mod folded;
mod mappings;
mod picture;
mod sampling;
mod symbols;
mod unwind;

pub use folded::{Folded, Hot};
pub use picture::svg;

use readlab_protocol::{MAP_VARIABLE, MAP_VARIABLE_PREFIX};
use readlab_system::folder::scratch::{ScratchNote, own_map};
use readlab_system::perf::{Event, FREQUENCY, kernel_symbols_are_readable};
use readlab_system::program::Additions;
use sampling::StackSampling;
use std::collections::BTreeSet;
use std::ffi::OsString;
use symbols::{Maps, UNMAPPED, UNNAMED};

/// Variables with which the runtime of a process writes the names of the code that it makes, and
/// the file to which it does.
pub fn additions() -> Additions {
    Additions { env: symbols::environment(), creates: Some(own_map()) }
}

/// The same for commands: their contender hands both on to each that it starts itself. What a shell
/// starts gets neither.
pub fn additions_of_commands() -> Additions {
    let of_command = |(name, value): (OsString, OsString)| {
        let mut prefixed = OsString::from(MAP_VARIABLE_PREFIX);
        prefixed.push(name);
        (prefixed, value)
    };
    let mut env: Vec<_> = symbols::environment().into_iter().map(of_command).collect();
    env.push((MAP_VARIABLE.into(), own_map().before));
    Additions { env, creates: None }
}

/// The file that was made for a process with [`additions`]; removed with this value.
#[derive(Debug)]
pub struct RuntimeMap {
    _maps: Maps,
}

impl RuntimeMap {
    /// Of this process.
    pub fn of_process(pid: u32) -> RuntimeMap {
        RuntimeMap { _maps: Maps::from_pids(BTreeSet::from([pid])) }
    }
}

/// Whether processes of this user can be sampled here.
pub fn can_sample() -> Result<(), String> {
    StackSampling::start(std::process::id()).map(drop)
}

/// Sampling of one process and its children, until it is ended.
#[derive(Debug)]
pub struct Profiling {
    sampling: StackSampling,
    /// Exists as long as the runtime may have written a map that is not removed yet.
    note: Option<ScratchNote>,
}

/// The samples. Names may be found after the process has ended, because some runtimes write them
/// then.
#[derive(Debug)]
pub struct Sampled {
    found: sampling::SampledStacks,
    maps: Maps,
    how: String,
    kernel: bool,
    _note: Option<ScratchNote>,
}

/// Samples that hold a frame without a name.
#[derive(Debug, Clone, Copy, Default)]
struct HoldingSamples {
    /// Of code that was made at run time.
    unnamed: u64,
    /// Where no code is known.
    unmapped: u64,
}

/// Where the time was spent.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The stacks.
    pub folded: Folded,
    /// What was sampled and how, in one line.
    pub how: String,
    /// Samples that were lost.
    pub lost: u64,
    /// What is missing in it, each with the reason and, where there is one, the command that helps.
    pub blind: Vec<String>,
}

impl Profiling {
    /// Begins to sample a process, whatever it starts later included; samples count from
    /// [`Profiling::count_from_now`] on.
    pub fn begin(pid: u32) -> Result<Profiling, String> {
        let note = ScratchNote::of_map(pid);
        let begun = StackSampling::start(pid).map(|sampling| Profiling { sampling, note });
        if begun.is_err() {
            // It may have written a map already, which this value removes.
            drop(Maps::from_pids(BTreeSet::from([pid])));
        }
        begun
    }

    /// Counts samples from now on; earlier samples are of a warm-up.
    pub fn count_from_now(&self) {
        self.sampling.count_from_now();
    }

    /// Samples that count, so far.
    pub fn samples(&self) -> u64 {
        self.sampling.taken()
    }

    pub fn end(self) -> Sampled {
        let event = match self.sampling.event {
            Event::Cycles => "processor cycles",
            Event::CpuClock => "processor time by the kernel's clock",
        };
        let kernel = self.sampling.kernel;
        let with = if kernel { "user and kernel mode" } else { "user mode only" };
        let how = format!("{event}, {FREQUENCY} samples a second, {with}");
        let found = self.sampling.stop();
        let maps = Maps::from_pids(found.pids.clone());
        Sampled { found, maps, how, kernel, _note: self.note }
    }
}

impl Sampled {
    /// Names every frame.
    pub fn named(mut self) -> Profile {
        self.maps.read();
        let stacks = &self.found.stacks;
        let frames: BTreeSet<_> = stacks.keys().flat_map(|(_, frames)| frames).cloned().collect();
        let names = symbols::names(&frames, &self.maps);
        let mut folded = Folded::default();
        let mut holding = HoldingSamples::default();
        for ((thread, frames), times) in stacks {
            let named = frames.iter().flat_map(|frame| &names[frame]).map(String::as_str);
            let holds = |word| named.clone().any(|name| name == word);
            holding.unnamed += if holds(UNNAMED) { *times } else { 0 };
            holding.unmapped += if holds(UNMAPPED) { *times } else { 0 };
            folded.add(std::iter::once(thread.as_str()).chain(named), *times);
        }
        let blind = self.blind(folded.samples(), holding);
        Profile { folded, how: self.how.clone(), lost: self.found.lost, blind }
    }

    /// What these samples do not show.
    fn blind(&self, samples: u64, holding: HoldingSamples) -> Vec<String> {
        let HoldingSamples { unnamed, unmapped } = holding;
        let of_all = |part: u64| format!("{} % of the samples", (part * 100).div_ceil(samples.max(1)));
        let mut blind = Vec::new();
        if !self.kernel {
            blind.push(
                "the kernel's part is not seen: `sudo sysctl kernel.perf_event_paranoid=1` allows it"
                    .to_owned(),
            );
        } else if !kernel_symbols_are_readable() {
            blind.push(
                "functions of the kernel have no names: `sudo sysctl kernel.kptr_restrict=0` shows them"
                    .to_owned(),
            );
        }
        if unnamed > 0 && self.maps.any() {
            blind.push(format!("{} hold code that its runtime made and did not name", of_all(unnamed)));
        } else if unnamed > 0 {
            blind.push(format!(
                "{} hold code made at run time, and its runtime wrote no names",
                of_all(unnamed)
            ));
        }
        if unmapped > 0 {
            blind.push(format!("{} hold a frame where no code is known", of_all(unmapped)));
        }
        if self.found.cut > 0 {
            blind.push(format!("the callers of {} are not known to the last", of_all(self.found.cut)));
        }
        if self.found.lost > 0 {
            blind.push(format!("{} samples were lost", self.found.lost));
        }
        blind
    }
}

#[cfg(test)]
mod tests;
