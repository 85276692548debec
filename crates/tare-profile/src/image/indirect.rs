//! Indirect functions (IFUNC): a resolver chooses the implementation when the file is loaded, by what the processor can
//! do. Callers come to the implementation by a slot that holds its address, so the slots of a process say which it is.

use std::fs::File;
use std::os::unix::fs::FileExt;

use object::elf::{R_X86_64_IRELATIVE, STT_GNU_IFUNC};
use object::{Object, ObjectSection, ObjectSymbol, SymbolFlags};

use super::file::{Elf, Memory};
use super::{Function, Image};
use crate::{ProbeError, Result};

const RELOCATION: usize = 24; // bytes of an Elf64_Rela

/// The resolver of an indirect function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolver {
    name: String,
    address: u64,
}

/// Indirect functions of `elf`, by symbol: a name of several versions is indirect where its default version is.
pub(super) fn resolvers(elf: &Elf<'_>, debug: Option<&Elf<'_>>) -> Vec<Resolver> {
    let stripped = debug.into_iter().flat_map(|debug| debug.symbols());
    let symbols = elf.symbols().chain(elf.dynamic_symbols()).chain(stripped);
    let mut found: Vec<Resolver> = symbols
        .filter(|symbol| {
            matches!(symbol.flags(), SymbolFlags::Elf { st_info, .. } if st_info.st_type() == STT_GNU_IFUNC)
        })
        .filter_map(|symbol| {
            let name = symbol.name().ok()?;
            let name = name.split('@').next().unwrap_or(name).to_string();
            (symbol.address() != 0).then(|| Resolver { name, address: symbol.address() })
        })
        .collect();
    found.sort_unstable_by(|left, right| (&left.name, left.address).cmp(&(&right.name, right.address)));
    found.dedup();
    found
}

/// Slots that the file fills from its own resolvers: (slot, resolver).
pub(super) fn own_slots(elf: &Elf<'_>, memory: &Memory<'_>) -> Vec<(u64, u64)> {
    let tables = elf.sections().filter(|section| {
        let loaded = memory.regions.iter().any(|region| region.address == section.address());
        loaded && section.name().is_ok_and(|name| name.starts_with(".rela"))
    });
    let mut slots = Vec::new();
    for table in tables {
        let bytes = table.data().unwrap_or_default();
        for entry in bytes.as_chunks::<RELOCATION>().0 {
            let word =
                |at: usize| entry[at..at + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            if word(8) as u32 == R_X86_64_IRELATIVE.0 {
                slots.push((word(0), word(16)));
            }
        }
    }
    slots
}

impl Image {
    /// Whether this name is that of an indirect function, which has no code of its own.
    pub fn is_indirect(&self, name: &str) -> bool {
        self.resolvers.iter().any(|resolver| resolver.name == name)
    }

    /// The implementation of an indirect function that a process uses; `None` where no slot of this file or of one of
    /// `callers` tells.
    pub fn implementation(&self, pid: i32, name: &str, callers: &[&Self]) -> Result<Option<&Function>> {
        let memory = File::open(format!("/proc/{pid}/mem")).map_err(|error| {
            ProbeError::os(
                format!("the memory of process {pid} cannot be read"),
                &error,
                "run as root, or as the server's user",
            )
        })?;
        let read = |address: u64| {
            let mut word = [0; 8];
            memory.read_exact_at(&mut word, address).ok().map(|()| u64::from_le_bytes(word))
        };
        let Some(base) = self.bias(pid)? else { return Ok(None) };
        let chosen: Vec<u64> =
            self.resolvers.iter().filter(|found| found.name == name).map(|found| found.address).collect();
        let own = self
            .own_slots
            .iter()
            .filter(|(_, resolver)| chosen.contains(resolver))
            .map(|(slot, _)| (base, *slot));
        let mut slots: Vec<(u64, u64)> = own.collect();
        for caller in callers {
            if let Some(bias) = caller.bias(pid)? {
                let imports = caller.imports.iter().filter(|(import, _)| **import == *name);
                slots.extend(imports.map(|(_, slot)| (bias, *slot)));
            }
        }
        // A slot that no call has come by yet may still lead to the linker.
        let function = |(bias, slot): (u64, u64)| {
            let address = read(bias.wrapping_add(slot))?.wrapping_sub(base);
            let function = &self.functions[self.entry(address).ok()? as usize];
            (!chosen.contains(&address)).then_some(function)
        };
        Ok(slots.into_iter().find_map(function))
    }
}
