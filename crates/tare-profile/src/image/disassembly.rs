//! One pass over the machine code: who transfers control where, and which names a function reports errors under.

use std::collections::HashMap;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};

use super::first::First;
use super::links::Links;
use super::registers::{Loaded, pointed};

/// Where control goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// To this address.
    Code(u64),
    /// To where this slot of the linker's tables points.
    Slot(u64),
}

/// How.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Call,
    /// Out of the function for good: a tail call, or a move between its parts.
    Jump,
    /// The same, on a condition.
    Branch,
}

/// Control leaves a stretch of code, or a function calls itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    pub(super) from: u32,
    pub(super) to: Place,
    pub(super) way: Way,
}

/// What one stretch of code does.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Body {
    pub(super) first: First,
    /// Has a `ret`, leaves by a pointer, or runs into the next function.
    pub(super) returns: bool,
    /// Calls and tail calls by pointer.
    pub(super) indirect_sites: u32,
}

/// What all code does.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) bodies: Vec<Body>,
    pub(super) transfers: Vec<Transfer>,
    /// By stretch: the address of a name that it reports an error under.
    pub(super) reports: Vec<(u32, u64)>,
    /// Code whose address an instruction takes.
    pub(super) pointed: Vec<u64>,
    /// Return addresses of calls by pointer, ascending where stretches are.
    pub(super) pointer_calls: Vec<u64>,
    /// Of direct calls.
    pub(super) direct_calls: Vec<u64>,
}

/// What the pass looks for.
pub(super) struct Pass<'a> {
    pub(super) links: &'a Links,
    /// Functions that report errors, and the register in which they are told who reports.
    pub(super) reporters: HashMap<Place, Register>,
    /// Beginnings of stretches, ascending.
    pub(super) starts: &'a [u64],
}

impl Pass<'_> {
    /// Reads the next stretch; `bytes` is its code.
    pub(super) fn read(&self, seen: &mut Seen, address: u64, bytes: &[u8]) {
        let from = seen.bodies.len() as u32;
        let mut body = Body::default();
        let mut loaded = Loaded::default();
        let inside = |target: u64| target.wrapping_sub(address) < bytes.len() as u64;
        let to = |seen: &mut Seen, way, to| {
            // A call of its own first byte is recursion; no other transfer within is of interest.
            let recursion = way == Way::Call && to == Place::Code(address);
            if recursion || !matches!(to, Place::Code(target) if inside(target)) {
                seen.transfers.push(Transfer { from, to, way });
            }
        };
        let mut falls = false; // into what follows: the last instruction goes on
        for instruction in Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).iter() {
            falls =
                instruction.flow_control() == FlowControl::Next && instruction.mnemonic() != Mnemonic::Nop;
            if instruction.ip() == address {
                body.first = First::of(&instruction);
            }
            match instruction.flow_control() {
                FlowControl::Next => {
                    loaded.note(&instruction);
                    seen.pointed.extend(
                        pointed(&instruction).filter(|found| self.starts.binary_search(found).is_ok()),
                    );
                    continue;
                }
                FlowControl::Call if instruction.is_call_near() => {
                    let place = Place::Code(instruction.near_branch_target());
                    seen.direct_calls.push(instruction.next_ip());
                    self.report(seen, from, place, &loaded);
                    to(seen, Way::Call, place);
                }
                FlowControl::IndirectCall => match self.slot(&instruction) {
                    Some(place) => {
                        seen.direct_calls.push(instruction.next_ip());
                        self.report(seen, from, place, &loaded);
                        to(seen, Way::Call, place);
                    }
                    None => {
                        body.indirect_sites += 1;
                        seen.pointer_calls.push(instruction.next_ip());
                    }
                },
                FlowControl::UnconditionalBranch if instruction.is_jmp_short_or_near() => {
                    to(seen, Way::Jump, Place::Code(instruction.near_branch_target()));
                }
                FlowControl::ConditionalBranch => {
                    to(seen, Way::Branch, Place::Code(instruction.near_branch_target()));
                    continue; // what is in registers stays there
                }
                FlowControl::IndirectBranch => match self.slot(&instruction) {
                    Some(place) => to(seen, Way::Jump, place),
                    None if loaded.is_table(&instruction) => {}
                    None => {
                        body.indirect_sites += 1;
                        body.returns = true;
                    }
                },
                FlowControl::Return => body.returns = true,
                _ => continue,
            }
            loaded = Loaded::default();
        }
        body.returns |= falls;
        seen.bodies.push(body);
    }

    fn slot(&self, instruction: &Instruction) -> Option<Place> {
        let slot = instruction.is_ip_rel_memory_operand().then(|| instruction.ip_rel_memory_address())?;
        self.links.slot(slot).map(|_| Place::Slot(slot))
    }

    fn report(&self, seen: &mut Seen, from: u32, place: Place, loaded: &Loaded) {
        if let Some(name) = self.reporters.get(&place).and_then(|register| loaded.address_in(*register)) {
            seen.reports.push((from, name));
        }
    }
}
