//! Walks stacks: from the registers and a copy of the top of the stack to the addresses of callers.
//! It uses the unwind tables that compilers write into programs, because most programs are built
//! without frame pointers. Code without tables, for example of a just-in-time compiler, is walked
//! by frame pointers.

use framehop::{
    CacheNative, ExplicitModuleSectionInfo, FrameAddress, MayAllocateDuringUnwind, Module, UnwindRegsNative,
    Unwinder, UnwinderNative,
};
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{NativeEndian, Object, ObjectSection};
use readlab_system::perf::{Registers, StackSample};
use readlab_system::process::CodeMapping;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest number of frames of a stack. A deeper stack is cut: it comes from recursion or from a
/// wrong walk.
const FRAMES_MAX: usize = 256;

type SharedBytes = Arc<[u8]>;

struct UnwindTables {
    sections: ExplicitModuleSectionInfo<SharedBytes>,
    /// Executable segments: offset in the file, size in the file, address.
    segments: Vec<[u64; 3]>,
}

pub(super) struct StackWalker {
    tables: HashMap<PathBuf, Option<UnwindTables>>,
    unwinders: HashMap<u32, UnwinderNative<SharedBytes, MayAllocateDuringUnwind>>,
    cache: CacheNative<MayAllocateDuringUnwind>,
}

impl StackWalker {
    pub(super) fn new() -> StackWalker {
        StackWalker { tables: HashMap::new(), unwinders: HashMap::new(), cache: CacheNative::new() }
    }

    pub(super) fn forget_process(&mut self, pid: u32) {
        self.unwinders.remove(&pid);
    }

