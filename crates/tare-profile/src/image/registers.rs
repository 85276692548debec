//! What is known of registers in straight-line code: enough to see names that are passed on, and tables of jumps.

use iced_x86::{Code, Instruction, Mnemonic, OpKind, Register};

/// An address that an instruction makes without reading memory.
pub(super) fn pointed(instruction: &Instruction) -> Option<u64> {
    match instruction.mnemonic() {
        Mnemonic::Lea if instruction.is_ip_rel_memory_operand() => Some(instruction.ip_rel_memory_address()),
        Mnemonic::Mov if instruction.op1_kind() == OpKind::Immediate32 => {
            Some(instruction.immediate32().into())
        }
        Mnemonic::Mov if instruction.op1_kind() == OpKind::Immediate32to64 => {
            Some(instruction.immediate32to64() as u64)
        }
        Mnemonic::Push if instruction.op0_kind() == OpKind::Immediate32to64 => {
            Some(instruction.immediate32to64() as u64)
        }
        _ => None,
    }
}

/// Since the last instruction after which nothing is known.
#[derive(Default)]
pub(super) struct Loaded {
    third: Option<u64>,  // rdx
    fourth: Option<u64>, // rcx
    /// Last sum of two registers, or word of a table: where a `switch` goes.
    computed: Register,
}

impl Loaded {
    /// After an instruction that goes on to the next.
    pub(super) fn note(&mut self, instruction: &Instruction) {
        if instruction.op0_kind() != OpKind::Register
            || matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test)
        {
            return;
        }
        let register = instruction.op0_register().full_register();
        match register {
            Register::RDX => self.third = pointed(instruction),
            Register::RCX => self.fourth = pointed(instruction),
            _ => {}
        }
        let sum = matches!(instruction.code(), Code::Add_r64_rm64 | Code::Add_rm64_r64);
        let word = instruction.mnemonic() == Mnemonic::Mov && indexed(instruction);
        if sum || word {
            self.computed = register;
        } else if register == self.computed {
            self.computed = Register::None;
        }
    }

    /// The constant address in a register.
    pub(super) fn address_in(&self, register: Register) -> Option<u64> {
        match register {
            Register::RDX => self.third,
            Register::RCX => self.fourth,
            _ => None,
        }
    }

    /// Whether this jump by pointer stays in its function, as a `switch` does.
    pub(super) fn is_table(&self, jump: &Instruction) -> bool {
        match jump.op0_kind() {
            OpKind::Register => jump.op0_register() == self.computed,
            _ => indexed(jump),
        }
    }
}

/// `table(,%rax,8)`: an entry of a constant table, as opposed to one that a pointer leads to.
fn indexed(instruction: &Instruction) -> bool {
    instruction.memory_index() != Register::None
        && instruction.memory_base() == Register::None
        && instruction.memory_index_scale() == 8
}
