//! Samples the stacks of a process and its children in a thread, while the caller makes the
//! processes work.
//!
//! The kernel writes a record some thousand times in a second of processor time; a thread of
//! readlab reads the records, walks the stacks and counts them.

use super::mappings::Mappings;
use super::symbols::Frame;
use super::unwind::StackWalker;
use readlab_system::clock::monotonic_ns;
use readlab_system::perf::{PerfRecord, PerfRecordBody, SamplingEvent, StackSample, StackSampler};
use readlab_system::process::{CodeMapping, thread_name, threads};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest sleep of the thread that reads the rings.
const READER_SLEEP_MAX: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct SampledStacks {
    /// Stacks with the thread's name, outermost frame first, and the number of samples of each.
    pub(super) stacks: BTreeMap<(String, Vec<Frame>), u64>,
    pub(super) pids: BTreeSet<u32>,
    /// Samples that the kernel dropped because its ring was full.
    pub(super) lost_samples: u64,
    /// Samples whose stack was not walked to its end.
    pub(super) cut_samples: u64,
}

#[derive(Debug)]
pub(super) struct StackSampling {
    pub(super) event: SamplingEvent,
    /// Whether frames of the kernel are sampled.
    pub(super) sees_kernel: bool,
    shared: Arc<SharedState>,
    thread: Option<JoinHandle<SampledStacks>>,
}

#[derive(Debug, Default)]
struct SharedState {
    is_stopping: AtomicBool,
    /// Samples are counted from this time on.
    count_from_ns: AtomicU64,
    /// Number of counted samples so far.
    counted_samples: AtomicU64,
}

impl StackSampling {
    /// Begins to sample; threads and children that start later are sampled too. No sample is
    /// counted yet.
    pub(super) fn start(pid: u32) -> Result<StackSampling, String> {
        let sampler = StackSampler::open(pid)?;
        let (event, sees_kernel) = (sampler.event(), sampler.has_kernel_frames());
        let shared =
            Arc::new(SharedState { count_from_ns: AtomicU64::new(u64::MAX), ..SharedState::default() });
        let collector = StackCollector::start(pid, Arc::clone(&shared));
        let thread = std::thread::Builder::new()
            .name("stacks".to_owned())
            .spawn(move || collector.collect(sampler))
            .map_err(|cause| format!("no thread to read samples: {cause}"))?;
        Ok(StackSampling { event, sees_kernel, shared, thread: Some(thread) })
    }

    pub(super) fn count_from_now(&self) {
        self.shared.count_from_ns.store(monotonic_ns(), Ordering::Relaxed);
    }

    pub(super) fn counted_samples(&self) -> u64 {
        self.shared.counted_samples.load(Ordering::Relaxed)
    }

    pub(super) fn stop(mut self) -> SampledStacks {
        self.join().expect("it is stopped once")
    }

    fn join(&mut self) -> Option<SampledStacks> {
        self.shared.is_stopping.store(true, Ordering::Relaxed);
        self.thread.take().map(|thread| thread.join().expect("reading records does not panic"))
    }
}

impl Drop for StackSampling {
    fn drop(&mut self) {
        // Dropping `RuntimeMaps` removes the maps that runtimes wrote.
        drop(self.join().map(|found| super::symbols::RuntimeMaps::from_pids(found.pids)));
    }
}

/// Puts records in order of time and counts stacks.
struct StackCollector {
    mappings: Mappings,
    walker: StackWalker,
    thread_names: HashMap<u32, String>,
    pending: Vec<PerfRecord>,
    sampled_stacks: SampledStacks,
    shared: Arc<SharedState>,
}

impl StackCollector {
    /// Starts with the mappings and threads that the process has now.
    fn start(pid: u32, shared: Arc<SharedState>) -> StackCollector {
        let mut mappings = Mappings::default();
        mappings.read(pid);
        let name = |thread| Some((thread, thread_name(pid, thread)?));
        let names = threads(pid).unwrap_or_default().into_iter().filter_map(name).collect();
        let pids = BTreeSet::from([pid]);
        let sampled = SampledStacks { stacks: BTreeMap::new(), pids, lost_samples: 0, cut_samples: 0 };
        StackCollector {
            mappings,
            walker: StackWalker::new(),
            thread_names: names,
            pending: Vec::new(),
            sampled_stacks: sampled,
            shared,
        }
    }

