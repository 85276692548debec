//! Places at which a function leaves, so that its end is seen without replacing the return address on its stack.
//!
//! A `ret` is such a place, but the kernel has to step over it, which costs another trap. Relative jumps it emulates: a
//! jump into an epilogue that goes straight to a `ret` decides for the exit just as well, and by then the distance from
//! the stack pointer to the return address is known. Jumps inside loops are not used: they would trap on every turn.

use std::collections::HashSet;

use iced_x86::{
    Code, ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};

use super::registers::Loaded;

/// Most jumps that stand for one `ret`: each one traps once a call, and the step over a `ret` costs some ten traps.
const MOST_JUMPS: usize = 6;

/// Register from which the address of the return address is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    StackPointer,
    FramePointer,
}

/// Way in which a place leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    /// A `ret`, or a jump that leads straight to one.
    Return,
    /// A jump into another function. One within a function may look so, and is told by its stack pointer.
    TailCall,
}

/// A place at which a function may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit {
    /// From the function's first byte.
    pub offset: u64,
    pub base: Base,
    /// Bytes from `base` up to the return address.
    pub distance: i32,
    /// Condition under which it leaves, as in the instruction's encoding (0 to 15); `None`: always.
    pub condition: Option<u8>,
    pub leave: Leave,
    /// The kernel emulates the instruction there, and does not step over it.
    pub emulated: bool,
}

/// A function whose ways out cannot all be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Its bytes are no instructions that are known.
    Code,
    /// It never leaves.
    NoExit,
}

/// Places at which the function with this code leaves, in order of their addresses.
pub(crate) fn read(code: &[u8]) -> Result<Vec<Exit>, Unreadable> {
    let body = Body::decode(code).ok_or(Unreadable::Code)?;
    let mut exits = Vec::new();
    for (place, instruction) in body.instructions.iter().enumerate() {
        match instruction.flow_control() {
            FlowControl::Return => match body.jumps_to(place) {
                Some(jumps) => exits.extend(jumps),
                None => exits.push(exit(instruction, Leave::Return, false)),
            },
            FlowControl::UnconditionalBranch if body.leaves(instruction) => {
                exits.push(exit(instruction, Leave::TailCall, true));
            }
            FlowControl::ConditionalBranch if body.leaves(instruction) && !body.in_loop(instruction) => {
                exits.push(Exit {
                    condition: condition(instruction),
                    ..exit(instruction, Leave::TailCall, true)
                });
            }
            FlowControl::IndirectBranch if !body.tables.contains(&instruction.ip()) => {
                exits.push(exit(instruction, Leave::TailCall, false));
            }
            _ => {}
        }
    }
    exits.sort_unstable_by_key(|exit| exit.offset);
    exits.dedup();
    if exits.is_empty() { Err(Unreadable::NoExit) } else { Ok(exits) }
}

fn exit(instruction: &Instruction, leave: Leave, emulated: bool) -> Exit {
    Exit { offset: instruction.ip(), base: Base::StackPointer, distance: 0, condition: None, leave, emulated }
}

/// The function, decoded from address 0 on.
struct Body {
    instructions: Vec<Instruction>,
    length: u64,
    /// Targets of direct jumps within it.
    targets: HashSet<u64>,
    /// Jumps by pointer that stay within it, as a `switch` does.
    tables: HashSet<u64>,
    /// Of each jump backwards: from its target to itself.
    loops: Vec<(u64, u64)>,
}

