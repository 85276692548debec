//! Statically defined probes: notes that say where a program's own authors thought it worth looking.

use object::{Object, ObjectSection};

use super::file::Elf;

/// A note, as <https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation> has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usdt {
    /// "postgresql".
    pub provider: String,
    /// "transaction__start".
    pub name: String,
    /// Of its nop.
    pub address: u64,
    /// Address of a counter that is above 0 while somebody looks; 0: it has none.
    pub semaphore: u64,
    /// Where its arguments are: "8@%rax -4@$3".
    pub arguments: String,
}

const STAPSDT: u32 = 3; // note type

/// In the file's order; a note that breaks off ends the list.
pub(super) fn read(elf: &Elf<'_>) -> Vec<Usdt> {
    let Some(section) = elf.section_by_name(".note.stapsdt") else { return Vec::new() };
    let base = elf.section_by_name(".stapsdt.base").map(|section| section.address());
    let mut rest = section.data().unwrap_or_default();
    let mut found = Vec::new();
    while let Some(((kind, name, description), next)) = note(rest) {
        rest = next;
        if kind == STAPSDT && name == b"stapsdt\0" {
            found.extend(probe(description, base));
        }
    }
    found
}

type Note<'a> = (u32, &'a [u8], &'a [u8]);

/// The first note (type, name, description) and what follows it; both parts are padded to 4 bytes.
fn note(bytes: &[u8]) -> Option<(Note<'_>, &[u8])> {
    let (sizes, rest) = bytes.split_first_chunk::<12>()?;
    let number = |at: usize| u32::from_le_bytes([sizes[at], sizes[at + 1], sizes[at + 2], sizes[at + 3]]);
    let (name, rest) = padded(rest, number(0) as usize)?;
    let (description, rest) = padded(rest, number(4) as usize)?;
    Some(((number(8), name, description), rest))
}

fn padded(bytes: &[u8], size: usize) -> Option<(&[u8], &[u8])> {
    Some((bytes.get(..size)?, bytes.get(size.next_multiple_of(4)..).unwrap_or_default()))
}

/// Three addresses and three strings. Addresses move with `base` if the file was linked anew after the notes were made.
fn probe(description: &[u8], base: Option<u64>) -> Option<Usdt> {
    let (words, texts) = description.split_first_chunk::<24>()?;
    let [address, noted, semaphore] = [0, 8, 16]
        .map(|at| words[at..at + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    let moved = base.map_or(0, |base| base.wrapping_sub(noted));
    let mut texts = texts.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned());
    Some(Usdt {
        provider: texts.next()?,
        name: texts.next()?,
        address: address.wrapping_add(moved),
        semaphore: if semaphore == 0 { 0 } else { semaphore.wrapping_add(moved) },
        arguments: texts.next()?,
    })
}