    /// Addresses in user mode, innermost first; the address of a caller is within its call
    /// instruction. The flag states whether the walk reached the end of the stack.
    pub(super) fn walk(
        &mut self,
        pid: u32,
        mappings: &[CodeMapping],
        sample: &StackSample,
    ) -> (Vec<u64>, bool) {
        let Some(registers) = sample.registers else {
            return (Vec::new(), true);
        };
        let Registers { program_counter, stack_pointer, .. } = registers;
        let StackWalker { tables, unwinders, cache } = self;
        let unwinder = unwinders.entry(pid).or_insert_with(|| unwinder(tables, mappings));
        let mut read = |address: u64| {
            let from = address.checked_sub(stack_pointer).and_then(|from| usize::try_from(from).ok());
            let word = from.and_then(|from| sample.user_stack.get(from..)?.first_chunk::<8>());
            word.map(|word| u64::from_ne_bytes(*word)).ok_or(())
        };
        let mut walk = unwinder.iter_frames(program_counter, native_registers(registers), cache, &mut read);
        let mut addresses = Vec::new();
        loop {
            match walk.next() {
                Ok(Some(frame)) if addresses.len() < FRAMES_MAX => {
                    addresses.push(FrameAddress::address_for_lookup(frame));
                }
                Ok(None) => return (addresses, true),
                Ok(Some(_)) | Err(_) => return (addresses, false),
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn native_registers(registers: Registers) -> UnwindRegsNative {
    UnwindRegsNative::new(registers.program_counter, registers.stack_pointer, registers.frame_pointer)
}

#[cfg(target_arch = "aarch64")]
fn native_registers(registers: Registers) -> UnwindRegsNative {
    UnwindRegsNative::new(registers.link, registers.stack_pointer, registers.frame_pointer)
}

fn unwinder(
    tables: &mut HashMap<PathBuf, Option<UnwindTables>>,
    mappings: &[CodeMapping],
) -> UnwinderNative<SharedBytes, MayAllocateDuringUnwind> {
    let mut unwinder = UnwinderNative::new();
    for mapping in mappings {
        let Some(path) = &mapping.file else { continue };
        // A file that is no program or cannot be read has no tables; its frames are walked by frame
        // pointers.
        let tables = tables.entry(path.clone()).or_insert_with(|| UnwindTables::read(path).ok());
        let placed = tables.as_ref().and_then(|tables| Some((tables, tables.base_address(mapping)?)));
        if let Some((tables, base)) = placed {
            let range = mapping.start..mapping.end;
            let name = path.to_string_lossy().into_owned();
            unwinder.add_module(Module::new(name, range, base, tables.sections.clone()));
        }
    }
    unwinder
}

impl UnwindTables {
    fn read(path: &Path) -> anyhow::Result<UnwindTables> {
        let bytes = std::fs::read(path)?;
        let file = ElfFile64::<NativeEndian>::parse(&*bytes)?;
        let header = file.elf_header();
        let endian = header.endian()?;
        let executable = |segment: &&object::elf::ProgramHeader64<NativeEndian>| {
            segment.p_type(endian) == object::elf::PT_LOAD
                && segment.p_flags(endian) & object::elf::PF_X == object::elf::PF_X
        };
        let segments = header.program_headers(endian, &*bytes)?.iter().filter(executable);
        let segments = segments
            .map(|segment| [segment.p_offset(endian), segment.p_filesz(endian), segment.p_vaddr(endian)])
            .collect();
        let range = |name| {
            let section = file.section_by_name(name)?;
            Some(section.address()..section.address() + section.size())
        };
        let data = |name| Some(SharedBytes::from(file.section_by_name(name)?.data().ok()?));
        let sections = ExplicitModuleSectionInfo {
            text_svma: range(".text"),
            text: data(".text"),
            got_svma: range(".got"),
            eh_frame_svma: range(".eh_frame"),
            eh_frame: data(".eh_frame"),
            eh_frame_hdr_svma: range(".eh_frame_hdr"),
            eh_frame_hdr: data(".eh_frame_hdr"),
            ..ExplicitModuleSectionInfo::default()
        };
        Ok(UnwindTables { sections, segments })
    }

    /// Address in a process's memory that corresponds to address 0 of the file; `mapping` maps a
    /// piece of the file's code. `None` if the mapping has no code. A segment may begin and end
    /// within a page, but a mapping cannot, so the rest of a page may belong to a segment without
    /// code.
    fn base_address(&self, mapping: &CodeMapping) -> Option<u64> {
        let mapped_end = mapping.offset + (mapping.end - mapping.start);
        let holds = |[offset, size, _]: &&[u64; 3]| {
            *offset < mapped_end && mapping.offset < offset.saturating_add(*size)
        };
        let [offset, _, address] = self.segments.iter().find(holds)?;
        Some(mapping.start.wrapping_sub(mapping.offset).wrapping_add(*offset).wrapping_sub(*address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_system::process::testing::read_own_memory;

    #[test]
    fn the_base_of_a_file_follows_from_any_mapping_of_it() {
        let segments = vec![[0x800, 0x1000, 0x1800], [0x3000, 0x800, 0x5000]];
        let tables = UnwindTables { sections: ExplicitModuleSectionInfo::default(), segments };
        let mapping = |start, offset| CodeMapping { start, end: start + 0x1000, offset, file: None };
        // The first segment begins within a page; its mapping begins at the start of the page.
        assert_eq!(tables.base_address(&mapping(0x7f00_1000, 0)), Some(0x7f00_0000));
        assert_eq!(
            tables.base_address(&mapping(0x7f00_2000, 0x1000)),
            Some(0x7f00_0000),
            "cut by another mapping"
        );
        assert_eq!(tables.base_address(&mapping(0x7f00_5000, 0x3000)), Some(0x7f00_0000));
        assert_eq!(tables.base_address(&mapping(0x7f00_2000, 0x2000)), None);
        assert_eq!(tables.base_address(&mapping(0x7f00_2000, 0x10_0000)), None);
    }

    #[test]
    fn the_tables_of_this_program_hold_the_code_that_runs() {
        let mut mappings = super::super::mappings::Mappings::default();
        let pid = std::process::id();
        mappings.read(pid);
        let here = the_tables_of_this_program_hold_the_code_that_runs as *const () as u64;
        let mapping = mappings.find(pid, here).unwrap();
        let tables = UnwindTables::read(mapping.file.as_deref().unwrap()).unwrap();
        let base = tables.base_address(mapping).unwrap();
        let text = tables.sections.text_svma.clone().unwrap();
        assert!(text.contains(&(here - base)));
        let mut running = [0; 16];
        read_own_memory(here, &mut running);
        let at = usize::try_from(here - base - text.start).unwrap();
        assert_eq!(&tables.sections.text.as_ref().unwrap()[at..at + 16], running);
    }

    #[test]
    fn without_registers_there_is_no_walk_and_without_stack_only_the_first_frame() {
        let mut walker = StackWalker::new();
        assert_eq!(walker.walk(1, &[], &StackSample::default()), (Vec::new(), true));
        let registers =
            Registers { program_counter: 0x1000, stack_pointer: 0x1000, frame_pointer: 0x1000, link: 0x1000 };
        let lost = StackSample { registers: Some(registers), ..StackSample::default() };
        assert_eq!(walker.walk(1, &[], &lost), (vec![0x1000], false));
    }

    #[test]
    fn frame_pointers_lead_through_code_without_tables() {
        let top = 0x7ffe_0000_u64;
        // Twice a saved frame pointer and a return address; the second frame pointer ends the
        // chain.
        let stack: Vec<u8> =
            [top + 16, 0x5000, 0, 0x6000].iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
        let registers =
            Registers { program_counter: 0x4000, stack_pointer: top, frame_pointer: top, link: 0x5000 };
        let sample = StackSample { registers: Some(registers), user_stack: stack, ..StackSample::default() };
        let (addresses, _) = StackWalker::new().walk(1, &[], &sample);
        assert_eq!(addresses[..2], [0x4000, 0x5000 - 1], "a caller is looked up within its call");
    }
}
