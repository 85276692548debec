//! The kernel's events as records of threads.

use std::collections::HashSet;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};
use tare_probe::Result;
use tare_probe::bpf::load::refusal;
use tare_rings::{Kind, Record};

use super::event::{Event, kind};
use super::frames::{Frames, Threads};
use super::message::{Life, Message};
use super::site::Sites;
use super::slots::Slots;
use crate::backend::FunctionId;

/// Most messages at once, so that a call ends though more keep coming.
const AT_ONCE: usize = 1 << 16;

/// Records and texts in the order in which they came.
#[derive(Default)]
struct Ready {
    threads: Threads,
    texts: Vec<(u32, String)>,
}

/// Empties the rings when it is told to.
pub(super) struct Stream {
    slots: Slots,
    messages: RingBuffer<'static>,
    inbox: Arc<Mutex<Vec<Message>>>,
    /// Taken, and not handed on yet: an earlier one of the same thread may be to come.
    events: Vec<Event>,
    /// With their times.
    lives: Vec<(u64, Life)>,
    sites: Sites,
    frames: Frames,
    /// Put together, and not handed on yet.
    ready: Ready,
    /// Texts that were handed on: the kernel forgets which it sent when there are many.
    texts: HashSet<u32>,
}

impl Stream {
    pub(super) fn open(slots: Slots, messages: &MapHandle) -> Result<Self> {
        let inbox: Arc<Mutex<Vec<Message>>> = Arc::default();
        let into = Arc::clone(&inbox);
        let mut builder = RingBufferBuilder::new();
        let take = move |bytes: &[u8]| {
            if let Some(message) = Message::read(bytes) {
                into.lock().unwrap_or_else(PoisonError::into_inner).push(message);
            }
            0
        };
        builder.add(messages, take).map_err(|e| refusal(&e))?;
        let messages = builder.build().map_err(|e| refusal(&e))?;
        Ok(Self {
            slots,
            messages,
            inbox,
            events: Vec::new(),
            lives: Vec::new(),
            sites: Sites::default(),
            frames: Frames::default(),
            ready: Ready::default(),
            texts: HashSet::new(),
        })
    }

    /// All that was written before the call, texts that are new, and how full the fullest ring was.
    pub(super) fn take(&mut self) -> (Threads, Vec<(u32, String)>, f64) {
        let fullest = self.gather();
        let ready = mem::take(&mut self.ready);
        (ready.threads, ready.texts, fullest)
    }

    /// From now on events are of other probes, with exits of these functions; none of those before is on any more.
    pub(super) fn follow(&mut self, functions: HashSet<FunctionId>) {
        self.gather();
        self.frames.follow(functions);
    }

    fn gather(&mut self) -> f64 {
        let (until, fullest) = self.slots.take(&mut self.events);
        // After them: what an event needs to be understood was told ahead of it.
        let texts = self.listen();
        self.ready.texts.extend(texts);
        let events = ripe(&mut self.events, until, |event| event.time);
        let mut lives = ripe(&mut self.lives, until, |(time, _)| *time).into_iter().peekable();
        let mut threads = mem::take(&mut self.ready.threads);
        for event in events {
            while let Some((time, life)) = lives.next_if(|(time, _)| *time <= event.time) {
                self.heed(time, life, &mut threads);
            }
            let record = self.record(&event);
            self.frames.take(&event, record, &mut threads);
        }
        lives.for_each(|(time, life)| self.heed(time, life, &mut threads));
        self.ready.threads = threads;
        fullest
    }

    fn heed(&mut self, time: u64, life: Life, threads: &mut Threads) {
        self.sites.heed(life);
        self.frames.heed(time, life, threads);
    }

    /// Hears the messages; returns texts that are new.
    fn listen(&mut self) -> Vec<(u32, String)> {
        // Our callback never fails, and neither does consuming then.
        self.messages.consume_raw_n(AT_ONCE);
        let heard = mem::take(&mut *self.inbox.lock().unwrap_or_else(PoisonError::into_inner));
        let mut texts = Vec::new();
        for message in heard {
            match message {
                Message::Text(hash, text) if self.texts.insert(hash) => texts.push((hash, text)),
                Message::Text(..) => {}
                Message::Life(time, life) => self.lives.push((time, life)),
            }
        }
        texts
    }

    fn record(&mut self, event: &Event) -> Record {
        let record = Record { time: event.time, word: event.word, detail: event.value as u32 };
        if event.word >> super::cookie::ID_BITS == kind::ENTER_FROM {
            let site = self.sites.site(event.tgid, event.value);
            return Record::new(event.time, Kind::Enter, record.subject(), site);
        }
        record
    }
}

/// Takes those up to this time out, in the order of their times.
pub(super) fn ripe<T>(all: &mut Vec<T>, until: u64, time: impl Fn(&T) -> u64) -> Vec<T> {
    all.sort_by_key(&time);
    let later = all.split_off(all.partition_point(|one| time(one) <= until));
    mem::replace(all, later)
}
