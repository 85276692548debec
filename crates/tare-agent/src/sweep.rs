//! Where code jumps to: a jump into the bytes that ours takes the place of would land in its midst.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

/// Targets of all direct jumps of one executable part, by decoding it from end to end.
pub(crate) struct Sweep {
    begin: u64,
    targets: Vec<u64>,
    loops: Vec<u64>,
}

fn bit(bits: &[u64], place: u64) -> bool {
    bits.get((place >> 6) as usize).is_some_and(|word| word >> (place & 63) & 1 != 0)
}

fn set(bits: &mut [u64], place: u64) {
    if let Some(word) = bits.get_mut((place >> 6) as usize) {
        *word |= 1 << (place & 63);
    }
}

impl Sweep {
    /// Of `code` at `begin`; `functions`: address and size of those that matter, by address.
    pub(crate) fn new(code: &[u8], begin: u64, functions: &[(u64, u64)]) -> Self {
        let words = code.len() / 64 + 1;
        let mut sweep = Self { begin, targets: vec![0; words], loops: vec![0; words] };
        let mut starts = vec![0u64; words];
        for (address, _) in functions {
            set(&mut starts, address.wrapping_sub(begin));
        }
        let mut decoder = Decoder::with_ip(64, code, begin, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            let jumps = matches!(
                instruction.flow_control(),
                FlowControl::ConditionalBranch
                    | FlowControl::UnconditionalBranch
                    | FlowControl::XbeginXabortXend
            );
            if !jumps {
                continue;
            }
            let place = instruction.near_branch_target().wrapping_sub(begin);
            set(&mut sweep.targets, place);
            if bit(&starts, place) {
                let address = begin + place;
                if let Ok(found) = functions.binary_search_by_key(&address, |function| function.0) {
                    let size = functions[found].1;
                    if (address..address + size).contains(&instruction.ip()) {
                        set(&mut sweep.loops, place);
                    }
                }
            }
        }
        sweep
    }

    /// Whether something jumps to a byte after `address` and before `address + length`.
    pub(crate) fn enters(&self, address: u64, length: usize) -> bool {
        (1..length as u64).any(|byte| bit(&self.targets, address - self.begin + byte))
    }

    /// Whether the function at `address` jumps back to it.
    pub(crate) fn loops(&self, address: u64) -> bool {
        bit(&self.loops, address - self.begin)
    }
}
