//! Where a contender spends the processor's time: stacks sampled in a run that nobody times, named,
//! folded and drawn.
//!
//! Sampling interrupts what it looks at, so no number of a race comes from such a run. Here is no
//! knowledge of contenders or caches: the caller starts a process with [`environment`], begins a
//! [`Profiling`] of it, makes it work, ends it, and asks for the [`Profile`].

mod folded;
mod mappings;
mod picture;
mod sampling;
mod symbols;
mod unwind;

pub use folded::{Folded, Hot};
pub use picture::svg;

use crate::folder::scratch::Note;
use crate::linux::perf::{Event, FREQUENCY, kernel_symbols_are_readable};
use sampling::Sampling;
use std::collections::BTreeSet;
use std::ffi::OsString;
use symbols::{ASTRAY, Maps, UNNAMED};

/// What a process must find in its environment, so that its runtime tells the names of the code it
/// makes.
#[must_use]
pub fn environment() -> Vec<(OsString, OsString)> {
    symbols::environment()
}

/// Whether processes of this user can be sampled here.
///
/// # Errors
/// Why not, in one line, with the command that would allow it.
pub fn can_sample() -> Result<(), String> {
    Sampling::start(std::process::id()).map(drop)
}

/// Sampling of one process and its children, while it goes on.
#[derive(Debug)]
pub struct Profiling {
    sampling: Sampling,
    /// As long as its runtime may have written a map that nobody has removed.
    note: Option<Note>,
}

/// What was sampled; names can be found once the process has ended, for some runtimes tell them
/// then.
#[derive(Debug)]
pub struct Sampled {
    found: sampling::SampledStacks,
    maps: Maps,
    how: String,
    kernel: bool,
    _note: Option<Note>,
}

/// Where the time went.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The stacks.
    pub folded: Folded,
    /// What was sampled and how, in one line.
    pub how: String,
    /// Samples that were lost.
    pub lost: u64,
    /// What is not in it, each with the reason and, where there is one, the command that mends it.
    pub blind: Vec<String>,
}

impl Profiling {
    /// Begins to sample a process, whatever it starts later included; samples count from
    /// [`Profiling::count_from_now`] on.
    ///
    /// # Errors
    /// Why not, in one line, with the command that would allow it.
    pub fn begin(pid: u32) -> Result<Profiling, String> {
        let note = Note::of_map(pid);
        let begun = Sampling::start(pid).map(|sampling| Profiling { sampling, note });
        if begun.is_err() {
            // It may have written a map already, and nobody else will ask for it.
            drop(Maps::of(BTreeSet::from([pid])));
        }
        begun
    }

    /// Samples from now on count: what was before them was a warm-up.
    pub fn count_from_now(&self) {
        self.sampling.count_from_now();
    }

    /// Samples that count, so far.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.sampling.taken()
    }

    /// Ends it.
    #[must_use]
    pub fn end(self) -> Sampled {
        let event = match self.sampling.event {
            Event::Cycles => "processor cycles",
            Event::CpuClock => "processor time by the kernel's clock",
        };
        let kernel = self.sampling.kernel;
        let with = if kernel { "user and kernel mode" } else { "user mode only" };
        let how = format!("{event}, {FREQUENCY} samples a second, {with}");
        let found = self.sampling.stop();
        let maps = Maps::of(found.pids.clone());
        Sampled { found, maps, how, kernel, _note: self.note }
    }
}

impl Sampled {
    /// Names every frame.
    #[must_use]
    pub fn named(mut self) -> Profile {
        self.maps.read();
        let stacks = &self.found.stacks;
        let frames: BTreeSet<_> = stacks.keys().flat_map(|(_, frames)| frames).cloned().collect();
        let names = symbols::names(&frames, &self.maps);
        let mut folded = Folded::default();
        let (mut unnamed, mut astray) = (0, 0);
        for ((thread, frames), times) in stacks {
            let named = frames.iter().flat_map(|frame| &names[frame]).map(String::as_str);
            let holds = |word| named.clone().any(|name| name == word);
            unnamed += if holds(UNNAMED) { *times } else { 0 };
            astray += if holds(ASTRAY) { *times } else { 0 };
            folded.add(std::iter::once(thread.as_str()).chain(named), *times);
        }
        let blind = self.blind(folded.samples(), (unnamed, astray));
        Profile { folded, how: self.how.clone(), lost: self.found.lost, blind }
    }

    /// What such samples do not show.
    fn blind(&self, samples: u64, (unnamed, astray): (u64, u64)) -> Vec<String> {
        let of_all = |part: u64| format!("{} % of the samples", (part * 100).div_ceil(samples.max(1)));
        let mut blind = Vec::new();
        if !self.kernel {
            blind.push(
                "the kernel's part is not seen: `sudo sysctl kernel.perf_event_paranoid=1` allows it"
                    .to_owned(),
            );
        } else if !kernel_symbols_are_readable() {
            blind.push(
                "functions of the kernel have no names: `sudo sysctl kernel.kptr_restrict=0` tells them"
                    .to_owned(),
            );
        }
        if unnamed > 0 && self.maps.any() {
            blind.push(format!("{} hold code that its runtime made and did not name", of_all(unnamed)));
        } else if unnamed > 0 {
            blind.push(format!(
                "{} hold code made at run time, and its runtime told no names",
                of_all(unnamed)
            ));
        }
        if astray > 0 {
            blind.push(format!("{} hold a frame where no code is known to lie", of_all(astray)));
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