    fn collect(mut self, mut sampler: StackSampler) -> SampledStacks {
        loop {
            sampler.wait(READER_SLEEP_MAX);
            let last = self.shared.is_stopping.load(Ordering::Relaxed);
            // All records from before this time are in the rings now, so only these are processed.
            // Later records may be read from one ring and not yet from another.
            let before_ns = if last { u64::MAX } else { monotonic_ns() };
            let drained = sampler.drain();
            let counting = self.shared.count_from_ns.load(Ordering::Relaxed) != u64::MAX;
            self.sampled_stacks.lost_samples += if counting { drained.lost } else { 0 };
            self.pending.extend(drained.records);
            self.process_records_until(before_ns);
            if last {
                return self.sampled_stacks;
            }
        }
    }

    /// Processes the pending records up to a time, in the order of their times.
    fn process_records_until(&mut self, before_ns: u64) {
        self.pending.sort_by_key(|record| record.time_ns);
        let ready = self.pending.partition_point(|record| record.time_ns <= before_ns);
        let ready: Vec<PerfRecord> = self.pending.drain(..ready).collect();
        for record in ready {
            self.process_record(record);
        }
    }

    fn process_record(&mut self, record: PerfRecord) {
        let PerfRecord { pid, tid, time_ns, .. } = record;
        match record.body {
            PerfRecordBody::Sample(sample)
                if time_ns >= self.shared.count_from_ns.load(Ordering::Relaxed) =>
            {
                self.count_sample(pid, tid, &sample);
            }
            PerfRecordBody::Sample(_) => {}
            PerfRecordBody::Map { start, end, offset, path } => {
                self.mappings.add_mapping(pid, CodeMapping::with_name(start, end, offset, &path));
                self.walker.forget_process(pid);
            }
            PerfRecordBody::Comm { name, is_exec } => {
                self.thread_names.insert(tid, String::from_utf8_lossy(&name).into_owned());
                if is_exec {
                    self.mappings.forget_process(pid);
                    self.walker.forget_process(pid);
                }
            }
            PerfRecordBody::Fork { parent, parent_tid } => {
                self.mappings.copy_to_child(parent, pid);
                self.sampled_stacks.pids.insert(pid);
                if let Some(name) = self.thread_names.get(&parent_tid).cloned() {
                    self.thread_names.insert(tid, name);
                }
            }
        }
    }

