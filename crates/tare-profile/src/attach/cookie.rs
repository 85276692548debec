//! What a probe asks for, in the 64 bits that the kernel hands to the program at each of its events.

use crate::backend::{Detail, FunctionId, Probe};

/// Bits of a function's number in a cookie and in a record's word.
pub(super) const ID_BITS: u32 = 28;
/// Integer arguments that are in registers (System V ABI for x86-64).
pub(super) const ARGUMENTS: u8 = 6;

/// As `DETAIL`, `ARGUMENT_NUMBER`, … of attach.bpf.c take it apart.
pub(super) fn cookie(probe: &Probe) -> u64 {
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
        let plain = cookie(&probe(Detail::Site));
        assert_eq!(plain, 0x0abc_def0);
        let full = cookie(&Probe { cpu: true, ..probe(Detail::WordAndText { word: 5, text: 1 }) });
        assert_eq!(full ^ plain, 2 << 28 | 5 << 30 | 1 << 33 | 1 << 36);
        assert_eq!(cookie(&probe(Detail::Mark)) ^ plain, 3 << 28);
    }

    #[test]
    fn an_argument_on_the_stack_is_objected_to() {
        assert_eq!(objection(&probe(Detail::Word(5))), None);
        let why = objection(&probe(Detail::WordAndText { word: 0, text: 6 })).unwrap();
        assert!(why.contains("argument 6"), "{why}");
    }
}
