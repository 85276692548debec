//! The file: is it one that can be read, and what it puts into memory.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use object::elf::{SHF_ALLOC, SHF_EXECINSTR};
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection, ReadCache, SectionFlags};

use crate::{ProbeError, Result};

/// Reads only what is asked for: debug information can be a hundred times the rest.
pub(super) type Cache = ReadCache<File>;
pub(super) type Elf<'a> = ElfFile64<'a, LittleEndian, &'a Cache>;

const MAGIC: &[u8] = b"\x7fELF";
const CLASS: usize = 4; // byte of the header
const MACHINE: usize = 18;
const X86_64: u16 = 62;
/// e_machine of what a user may plausibly have.
const MACHINES: [(u16, &str); 7] = [
    (3, "x86"),
    (21, "PowerPC"),
    (22, "S/390"),
    (40, "ARM"),
    (183, "AArch64"),
    (243, "RISC-V"),
    (258, "LoongArch"),
];

/// Opens a file that is known to be ELF for x86-64 in 64 bit.
pub(super) fn open(path: &Path) -> Result<File> {
    let mut file = File::open(path).map_err(|error| {
        ProbeError::os(path.display(), &error, "give the path of an executable or library")
    })?;
    let mut header = [0; 20];
    let read = file.read(&mut header).and_then(|read| file.rewind().map(|()| read));
    let read = read.map_err(|error| ProbeError::os(path.display(), &error, ""))?;
    check(path, &header[..read])?;
    Ok(file)
}

fn check(path: &Path, header: &[u8]) -> Result<()> {
    let shown = path.display();
    let refuse = |what: String, next: &str| Err(ProbeError::new(what, next));
    if header.len() < 20 || !header.starts_with(MAGIC) {
        let next = if header.starts_with(b"#!") {
            "it is a script: name the program that it starts"
        } else {
            "name the server's executable, or a library that it loads"
        };
        return refuse(format!("{shown} is not an ELF file"), next);
    }
    let machine = u16::from_le_bytes([header[MACHINE], header[MACHINE + 1]]);
    if machine != X86_64 {
        let name = MACHINES.iter().find(|(number, _)| *number == machine).map(|(_, name)| *name);
        let name = name.map_or_else(|| format!("machine {machine}"), str::to_string);
        return refuse(
            format!("{shown} is for {name}; only x86-64 is understood"),
            "profile it with annotations (include/tare_profile.h), which work on every machine",
        );
    }
    if header[CLASS] != 2 {
        return refuse(format!("{shown} is a 32-bit program"), "profile a 64-bit build of it");
    }
    Ok(())
}

/// Parses what `open` let through.
pub(super) fn parse<'a>(path: &Path, cache: &'a Cache) -> Result<Elf<'a>> {
    Elf::parse(cache).map_err(|error| damaged(path, &error))
}

pub(super) fn damaged(path: &Path, error: &dyn std::fmt::Display) -> ProbeError {
    ProbeError::new(format!("{} is damaged: {error}", path.display()), "install it again")
}

/// Hexadecimal; empty where there is none.
pub(super) fn build_id(elf: &Elf<'_>) -> String {
    let id = elf.build_id().ok().flatten().unwrap_or_default();
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A section that is in memory at run time, with what the file has for it.
pub(super) struct Region<'a> {
    pub(super) name: &'a str,
    pub(super) address: u64,
    pub(super) bytes: &'a [u8],
    pub(super) code: bool,
}

impl Region<'_> {
    pub(super) fn covers(&self, address: u64) -> bool {
        // By difference: in a damaged file a section may seem to reach beyond the last address.
        address.wrapping_sub(self.address) < self.bytes.len() as u64
    }

    /// Data of the program, not of the linker or of who unwinds its stack.
    pub(super) fn is_programs_own(&self) -> bool {
        const OTHERS: [&str; 9] =
            [".dyn", ".rela", ".gnu.", ".hash", ".eh_frame", ".gcc_except_table", ".note", ".got", ".interp"];
        !self.code && !OTHERS.iter().any(|other| self.name.starts_with(other))
    }

    /// A table of calls into other objects, not functions.
    pub(super) fn is_plt(&self) -> bool {
        self.name.starts_with(".plt") || self.name == ".iplt"
    }
}

/// All such sections.
pub(super) struct Memory<'a> {
    pub(super) regions: Vec<Region<'a>>,
}

impl<'a> Memory<'a> {
    pub(super) fn of(path: &Path, elf: &Elf<'a>) -> Result<Self> {
        let mut regions = Vec::new();
        for section in elf.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            if !sh_flags.contains(SHF_ALLOC) {
                continue;
            }
            let bytes = section.data().map_err(|error| damaged(path, &error))?;
            let name = section.name().unwrap_or_default();
            let code = sh_flags.contains(SHF_EXECINSTR);
            regions.push(Region { name, address: section.address(), bytes, code });
        }
        Ok(Self { regions })
    }

    fn region(&self, address: u64) -> Option<&Region<'a>> {
        self.regions.iter().find(|region| region.covers(address))
    }

    /// Machine code of functions, as opposed to data and jump tables into other objects.
    pub(super) fn is_code(&self, address: u64) -> bool {
        self.region(address).is_some_and(|region| region.code && !region.is_plt())
    }

    /// `size` bytes of a region, or as many as it has left.
    pub(super) fn bytes(&self, address: u64, size: u64) -> &'a [u8] {
        let Some(region) = self.region(address) else { return &[] };
        let rest = &region.bytes[(address - region.address) as usize..];
        &rest[..rest.len().min(size as usize)]
    }

    /// A C string in data.
    pub(super) fn text(&self, address: u64) -> Option<&'a str> {
        let region = self.region(address).filter(|region| !region.code)?;
        let rest = &region.bytes[(address - region.address) as usize..];
        let end = rest.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(&rest[..end]).ok()
    }

    /// Values of the aligned words of these regions: a pointer to a function is among them where no relocation tells
    /// of it.
    pub(super) fn words(&self, of: impl Fn(&Region<'_>) -> bool) -> impl Iterator<Item = u64> {
        self.regions.iter().filter(move |region| of(region)).flat_map(|region| {
            let unaligned = region.address.wrapping_neg() % 8;
            let aligned = region.bytes.get(unaligned as usize..).unwrap_or_default();
            aligned.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
        })
    }
}