    fn count_sample(&mut self, pid: u32, tid: u32, sample: &StackSample) {
        let (user, whole) = self.walker.walk(pid, self.mappings.of_process(pid), sample);
        self.sampled_stacks.cut_samples += u64::from(!whole);
        let of_user = user.into_iter().map(|address| match self.mappings.find(pid, address) {
            Some(CodeMapping { start, offset, file: Some(file), .. }) => {
                Frame::File(file.clone(), address - start + offset)
            }
            Some(_) => Frame::RuntimeCode(pid, address),
            None => Frame::Unmapped(pid, address),
        });
        let mut frames: Vec<Frame> =
            sample.kernel_frames.iter().map(|&address| Frame::Kernel(address)).chain(of_user).collect();
        frames.reverse();
        let name = self.thread_names.get(&tid).cloned().unwrap_or_default();
        *self.sampled_stacks.stacks.entry((name, frames)).or_default() += 1;
        self.shared.counted_samples.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_system::perf::Registers;

    fn collector() -> StackCollector {
        StackCollector::start(u32::MAX, Arc::default())
    }

    fn record(time_ns: u64, body: PerfRecordBody) -> PerfRecord {
        PerfRecord { time_ns, pid: 5, tid: 6, body }
    }

    fn child_record(time_ns: u64, body: PerfRecordBody) -> PerfRecord {
        PerfRecord { time_ns, pid: 8, tid: 8, body }
    }

    fn sample_event_at(ip: u64) -> PerfRecordBody {
        let registers = Registers { program_counter: ip, ..Registers::default() };
        PerfRecordBody::Sample(StackSample { registers: Some(registers), ..StackSample::default() })
    }

    #[test]
    fn records_of_several_rings_are_taken_in_by_their_times() {
        let mut collector = collector();
        let map = PerfRecordBody::Map { start: 0x1000, end: 0x2000, offset: 0x50, path: b"/lib/x".to_vec() };
        let name = PerfRecordBody::Comm { name: b"reader".to_vec(), is_exec: false };
        // In the order of two rings: the sample first, although it is later.
        collector.pending = vec![
            record(30, sample_event_at(0x1004)),
            record(90, sample_event_at(0x1008)),
            record(10, map),
            record(20, name),
        ];
        collector.process_records_until(50);
        let frame = |offset| vec![Frame::File("/lib/x".into(), offset)];
        assert_eq!(
            collector.sampled_stacks.stacks,
            BTreeMap::from([(("reader".to_owned(), frame(0x54)), 1)])
        );
        assert_eq!(collector.pending.len(), 1, "what is too new waits");
        collector.process_records_until(u64::MAX);
        assert_eq!(collector.sampled_stacks.stacks[&("reader".to_owned(), frame(0x58))], 1);
        assert_eq!(collector.shared.counted_samples.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn samples_from_before_counting_began_are_not_counted() {
        let mut collector = collector();
        collector.shared.count_from_ns.store(50, Ordering::Relaxed);
        collector.process_record(record(49, sample_event_at(0x1004)));
        collector.process_record(child_record(20, PerfRecordBody::Fork { parent: 5, parent_tid: 6 }));
        collector.process_record(record(50, sample_event_at(0x1008)));
        assert_eq!(
            (collector.sampled_stacks.stacks.len(), collector.shared.counted_samples.load(Ordering::Relaxed)),
            (1, 1)
        );
        let is_known = collector.sampled_stacks.pids.contains(&8);
        assert!(is_known, "a process that may write a map is known from the beginning");
    }

    #[test]
    fn samples_become_stacks_with_the_kernel_inside() {
        let kernel = vec![0xffff_ffff_8100_0000];
        let registers =
            Registers { program_counter: 0x77, stack_pointer: 0x77, frame_pointer: 0x77, link: 0x77 };
        let sample =
            StackSample { kernel_frames: kernel, registers: Some(registers), user_stack: Vec::new() };
        let mut collector = collector();
        collector.pending = vec![
            record(7, PerfRecordBody::Sample(sample.clone())),
            record(8, PerfRecordBody::Sample(sample)),
        ];
        collector.process_records_until(u64::MAX);
        let stacks: Vec<_> = collector.sampled_stacks.stacks.into_iter().collect();
        let [((name, frames), 2)] = &stacks[..] else { panic!("{stacks:?}") };
        assert_eq!(name, "", "no record named it");
        assert_eq!(frames[..2], [Frame::Unmapped(5, 0x77), Frame::Kernel(0xffff_ffff_8100_0000)]);
        assert_eq!(collector.sampled_stacks.cut_samples, 2);
    }

    #[test]
    fn children_are_named_and_mapped_as_their_parents_until_they_execute() {
        let mut collector = collector();
        let map =
            |path: &[u8]| PerfRecordBody::Map { start: 0x1000, end: 0x2000, offset: 0, path: path.to_vec() };
        collector.process_record(record(1, PerfRecordBody::Comm { name: b"sh".to_vec(), is_exec: false }));
        collector.process_record(record(2, map(b"/bin/sh")));
        collector.process_record(child_record(3, PerfRecordBody::Fork { parent: 5, parent_tid: 6 }));
        collector.process_record(child_record(4, sample_event_at(0x1001)));
        collector
            .process_record(child_record(5, PerfRecordBody::Comm { name: b"wc".to_vec(), is_exec: true }));
        collector.process_record(child_record(6, sample_event_at(0x1001)));
        collector.process_record(child_record(7, map(b"/bin/wc")));
        collector.process_record(child_record(8, sample_event_at(0x1001)));
        let mut seen: Vec<_> = collector.sampled_stacks.stacks.into_keys().collect();
        seen.sort();
        let stack = |name: &str, frame| (name.to_owned(), vec![frame]);
        assert_eq!(
            seen,
            [
                stack("sh", Frame::File("/bin/sh".into(), 1)),
                stack("wc", Frame::File("/bin/wc".into(), 1)),
                stack("wc", Frame::Unmapped(8, 0x1001)),
            ]
        );
        assert!(collector.sampled_stacks.pids.contains(&8));
    }
}
