//! Modes in the shared file: each way of watching once, named by a switch's value.

use std::sync::atomic::Ordering;

use tare_rings::layout::{Header, MODES};
use tare_rings::mode::{
    APPLIES, COUNTING, CPU, ENTRY_ONLY, SITE, STATE, UNTOLD, USED, WORD, WORD_AND_TEXT, text, until, word,
};

use crate::backend::{Detail, Mode, Probe};
use crate::{ProbeError, Result};

/// A probe's mode as the agent reads it.
fn bits(probe: &Probe, mode: Mode) -> u32 {
    let detail = match probe.detail {
        Detail::Site => SITE,
        Detail::Word(argument) => WORD | word(argument),
        Detail::WordAndText { word: number, text: pointer } => WORD_AND_TEXT | word(number) | text(pointer),
        Detail::State { word: number, text: pointer, until: state } => {
            STATE | word(number) | text(pointer) | until(state)
        }
        Detail::Mark => unreachable!("the agent is given marks, and puts no probe on their function"),
    };
    let marks = probe.cpu || probe.detail != Detail::Site;
    USED | detail
        | if probe.cpu { CPU } else { 0 }
        | if probe.entry_only { ENTRY_ONLY } else { 0 }
        | if mode == Mode::Counting && !marks { COUNTING } else { 0 }
}

/// The value of a switch for this probe, on a trigger or on another function.
pub(super) fn switch(header: &Header, probe: &Probe, mode: Mode, trigger: bool) -> Result<u8> {
    if probe.detail.arguments().any(|argument| argument > 5) {
        return Err(ProbeError::new(
            "a probe on an argument that is not in a register",
            "arguments 0 to 5 can be read",
        ));
    }
    named(header, bits(probe, mode) | if trigger { APPLIES } else { 0 })
}

/// The value of a trigger's switch while others are watched and it is not.
pub(super) fn unwatched_trigger(header: &Header) -> Result<u8> {
    named(header, USED | APPLIES | UNTOLD)
}

/// A mode that is in the file stays as it is: a thread may be about to read it.
fn named(header: &Header, wanted: u32) -> Result<u8> {
    for (place, known) in header.modes.iter().enumerate().skip(1) {
        let value = known.load(Ordering::Acquire);
        if value == wanted {
            return Ok(place as u8);
        }
        if value == 0 {
            known.store(wanted, Ordering::Release);
            return Ok(place as u8);
        }
    }
    Err(ProbeError::new(
        format!("more than {} ways of watching in one server's life", MODES - 1),
        "start it again",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_count_while_marks_go_on_making_records() {
        let plain = Probe { function: 1, detail: Detail::Site, cpu: false, entry_only: false };
        assert_ne!(bits(&plain, Mode::Counting) & COUNTING, 0);
        assert_eq!(bits(&plain, Mode::Timing) & COUNTING, 0);
        let root = Probe { cpu: true, ..plain };
        let marker = Probe { detail: Detail::WordAndText { word: 0, text: 1 }, entry_only: true, ..plain };
        assert_eq!(bits(&root, Mode::Counting) & COUNTING, 0);
        assert_eq!(bits(&marker, Mode::Counting) & COUNTING, 0);
        assert_ne!(bits(&marker, Mode::Counting) & ENTRY_ONLY, 0);
    }
}
