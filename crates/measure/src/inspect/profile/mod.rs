//! Profiles of the processor time of a contender: stacks are sampled in an untimed run, named,
//! folded and drawn.
//!
//! Sampling interrupts the process, so no number of a race comes from this run. This module uses
//! neither contenders nor caches: the caller starts a process with [`naming_additions`], begins a
//! [`Profiling`], makes the process work, ends the profiling, and gets the [`Profile`].

mod folded;
mod mappings;
mod picture;
mod sampling;
mod symbols;
mod unwind;

pub use folded::FoldedStacks;
pub use picture::svg;
pub use symbols::RuntimeMaps;

use readlab_protocol::{MAP_VARIABLE, MAP_VARIABLE_PREFIX};
use readlab_system::folder::scratch::{ScratchNote, pid_named_perf_map};
use readlab_system::perf::{SAMPLES_PER_S, SamplingEvent, kernel_symbols_are_readable};
use readlab_system::program::CommandLineAdditions;
use sampling::StackSampling;
use std::collections::BTreeSet;
use std::ffi::OsString;
use symbols::{UNMAPPED_CODE, UNNAMED_CODE};

/// Environment variables with which a runtime writes the names of the code that it compiles, and
/// the file to which it writes them.
pub fn naming_additions() -> CommandLineAdditions {
    CommandLineAdditions {
        env: symbols::naming_variables(),
        created_file: Some(pid_named_perf_map()),
        ..CommandLineAdditions::default()
    }
}

/// The same additions for contenders that start commands: the contender passes them on to each
/// command that it starts itself. Programs that a shell starts do not get them.
pub fn naming_additions_for_commands() -> CommandLineAdditions {
    let of_command = |(name, value): (OsString, OsString)| {
        let mut prefixed = OsString::from(MAP_VARIABLE_PREFIX);
        prefixed.push(name);
        (prefixed, value)
    };
    let mut env: Vec<_> = symbols::naming_variables().into_iter().map(of_command).collect();
    env.push((MAP_VARIABLE.into(), pid_named_perf_map().before_pid));
    CommandLineAdditions { env, ..CommandLineAdditions::default() }
}

pub fn can_sample() -> Result<(), String> {
    StackSampling::start(std::process::id()).map(drop)
}

/// Samples one process and its children, until it is ended.
#[derive(Debug)]
pub struct Profiling {
    sampling: StackSampling,
    /// Kept until the map that a runtime may have written is removed.
    scratch_note: Option<ScratchNote>,
}

/// The samples, still without names: some runtimes write the names when the process ends, so they
/// are looked up afterwards.
#[derive(Debug)]
pub struct UnnamedProfile {
    sampled_stacks: sampling::SampledStacks,
    maps: RuntimeMaps,
    how: String,
    sees_kernel: bool,
    _note: Option<ScratchNote>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    pub folded: FoldedStacks,
    /// Description of what was sampled and how, in one line.
    pub how: String,
    /// Parts of the profile that are missing, each with the reason and, if there is one, the
    /// command that helps.
    pub blind_spots: Vec<String>,
}

impl Profiling {
    /// Begins to sample a process and everything that it starts later; samples are counted from
    /// [`Profiling::count_from_now`] on.
    pub fn begin(pid: u32) -> Result<Profiling, String> {
        let scratch_note = ScratchNote::of_perf_map(pid);
        let begun = StackSampling::start(pid).map(|sampling| Profiling { sampling, scratch_note });
        if begun.is_err() {
            // The runtime may have written a map already; dropping this value removes the file.
            drop(RuntimeMaps::of_process(pid));
        }
        begun
    }

    /// Counts samples from now on; earlier samples are of a warm-up.
    pub fn count_from_now(&self) {
        self.sampling.count_from_now();
    }

    pub fn sample_count(&self) -> u64 {
        self.sampling.counted_samples()
    }

    pub fn end(self) -> UnnamedProfile {
        let event = match self.sampling.event {
            SamplingEvent::Cycles => "processor cycles",
            SamplingEvent::CpuClock => "processor time by the kernel's clock",
        };
        let sees_kernel = self.sampling.sees_kernel;
        let with = if sees_kernel { "user and kernel mode" } else { "user mode only" };
        let how = format!("{event}, {SAMPLES_PER_S} samples a second, {with}");
        let sampled = self.sampling.stop();
        let maps = RuntimeMaps::from_pids(sampled.pids.clone());
        UnnamedProfile { sampled_stacks: sampled, maps, how, sees_kernel, _note: self.scratch_note }
    }
}

impl UnnamedProfile {
    pub fn with_names(mut self) -> Profile {
        self.maps.read();
        let stacks = &self.sampled_stacks.stacks;
        let frames: BTreeSet<_> = stacks.keys().flat_map(|(_, frames)| frames).cloned().collect();
        let names = symbols::frame_names(&frames, &self.maps);
        let mut folded = FoldedStacks::default();
        for ((thread, frames), times) in stacks {
            let named = frames.iter().flat_map(|frame| &names[frame]).map(String::as_str);
            folded.add(std::iter::once(thread.as_str()).chain(named), *times);
        }
        let blind = self.blind_spots(&folded);
        Profile { folded, how: self.how, blind_spots: blind }
    }

    fn blind_spots(&self, folded: &FoldedStacks) -> Vec<String> {
        let samples = folded.sample_count().max(1);
        let of_all = |part: u64| format!("{} % of the samples", (part * 100).div_ceil(samples));
        let holding =
            |frame| Some(folded.sample_count_with_frame(frame)).filter(|part| *part > 0).map(of_all);
        let kernel = if !self.sees_kernel {
            Some("the kernel's part is not seen: `sudo sysctl kernel.perf_event_paranoid=1` allows it")
        } else if !kernel_symbols_are_readable() {
            Some("functions of the kernel have no names: `sudo sysctl kernel.kptr_restrict=0` shows them")
        } else {
            None
        };
        let unnamed = if self.maps.has_functions() {
            "hold code that its runtime made and did not name"
        } else {
            "hold code made at run time, and its runtime wrote no names"
        };
        let mut blind: Vec<String> = kernel.into_iter().map(str::to_owned).collect();
        blind.extend(holding(UNNAMED_CODE).map(|part| format!("{part} {unnamed}")));
        blind
            .extend(holding(UNMAPPED_CODE).map(|part| format!("{part} hold a frame where no code is known")));
        if self.sampled_stacks.cut_samples > 0 {
            blind.push(format!(
                "the callers of {} are not known to the last",
                of_all(self.sampled_stacks.cut_samples)
            ));
        }
        if self.sampled_stacks.lost_samples > 0 {
            blind.push(format!("{} samples were lost", self.sampled_stacks.lost_samples));
        }
        blind
    }
}

#[cfg(test)]
mod tests;
