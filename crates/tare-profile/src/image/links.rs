//! Calls by way of the linker's tables: which function each slot and each stub stands for.

use std::collections::{HashMap, HashSet};

use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use object::elf::{R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE};
use object::{Object, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget};

use super::file::{Elf, Memory, Region};

/// The place that a call or jump goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// To this address.
    Code(u64),
    /// To where this slot of the linker's tables points.
    Slot(u64),
}

/// What a slot holds at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Linked {
    /// A function of this file, which it may export too.
    Own(u64),
    /// Another library's.
    Other(String),
}

/// The linker's tables.
#[derive(Debug, Default)]
pub(super) struct Links {
    slots: HashMap<u64, Linked>,
    /// Slot by the address of the stub that jumps by it.
    stubs: HashMap<u64, u64>,
    /// Code that data points to: functions, though nobody calls them directly.
    pub(super) pointed: HashSet<u64>,
    /// Of them, those that the program itself holds a pointer to: not in the linker's tables alone.
    pub(super) taken: HashSet<u64>,
}

impl Links {
    pub(super) fn read(elf: &Elf<'_>, memory: &Memory<'_>) -> Self {
        let mut links = Self::default();
        links.read_slots(elf, memory);
        for region in memory.regions.iter().filter(|region| region.is_plt()) {
            links.read_stubs(region);
        }
        links
            .taken
            .extend(memory.words(|region| region.is_programs_own()).filter(|word| memory.is_code(*word)));
        links.pointed.extend(memory.words(|region| !region.code).filter(|word| memory.is_code(*word)));
        links.pointed.extend(&links.taken);
        links
    }

    /// By the address of a slot.
    pub(super) fn slot(&self, address: u64) -> Option<&Linked> {
        self.slots.get(&address)
    }

    /// By the address of a stub.
    pub(super) fn stub(&self, address: u64) -> Option<&Linked> {
        self.slots.get(self.stubs.get(&address)?)
    }

    /// All by which code comes to a function: another library's by its `name`, one of this file by its addresses.
    pub(super) fn places(&self, name: &str, own: &[u64]) -> Vec<Place> {
        let is = |linked: &Linked| match linked {
            Linked::Own(address) => own.contains(address),
            Linked::Other(other) => other == name,
        };
        let slots = self.slots.iter().filter(|(_, linked)| is(linked)).map(|(slot, _)| Place::Slot(*slot));
        let stubs = self
            .stubs
            .iter()
            .filter(|(stub, _)| self.stub(**stub).is_some_and(is))
            .map(|(stub, _)| Place::Code(*stub));
        own.iter().map(|address| Place::Code(*address)).chain(slots).chain(stubs).collect()
    }

    /// Functions of other files, and indirect ones, with the slots that come to hold their addresses.
    pub(super) fn imports(&self) -> Vec<(Box<str>, u64)> {
        let named = |(slot, linked): (&u64, &Linked)| match linked {
            Linked::Other(name) => Some((name.split('@').next().unwrap_or(name).into(), *slot)),
            Linked::Own(_) => None,
        };
        self.slots.iter().filter_map(named).collect()
    }

    fn read_slots(&mut self, elf: &Elf<'_>, memory: &Memory<'_>) {
        let (Some(relocations), Some(symbols)) = (elf.dynamic_relocations(), elf.dynamic_symbol_table())
        else {
            return;
        };
        let table =
            |slot| memory.regions.iter().any(|region| region.name.starts_with(".got") && region.covers(slot));
        for (slot, relocation) in relocations {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(index) => symbols.symbol_by_index(index).ok(),
                _ => None,
            };
            match (r_type, symbol) {
                (R_X86_64_JUMP_SLOT | R_X86_64_GLOB_DAT, Some(symbol)) => {
                    let linked = if symbol.is_definition() {
                        Linked::Own(symbol.address())
                    } else {
                        Linked::Other(symbol.name().unwrap_or_default().to_string())
                    };
                    if r_type == R_X86_64_GLOB_DAT && symbol.is_definition() {
                        self.taken.insert(symbol.address());
                    }
                    self.slots.insert(slot, linked);
                }
                (R_X86_64_RELATIVE, _) => {
                    let address = relocation.addend() as u64;
                    if memory.is_code(address) {
                        self.taken.insert(address);
                        if table(slot) {
                            self.slots.insert(slot, Linked::Own(address));
                        }
                    }
                }
                (R_X86_64_64, Some(symbol)) if symbol.is_definition() => {
                    self.taken.insert(symbol.address().wrapping_add_signed(relocation.addend()));
                }
                _ => {}
            }
        }
    }

    /// `jmp *slot(%rip)`, with an `endbr64` before it where the processor checks for one.
    fn read_stubs(&mut self, region: &Region<'_>) {
        let mut decoder = Decoder::with_ip(64, region.bytes, region.address, DecoderOptions::NONE);
        let mut entry = None;
        for instruction in &mut decoder {
            if instruction.mnemonic() == Mnemonic::Endbr64 {
                entry = Some(instruction.ip());
                continue;
            }
            let start = entry.take().unwrap_or(instruction.ip());
            if instruction.is_jmp_near_indirect() && instruction.is_ip_rel_memory_operand() {
                self.stubs.insert(start, instruction.ip_rel_memory_address());
            }
        }
    }
}
