//! What else may run while code is changed: other threads, handlers of signals.

use std::{mem, ptr};

/// How many this process has. The folder has a link for each of its own, and two more.
pub(crate) fn running() -> Option<u64> {
    // SAFETY: plain data, filled in by the call.
    unsafe {
        let mut about: libc::stat = mem::zeroed();
        let got = libc::stat(c"/proc/self/task".as_ptr(), &raw mut about);
        if got == 0 { about.st_nlink.checked_sub(2) } else { None }
    }
}

/// No signal's handler runs as long as it lives.
pub(crate) struct Signals(libc::sigset_t);

impl Signals {
    pub(crate) fn blocked() -> Self {
        // SAFETY: sets of signals, filled in by the calls.
        unsafe {
            let (mut all, mut before) = (mem::zeroed(), mem::zeroed());
            libc::sigfillset(&raw mut all);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Self(before)
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the set from before.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}
