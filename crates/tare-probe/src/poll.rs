//! A thread that waits for a source, until it is told to stop.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::error::{ProbeError, Result};

/// Calls back whenever its source has something, in a thread of its own. That has ended when this is dropped.
pub(crate) struct Listening {
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    /// `take` has to empty the source, which must stay open as long as `take` lives; false ends the thread.
    pub(crate) fn start(
        name: &str,
        source: i32,
        mut take: impl FnMut() -> bool + Send + 'static,
    ) -> Result<Self> {
        let stop = Arc::new(event()?);
        let until = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || while either(source, until.as_raw_fd()) && take() {})
            .map_err(|e| ProbeError::os("cannot start the listening thread", &e, ""))?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let one = 1u64;
        // SAFETY: eight bytes, as an eventfd wants them.
        unsafe { libc::write(self.stop.as_raw_fd(), (&raw const one).cast(), 8) };
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to stop.
            let _ = thread.join();
        }
    }
}

fn event() -> Result<OwnedFd> {
    // SAFETY: no pointers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if fd < 0 {
        return Err(ProbeError::os("cannot make an event descriptor", &io::Error::last_os_error(), ""));
    }
    // SAFETY: a non-negative result is a descriptor that we own.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits until `source` has something; false when `stop` has.
fn either(source: i32, stop: i32) -> bool {
    let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut fds = [entry(source), entry(stop)];
    // SAFETY: an array of two pollfds. An interrupted wait looks like an empty one.
    unsafe { libc::poll(fds.as_mut_ptr(), 2, -1) };
    fds[1].revents == 0
}
