//! Tables of jumps, which compilers make of a `switch` and of labels whose addresses are taken: addresses, or their
//! distances from the table.

use std::collections::{HashMap, HashSet};

use iced_x86::{ConditionCode, FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::around::Around;
use super::registers::pointed;
use super::step::{goes_on, is_by_pointer};

/// Most instructions between a comparison and the branch that heeds it.
const NEAR: usize = 4;

/// What a jump by pointer goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GoesBy {
    /// The sum of two registers, as of a table and a distance in it.
    Sum,
    /// An entry of the table at this address.
    Table(u64),
    /// An entry of a table that a register leads to.
    Tables,
    /// Anything.
    Pointer,
}

/// `before`: what runs straight on to the jump, the last first.
pub(super) fn goes_by<'a>(jump: &Instruction, before: impl Iterator<Item = &'a Instruction>) -> GoesBy {
    if jump.op0_kind() == OpKind::Memory {
        return entry(jump);
    }
    let register = jump.op0_register();
    let writes = |one: &&Instruction| {
        one.op0_kind() == OpKind::Register
            && one.op0_register().full_register() == register
            && !matches!(one.mnemonic(), Mnemonic::Cmp | Mnemonic::Test)
    };
    let mut before = before;
    match before.find(writes) {
        Some(one) if one.mnemonic() == Mnemonic::Add && one.op1_kind() == OpKind::Register => GoesBy::Sum,
        Some(one) if one.mnemonic() == Mnemonic::Mov && one.op1_kind() == OpKind::Memory => entry(one),
        _ => GoesBy::Pointer,
    }
}

fn entry(word: &Instruction) -> GoesBy {
    match (word.memory_base(), word.memory_index(), word.memory_index_scale()) {
        (_, Register::None, _) => GoesBy::Pointer,
        (Register::None, _, 8) => GoesBy::Table(word.memory_displacement64()),
        (_, _, 8) => GoesBy::Tables,
        _ => GoesBy::Pointer,
    }
}

/// Addresses in an instruction at which a table may be.
pub(super) fn mentioned(instruction: &Instruction) -> impl Iterator<Item = u64> + use<> {
    let indexed = match entry_of(instruction) {
        Some(GoesBy::Table(address)) => Some(address),
        _ => None,
    };
    pointed(instruction).into_iter().chain(indexed)
}

fn entry_of(instruction: &Instruction) -> Option<GoesBy> {
    (0..instruction.op_count())
        .any(|at| instruction.op_kind(at) == OpKind::Memory)
        .then(|| entry(instruction))
}

/// How many entries tables have, by what is compared before a jump goes by one. `reached`: by address.
pub(super) fn bounds(reached: &[Instruction]) -> HashMap<u64, usize> {
    let mut bounds: HashMap<u64, usize> = HashMap::new();
    let jumps = reached.iter().enumerate().filter(|(_, one)| is_by_pointer(one));
    for (place, _) in jumps {
        let mut tables = HashSet::new();
        if let Some(most) = compared(reached, place, &mut tables) {
            for table in tables {
                let bound = bounds.entry(table).or_default();
                *bound = most.max(*bound);
            }
        }
    }
    bounds
}

/// What the index of the jump at this place stays below, and the tables that are mentioned from there on.
fn compared(reached: &[Instruction], jump: usize, tables: &mut HashSet<u64>) -> Option<usize> {
    let before = |place: usize| {
        let before = place.checked_sub(1)?;
        let one = &reached[before];
        (one.next_ip() == reached[place].ip() && goes_on(one)).then_some(before)
    };
    let mut place = jump;
    loop {
        tables.extend(mentioned(&reached[place]));
        let (branch, is_taken) = match before(place) {
            Some(before) if reached[before].flow_control() == FlowControl::ConditionalBranch => {
                (before, false)
            }
            Some(before) => {
                place = before;
                continue;
            }
            None => {
                let here = reached[place].ip();
                let leads_here =
                    |one: &Instruction| one.near_branch_target() == here && one.is_jcc_short_or_near();
                (reached.iter().position(leads_here)?, true)
            }
        };
        let above = match (reached[branch].condition_code(), is_taken) {
            (ConditionCode::a, false) | (ConditionCode::be, true) => 1,
            (ConditionCode::ae, false) | (ConditionCode::b, true) => 0,
            (_, false) => {
                place = branch;
                continue;
            }
            _ => return None,
        };
        let comparison = std::iter::successors(before(branch), |place| before(*place)).take(NEAR);
        let comparison =
            comparison.map(|place| &reached[place]).find(|one| one.mnemonic() == Mnemonic::Cmp)?;
        let with = comparison.try_immediate(1).ok()?;
        return usize::try_from(with).ok()?.checked_add(above);
    }
}

/// Where the table of distances at this address leads to, as long as that is `inside` the function and no other table
/// begins.
pub(super) fn distances(
    table: u64,
    around: &Around,
    others: &HashSet<u64>,
    inside: impl Fn(u64) -> bool,
) -> Vec<u64> {
    let entries = entries::<4>(table, around, others);
    let target = |bytes| table.wrapping_add_signed(i32::from_le_bytes(bytes).into());
    entries.map(target).take_while(|target| inside(*target)).collect()
}

/// The same of a table of addresses.
pub(super) fn addresses(
    table: u64,
    around: &Around,
    others: &HashSet<u64>,
    inside: impl Fn(u64) -> bool,
) -> Vec<u64> {
    let entries = entries::<8>(table, around, others);
    entries.map(u64::from_le_bytes).take_while(|target| inside(*target)).collect()
}

/// Read a little at a time: most addresses are of no table.
fn entries<'a, const SIZE: usize>(
    table: u64,
    around: &'a Around,
    others: &'a HashSet<u64>,
) -> impl Iterator<Item = [u8; SIZE]> + 'a {
    const AT_ONCE: usize = 64;
    let at = move |number: usize| table.wrapping_add((number * SIZE) as u64);
    let ends = move |number: usize| number > 0 && others.contains(&at(number));
    let read = move |number: usize| around.data(at(number), AT_ONCE * SIZE);
    let mut known: Vec<u8> = Vec::new();
    (0..).map_while(move |number| {
        if ends(number) {
            return None;
        }
        let place = number % AT_ONCE * SIZE;
        if place == 0 {
            known = read(number);
        }
        known.get(place..place + SIZE)?.try_into().ok()
    })
}
