//! The first instructions of a function, made to work elsewhere: a jump of 5 bytes takes their place.

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, FlowControl, Instruction,
    InstructionBlock, Mnemonic, Register,
};
use tare_rings::Refusal;

/// Of the jump that is written over a function's entry.
pub(crate) const JUMP: usize = 5;

/// What the jump displaces.
#[derive(Debug, Clone)]
pub(crate) struct Displaced {
    instructions: Vec<Instruction>,
    /// A call at the end: its return address must be the one that it would have had.
    call: Option<Instruction>,
    /// Whether control never comes past them.
    ends: bool,
    /// How many bytes of the function they are.
    pub(crate) length: usize,
}

impl Displaced {
    /// Decodes the entry of a function at `address`, of `size` bytes (0: not known). `code`: its bytes, as many as there
    /// are, or more.
    pub(crate) fn read(code: &[u8], address: u64, size: usize) -> Result<Self, Refusal> {
        let mut decoder =
            Decoder::with_ip(64, &code[..code.len().min(JUMP + 32)], address, DecoderOptions::NONE);
        let mut displaced = Self { instructions: Vec::new(), call: None, ends: false, length: 0 };
        while displaced.length < JUMP {
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                return Err(if displaced.ends { Refusal::Short } else { Refusal::NotCode });
            }
            let padding = matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3);
            if displaced.ends {
                // After the last instruction up to the next function nothing runs; anything else is not ours.
                if !padding {
                    return Err(Refusal::Short);
                }
                displaced.length += instruction.len();
                continue;
            }
            if instruction.code() == Code::Int3 {
                return Err(Refusal::Breakpoint);
            }
            if size != 0 && displaced.length >= size {
                return Err(Refusal::Short);
            }
            displaced.length += instruction.len();
            if instruction.is_call_near() || instruction.is_call_near_indirect() {
                let stack = |register| matches!(register, Register::RSP | Register::ESP | Register::SP);
                if displaced.length < JUMP
                    || stack(instruction.memory_base())
                    || stack(instruction.op0_register())
                {
                    return Err(Refusal::Fixed);
                }
                displaced.call = Some(instruction);
                continue;
            }
            match instruction.flow_control() {
                FlowControl::Return
                | FlowControl::UnconditionalBranch
                | FlowControl::IndirectBranch
                | FlowControl::Exception => displaced.ends = true,
                FlowControl::Interrupt | FlowControl::XbeginXabortXend => return Err(Refusal::Fixed),
                _ => {}
            }
            displaced.instructions.push(instruction);
        }
        Ok(displaced)
    }

    /// Their code at `place`, and after it the way back.
    pub(crate) fn encode(&self, address: u64, place: u64) -> Result<Vec<u8>, Refusal> {
        let mut code = encode(&self.instructions, place)?;
        let back = address + self.length as u64;
        if let Some(call) = &self.call {
            // A call for the processor's prediction of returns; then its return address is made the one in the function,
            // for whoever unwinds the stack. A call to the very next instruction would not count as one.
            code.extend([0xe8, 1, 0, 0, 0, 0xcc]);
            code.extend([0xc7, 0x04, 0x24]);
            code.extend((back as u32).to_le_bytes());
            code.extend([0xc7, 0x44, 0x24, 0x04]);
            code.extend(((back >> 32) as u32).to_le_bytes());
            let mut jump = *call;
            match call.code() {
                Code::Call_rel32_64 => {
                    jump = Instruction::with_branch(Code::Jmp_rel32_64, call.near_branch_target())
                        .map_err(|_| Refusal::Fixed)?;
                }
                Code::Call_rm64 => jump.set_code(Code::Jmp_rm64),
                _ => return Err(Refusal::Fixed),
            }
            code.extend(encode(&[jump], place + code.len() as u64)?);
        } else if !self.ends {
            let from = place + code.len() as u64 + JUMP as u64;
            code.push(0xe9);
            code.extend(reach(from, back)?.to_le_bytes());
        }
        Ok(code)
    }
}

/// From the end of an instruction to what it names.
pub(crate) fn reach(from: u64, to: u64) -> Result<i32, Refusal> {
    i32::try_from(to.wrapping_sub(from) as i64).map_err(|_| Refusal::Far)
}

fn encode(instructions: &[Instruction], place: u64) -> Result<Vec<u8>, Refusal> {
    if instructions.is_empty() {
        return Ok(Vec::new());
    }
    BlockEncoder::encode(64, InstructionBlock::new(instructions, place), BlockEncoderOptions::NONE)
        .map(|block| block.code_buffer)
        .map_err(|_| Refusal::Fixed)
}
