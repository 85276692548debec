//! Places at which a function leaves, so that its end is seen without replacing the return address on its stack.
//!
//! A `ret` is such a place, but the kernel has to step over it, which costs another trap. Relative jumps it emulates: a
//! jump into an epilogue that goes straight to a `ret` decides for the exit just as well, and by then the distance from
//! the stack pointer to the return address is known. Jumps inside loops are not used: they would trap on every turn.
//! What runs between the jump and the `ret` is not in the function's time, so it is little: a copy of a string by `rep
//! movsb` is no epilogue.

use iced_x86::{Code, ConditionCode, FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::flow::{Flow, Unreadable};

/// Most jumps that stand for one `ret`: each one traps once a call, and the step over a `ret` costs some ten traps.
const MOST_JUMPS: usize = 6;

/// Most instructions from such a jump up to its `ret`. Of PostgreSQL 18's and MariaDB 10.11's, 2% have more.
const LONGEST_EPILOGUE: usize = 16;

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
    /// Its file's own.
    pub address: u64,
    pub base: Base,
    /// Bytes from `base` up to the return address.
    pub distance: i32,
    /// Condition under which it leaves, as in the instruction's encoding (0 to 15); `None`: always.
    pub condition: Option<u8>,
    pub leave: Leave,
    /// The kernel emulates the instruction there, and does not step over it.
    pub emulated: bool,
}

/// Places at which a function leaves, in order of their addresses.
pub(crate) fn read(flow: &Flow) -> Result<Vec<Exit>, Unreadable> {
    let mut exits = Vec::new();
    for (place, instruction) in flow.instructions.iter().enumerate() {
        match instruction.flow_control() {
            FlowControl::Return => match jumps_to(flow, place) {
                Some(jumps) => exits.extend(jumps),
                None => exits.push(exit(instruction, Leave::Return, false)),
            },
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch if flow.leaves(instruction) => {
                // Of `loop` and `jrcxz` the flags do not tell whether they are taken.
                if !relative(instruction) {
                    return Err(Unreadable::Code);
                }
                let condition = condition(instruction);
                exits.push(Exit { condition, ..exit(instruction, Leave::TailCall, true) });
            }
            FlowControl::IndirectBranch if !flow.is_switch(instruction) => {
                exits.push(exit(instruction, Leave::TailCall, false));
            }
            _ => {}
        }
    }
    exits.sort_unstable_by_key(|exit| exit.address);
    exits.dedup();
    if exits.is_empty() { Err(Unreadable::NoExit) } else { Ok(exits) }
}

fn exit(instruction: &Instruction, leave: Leave, emulated: bool) -> Exit {
    Exit {
        address: instruction.ip(),
        base: Base::StackPointer,
        distance: 0,
        condition: None,
        leave,
        emulated,
    }
}

/// Jumps of which exactly one is taken on each way to this `ret`; `None` where there are ways without one.
fn jumps_to(flow: &Flow, ret: usize) -> Option<Vec<Exit>> {
    let (mut base, mut distance) = (Base::StackPointer, 0);
    let mut jumps = Vec::new();
    let mut at = ret;
    for _ in 0..LONGEST_EPILOGUE {
        // `base` and `distance` are those in front of the instruction `at`.
        let address = flow.instructions[at].ip();
        if flow.is_led_to(address) {
            return None;
        }
        let stands_for = |place: usize, inverted: u8| {
            let jump = &flow.instructions[place];
            let sure = jump.flow_control() == FlowControl::UnconditionalBranch;
            let usable = relative(jump) && (sure || !flow.is_in_loop(place));
            let condition = condition(jump).map(|condition| condition ^ inverted);
            usable.then(|| Exit { base, distance, condition, ..exit(jump, Leave::Return, true) })
        };
        for place in flow.jumps_to(address) {
            jumps.push(stands_for(*place, 0)?);
        }
        let before = flow.before(at);
        match before.map(|before| flow.instructions[before].flow_control()) {
            Some(FlowControl::Next) if is_brief(&flow.instructions[before?]) => {
                (base, distance) = undone(&flow.instructions[before?], base, distance)?;
                at = before?;
                continue;
            }
            // It falls through to here where its condition does not hold.
            Some(FlowControl::ConditionalBranch) => jumps.push(stands_for(before?, 1)?),
            Some(_) => return None,
            None => {}
        }
        return (!jumps.is_empty() && jumps.len() <= MOST_JUMPS).then_some(jumps);
    }
    None
}

