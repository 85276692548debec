//! Where at a function's beginning a probe is cheapest.
//!
//! The kernel emulates pushes, relative jumps and calls, and nops (branch_setup_xol_ops and push_setup_xol_ops of its
//! arch/x86/kernel/uprobes.c). Any other instruction it lets the thread step over, which costs another trap at every
//! entry: in a virtual machine 20 times what the probe itself does. A function whose first push comes after some
//! instructions that only move or compare is as well entered there.
//!
//! What the kernel emulates it knows by one byte, which in an instruction of vectors (VEX, EVEX, XOP) means something else:
//! `vpbroadcastb`, with which memset begins where there is AVX-512, has the byte of a conditional jump, and is not
//! executed. No probe may be on such an instruction.

use iced_x86::{
    Code, Decoder, DecoderOptions, EncodingKind, FlowControl, Instruction, InstructionInfoFactory, Register,
};

/// How many bytes of a function `place` wants to see.
pub(crate) const SEEN: usize = 40;

/// How far into a function that begins with these bytes to put its probe, and whether the kernel emulates the
/// instruction there. Up to there it runs straight on and leaves the stack as its caller did and, if they are asked for,
/// the arguments in their registers. Nothing but a tail call goes back to a push at that depth of the stack.
pub(crate) fn place(code: &[u8], arguments: bool) -> (u64, bool) {
    if emulated(code) {
        return (0, true);
    }
    let mut info = InstructionInfoFactory::new();
    for instruction in &mut Decoder::new(64, code, DecoderOptions::NONE) {
        if instruction.code() == Code::Push_r64 {
            return (instruction.ip(), true);
        }
        if instruction.flow_control() != FlowControl::Next || changes(&mut info, &instruction, arguments) {
            break;
        }
    }
    (0, false)
}

/// Whether the kernel may take the instruction with which these bytes begin for another.
pub(crate) fn is_mistaken(code: &[u8]) -> bool {
    let first = Decoder::new(64, code, DecoderOptions::NONE).decode();
    !matches!(first.code().encoding(), EncodingKind::Legacy | EncodingKind::D3NOW)
}

/// How far into a function of Go its first push is, behind the check of its stack's room: a function that finds too
/// little begins again at its first byte, on a larger stack. `None`: it does not begin so.
pub(crate) fn behind_stack_check(code: &[u8]) -> Option<(u64, bool)> {
    let mut checked = false;
    for instruction in &mut Decoder::new(64, code, DecoderOptions::NONE) {
        match instruction.flow_control() {
            _ if instruction.code() == Code::Push_r64 => return checked.then_some((instruction.ip(), true)),
            FlowControl::ConditionalBranch if !checked => checked = true,
            FlowControl::Next if !checked => {}
            _ => return None,
        }
    }
    None
}

/// Whether an instruction changes the stack pointer or, if they are asked for, an argument.
fn changes(info: &mut InstructionInfoFactory, instruction: &Instruction, arguments: bool) -> bool {
    use Register::{R8, R9, RCX, RDI, RDX, RSI, RSP};
    use iced_x86::OpAccess::{CondRead, NoMemAccess, None, Read};
    let used = info.info(instruction);
    used.used_registers().iter().any(|used| {
        let register = used.register().full_register();
        !matches!(used.access(), None | Read | CondRead | NoMemAccess)
            && (register == RSP || arguments && [RDI, RSI, RDX, RCX, R8, R9].contains(&register))
    })
}

/// Whether these bytes begin with an instruction that is emulated.
fn emulated(code: &[u8]) -> bool {
    // At most one prefix is of interest: that of the upper registers, or the one of a nop of two bytes.
    let code = match code {
        [0x66, 0x90, ..] => return true,
        [0x40..=0x4f, rest @ ..] => rest,
        _ => code,
    };
    match code {
        [0x50..=0x57 | 0x70..=0x7f | 0x90 | 0xe8 | 0xe9 | 0xeb, ..] => true,
        [0x0f, second, ..] => matches!(second, 0x80..=0x8f | 0x1f),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_is_emulated_and_a_move_is_not() {
        assert!(emulated(&[0x55]) && emulated(&[0x41, 0x57]), "push %rbp; push %r15");
        assert!(emulated(&[0x0f, 0x1f, 0x44, 0, 0]) && emulated(&[0xe9, 0, 0, 0, 0]), "nop; jmp");
        assert!(!emulated(&[0x48, 0x89, 0xf8]) && !emulated(&[0x48, 0x83, 0xec, 8]), "mov; sub");
        assert!(!emulated(&[0xc3]) && !emulated(&[]), "ret; nothing");
    }

    #[test]
    fn instructions_of_vectors_are_mistaken_for_others_and_no_others_are() {
        assert!(is_mistaken(&[0x62, 0xe2, 0x7d, 0x48, 0x7a, 0xc6]), "vpbroadcastb %esi, %zmm16: jp");
        assert!(is_mistaken(&[0xc5, 0xf9, 0xeb, 0xc1]), "vpor %xmm1, %xmm0, %xmm0: jmp");
        assert!(is_mistaken(&[0xc4, 0xe1, 0xf9, 0x7e, 0xc0]), "vmovq %xmm0, %rax: jle");
        assert!(is_mistaken(&[0xc5, 0xf8, 0x90, 0xc8]), "kmovw %k0, %k1: nop");
        assert!(!is_mistaken(&[0x66, 0x0f, 0xeb, 0xc1]), "por %xmm1, %xmm0");
        assert!(!is_mistaken(&[0x55]) && !is_mistaken(&[0xf3, 0x0f, 0x1e, 0xfa]), "push %rbp; endbr64");
    }

    #[test]
    fn a_push_behind_what_only_moves_and_compares_is_as_good_a_beginning() {
        // PostgreSQL 18's LWLockAcquire: cmpl, push %r14.
        let acquire = [0x81, 0x3d, 0x16, 0xd4, 0x50, 0, 0xc7, 0, 0, 0, 0x41, 0x56];
        assert_eq!(place(&acquire, true), (10, true));
        // Its XLogFlush: mov to %rax, mov to %ecx, push %r14.
        let flush = [0x48, 0x8b, 5, 0x71, 0xa, 0x7b, 0, 0x8b, 0x0d, 0x93, 0xb0, 0x79, 0, 0x41, 0x56];
        assert_eq!(place(&flush, false), (13, true));
        assert_eq!(place(&flush, true), (0, false), "an argument is gone by then");
        // endbr64, push %r15; lock orl $0, (%rsp), push %rbx.
        assert_eq!(place(&[0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57], true), (4, true));
        assert_eq!(place(&[0xf0, 0x83, 0x0c, 0x24, 0, 0x53], true), (5, true));
    }

    #[test]
    fn behind_a_branch_or_a_change_of_the_stack_it_is_not() {
        assert_eq!(place(&[0x85, 0xff, 0x74, 5, 0x53], false), (0, false), "test, je, push");
        assert_eq!(place(&[0x48, 0x83, 0xec, 8, 0x53], false), (0, false), "sub from %rsp, push");
        assert_eq!(place(&[0x31, 0xc0, 0xc3, 0x53], false), (0, false), "xor, ret, another function");
        assert_eq!(place(&[0x0f, 0x05, 0x53], false), (0, false), "syscall, push");
        assert_eq!(place(&[0x48, 0x89], false), (0, false), "the end of the file");
    }
}
