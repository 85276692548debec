//! Annotation only: the marks of a program that has them, and no function patched.

use crate::Result;
use crate::backend::{Backend, FunctionId, Mode, Probe, Refused, Taken, Target};

/// Another backend (the agent's), of which no probe is asked.
pub struct Annotation {
    inner: Box<dyn Backend>,
}

impl Annotation {
    /// Over a backend that hands over marks also where no probe is on.
    pub fn over(inner: Box<dyn Backend>) -> Self {
        Self { inner }
    }
}

impl Backend for Annotation {
    fn name(&self) -> &'static str {
        "annotation"
    }

    fn says(&self) -> String {
        format!("marks of the program's own, no function is watched; {}", self.inner.says())
    }

    fn set(&mut self, _targets: &[Target], probes: &[Probe], mode: Mode) -> Result<Vec<Refused>> {
        let mut refused = self.inner.set(&[], &[], mode)?;
        refused.extend(probes.iter().map(|probe| {
            Refused {
                function: probe.function,
                why: "only the program's own marks are recorded: choose another backend to watch functions"
                    .to_owned(),
            }
        }));
        Ok(refused)
    }

    fn take(&mut self) -> Result<Taken> {
        self.inner.take()
    }

    fn calls(&mut self) -> Result<Vec<(FunctionId, u64)>> {
        Ok(Vec::new())
    }

    fn clock(&self) -> (u64, u64) {
        self.inner.clock()
    }

    fn alive(&self) -> bool {
        self.inner.alive()
    }

    fn finish(&mut self) -> Result<()> {
        self.inner.finish()
    }
}