impl Body {
    /// `None` where a byte is no part of an instruction.
    fn decode(code: &[u8]) -> Option<Self> {
        let mut body = Self {
            instructions: Vec::new(),
            length: code.len() as u64,
            targets: HashSet::new(),
            tables: HashSet::new(),
            loops: Vec::new(),
        };
        let mut loaded = Loaded::default();
        for instruction in Decoder::with_ip(64, code, 0, DecoderOptions::NONE).iter() {
            if instruction.is_invalid() {
                return None;
            }
            match instruction.flow_control() {
                FlowControl::Next => loaded.note(&instruction),
                FlowControl::IndirectBranch => {
                    if loaded.is_table(&instruction) {
                        body.tables.insert(instruction.ip());
                    }
                    loaded = Loaded::default();
                }
                FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
                    let target = instruction.near_branch_target();
                    if target < body.length {
                        body.targets.insert(target);
                    }
                    if target <= instruction.ip() {
                        body.loops.push((target, instruction.ip()));
                    }
                    if instruction.flow_control() == FlowControl::UnconditionalBranch {
                        loaded = Loaded::default();
                    }
                }
                _ => loaded = Loaded::default(),
            }
            body.instructions.push(instruction);
        }
        Some(body)
    }

    fn leaves(&self, jump: &Instruction) -> bool {
        jump.near_branch_target() >= self.length
    }

    fn in_loop(&self, instruction: &Instruction) -> bool {
        let at = instruction.ip();
        !self.tables.is_empty() || self.loops.iter().any(|(from, to)| (*from..=*to).contains(&at))
    }

    /// Jumps of which exactly one is taken on each way to this `ret`; `None` where there are ways without one.
    fn jumps_to(&self, ret: usize) -> Option<Vec<Exit>> {
        if !self.tables.is_empty() {
            return None; // nobody knows where in the function these lead
        }
        let (mut base, mut distance) = (Base::StackPointer, 0);
        let mut jumps = Vec::new();
        let mut at = ret;
        loop {
            // `base` and `distance` are those in front of the instruction `at`.
            let address = self.instructions[at].ip();
            if self.targets.contains(&address) {
                let here = |jump: &&Instruction| {
                    matches!(
                        jump.flow_control(),
                        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
                    ) && jump.near_branch_target() == address
                };
                for jump in self.instructions.iter().filter(here) {
                    let sure = jump.flow_control() == FlowControl::UnconditionalBranch;
                    if !relative(jump) || !sure && self.in_loop(jump) {
                        return None;
                    }
                    let condition = condition(jump);
                    jumps.push(Exit { base, distance, condition, ..exit(jump, Leave::Return, true) });
                }
            }
            let before = &self.instructions[at.checked_sub(1)?];
            match before.flow_control() {
                FlowControl::Next => (base, distance) = undone(before, base, distance)?,
                // It falls through to here where its condition does not hold.
                FlowControl::ConditionalBranch => {
                    if !relative(before) || self.in_loop(before) {
                        return None;
                    }
                    let condition = condition(before).map(|condition| condition ^ 1);
                    jumps.push(Exit { base, distance, condition, ..exit(before, Leave::Return, true) });
                    break;
                }
                FlowControl::UnconditionalBranch | FlowControl::Return | FlowControl::IndirectBranch => break,
                _ => return None,
            }
            at -= 1;
        }
        (!jumps.is_empty() && jumps.len() <= MOST_JUMPS).then_some(jumps)
    }
}

/// Whether it is a jump that the kernel emulates: it does not know `loop` and `jrcxz`.
fn relative(jump: &Instruction) -> bool {
    jump.is_jmp_short_or_near() || jump.is_jcc_short_or_near()
}

/// Distance to the return address before an instruction, from that after it. `None` where it cannot be told.
fn undone(instruction: &Instruction, base: Base, distance: i32) -> Option<(Base, i32)> {
    let register = || instruction.op0_register();
    match instruction.mnemonic() {
        Mnemonic::Leave if base == Base::StackPointer => Some((Base::FramePointer, distance + 8)),
        Mnemonic::Pop if instruction.code() == Code::Pop_r64 => match base {
            Base::StackPointer if register() != Register::RSP => Some((base, distance + 8)),
            _ => None,
        },
        Mnemonic::Add if instruction.op0_kind() == OpKind::Register && register() == Register::RSP => {
            let added = match instruction.op1_kind() {
                OpKind::Immediate8to64 => instruction.immediate8to64(),
                OpKind::Immediate32to64 => instruction.immediate32to64(),
                _ => return None,
            };
            (base == Base::StackPointer).then_some((base, distance + i32::try_from(added).ok()?))
        }
        Mnemonic::Lea if register() == Register::RSP => {
            let plain = instruction.memory_index() == Register::None && base == Base::StackPointer;
            let moved = instruction.memory_displacement64() as i64 as i32;
            match instruction.memory_base() {
                Register::RBP if plain => Some((Base::FramePointer, distance + moved)),
                Register::RSP if plain => Some((base, distance + moved)),
                _ => None,
            }
        }
        Mnemonic::Push | Mnemonic::Enter | Mnemonic::Pushfq | Mnemonic::Popfq | Mnemonic::Leave => None,
        _ => {
            let writes = instruction.op_count() > 0
                && instruction.op0_kind() == OpKind::Register
                && !matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test);
            let written = if writes { register().full_register() } else { Register::None };
            let spoils = written == Register::RSP
                || written == Register::RBP && base == Base::FramePointer
                || matches!(instruction.mnemonic(), Mnemonic::Xchg | Mnemonic::Xadd);
            (!spoils).then_some((base, distance))
        }
    }
}

