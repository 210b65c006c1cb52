//! The mode of the user's terminal while the lab draws on it: keys arrive as they are pressed and
//! are not shown. It is given back however the lab ends or stops: by itself, a panic or a signal.
//!
//! Ctrl-C and Ctrl-Z keep their meaning: the terminal still makes signals of them. What is written
//! when it is given back is the caller's. SIGKILL alone leaves the terminal as it is.

use super::tty::{has_keys, may_draw};
use rustix::stdio::{stderr, stdin};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGQUIT, SIGTSTP};
use signal_hook::low_level;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// What is written when it is given back.
static FAREWELL: OnceLock<&'static [u8]> = OnceLock::new();

/// The mode in which the user had it; `None` where its keys are not read.
static MODE_BEFORE: OnceLock<Termios> = OnceLock::new();

/// Takes the terminal that standard error is, or makes sure that it is taken still: after Ctrl-Z it
/// is not. `farewell` is written when it is given back. `false` where the lab must not draw.
pub fn take(farewell: &'static [u8]) -> bool {
    if !may_draw() {
        return false;
    }
    if FAREWELL.set(farewell).is_ok() {
        give_back_before_signals();
    }
    IS_TAKEN.store(true, Ordering::Relaxed);
    if has_keys() {
        take_keys();
    }
    true
}

/// Lets keys arrive as they are pressed, where they arrive by lines.
fn take_keys() {
    let Ok(mut mode) = tcgetattr(stdin()) else { return };
    if !mode.local_modes.contains(LocalModes::ICANON) {
        return;
    }
    MODE_BEFORE.get_or_init(|| mode.clone());
    mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    mode.special_codes[SpecialCodeIndex::VMIN] = 1;
    mode.special_codes[SpecialCodeIndex::VTIME] = 0;
    // Without it keys arrive by lines: then a key is only seen after Enter.
    let _ = tcsetattr(stdin(), OptionalActions::Now, &mode);
}

/// Whether it is taken: signals may have given it back.
pub fn is_taken() -> bool {
    IS_TAKEN.load(Ordering::Relaxed)
}

/// Gives the terminal back, if it was taken, by system calls alone: signal handlers may call it.
pub fn give_back() {
    if !IS_TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    // Nothing can be done about a terminal that takes nothing.
    if let Some(farewell) = FAREWELL.get().filter(|_| may_draw()) {
        let _ = rustix::io::write(stderr(), farewell);
    }
    if let Some(before) = MODE_BEFORE.get().filter(|_| has_keys()) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, before);
    }
}

/// Has the terminal given back before a signal of the keyboard stops or ends the lab. Signals that
/// end it in order are handled by [`super::interrupt`].
fn give_back_before_signals() {
    for signal in [SIGTSTP, SIGQUIT] {
        let handle = move || {
            give_back();
            obey(signal);
        };
        // SAFETY: the handler makes system calls only, all of them async-signal-safe.
        // Where the system refuses it, Ctrl-Z leaves the terminal as it is.
        let _ = unsafe { low_level::register(signal, handle) };
    }
}

/// Does what the signal that is being handled does by default. Unlike SIGSTOP it stops no process
/// that nobody could continue. After a stop the handler is back in its place.
fn obey(signal: i32) {
    // SAFETY: all structures are live locals, filled before use; all calls are async-signal-safe.
    unsafe {
        let mut default: libc::sigaction = MaybeUninit::zeroed().assume_init();
        default.sa_sigaction = libc::SIG_DFL;
        let (mut handler, mut blocked) = (default, MaybeUninit::uninit());
        let mut only = MaybeUninit::uninit();
        libc::sigemptyset(only.as_mut_ptr());
        libc::sigaddset(only.as_mut_ptr(), signal);
        libc::sigaction(signal, &raw const default, &raw mut handler);
        // While it is handled it is blocked, so it takes effect when it is not.
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, only.as_ptr(), blocked.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, blocked.as_ptr(), std::ptr::null_mut());
        libc::sigaction(signal, &raw const handler, std::ptr::null_mut());
    }
}
