//! Waiting for a source or for the order to stop.

/// Waits until `source` has something; false when `stop` has.
pub(crate) fn either(source: i32, stop: i32) -> bool {
    let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut fds = [entry(source), entry(stop)];
    // SAFETY: an array of two pollfds. An interrupted wait looks like an empty one.
    unsafe { libc::poll(fds.as_mut_ptr(), 2, -1) };
    fds[1].revents == 0
}
