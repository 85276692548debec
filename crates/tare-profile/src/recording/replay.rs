//! A backend for tests: it hands over what it is given.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::backend::{Backend, FunctionId, Mode, Probe, Refused, Taken, Target};
use crate::{ProbeError, Result};

/// What it plays, and what was asked of it.
#[derive(Default)]
pub(crate) struct Tape {
    pub(crate) taken: VecDeque<Taken>,
    pub(crate) asked: Vec<&'static str>,
    pub(crate) refuses: Vec<FunctionId>,
    pub(crate) calls: Vec<(FunctionId, u64)>,
    pub(crate) dead: bool,
}

/// Both ends of it: one goes to the recorder.
#[derive(Clone, Default)]
pub(crate) struct Replay(Arc<Mutex<Tape>>);

impl Replay {
    pub(crate) fn tape(&self) -> MutexGuard<'_, Tape> {
        self.0.lock().unwrap()
    }

    /// A backend that plays it.
    pub(crate) fn backend(&self) -> Box<dyn Backend> {
        Box::new(self.clone())
    }
}

impl Backend for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn says(&self) -> String {
        "plays what a test gave it".to_owned()
    }

    fn set(&mut self, _targets: &[Target], probes: &[Probe], _mode: Mode) -> Result<Vec<Refused>> {
        let mut tape = self.tape();
        tape.asked.push("set");
        let why = || "its entry is the target of a jump".to_owned();
        let (no, yes): (Vec<_>, Vec<_>) =
            probes.iter().map(|probe| probe.function).partition(|function| tape.refuses.contains(function));
        if yes.is_empty() && !no.is_empty() {
            return Err(ProbeError::new("no probe can be set", "choose other functions"));
        }
        Ok(no.into_iter().map(|function| Refused { function, why: why() }).collect())
    }

    fn take(&mut self) -> Result<Taken> {
        Ok(self.tape().taken.pop_front().unwrap_or_default())
    }

    fn calls(&mut self) -> Result<Vec<(FunctionId, u64)>> {
        Ok(self.tape().calls.clone())
    }

    fn clock(&self) -> (u64, u64) {
        let now = tare_probe::clock::monotonic_ns();
        (now, now)
    }

    fn alive(&self) -> bool {
        !self.tape().dead
    }

    fn finish(&mut self) -> Result<()> {
        self.tape().asked.push("finish");
        Ok(())
    }
}
