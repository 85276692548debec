//! Records put together: transactions, the call paths in them, and the time each took (§3.1, Fig. 1).
//!
//! One thread after another: `rules` tells from its marks where intervals of transactions begin and end, `stack` follows
//! its calls, `sums` keeps the running interval's times by path, `threads` ties them together. Intervals that
//! annotations mark are put together at the end, over threads (`join`). Memory grows with transactions times the paths
//! they went, not with records.

mod cursor;
mod join;
mod labels;
mod last;
mod marks;
mod order;
mod paths;
mod roles;
mod slices;
mod stack;
mod sums;
#[cfg(test)]
mod tests;
mod threads;
mod transaction;

use crate::Result;
use crate::profile::Profile;
use crate::recording::Recording;
use crate::rules::Rules;

pub use last::{LastCalls, last_calls};
pub use slices::{Slice, Stretch, slices};
pub use stack::MAX_DEPTH;

/// What a recording comes to by these rules.
pub fn assemble(recording: &Recording, rules: &Rules) -> Result<Profile> {
    let mut assembly = threads::Assembly::new(recording, rules, labels::Labels::read(recording)?);
    for id in recording.threads() {
        let mut thread = threads::Thread::new(id);
        recording.thread(id, |record| assembly.take(&mut thread, record))?;
        assembly.end(thread);
    }
    assembly.finish()
}
