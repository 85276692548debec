//! Where at a function's beginning a probe is cheapest.
//!
//! The kernel emulates pushes, relative jumps and calls, and nops (branch_setup_xol_ops and push_setup_xol_ops of its
//! arch/x86/kernel/uprobes.c). Any other instruction it lets the thread step over, which costs another trap at every
//! entry: in a virtual machine 20 times what the probe itself does. A function is as well entered at the first
//! instruction that is emulated, where it runs straight on to that.

use std::collections::HashSet;

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind,
    Register,
};

use super::exits::is_brief;

/// How many bytes of a function `place` wants to see.
pub(crate) const SEEN: usize = 64;

/// Most bytes between the stack pointer and the return address at a place.
const DEEPEST: u64 = 0xffff << 3;

/// A place for the probe of a function's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// From the function's first byte.
    pub offset: u64,
    /// Bytes from the stack pointer there up to the return address.
    pub distance: u64,
    /// Whether the kernel emulates the instruction there.
    pub emulated: bool,
}

impl Entry {
    fn at(offset: u64, emulated: bool) -> Self {
        Self { offset, distance: 0, emulated }
    }
}

/// For a function that begins with these bytes. Up to the place it runs straight on and leaves, if they are asked for, the
/// arguments in their registers. `joined`: offsets to which jumps lead; without them a push is taken alone, as nothing
/// but a tail call goes back to one at that depth of the stack.
pub(crate) fn place(code: &[u8], arguments: bool, joined: Option<&HashSet<u64>>) -> Entry {
    let first = Entry::at(0, emulated(code));
    if first.emulated {
        return first;
    }
    let mut info = InstructionInfoFactory::new();
    let mut distance = 0;
    for instruction in &mut Decoder::new(64, code, DecoderOptions::NONE) {
        let offset = instruction.ip();
        if offset > 0 && joined.is_some_and(|joined| joined.contains(&offset)) {
            break;
        }
        let push = instruction.code() == Code::Push_r64 && (distance == 0 || joined.is_some());
        let other = joined.is_some() && !is_long_nop(&instruction) && emulated(&code[offset as usize..]);
        if push || other {
            return Entry { offset, distance, emulated: true };
        }
        if instruction.flow_control() != FlowControl::Next || !is_brief(&instruction) {
            break;
        }
        match lowered(&instruction) {
            Some(bytes) => distance += bytes,
            None if changes(&mut info, &instruction, arguments) => break,
            None => {}
        }
        if distance % 8 != 0 || distance > DEEPEST {
            break;
        }
    }
    first
}

/// The kernel may make a call of it (Linux 6.18), which writes below the stack pointer: nothing is there yet at a
/// function's first byte alone.
fn is_long_nop(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Nop && instruction.len() == 5
}

/// By how many bytes it moves the stack pointer down, where it does just that.
fn lowered(instruction: &Instruction) -> Option<u64> {
    let moved = match instruction.mnemonic() {
        Mnemonic::Sub | Mnemonic::Add if instruction.op0_kind() == OpKind::Register => {
            let by = match instruction.op1_kind() {
                OpKind::Immediate8to64 => instruction.immediate8to64(),
                OpKind::Immediate32to64 => instruction.immediate32to64(),
                _ => return None,
            };
            if instruction.mnemonic() == Mnemonic::Add { by.checked_neg()? } else { by }
        }
        Mnemonic::Lea if instruction.memory_index() == Register::None => {
            let from = instruction.memory_base() == Register::RSP;
            (instruction.memory_displacement64() as i64).checked_neg().filter(|_| from)?
        }
        _ => return None,
    };
    let is_stack = instruction.op0_kind() == OpKind::Register && instruction.op0_register() == Register::RSP;
    u64::try_from(moved).ok().filter(|_| is_stack)
}

