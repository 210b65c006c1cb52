//! The part of the counting library that counts Swift's retains and releases, on x86-64.
//!
//! Every stub counts, then jumps to the original function with all registers except r11 unchanged.
//! An unknown address is looked up first, with the registers saved on the stack.

use super::common::{RTLD_NEXT, abort, dlsym, getenv};
use super::{HOOKS_VARIABLE, PAGE, RTLD_DEFAULT, count, slot};
use core::arch::naked_asm;
use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

const HOOKS_SWITCH: &CStr = c"_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly";

/// Defines counting stubs, each for an original function whose address `$real` holds.
macro_rules! stubs {
    ($($(#[$attribute:meta])* $name:ident, $slot:expr, $real:ident, $find:expr;)*) => {$(
        static $real: AtomicUsize = AtomicUsize::new(0);

        /// # Safety
        /// As the runtime's function of this name.
        $(#[$attribute])*
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            extern "C" fn find() {
                $real.store($find, Ordering::Release);
            }
            naked_asm!(
                "mov r11, qword ptr [rip + {page}]",
                "lock inc qword ptr [r11 + {offset}]",
                "2:",
                "mov r11, qword ptr [rip + {real}]",
                "test r11, r11",
                "jz 3f",
                "jmp r11",
                "3:",
                "push rbp",
                "mov rbp, rsp",
                "push rax; push rcx; push rdx; push rsi; push rdi; push r8; push r9; push r10",
                "and rsp, -16",
                "call {find}",
                "lea rsp, [rbp - 64]",
                "pop r10; pop r9; pop r8; pop rdi; pop rsi; pop rdx; pop rcx; pop rax",
                "pop rbp",
                "jmp 2b",
                page = sym PAGE,
                real = sym $real,
                find = sym find,
                offset = const $slot * 8,
            )
        }
    )*};
}

stubs! {
    #[unsafe(no_mangle)] swift_retain, slot::RETAINS, RETAIN, original_address(c"swift_retain");
    #[unsafe(no_mangle)] swift_retain_n, slot::RETAINS, RETAIN_N, original_address(c"swift_retain_n");
    #[unsafe(no_mangle)] swift_release, slot::RELEASES, RELEASE, original_address(c"swift_release");
    #[unsafe(no_mangle)] swift_release_n, slot::RELEASES, RELEASE_N, original_address(c"swift_release_n");
    hook_retain, slot::HOOK_RETAINS, HOOKED_RETAIN, abort_unset_hook();
    hook_retain_n, slot::HOOK_RETAINS, HOOKED_RETAIN_N, abort_unset_hook();
    hook_release, slot::HOOK_RELEASES, HOOKED_RELEASE, abort_unset_hook();
    hook_release_n, slot::HOOK_RELEASES, HOOKED_RELEASE_N, abort_unset_hook();
}

/// The address of the runtime's own function. If the function does not exist, the call cannot be
/// served and the process aborts.
fn original_address(name: &CStr) -> usize {
    // SAFETY: the name ends in a zero byte; abort does not return.
    unsafe {
        let address = dlsym(RTLD_NEXT, name.as_ptr()) as usize;
        if address == 0 { abort() } else { address }
    }
}

/// Never called, because a hook is set only when the original function is known.
fn abort_unset_hook() -> usize {
    // SAFETY: abort does not return.
    unsafe { abort() }
}

/// Finds the runtime and, if the lab allows it, installs the stubs as hooks.
pub(super) fn start() {
    if find_symbol(c"swift_retain", RTLD_NEXT).is_none() {
        return;
    }
    count(slot::SWIFT);
    // SAFETY: the name ends in a zero byte.
    let allowed = !unsafe { getenv(HOOKS_VARIABLE.as_ptr()) }.is_null();
    if allowed && set_hooks() {
        count(slot::SWIFT_HOOKS);
    }
}

fn set_hooks() -> bool {
    let hooks: [(&CStr, &AtomicUsize, unsafe extern "C" fn()); 4] = [
        (c"_swift_retain", &HOOKED_RETAIN, hook_retain),
        (c"_swift_retain_n", &HOOKED_RETAIN_N, hook_retain_n),
        (c"_swift_release", &HOOKED_RELEASE, hook_release),
        (c"_swift_release_n", &HOOKED_RELEASE_N, hook_release_n),
    ];
    let variable = |name| find_symbol(name, RTLD_DEFAULT).map(|at| at.cast::<AtomicUsize>());
    // SAFETY: the symbols are the runtime's variables, each a pointer to a function, alive as long
    // as the process.
    let value = |name| variable(name).map_or(0, |at| unsafe { (*at).load(Ordering::Acquire) });
    if hooks.iter().any(|(name, ..)| value(name) == 0) {
        return false;
    }
    for (name, original, stub) in hooks {
        original.store(value(name), Ordering::Release);
        if let Some(at) = variable(name) {
            // SAFETY: as above.
            unsafe { (*at).store(stub as usize, Ordering::Release) };
        }
    }
    if let Some(switch) = find_symbol(HOOKS_SWITCH, RTLD_DEFAULT) {
        // SAFETY: the symbol is the runtime's atomic bool, one byte, alive as long as the process.
        unsafe { (*switch.cast::<AtomicU8>()).store(1, Ordering::Release) };
    }
    true
}

fn find_symbol(name: &CStr, handle: *mut c_void) -> Option<*mut c_void> {
    let name: *const c_char = name.as_ptr();
    // SAFETY: the name ends in a zero byte.
    let address = unsafe { dlsym(handle, name) };
    (!address.is_null()).then_some(address)
}
