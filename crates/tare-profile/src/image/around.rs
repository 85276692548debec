//! What control flow within a function depends on and its code does not hold: tables of jumps, landing pads, labels.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use object::elf::{R_X86_64_RELATIVE, SHF_ALLOC, SHF_EXECINSTR};
use object::{Object, ObjectSection, RelocationFlags, SectionFlags};

use super::file::{Cache, Elf};
use super::landings;

/// A file's data, and the places in its code that a function is come to without a direct jump. Addresses are the file's
/// own.
#[derive(Debug, Default)]
pub(crate) struct Around {
    file: Option<File>,
    data: Vec<Section>,
    /// Where exceptions are caught, ascending.
    landings: Vec<u64>,
    /// What pointers in data are relocated to, ascending.
    labels: Vec<u64>,
}

/// A section of data that the file has bytes for.
#[derive(Debug)]
struct Section {
    addresses: Range<u64>,
    offset: u64,
}

impl Around {
    /// Nothing is known of a file that is damaged.
    pub(crate) fn read(file: File) -> Self {
        let Ok(kept) = file.try_clone() else { return Self::default() };
        let cache = Cache::new(file);
        let Ok(elf) = Elf::parse(&cache) else { return Self::default() };
        Self { file: Some(kept), data: data(&elf), landings: landings::read(&elf), labels: labels(&elf) }
    }

    /// Landing pads in this stretch of code.
    pub(crate) fn landings(&self, within: Range<u64>) -> &[u64] {
        part(&self.landings, within)
    }

    /// Places in it that data points to.
    pub(crate) fn labels(&self, within: Range<u64>) -> &[u64] {
        part(&self.labels, within)
    }

    /// The bytes at an address of data; fewer at its end, none elsewhere.
    pub(crate) fn data(&self, address: u64, size: usize) -> Vec<u8> {
        let Some(section) = self.data.iter().find(|section| section.addresses.contains(&address)) else {
            return Vec::new();
        };
        let mut bytes = vec![0; size.min((section.addresses.end - address) as usize)];
        let offset = section.offset + (address - section.addresses.start);
        let read = self.file.as_ref().and_then(|file| file.read_at(&mut bytes, offset).ok());
        bytes.truncate(read.unwrap_or(0));
        bytes
    }
}

fn part(ascending: &[u64], within: Range<u64>) -> &[u64] {
    let from = ascending.partition_point(|address| *address < within.start);
    let to = ascending.partition_point(|address| *address < within.end);
    &ascending[from..to.max(from)]
}

fn data(elf: &Elf<'_>) -> Vec<Section> {
    let section = |section: object::read::elf::ElfSection64<'_, '_, object::LittleEndian, &Cache>| {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return None };
        let (offset, size) = section.file_range()?;
        let is_data = sh_flags.contains(SHF_ALLOC) && !sh_flags.contains(SHF_EXECINSTR);
        let end = section.address().checked_add(size)?;
        is_data.then_some(Section { addresses: section.address()..end, offset })
    };
    elf.sections().filter_map(section).collect()
}

fn labels(elf: &Elf<'_>) -> Vec<u64> {
    let relative = |relocation: &object::Relocation| {
        matches!(relocation.flags(), RelocationFlags::Elf { r_type: R_X86_64_RELATIVE })
    };
    let relocations = elf.dynamic_relocations().into_iter().flatten().map(|(_, relocation)| relocation);
    let mut labels: Vec<u64> = relocations.filter(relative).map(|one| one.addend() as u64).collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}