/// Whether it takes some ns at most: no loop in itself, no wait, nothing that a hypervisor carries out.
pub(super) fn is_brief(instruction: &Instruction) -> bool {
    use Mnemonic::{Cpuid, Pause, Rdrand, Rdseed, Tpause, Umwait};
    let waits = matches!(instruction.mnemonic(), Cpuid | Pause | Rdrand | Rdseed | Tpause | Umwait);
    !waits && !instruction.is_string_instruction()
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
    use super::super::around::Around;
    use super::super::flow::Stretch;
    use super::*;

    fn exits(code: &[u8]) -> Result<Vec<Exit>, Unreadable> {
        let stretch = Stretch { address: 0, code: code.to_vec() };
        read(&Flow::read(vec![stretch], &Around::default(), false)?)
    }

    fn places(code: &[u8]) -> Vec<(u64, i32, Option<u8>)> {
        exits(code).unwrap().iter().map(|exit| (exit.address, exit.distance, exit.condition)).collect()
    }

    #[test]
    fn a_ret_behind_a_call_is_watched_itself() {
        // sub $8,%rsp; call; add $8,%rsp; ret
        let code = [0x48, 0x83, 0xec, 8, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3];
        let [exit] = exits(&code).unwrap()[..] else { panic!() };
        assert_eq!((exit.address, exit.distance, exit.emulated), (13, 0, false));
    }

    #[test]
    fn a_branch_past_an_epilogue_stands_for_its_ret() {
        // push %rbx; test %edi,%edi; jne 1f; pop %rbx; ret; 1: call; jmp to the pop
        let code = [0x53, 0x85, 0xff, 0x75, 2, 0x5b, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf7];
        assert_eq!(places(&code), [(3, 8, Some(4)), (12, 8, None)], "falls through where equal; jumps back");
        assert!(exits(&code).unwrap().iter().all(|exit| exit.emulated));
    }

    #[test]
    fn a_frame_pointer_tells_the_distance_where_the_stack_pointer_does_not() {
        // test; jne +2; leave; ret; ud2
        let code = [0x85, 0xff, 0x75, 2, 0xc9, 0xc3, 0x0f, 0x0b];
        let [exit] = exits(&code).unwrap()[..] else { panic!() };
        assert_eq!((exit.base, exit.distance), (Base::FramePointer, 8));
    }

    #[test]
    fn a_branch_in_a_loop_would_trap_on_every_turn_and_is_not_used() {
        // 0: dec %edi; je 6; jmp 0; 6: ret
        let code = [0xff, 0xcf, 0x74, 2, 0xeb, 0xfa, 0xc3];
        let [exit] = exits(&code).unwrap()[..] else { panic!() };
        assert_eq!((exit.address, exit.emulated), (6, false));
    }

    #[test]
    fn what_takes_long_is_no_epilogue() {
        let behind_a_jump = |behind: &[u8]| {
            // test %edi,%edi; jne past the ret; …; ret; ud2
            let code = [&[0x85, 0xff, 0x75, behind.len() as u8 + 1], behind, &[0xc3, 0x0f, 0x0b]].concat();
            exits(&code).unwrap()[0].address
        };
        let ret = |behind: &[u8]| 4 + behind.len() as u64;
        let (brief, long) = ([0x90; LONGEST_EPILOGUE - 1], [0x90; LONGEST_EPILOGUE]);
        assert_eq!(behind_a_jump(&brief), 2);
        assert_eq!(behind_a_jump(&long), ret(&long));
        for slow in [&[0xf3, 0xa4][..], &[0xf3, 0x90], &[0x0f, 0xa2], &[0x0f, 0xc7, 0xf0]] {
            assert_eq!(behind_a_jump(slow), ret(slow), "rep movsb, pause, cpuid, rdrand");
        }
    }

    #[test]
    fn a_ret_that_the_entry_runs_on_to_has_no_jump_in_its_place() {
        // xor %eax,%eax; 2: ret; and a jump to it that is not reached but for the first byte: test; je 2
        let code = [0x31, 0xc0, 0xc3];
        assert_eq!(places(&code), [(2, 0, None)]);
        // 0: xor %eax,%eax; 2: test; je 7; jmp 2; 7: ret: only the branch in the loop leads there.
        let code = [0x31, 0xc0, 0x85, 0xff, 0x74, 2, 0xeb, 0xfa, 0xc3];
        assert_eq!(places(&code), [(8, 0, None)]);
    }

    #[test]
    fn a_jump_out_of_the_function_is_a_tail_call() {
        // jmp far ahead
        let [exit] = exits(&[0xe9, 0, 1, 0, 0]).unwrap()[..] else { panic!() };
        assert_eq!((exit.leave, exit.emulated), (Leave::TailCall, true));
        // jmp *%rax
        let [exit] = exits(&[0xff, 0xe0]).unwrap()[..] else { panic!() };
        assert_eq!((exit.leave, exit.emulated), (Leave::TailCall, false));
    }

    #[test]
    fn data_among_code_is_no_exit_and_keeps_a_function_from_being_watched() {
        // jmp 4; .byte 0xc3, 0x90; 4: ret
        assert_eq!(exits(&[0xeb, 2, 0xc3, 0x90, 0xc3]), Err(Unreadable::Unreached(2)));
        // jmp 4; nop; nop; 4: ret
        assert_eq!(places(&[0xeb, 2, 0x90, 0x90, 0xc3]), [(0, 0, None)]);
    }

    #[test]
    fn a_part_elsewhere_that_comes_back_belongs_to_its_function() {
        // 0: test; jne 0x100; 4: ret; and there: call; jmp 4
        let hot = Stretch { address: 0, code: vec![0x85, 0xff, 0x0f, 0x85, 0xf8, 0, 0, 0, 0xc3] };
        let cold = Stretch { address: 0x100, code: vec![0xe8, 0, 0, 0, 0, 0xe9, 0xfe, 0xfe, 0xff, 0xff] };
        let flow = Flow::read(vec![hot.clone(), cold], &Around::default(), false).unwrap();
        let found: Vec<_> = read(&flow).unwrap().iter().map(|exit| (exit.address, exit.leave)).collect();
        assert_eq!(found, [(2, Leave::Return), (0x105, Leave::Return)]);
        let flow = Flow::read(vec![hot], &Around::default(), false).unwrap();
        assert_eq!(read(&flow).unwrap()[0].leave, Leave::TailCall, "without it, it seems to leave");
    }

    #[test]
    fn what_never_leaves_what_is_no_code_and_what_runs_on_are_told_apart() {
        assert_eq!(exits(&[0xe8, 0, 0, 0, 0]), Err(Unreadable::NoExit));
        assert_eq!(exits(&[0x06]), Err(Unreadable::Code));
        assert_eq!(exits(&[0x31, 0xc0]), Err(Unreadable::RunsOn));
        // jmp 1: into the middle of itself.
        assert_eq!(exits(&[0xeb, 0xff, 0xc3, 0xc3]), Err(Unreadable::Overlap));
    }
}
