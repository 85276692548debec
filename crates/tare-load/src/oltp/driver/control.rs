//! The exchange between an action and its caller: events go out, a halt comes in.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::oltp::database::Problem;
use crate::oltp::events::Event;

/// Why it ends early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// Somebody said stop.
    Asked,
    /// What was measured up to here counts, and the run says why it is cut short.
    Short(String),
    /// It is of no use.
    Broken(Problem),
}

/// Shared by all who may end it; the first reason holds.
#[derive(Debug, Default)]
pub struct Control(Mutex<Option<Halt>>);

impl Control {
    /// The run is to end early, with what it measured.
    pub fn stop(&self) {
        self.halt(Halt::Asked);
    }

    pub(super) fn halt(&self, halt: Halt) {
        locked(&self.0).get_or_insert(halt);
    }

    pub(super) fn halted(&self) -> Option<Halt> {
        locked(&self.0).clone()
    }
}

/// Whole lines, each at once.
pub(super) struct EventWriter {
    out: Mutex<Box<dyn Write + Send>>,
    gone: fn(),
}

impl EventWriter {
    /// `gone` is called when nobody reads any more.
    pub(super) fn new(out: Box<dyn Write + Send>, gone: fn()) -> Self {
        Self { out: Mutex::new(out), gone }
    }

    pub(super) fn write(&self, event: &Event) {
        let mut line = serde_json::to_vec(event).expect("an event is made of numbers and texts");
        line.push(b'\n');
        let mut out = locked(&self.out);
        if out.write_all(&line).and_then(|()| out.flush()).is_err() {
            (self.gone)();
        }
    }
}

/// A lock whose holder panicked guards data that is whole all the same: nothing here is left half done while it is held.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
