//! A BPF ring buffer that empties itself before it is full.

use std::sync::{Arc, Mutex, PoisonError};

use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};

use super::load::{Plain, from_bytes, refusal};
use crate::error::Result;
use crate::poll::Listening;

/// What came out of the ring so far. The programs wake its thread when a good part of it is filled.
pub struct Ring<T> {
    inbox: Arc<Mutex<Inbox<T>>>,
    _listening: Listening,
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
        let inbox = Arc::new(Mutex::new(Inbox { ring, records }));
        let into = Arc::clone(&inbox);
        let listening = Listening::start(name, wake, move || {
            into.lock().unwrap_or_else(PoisonError::into_inner).consume();
            true
        })?;
        Ok(Self { inbox, _listening: listening })
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
