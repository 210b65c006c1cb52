//! The mode of the user's terminal while the lab draws on it: keys arrive as they are pressed and
//! are not echoed. The mode is restored when the lab ends by itself, even by a panic, and before
//! SIGINT, SIGTERM, SIGHUP, SIGQUIT or Ctrl-Z ends or stops it. Other signals that end or stop it,
//! such as SIGKILL and SIGSTOP, leave the terminal unrestored.
//!
//! Ctrl-C and Ctrl-Z still raise signals. The caller defines what is written when the terminal is
//! restored.

use super::tty::{may_draw, receives_keys};
use rustix::stdio::{stderr, stdin};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGQUIT, SIGTSTP};
use signal_hook::low_level;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The bytes that are written when the terminal is restored.
static RESTORE_BYTES: OnceLock<&'static [u8]> = OnceLock::new();

/// The terminal's mode before the lab changed it; `None` if the lab does not read its keys.
static MODE_BEFORE: OnceLock<Termios> = OnceLock::new();

/// Takes the terminal on standard error, or takes it again after Ctrl-Z. `restore_bytes` is written
/// when the terminal is restored. Returns `false` if the lab must not draw.
pub fn take(restore_bytes: &'static [u8]) -> bool {
    if !may_draw() {
        return false;
    }
    if RESTORE_BYTES.set(restore_bytes).is_ok() {
        restore_before_signals();
    }
    IS_TAKEN.store(true, Ordering::Relaxed);
    if receives_keys() {
        deliver_each_key();
    }
    true
}

/// Makes keys arrive as they are pressed, if the terminal delivers whole lines.
fn deliver_each_key() {
    let Ok(mut mode) = tcgetattr(stdin()) else { return };
    if !mode.local_modes.contains(LocalModes::ICANON) {
        return;
    }
    MODE_BEFORE.get_or_init(|| mode.clone());
    mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    mode.special_codes[SpecialCodeIndex::VMIN] = 1;
    mode.special_codes[SpecialCodeIndex::VTIME] = 0;
    // If this fails, a key arrives only after Enter.
    let _ = tcsetattr(stdin(), OptionalActions::Now, &mode);
}

/// True if the terminal is taken; a signal may have restored it.
pub fn is_taken() -> bool {
    IS_TAKEN.load(Ordering::Relaxed)
}

/// Restores the terminal if it was taken. Signal handlers may call this function, because it makes
/// only system calls.
pub fn restore() {
    if !IS_TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    // A terminal that accepts no bytes cannot be restored.
    if let Some(restore_bytes) = RESTORE_BYTES.get().filter(|_| may_draw()) {
        let _ = rustix::io::write(stderr(), restore_bytes);
    }
    if let Some(before) = MODE_BEFORE.get().filter(|_| receives_keys()) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, before);
    }
}

/// Installs handlers that restore the terminal before a signal from the keyboard stops the lab or
/// ends it at once. [`super::interrupt`] handles the signals that end the lab in an orderly way.
fn restore_before_signals() {
    for signal in [SIGTSTP, SIGQUIT] {
        let handle = move || {
            restore();
            perform_default_action(signal);
        };
        // SAFETY: the handler makes system calls only, all of them async-signal-safe.
        // If the system refuses the handler, Ctrl-Z leaves the terminal unrestored.
        let _ = unsafe { low_level::register(signal, handle) };
    }
}

/// Performs the default action of the signal that is being handled. SIGSTOP is not used instead,
/// because it also stops an orphaned process group, which no shell continues. After a stop the
/// handler is installed again.
fn perform_default_action(signal: i32) {
    // SAFETY: all structures are live locals, filled before use; all calls are async-signal-safe.
    unsafe {
        let mut default: libc::sigaction = MaybeUninit::zeroed().assume_init();
        default.sa_sigaction = libc::SIG_DFL;
        let (mut handler, mut blocked) = (default, MaybeUninit::uninit());
        let mut only = MaybeUninit::uninit();
        libc::sigemptyset(only.as_mut_ptr());
        libc::sigaddset(only.as_mut_ptr(), signal);
        libc::sigaction(signal, &raw const default, &raw mut handler);
        // The signal is blocked while it is handled, so it takes effect when it is unblocked.
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, only.as_ptr(), blocked.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, blocked.as_ptr(), std::ptr::null_mut());
        libc::sigaction(signal, &raw const handler, std::ptr::null_mut());
    }
}
