//! What a probe asks for, in the 64 bits that the kernel hands to the program at each of its events.

use crate::backend::{Detail, FunctionId, Probe};
use crate::image::exits::{Base, Exit, Leave};

/// Bits of a function's number in a cookie and in a record's word.
pub(super) const ID_BITS: u32 = 28;
/// Integer arguments that are in registers (System V ABI for x86-64).
pub(super) const ARGUMENTS: u8 = 6;

/// Bit of a probe in a program of Go.
const GOROUTINE: u32 = 37;
/// Lowest bit of the distance, in words of 8 bytes.
const DISTANCE: u32 = 38;
/// Bit of a place at which a function leaves.
const LEAVES: u64 = 1 << 61;
/// The first of the epoch's bits, which are the last.
const EPOCH: u32 = 62;
/// Epochs that can be told apart.
pub(super) const EPOCHS: u32 = 1 << (u64::BITS - EPOCH);

/// The cookie of a probe that is set in this epoch.
pub(super) fn in_epoch(cookie: u64, epoch: u32) -> u64 {
    cookie | u64::from(epoch) << EPOCH
}

/// As `DETAIL`, `ARGUMENT_NUMBER`, … of attach.bpf.c take it apart. `distance`: from the stack pointer to the return
/// address, of at most 16 bits in words of 8 bytes. `goroutines`: the program is Go's.
pub(super) fn cookie(probe: &Probe, distance: u64, goroutines: bool) -> u64 {
    let (detail, word, text) = match probe.detail {
        Detail::Site => (0, 0, 0),
        Detail::Word(word) => (1, word, 0),
        // It reads both at no price worth speaking of.
        Detail::WordAndText { word, text } | Detail::State { word, text, .. } => (2, word, text),
        Detail::Mark => (3, 0, 0),
    };
    u64::from(probe.function)
        | detail << ID_BITS
        | u64::from(word) << 30
        | u64::from(text) << 33
        | u64::from(probe.cpu) << 36
        | u64::from(goroutines) << GOROUTINE
        | (distance >> 3) << DISTANCE
}

/// As `DISTANCE`, `CONDITION`, … take it apart; `None` for a distance that does not fit.
pub(super) fn exit_cookie(probe: &Probe, exit: &Exit, goroutines: bool) -> Option<u64> {
    let words = u16::try_from(exit.distance / 8).ok().filter(|_| exit.distance % 8 == 0)?;
    Some(
        u64::from(probe.function)
            | u64::from(probe.cpu) << 36
            | u64::from(goroutines) << GOROUTINE
            | u64::from(words) << DISTANCE
            | u64::from(exit.base == Base::FramePointer) << 54
            | u64::from(exit.condition.is_some()) << 55
            | u64::from(exit.condition.unwrap_or(0)) << 56
            | u64::from(exit.leave == Leave::TailCall) << 60
            | LEAVES,
    )
}

/// Why a probe cannot be asked for so.
pub(super) fn objection(probe: &Probe) -> Option<String> {
    if let Some(number) = probe.detail.arguments().find(|number| *number >= ARGUMENTS) {
        return Some(format!("its argument {number} is not in a register: only the first {ARGUMENTS} are"));
    }
    let most: FunctionId = 1 << ID_BITS;
    (probe.function >= most).then(|| format!("its number is not below {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(detail: Detail) -> Probe {
        Probe { function: 0x0abc_def0, detail, cpu: false, entry_only: false }
    }

    #[test]
    fn each_part_of_a_cookie_has_its_own_bits() {
        let plain = cookie(&probe(Detail::Site), 0, false);
        assert_eq!(plain, 0x0abc_def0);
        let full = cookie(&Probe { cpu: true, ..probe(Detail::WordAndText { word: 5, text: 1 }) }, 24, true);
        assert_eq!(full ^ plain, 2 << 28 | 5 << 30 | 1 << 33 | 1 << 36 | 1 << 37 | 3 << 38);
        assert_eq!(cookie(&probe(Detail::Mark), 0, false) ^ plain, 3 << 28);
    }

    #[test]
    fn the_cookie_of_an_exit_says_where_its_frame_is_and_when_it_leaves() {
        let exit = Exit {
            address: 7,
            base: Base::FramePointer,
            distance: 24,
            condition: Some(13),
            leave: Leave::TailCall,
            emulated: true,
        };
        let plain = u64::from(probe(Detail::Site).function);
        let full = exit_cookie(&probe(Detail::Site), &exit, false).unwrap();
        assert_eq!(full ^ plain, 3 << 38 | 1 << 54 | 1 << 55 | 13 << 56 | 1 << 60 | 1 << 61);
        assert_eq!(in_epoch(full, EPOCHS - 1) ^ full, 3 << 62);
        assert_eq!(exit_cookie(&probe(Detail::Site), &Exit { distance: 4, ..exit }, false), None);
        assert_eq!(exit_cookie(&probe(Detail::Site), &Exit { distance: -8, ..exit }, false), None);
    }

    #[test]
    fn an_argument_on_the_stack_is_objected_to() {
        assert_eq!(objection(&probe(Detail::Word(5))), None);
        let why = objection(&probe(Detail::WordAndText { word: 0, text: 6 })).unwrap();
        assert!(why.contains("argument 6"), "{why}");
    }
}
