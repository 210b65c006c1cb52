//! The user-mode registers in a sample, named by their role in unwinding.

/// The kernel's numbers for frame pointer, stack pointer and instruction pointer, in rising order.
#[cfg(target_arch = "x86_64")]
const REGISTER_NUMBERS: [u32; 3] = [6, 7, 8];
/// The kernel's numbers for frame pointer, link register, stack pointer and program counter.
#[cfg(target_arch = "aarch64")]
const REGISTER_NUMBERS: [u32; 4] = [29, 30, 31, 32];

pub(super) const COUNT: usize = REGISTER_NUMBERS.len();

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Registers {
    pub program_counter: u64,
    pub stack_pointer: u64,
    /// The frame address of the function, if it keeps a frame pointer.
    pub frame_pointer: u64,
    /// The return address on processors with a link register; otherwise 0.
    pub link: u64,
}

impl Registers {
    /// Reads the registers from a sample, where they are in the order of their numbers.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn from_sample(values: [u64; COUNT]) -> Registers {
        let [frame_pointer, stack_pointer, program_counter] = values;
        Registers { program_counter, stack_pointer, frame_pointer, link: 0 }
    }

    #[cfg(target_arch = "aarch64")]
    pub(super) fn from_sample(values: [u64; COUNT]) -> Registers {
        let [frame_pointer, link, stack_pointer, program_counter] = values;
        Registers { program_counter, stack_pointer, frame_pointer, link }
    }
}

pub(super) fn mask() -> u64 {
    REGISTER_NUMBERS.iter().map(|number| 1_u64 << number).sum()
}
