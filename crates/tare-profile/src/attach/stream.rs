//! The ring's events as records of threads.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};
use tare_probe::Result;
use tare_probe::bpf::load::refusal;
use tare_rings::{Kind, Record};

use super::event::{ENTER_FROM, Event, Raw};
use super::site::Sites;
use crate::backend::ThreadRecords;

/// Most events at once, so that a call ends though more keep coming.
const AT_ONCE: usize = 1 << 21;

/// Empties the ring when it is told to.
pub(super) struct Stream {
    ring: RingBuffer<'static>,
    inbox: Arc<Mutex<Vec<Raw>>>,
    sites: Sites,
    /// Texts that were handed on: the kernel forgets which it sent when there are many.
    texts: HashSet<u32>,
}

impl Stream {
    pub(super) fn open(map: &MapHandle) -> Result<Self> {
        let inbox: Arc<Mutex<Vec<Raw>>> = Arc::default();
        let into = Arc::clone(&inbox);
        let mut builder = RingBufferBuilder::new();
        let take = move |bytes: &[u8]| {
            if let Some(raw) = Raw::read(bytes) {
                into.lock().unwrap_or_else(PoisonError::into_inner).push(raw);
            }
            0
        };
        builder.add(map, take).map_err(|e| refusal(&e))?;
        let ring = builder.build().map_err(|e| refusal(&e))?;
        Ok(Self { ring, inbox, sites: Sites::default(), texts: HashSet::new() })
    }

    /// All that was handed over before the call, and texts that are new.
    pub(super) fn take(&mut self) -> (Threads, Vec<(u32, String)>) {
        // Our callback never fails, and neither does consuming then.
        self.ring.consume_raw_n(AT_ONCE);
        let raw = std::mem::take(&mut *self.inbox.lock().unwrap_or_else(PoisonError::into_inner));
        let mut threads = Threads::default();
        let mut texts = Vec::new();
        for raw in raw {
            match raw {
                Raw::Event(event, cpu) => {
                    let record = self.record(&event);
                    let records = threads.of(event.tgid, event.tid);
                    if event.lost > 0 {
                        records.push(Record::new(event.time, Kind::Lost, 0, event.lost));
                    }
                    records.push(record);
                    records.extend(cpu.map(|cpu| Record::with_id(event.time, Kind::Cpu, cpu)));
                }
                Raw::Text(hash, text) if self.texts.insert(hash) => texts.push((hash, text.into())),
                Raw::Text(..) => {}
                Raw::Forked { parent, child } => self.sites.forked(parent, child),
                Raw::Replaced(pid) | Raw::Ended(pid) => self.sites.forget(pid),
            }
        }
        (threads, texts)
    }

    fn record(&mut self, event: &Event) -> Record {
        let record = Record { time: event.time, word: event.word, detail: event.value as u32 };
        if event.word >> super::cookie::ID_BITS == ENTER_FROM {
            let site = self.sites.site(event.tgid, event.value);
            return Record::new(event.time, Kind::Enter, record.subject(), site);
        }
        record
    }
}

/// Records by thread, in the order in which threads appear.
#[derive(Default)]
pub(super) struct Threads {
    pub list: Vec<ThreadRecords>,
    at: HashMap<(i32, i32), usize>,
}

impl Threads {
    pub(super) fn of(&mut self, pid: i32, tid: i32) -> &mut Vec<Record> {
        let next = self.list.len();
        let at = *self.at.entry((pid, tid)).or_insert(next);
        if at == next {
            self.list.push(ThreadRecords { pid, tid, records: Vec::new() });
        }
        &mut self.list[at].records
    }
}
