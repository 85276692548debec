//! How a function is watched, in 32 bits: what a switch's value stands for.

/// Only the entry is recorded; the return address stays as it is.
pub const ENTRY_ONLY: u32 = 1 << 13;
/// Entries are counted and make no record.
pub const COUNTING: u32 = 1 << 14;
/// Entry and exit are each followed by the thread's CPU time.
pub const CPU: u32 = 1 << 12;
/// In the low 2 bits: the detail is the call site.
pub const SITE: u32 = 0;
/// The detail is an argument.
pub const WORD: u32 = 1;
/// The detail is an argument's low 4 bits and a text's hash.
pub const WORD_AND_TEXT: u32 = 2;
/// The detail is as with `WORD_AND_TEXT`, but CPU time is told only when work begins (a word other than `until` after
/// `until`) and when it is through (`until`).
pub const STATE: u32 = 3;
/// First the process sees which functions are wanted by now, and patches them.
pub const APPLIES: u32 = 1 << 20;
/// There is nothing to it but that.
pub const UNTOLD: u32 = 1 << 21;
/// Always set: a mode is never 0, so that an unused one is told from the plainest.
pub const USED: u32 = 1 << 31;

/// The value of a switch whose mode is `USED` and nothing else, in every file: the agent tests for it first.
pub const PLAIN: u8 = 1;

/// Which argument the word is, from 0.
pub const fn word(argument: u8) -> u32 {
    (argument as u32 & 7) << 4
}

/// Which argument the text is, from 0.
pub const fn text(argument: u8) -> u32 {
    (argument as u32 & 7) << 8
}

/// At which word work is through, from 0 to 15.
pub const fn until(word: u8) -> u32 {
    (word as u32 & 15) << 16
}
