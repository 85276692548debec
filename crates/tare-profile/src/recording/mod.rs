//! A recording: one file of frames, written as records come, readable up to its last whole frame.
//!
//! `Recorder` owns a backend and the file; `Recording` is the file, read. Nothing is kept in memory while recording
//! but what one poll brings.

mod clock;
mod coding;
mod frame;
mod pace;
mod reader;
mod recorder;
#[cfg(test)]
mod replay;
#[cfg(test)]
pub(crate) mod tests;
mod writer;

pub use clock::Nanoseconds;
pub use reader::{Cut, Gap, Recording, Span};
pub use recorder::Recorder;
