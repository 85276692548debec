//! What an instruction does to the flow of control.

use iced_x86::{Code, FlowControl, Instruction, Mnemonic, OpKind, Register};

/// Where a direct jump leads to.
pub(super) fn target(instruction: &Instruction) -> Option<u64> {
    let jumps = matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend
    );
    (jumps && instruction.op_count() > 0 && is_near(instruction)).then(|| instruction.near_branch_target())
}

fn is_near(instruction: &Instruction) -> bool {
    matches!(instruction.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64)
}

/// Whether it jumps by a pointer that is not in a place of its own, as those to other libraries' functions are.
pub(super) fn is_by_pointer(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::IndirectBranch && !instruction.is_ip_rel_memory_operand()
}

/// Whether the next instruction follows it.
pub(super) fn goes_on(instruction: &Instruction) -> bool {
    match instruction.flow_control() {
        FlowControl::Next
        | FlowControl::Call
        | FlowControl::IndirectCall
        | FlowControl::ConditionalBranch
        | FlowControl::Interrupt
        | FlowControl::XbeginXabortXend => true,
        FlowControl::UnconditionalBranch
        | FlowControl::IndirectBranch
        | FlowControl::Return
        | FlowControl::Exception => false,
    }
}

/// Whether it is an instruction that programs have; not one that goes to another segment.
pub(super) fn is_known(instruction: &Instruction) -> bool {
    let far = match instruction.flow_control() {
        FlowControl::Return => instruction.mnemonic() != Mnemonic::Ret,
        FlowControl::UnconditionalBranch => !is_near(instruction),
        FlowControl::IndirectBranch => !instruction.is_jmp_near_indirect(),
        _ => false,
    };
    !instruction.is_invalid() && !far
}

/// What assemblers and linkers fill up with, and what stands where a compiler knows that nothing comes.
pub(super) fn is_padding(instruction: &Instruction) -> bool {
    match instruction.mnemonic() {
        Mnemonic::Nop | Mnemonic::Int3 | Mnemonic::Ud2 | Mnemonic::Endbr64 => true,
        Mnemonic::Xchg => instruction.op0_register() == instruction.op1_register(),
        Mnemonic::Lea => {
            instruction.code() == Code::Lea_r64_m
                && instruction.memory_base() == instruction.op0_register()
                && instruction.memory_index() == Register::None
                && instruction.memory_displacement64() == 0
        }
        _ => false,
    }
}
