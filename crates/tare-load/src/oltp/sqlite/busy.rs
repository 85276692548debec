//! Waiting for the one writer.
//!
//! SQLite's own busy handler sleeps up to a tenth of a second between tries, which is then in the tail of every
//! response time, and starves whoever has slept longest. This one looks again after a millisecond at most.

use std::cell::Cell;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::oltp::LOCK_WAIT;

const FIRST: Duration = Duration::from_micros(50);
const LONGEST: Duration = Duration::from_millis(1);

thread_local! {
    static SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Whether to try again. `tries` counts from 0 for each lock that is waited for.
pub fn wait(tries: i32) -> bool {
    let since = match SINCE.get() {
        Some(since) if tries > 0 => since,
        _ => {
            let now = Instant::now();
            SINCE.set(Some(now));
            now
        }
    };
    if since.elapsed() >= LOCK_WAIT {
        return false;
    }
    sleep(LONGEST.min(FIRST * 2_u32.pow(tries.clamp(0, 8) as u32)));
    true
}
