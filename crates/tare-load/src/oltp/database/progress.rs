//! Progress of a load, reported a few times a second, and whether the load goes on.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Emit;
use crate::oltp::events::Event;
use crate::oltp::{Failure, Rows};

const BETWEEN: Duration = Duration::from_millis(200);

/// Rows between two looks at the clock.
const STEP: u64 = 512;

/// Progress of all threads of a load together.
pub struct Progress<'a> {
    rows: AtomicU64,
    expected: u64,
    reported: Mutex<Instant>,
    stopped: AtomicBool,
    emit: &'a Emit<'a>,
}

impl<'a> Progress<'a> {
    /// `before`: rows that are there already.
    pub fn new(before: u64, expected: u64, emit: &'a Emit<'a>) -> Self {
        let (rows, stopped) = (AtomicU64::new(before), AtomicBool::new(false));
        Self { rows, expected, reported: Mutex::new(Instant::now()), stopped, emit }
    }

    /// Whoever still loads fails at the next look.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn add(&self, rows: u64, table: &str) -> Result<(), Failure> {
        let rows = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        if self.is_stopped() {
            return Err(Failure::foreign("the load was stopped"));
        }
        if let Ok(mut reported) = self.reported.try_lock()
            && reported.elapsed() >= BETWEEN
        {
            *reported = Instant::now();
            (self.emit)(Event::LoadProgress { rows, expected_rows: self.expected, table: table.to_owned() });
        }
        Ok(())
    }
}

/// Rows on their way, counted.
pub struct Counted<'a> {
    inner: &'a mut dyn Rows,
    progress: &'a Progress<'a>,
    table: &'a str,
    uncounted: u64,
}

impl<'a> Counted<'a> {
    pub fn new(inner: &'a mut dyn Rows, progress: &'a Progress<'a>, table: &'a str) -> Self {
        Self { inner, progress, table, uncounted: 0 }
    }

    /// The last rows.
    pub fn finish(self) -> Result<(), Failure> {
        self.progress.add(self.uncounted, self.table)
    }
}

impl Rows for Counted<'_> {
    fn int(&mut self, number: i64) {
        self.inner.int(number);
    }

    fn float(&mut self, number: f64) {
        self.inner.float(number);
    }

    fn decimal(&mut self, unscaled: i64, scale: u8) {
        self.inner.decimal(unscaled, scale);
    }

    fn text(&mut self, text: &str) {
        self.inner.text(text);
    }

    fn time(&mut self, micros: i64) {
        self.inner.time(micros);
    }

    fn null(&mut self) {
        self.inner.null();
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.inner.end()?;
        self.uncounted += 1;
        if self.uncounted < STEP {
            return Ok(());
        }
        self.progress.add(std::mem::take(&mut self.uncounted), self.table)
    }
}
