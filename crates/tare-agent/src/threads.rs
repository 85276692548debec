//! What else may run while code is changed: other threads, handlers of signals.

use std::ffi::{c_int, c_void};
use std::{mem, ptr};

use crate::later;

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

type Create = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    extern "C" fn(*mut c_void) -> *mut c_void,
    *mut c_void,
) -> c_int;

/// Stands before the threads library's: the process is about to have a second thread.
///
/// # Safety
/// As the function of that name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    later::complete();
    // SAFETY: looks a name up.
    let real = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
    if real.is_null() {
        return libc::EAGAIN;
    }
    // SAFETY: the function of that name, called as we are.
    unsafe { mem::transmute::<*mut c_void, Create>(real)(thread, attributes, start, argument) }
}
