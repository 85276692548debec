//! A BPF ring buffer that empties itself before it is full.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};

use super::load::{Plain, from_bytes, refusal};
use crate::error::{ProbeError, Result};

/// What came out of the ring so far. The programs wake its thread when a good part of it is filled.
pub struct Ring<T> {
    inbox: Arc<Mutex<Inbox<T>>>,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

struct Inbox<T> {
    ring: RingBuffer<'static>,
    records: Arc<Mutex<Vec<T>>>,
}

impl<T: Plain + Send + 'static> Ring<T> {
    /// Empties `map` from now on, in a thread of this name.
    pub fn open(map: &MapHandle, name: &str) -> Result<Self> {
        let records: Arc<Mutex<Vec<T>>> = Arc::default();
        let into = Arc::clone(&records);
        let mut builder = RingBufferBuilder::new();
        let take = move |bytes: &[u8]| {
            if let Some(record) = from_bytes(bytes) {
                into.lock().unwrap_or_else(PoisonError::into_inner).push(record);
            }
            0
        };
        builder.add(map, take).map_err(|e| refusal(&e))?;
        let ring = builder.build().map_err(|e| refusal(&e))?;
        let wake = ring.epoll_fd();
        // SAFETY: a non-negative result is a descriptor that we own.
        let stop = unsafe {
            let fd = libc::eventfd(0, libc::EFD_CLOEXEC);
            if fd < 0 {
                return Err(ProbeError::os(
                    "cannot make an event descriptor",
                    &io::Error::last_os_error(),
                    "",
                ));
            }
            Arc::new(OwnedFd::from_raw_fd(fd))
        };
        let inbox = Arc::new(Mutex::new(Inbox { ring, records }));
        let (into, until) = (Arc::clone(&inbox), Arc::clone(&stop));
        let run = move || {
            while crate::poll::either(wake, until.as_raw_fd()) {
                into.lock().unwrap_or_else(PoisonError::into_inner).consume();
            }
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(run)
            .map_err(|e| ProbeError::os("cannot start the listening thread", &e, ""))?;
        Ok(Self { inbox, stop, thread: Some(thread) })
    }

    /// All that was handed over before the call and not yet taken, oldest first.
    pub fn take(&self) -> Vec<T> {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.consume();
        let mut records = inbox.records.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *records)
    }
}

impl<T> Inbox<T> {
    fn consume(&self) {
        // Our callback never fails, and neither does consuming then.
        self.ring.consume_raw();
    }
}

impl<T> Drop for Ring<T> {
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