/// How far into a function of Go its first push is, behind the check of its stack's room: a function that finds too
/// little begins again at its first byte, on a larger stack. `None`: it does not begin so.
pub(crate) fn behind_stack_check(code: &[u8]) -> Option<Entry> {
    let mut checked = false;
    for instruction in &mut Decoder::new(64, code, DecoderOptions::NONE) {
        match instruction.flow_control() {
            _ if instruction.code() == Code::Push_r64 => {
                return checked.then_some(Entry::at(instruction.ip(), true));
            }
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

    /// Where a probe of a function of which no more is known comes to.
    fn alone(code: &[u8], arguments: bool) -> (u64, bool) {
        let found = place(code, arguments, None);
        assert_eq!(found.distance, 0);
        (found.offset, found.emulated)
    }

    #[test]
    fn a_push_behind_what_only_moves_and_compares_is_as_good_a_beginning() {
        // PostgreSQL 18's LWLockAcquire: cmpl, push %r14.
        let acquire = [0x81, 0x3d, 0x16, 0xd4, 0x50, 0, 0xc7, 0, 0, 0, 0x41, 0x56];
        assert_eq!(alone(&acquire, true), (10, true));
        // Its XLogFlush: mov to %rax, mov to %ecx, push %r14.
        let flush = [0x48, 0x8b, 5, 0x71, 0xa, 0x7b, 0, 0x8b, 0x0d, 0x93, 0xb0, 0x79, 0, 0x41, 0x56];
        assert_eq!(alone(&flush, false), (13, true));
        assert_eq!(alone(&flush, true), (0, false), "an argument is gone by then");
        // endbr64, push %r15; lock orl $0, (%rsp), push %rbx.
        assert_eq!(alone(&[0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57], true), (4, true));
        assert_eq!(alone(&[0xf0, 0x83, 0x0c, 0x24, 0, 0x53], true), (5, true));
    }

    #[test]
    fn behind_a_branch_or_a_change_of_the_stack_it_is_not() {
        assert_eq!(alone(&[0x85, 0xff, 0x74, 5, 0x53], false), (0, false), "test, je, push");
        assert_eq!(alone(&[0x48, 0x83, 0xec, 8, 0x53], false), (0, false), "sub from %rsp, push");
        assert_eq!(alone(&[0x31, 0xc0, 0xc3, 0x53], false), (0, false), "xor, ret, another function");
        assert_eq!(alone(&[0x0f, 0x05, 0x53], false), (0, false), "syscall, push");
        assert_eq!(alone(&[0x0f, 0xa2, 0x53], false), (0, false), "cpuid, push");
        assert_eq!(alone(&[0x48, 0x89], false), (0, false), "the end of the file");
    }

    #[test]
    fn where_all_jumps_are_known_any_instruction_that_is_emulated_will_do() {
        let found = |code: &[u8], joined: &[u64]| {
            let entry = place(code, true, Some(&joined.iter().copied().collect()));
            (entry.offset, entry.distance, entry.emulated)
        };
        assert_eq!(found(&[0x85, 0xff, 0x74, 5], &[]), (2, 0, true), "test, je");
        assert_eq!(found(&[0x85, 0xff, 0x74, 5], &[2]), (0, 0, false), "a loop comes back to the je");
        // sub $24,%rsp; xor %eax,%eax; call
        let calls = [0x48, 0x83, 0xec, 24, 0x31, 0xc0, 0xe8, 0, 0, 0, 0];
        assert_eq!(found(&calls, &[]), (6, 24, true));
        assert_eq!(found(&[0x48, 0x83, 0xec, 24, 0xf3, 0xab, 0x74, 0], &[]), (0, 0, false), "rep stos");
        // sub $8,%rsp; a nop of five bytes; push %rbx
        let nops = [0x48, 0x83, 0xec, 8, 0x0f, 0x1f, 0x44, 0, 0, 0x53];
        assert_eq!(found(&nops, &[]), (9, 8, true));
        assert_eq!(found(&[0x48, 0x83, 0xe4, 0xf0, 0x53], &[]), (0, 0, false), "and to %rsp");
    }
}
