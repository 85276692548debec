//! Where XRay's entry trampoline has put what an instrumented function was called with. It saves the registers on the
//! stack before it calls the handler, at places that differ between LLVM's releases; so they are read off its code.

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

/// Bytes of code that are looked at: the newest trampoline saves all registers in 170.
const LONGEST: usize = 512;

/// An entry sled that is patched: `mov r10d, id` and `call trampoline`.
const SLED_BYTES: usize = 11;

/// Registers of integer arguments, in order.
const ARGUMENTS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];

/// The trampoline's frame, seen from the handler; `hot/hot.h` has the same within `struct sleds`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Bytes from where the registers are to the return address into the sled, above which is the function's own.
    sled: u64,
    /// Bytes from there to each argument.
    arguments: [u64; 6],
    /// Bytes that were left out below the registers, so that the stack is aligned.
    padding: u64,
    /// 1: the stack was aligned by force, and the place of the registers is kept on it.
    forced: u64,
}

impl Frame {
    /// Of the trampoline that this sled calls; `None` where that is no sled that is patched, or not understood.
    ///
    /// # Safety
    /// Code can be read at `sled` and at what it calls.
    pub unsafe fn of_sled(sled: usize) -> Option<Self> {
        // SAFETY: as asked for.
        let code: [u8; SLED_BYTES] = unsafe { std::ptr::read(sled as *const _) };
        let [0x41, 0xba, _, _, _, _, 0xe8, distance @ ..] = code else { return None };
        let target = (sled + SLED_BYTES).wrapping_add_signed(i32::from_le_bytes(distance) as isize);
        // SAFETY: code goes on to the page's end at least, and XRay's functions follow its trampolines.
        Self::read(unsafe { std::slice::from_raw_parts(target as *const u8, LONGEST) })
    }

    /// From the trampoline's code.
    fn read(code: &[u8]) -> Option<Self> {
        let (mut depth, mut forced, mut saved_at) = (0_u64, 0, 0);
        let mut saved: [Option<u64>; 6] = [None; 6];
        for instruction in &mut Decoder::new(64, code, DecoderOptions::NONE) {
            match instruction.mnemonic() {
                Mnemonic::Call => break,
                Mnemonic::INVALID | Mnemonic::Ret => return None,
                Mnemonic::Push | Mnemonic::Pushfq => depth += 8,
                Mnemonic::Sub if instruction.op0_register() == Register::RSP => {
                    depth += instruction.immediate(1);
                }
                Mnemonic::And if instruction.op0_register() == Register::RSP => forced = 1,
                Mnemonic::Mov => {
                    if let Some((which, at)) = saves_argument(&instruction) {
                        saved_at = depth;
                        saved[which].get_or_insert(at);
                    }
                }
                _ => {}
            }
        }
        let arguments = saved.map(|at| at.unwrap_or(u64::MAX));
        let whole = !arguments.contains(&u64::MAX) && saved_at > 0;
        whole.then_some(Self { sled: saved_at, arguments, padding: depth - saved_at, forced })
    }
}

/// `mov [rsp + at], argument`: which one, and where to.
fn saves_argument(instruction: &Instruction) -> Option<(usize, u64)> {
    let to_stack = instruction.code() == Code::Mov_rm64_r64
        && instruction.op0_kind() == OpKind::Memory
        && instruction.memory_base() == Register::RSP
        && instruction.memory_index() == Register::None;
    let which = ARGUMENTS.iter().position(|one| *one == instruction.op1_register())?;
    to_stack.then(|| (which, instruction.memory_displacement64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// push; pushf; sub rsp, 240; the saves; call rax: as LLVM 20 and later have it.
    const ALIGNED: &[u8] = &[
        0x48, 0x83, 0xec, 0x08, // sub rsp, 8
        0x9c, // pushfq
        0x48, 0x81, 0xec, 0xf0, 0, 0, 0, // sub rsp, 240
        0x48, 0x89, 0xac, 0x24, 0xe8, 0, 0, 0, // mov [rsp+232], rbp
        0x48, 0x89, 0x7c, 0x24, 0x60, // mov [rsp+96], rdi
        0x48, 0x89, 0x54, 0x24, 0x50, // mov [rsp+80], rdx
        0x48, 0x89, 0x74, 0x24, 0x48, // mov [rsp+72], rsi
        0x48, 0x89, 0x4c, 0x24, 0x40, // mov [rsp+64], rcx
        0x4c, 0x89, 0x44, 0x24, 0x38, // mov [rsp+56], r8
        0x4c, 0x89, 0x4c, 0x24, 0x30, // mov [rsp+48], r9
        0xff, 0xd0, // call rax
        0xc3,
    ];

    #[test]
    fn the_places_of_arguments_are_those_of_the_code() {
        let frame = Frame::read(ALIGNED).unwrap();
        assert_eq!(frame, Frame { sled: 256, arguments: [96, 72, 80, 64, 56, 48], padding: 0, forced: 0 });
    }

    #[test]
    fn room_left_below_the_registers_is_seen() {
        let mut code = ALIGNED[4..ALIGNED.len() - 3].to_vec();
        code.extend([0x48, 0x83, 0xec, 0x08, 0xff, 0xd0]); // sub rsp, 8; call rax: LLVM 19
        let frame = Frame::read(&code).unwrap();
        let expected = Frame { sled: 248, arguments: [96, 72, 80, 64, 56, 48], padding: 8, forced: 0 };
        assert_eq!(frame, expected);
    }

    #[test]
    fn a_stack_aligned_by_force_is_seen() {
        let mut code = ALIGNED[4..ALIGNED.len() - 3].to_vec();
        code.extend([0x54, 0xff, 0x34, 0x24, 0x48, 0x83, 0xe4, 0xf0, 0xff, 0xd0]); // push rsp; push [rsp]; and rsp, -16
        let frame = Frame::read(&code).unwrap();
        assert_eq!(frame, Frame { sled: 248, arguments: [96, 72, 80, 64, 56, 48], padding: 16, forced: 1 });
    }

    #[test]
    fn code_that_saves_nothing_is_not_understood() {
        assert_eq!(Frame::read(&[0xff, 0xd0]), None);
        assert_eq!(Frame::read(&[0xc3]), None);
        assert_eq!(Frame::read(&ALIGNED[..40]), None);
    }
}