/// As the instruction's encoding has it; `None` for jumps without one.
fn condition(jump: &Instruction) -> Option<u8> {
    Some(match jump.condition_code() {
        ConditionCode::None => return None,
        ConditionCode::o => 0,
        ConditionCode::no => 1,
        ConditionCode::b => 2,
        ConditionCode::ae => 3,
        ConditionCode::e => 4,
        ConditionCode::ne => 5,
        ConditionCode::be => 6,
        ConditionCode::a => 7,
        ConditionCode::s => 8,
        ConditionCode::ns => 9,
        ConditionCode::p => 10,
        ConditionCode::np => 11,
        ConditionCode::l => 12,
        ConditionCode::ge => 13,
        ConditionCode::le => 14,
        ConditionCode::g => 15,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(code: &[u8]) -> Vec<(u64, i32, Option<u8>)> {
        read(code).unwrap().iter().map(|exit| (exit.offset, exit.distance, exit.condition)).collect()
    }

    #[test]
    fn a_ret_behind_a_call_is_watched_itself() {
        // sub $8,%rsp; call; add $8,%rsp; ret
        let code = [0x48, 0x83, 0xec, 8, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3];
        let [exit] = read(&code).unwrap()[..] else { panic!() };
        assert_eq!((exit.offset, exit.distance, exit.emulated), (13, 0, false));
    }

    #[test]
    fn a_branch_past_an_epilogue_stands_for_its_ret() {
        // push %rbx; test %edi,%edi; jne 1f; pop %rbx; ret; 1: call; jmp to the pop
        let code = [0x53, 0x85, 0xff, 0x75, 2, 0x5b, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf7];
        assert_eq!(offsets(&code), [(3, 8, Some(4)), (12, 8, None)], "falls through where equal; jumps back");
        assert!(read(&code).unwrap().iter().all(|exit| exit.emulated));
    }

    #[test]
    fn a_frame_pointer_tells_the_distance_where_the_stack_pointer_does_not() {
        // test; jne +2; leave; ret; ud2
        let code = [0x85, 0xff, 0x75, 2, 0xc9, 0xc3, 0x0f, 0x0b];
        let [exit] = read(&code).unwrap()[..] else { panic!() };
        assert_eq!((exit.base, exit.distance), (Base::FramePointer, 8));
    }

    #[test]
    fn a_branch_in_a_loop_would_trap_on_every_turn_and_is_not_used() {
        // 0: dec %edi; je 6; jmp 0; 6: ret
        let code = [0xff, 0xcf, 0x74, 2, 0xeb, 0xfa, 0xc3];
        let [exit] = read(&code).unwrap()[..] else { panic!() };
        assert_eq!((exit.offset, exit.emulated), (6, false));
    }

    #[test]
    fn a_jump_out_of_the_function_is_a_tail_call() {
        // jmp far ahead
        let [exit] = read(&[0xe9, 0, 1, 0, 0]).unwrap()[..] else { panic!() };
        assert_eq!((exit.leave, exit.emulated), (Leave::TailCall, true));
        // jmp *%rax
        let [exit] = read(&[0xff, 0xe0]).unwrap()[..] else { panic!() };
        assert_eq!((exit.leave, exit.emulated), (Leave::TailCall, false));
    }

    #[test]
    fn what_never_leaves_and_what_is_no_code_are_told_apart() {
        assert_eq!(read(&[0xe8, 0, 0, 0, 0]), Err(Unreadable::NoExit));
        assert_eq!(read(&[0x06]), Err(Unreadable::Code));
    }
}
