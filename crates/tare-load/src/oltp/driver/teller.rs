//! Lines to whoever asked.

use std::io::Write;
use std::sync::Mutex;

use super::control::locked;
use crate::oltp::told::Told;

/// Whole lines, each at once.
pub(super) struct Teller {
    out: Mutex<Box<dyn Write + Send>>,
    gone: fn(),
}

impl Teller {
    /// `gone` is called when nobody reads any more.
    pub(super) fn new(out: Box<dyn Write + Send>, gone: fn()) -> Self {
        Self { out: Mutex::new(out), gone }
    }

    pub(super) fn tell(&self, told: &Told) {
        let mut line = serde_json::to_vec(told).expect("a told line is made of numbers and texts");
        line.push(b'\n');
        let mut out = locked(&self.out);
        if out.write_all(&line).and_then(|()| out.flush()).is_err() {
            (self.gone)();
        }
    }
}
