//! Parses the kernel's perf records: stack samples, mappings, thread names and forks.
//!
//! The layouts are those of `perf_event_open(2)` for the events that [`super::stacks`] opens; a
//! record that is shorter than its layout is ignored.

use super::registers::{self, Registers};
use super::ring::RawRecord;
use perf_event_open_sys::bindings::{
    PERF_CONTEXT_KERNEL as CONTEXT_KERNEL, PERF_CONTEXT_MAX as CONTEXT_FIRST, PERF_RECORD_COMM as COMM,
    PERF_RECORD_FORK as FORK, PERF_RECORD_MISC_COMM_EXEC as MISC_COMM_EXEC, PERF_RECORD_MMAP2 as MMAP2,
    PERF_RECORD_SAMPLE as SAMPLE,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerfRecord {
    /// Time of the event, on the lab's monotonic clock.
    pub time_ns: u64,
    pub pid: u32,
    pub tid: u32,
    pub body: PerfRecordBody,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PerfRecordBody {
    /// A thread was running on a processor.
    Sample(StackSample),
    /// An executable mapping was made.
    Map {
        start: u64,
        /// First address after the mapping.
        end: u64,
        /// Offset in the file at which the mapping begins.
        offset: u64,
        /// The kernel's name for the mapped file.
        path: Vec<u8>,
    },
    /// A thread got a new name. If an exec caused it, all mappings are gone too.
    Comm {
        name: Vec<u8>,
        is_exec: bool,
    },
    Fork {
        parent: u32,
        parent_tid: u32,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackSample {
    /// Addresses of the frames in the kernel, innermost first.
    pub kernel_frames: Vec<u64>,
    /// User-mode registers; `None` for a kernel thread.
    pub registers: Option<Registers>,
    /// Contents of the user stack, from the stack pointer upwards.
    pub user_stack: Vec<u8>,
}

/// Size of the process, thread and time fields at the end of every record that is not a sample.
const ID_BYTES: usize = 16;

/// Parses one record; `None` for unused kinds and for records that are too short.
pub(super) fn parse(raw: &RawRecord) -> Option<PerfRecord> {
    if raw.kind == SAMPLE {
        return parse_sample(&mut FieldReader(&raw.body));
    }
    let behind = raw.body.len().checked_sub(ID_BYTES)?;
    let (front, id) = raw.body.split_at(behind);
    let mut id = FieldReader(id);
    let (_, time_ns) = (id.take_u64()?, id.take_u64()?);
    let mut fields = FieldReader(front);
    let (mut pid, mut tid) = (fields.take_u32()?, fields.take_u32()?);
    let body = match raw.kind {
        MMAP2 => {
            let (start, length, offset) = (fields.take_u64()?, fields.take_u64()?, fields.take_u64()?);
            fields.skip(32)?;
            PerfRecordBody::Map { start, end: start.checked_add(length)?, offset, path: fields.take_name() }
        }
        COMM => PerfRecordBody::Comm {
            is_exec: u32::from(raw.misc) & MISC_COMM_EXEC != 0,
            name: fields.take_name(),
        },
        FORK => {
            let parent = tid;
            (tid, pid) = (fields.take_u32()?, pid);
            PerfRecordBody::Fork { parent, parent_tid: fields.take_u32()? }
        }
        _ => return None,
    };
    Some(PerfRecord { time_ns, pid, tid, body })
}

fn parse_sample(fields: &mut FieldReader) -> Option<PerfRecord> {
    let (pid, tid, time_ns) = (fields.take_u32()?, fields.take_u32()?, fields.take_u64()?);
    let entries = usize::try_from(fields.take_u64()?).ok()?;
    let mut kernel = Vec::new();
    let mut in_kernel = false;
    for _ in 0..entries {
        match fields.take_u64()? {
            // This entry is a marker for the mode (kernel or user) of the entries that follow.
            context @ CONTEXT_FIRST.. => in_kernel = context == CONTEXT_KERNEL,
            address if in_kernel => kernel.push(address),
            _ => {}
        }
    }
    let has_registers = fields.take_u64()? != 0;
    let registers = if has_registers { Some(fields.take_registers()?) } else { None };
    let size = usize::try_from(fields.take_u64()?).ok()?;
    let mut stack = fields.take_bytes(size)?.to_vec();
    if size > 0 {
        stack.truncate(usize::try_from(fields.take_u64()?).ok()?);
    }
    Some(PerfRecord {
        time_ns,
        pid,
        tid,
        body: PerfRecordBody::Sample(StackSample { kernel_frames: kernel, registers, user_stack: stack }),
    })
}

struct FieldReader<'a>(&'a [u8]);

impl<'a> FieldReader<'a> {
    fn take_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.take_bytes(count).map(drop)
    }

    fn take_u32(&mut self) -> Option<u32> {
        self.take_bytes(4).map(|bytes| u32::from_ne_bytes(bytes.try_into().expect("four bytes")))
    }

    fn take_u64(&mut self) -> Option<u64> {
        self.take_bytes(8).map(|bytes| u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
    }

    fn take_registers(&mut self) -> Option<Registers> {
        let mut values = [0; registers::COUNT];
        for value in &mut values {
            *value = self.take_u64()?;
        }
        Some(Registers::from_sample(values))
    }

    /// The remaining bytes up to the first zero byte.
    fn take_name(&mut self) -> Vec<u8> {
        let name = self.0.split(|&byte| byte == 0).next().unwrap_or_default().to_vec();
        self.0 = &[];
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn pair(low: u32, high: u32) -> u64 {
        u64::from(low) | u64::from(high) << 32
    }

    /// A sample of thread 6 of process 5, at time 7.
    fn sample_body(chain: &[u64], registers: &[u64], stack: &[u64]) -> Vec<u8> {
        let mut body = words(&[pair(5, 6), 7, chain.len() as u64]);
        body.extend(words(chain));
        body.extend(words(&[u64::from(!registers.is_empty())]));
        body.extend(words(registers));
        body.extend(words(&[stack.len() as u64 * 8]));
        body.extend(words(stack));
        body.extend(words(if stack.is_empty() { &[] } else { &[16] }));
        body
    }

    fn raw(kind: u32, misc: u16, body: Vec<u8>) -> RawRecord {
        RawRecord { kind, misc, body }
    }

    #[test]
    fn a_stack_sample_has_kernel_frames_registers_and_only_the_valid_part_of_the_stack() {
        let chain =
            [CONTEXT_KERNEL, 0xffff_ffff_8100_0000, 0xffff_ffff_8100_1000, (-512_i64).cast_unsigned(), 9];
        let body = sample_body(&chain, &[7; registers::COUNT], &[11, 12, 13, 14]);
        let record = parse(&raw(SAMPLE, 0, body.clone())).unwrap();
        assert_eq!((record.pid, record.tid, record.time_ns), (5, 6, 7));
        let PerfRecordBody::Sample(sample) = record.body else { panic!() };
        assert_eq!(sample.kernel_frames, [0xffff_ffff_8100_0000, 0xffff_ffff_8100_1000]);
        assert_eq!(sample.registers, Some(Registers::from_sample([7; registers::COUNT])));
        assert_eq!(sample.user_stack, words(&[11, 12]), "16 of the 32 bytes are of the stack");
        for end in 0..body.len() {
            assert_eq!(parse(&raw(SAMPLE, 0, body[..end].to_vec())), None, "cut at {end}");
        }
    }

    #[test]
    fn a_sample_of_a_kernel_thread_has_no_registers() {
        let record = parse(&raw(SAMPLE, 0, sample_body(&[], &[], &[]))).unwrap();
        assert_eq!(record.body, PerfRecordBody::Sample(StackSample::default()));
    }

    #[test]
    fn records_of_mappings_names_and_forks_are_parsed() {
        let id = words(&[pair(1, 2), 99]);
        let map = [words(&[pair(5, 6), 0x1000, 0x200, 0x30, 0, 0, 0, 0]), b"/lib/x\0\0".to_vec(), id.clone()]
            .concat();
        let record = parse(&raw(MMAP2, 0, map)).unwrap();
        assert_eq!((record.pid, record.time_ns), (5, 99));
        let path = b"/lib/x".to_vec();
        assert_eq!(record.body, PerfRecordBody::Map { start: 0x1000, end: 0x1200, offset: 0x30, path });
        let comm = [words(&[pair(5, 6)]), b"wc\0\0\0\0\0\0".to_vec(), id.clone()].concat();
        let record = parse(&raw(COMM, MISC_COMM_EXEC.try_into().unwrap(), comm)).unwrap();
        assert_eq!(record.body, PerfRecordBody::Comm { name: b"wc".to_vec(), is_exec: true });
        let fork = [words(&[pair(8, 5), pair(9, 6), 99]), id].concat();
        let record = parse(&raw(FORK, 0, fork)).unwrap();
        assert_eq!((record.pid, record.tid), (8, 9));
        assert_eq!(record.body, PerfRecordBody::Fork { parent: 5, parent_tid: 6 });
        assert_eq!(parse(&raw(14, 0, words(&[1, 2, 3, 4]))), None);
    }
}
