//! The BPF tier: an iterator over all tasks, a listener to exits, a scheduler trace.

pub(crate) mod exits;
pub(crate) mod follow;
pub mod load;
mod record;
pub mod ring;
pub(crate) mod tasks;
