//! Offsets of structures' members from a file's DWARF, and addresses of its symbols: code that works on a server's own
//! records takes them from here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use gimli::{
    AttributeValue, DwAt, Dwarf, DwarfSections, EndianSlice, LittleEndian, Operation, SectionId, Unit,
    UnitOffset,
};
use object::{Object, ObjectSection, ObjectSymbol};

use super::file::{self, Cache, Elf, Memory};
use crate::{ProbeError, Result};

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;

/// Place of a member within its structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Bytes from the structure's beginning.
    pub offset: u64,
    /// Bits from there to the member's lowest bit; 0 unless it is a bit-field.
    pub shift: u64,
    /// Bits of a bit-field; 0: it is none.
    pub bits: u64,
}

/// A function or variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Address in the file, which is that in memory unless the file is position-independent.
    pub address: u64,
    /// First bytes of a function; empty for a variable without contents in the file.
    pub bytes: Vec<u8>,
}

const FIRST_BYTES: u64 = 16;

/// Symbols by their linker names.
///
/// # Errors
/// A file that cannot be read, or lacks one of the symbols.
pub fn symbols(path: &Path, names: &[String]) -> Result<BTreeMap<String, Symbol>> {
    let cache = Cache::new(file::open(path)?);
    let elf = file::parse(path, &cache)?;
    let memory = Memory::of(path, &elf)?;
    let mut found = BTreeMap::new();
    for symbol in elf.symbols() {
        let Ok(name) = symbol.name() else { continue };
        if names.iter().any(|wanted| wanted == name) {
            let address = symbol.address();
            let bytes = memory.bytes(address, FIRST_BYTES).to_vec();
            found.insert(name.to_string(), Symbol { address, bytes });
        }
    }
    let missing: Vec<&String> = names.iter().filter(|name| !found.contains_key(*name)).collect();
    lacking(path, "symbol table", &missing).map_or(Ok(found), Err)
}

/// Places of members, each named "structure.member" or, in a structure within it, "structure.member.member";
/// "structure" alone has its size as offset.
///
/// # Errors
/// A file that cannot be read, has no DWARF, or lacks one of the members.
pub fn members(path: &Path, names: &[String]) -> Result<BTreeMap<String, Member>> {
    let cache = Cache::new(file::open(path)?);
    let elf = file::parse(path, &cache)?;
    let sections = DwarfSections::load(|id| section(path, &elf, id))?;
    let dwarf = sections.borrow(|bytes| EndianSlice::new(bytes, LittleEndian));
    let mut missing: Vec<&String> = names.iter().collect();
    let mut found = BTreeMap::new();
    let damaged = |error: gimli::Error| file::damaged(path, &error);
    let mut units = dwarf.units();
    while let Some(header) = units.next().map_err(damaged)? {
        if missing.is_empty() {
            break;
        }
        let unit = dwarf.unit(header).map_err(damaged)?;
        read_unit(&dwarf, &unit, &mut missing, &mut found).map_err(damaged)?;
    }
    lacking(path, "debug information", &missing).map_or(Ok(found), Err)
}

fn lacking(path: &Path, part: &str, missing: &[&String]) -> Option<ProbeError> {
    let missing: Vec<&str> = missing.iter().map(|name| name.as_str()).collect();
    (!missing.is_empty()).then(|| {
        ProbeError::new(
            format!("the {part} of {} has no {}", path.display(), missing.join(", ")),
            "use a build of the program that keeps its symbols and debug information",
        )
    })
}

fn section<'a>(path: &Path, elf: &Elf<'a>, id: SectionId) -> Result<Cow<'a, [u8]>> {
    let Some(section) = elf.section_by_name(id.name()) else { return Ok(Cow::Borrowed(&[])) };
    section.data().map(Cow::Borrowed).map_err(|error| file::damaged(path, &error))
}

/// Moves the members that a unit defines from `missing` to `found`.
fn read_unit<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    missing: &mut Vec<&String>,
    found: &mut BTreeMap<String, Member>,
) -> gimli::Result<()> {
    let reader = Reader { dwarf, unit };
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if !matches!(entry.tag, gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type)
            || !entry.has_children
        {
            continue;
        }
        let Some(name) = reader.name(entry) else { continue };
        let mut rest = Vec::new();
        for wanted in missing.drain(..) {
            let mut parts = wanted.split('.').peekable();
            let place = if parts.next() != Some(name) {
                None
            } else if parts.peek().is_none() {
                size(entry)
            } else {
                reader.member(entry.offset, parts)?
            };
            match place {
                Some(place) => drop(found.insert(wanted.clone(), place)),
                None => rest.push(wanted),
            }
        }
        *missing = rest;
    }
    Ok(())
}

struct Reader<'r, 'a> {
    dwarf: &'r Dwarf<Slice<'a>>,
    unit: &'r Unit<Slice<'a>>,
}

impl<'a> Reader<'_, 'a> {
    fn name(&self, entry: &Entry<'a>) -> Option<&'a str> {
        let name = self.dwarf.attr_string(self.unit, entry.attr_value(gimli::DW_AT_name)?).ok()?;
        std::str::from_utf8(name.slice()).ok()
    }

    /// The member that `path` names below the structure at `at`.
    fn member<'p>(
        &self,
        at: UnitOffset,
        mut path: impl Iterator<Item = &'p str>,
    ) -> gimli::Result<Option<Member>> {
        let Some(wanted) = path.next() else { return Ok(None) };
        let mut tree = self.unit.entries_tree(Some(at))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            if entry.tag != gimli::DW_TAG_member || self.name(entry) != Some(wanted) {
                continue;
            }
            let mut place = place(entry, self.unit)?;
            let rest: Vec<&str> = path.collect();
            if rest.is_empty() {
                return Ok(Some(place));
            }
            let Some(within) = self.structure(entry)? else { return Ok(None) };
            // Paths are short: the type of the iterator would grow with each step, a boxed one does not.
            let rest: Box<dyn Iterator<Item = &str>> = Box::new(rest.into_iter());
            let Some(inner) = self.member(within, rest)? else { return Ok(None) };
            place = Member { offset: place.offset + inner.offset, ..inner };
            return Ok(Some(place));
        }
        Ok(None)
    }

    /// The structure or union that is a member's type, by any name.
    fn structure(&self, member: &Entry<'a>) -> gimli::Result<Option<UnitOffset>> {
        let mut next = reference(member);
        while let Some(at) = next {
            let entry = self.unit.entry(at)?;
            match entry.tag {
                gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                    return Ok(Some(at));
                }
                gimli::DW_TAG_typedef | gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type => {
                    next = reference(&entry);
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}

fn size(structure: &Entry<'_>) -> Option<Member> {
    let offset = structure.attr(gimli::DW_AT_byte_size)?.udata_value()?;
    Some(Member { offset, shift: 0, bits: 0 })
}

fn reference(entry: &Entry<'_>) -> Option<UnitOffset> {
    match entry.attr_value(gimli::DW_AT_type)? {
        AttributeValue::UnitRef(at) => Some(at),
        _ => None,
    }
}

/// A bit-field has the place of its storage unit; its bits are counted there from the highest (before DWARF 4) or the
/// lowest.
fn place(entry: &Entry<'_>, unit: &Unit<Slice<'_>>) -> gimli::Result<Member> {
    let number = |name: DwAt| entry.attr(name).and_then(gimli::Attribute::udata_value);
    let offset = match number(gimli::DW_AT_data_member_location) {
        Some(offset) => offset,
        None => match entry.attr(gimli::DW_AT_data_member_location).and_then(gimli::Attribute::exprloc_value)
        {
            None => 0, // of a union
            Some(expression) => match expression.operations(unit.encoding()).next()? {
                Some(Operation::PlusConstant { value }) => value,
                _ => 0,
            },
        },
    };
    let bits = number(gimli::DW_AT_bit_size).unwrap_or(0);
    let from_highest = number(gimli::DW_AT_bit_offset);
    let shift = match (from_highest, number(gimli::DW_AT_data_bit_offset)) {
        (Some(above), _) => (number(gimli::DW_AT_byte_size).unwrap_or(4) * 8).saturating_sub(above + bits),
        (None, Some(shift)) => shift,
        (None, None) => 0,
    };
    Ok(Member { offset: offset + shift / 8, shift: shift % 8, bits })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const PROGRAM: &str = "
        struct inner { int a; long b; };
        typedef struct inner inner_t;
        struct outer { char head; inner_t in; union { long u; struct inner v; } choice; unsigned x : 3, y : 6; };
        struct outer value;
        int main(void) { return (int)value.in.b; }";

    fn compiled(folder: &Path, flags: &[&str]) -> std::path::PathBuf {
        let (source, program) = (folder.join("p.c"), folder.join("p"));
        std::fs::write(&source, PROGRAM).unwrap();
        let done = Command::new("cc").args(flags).arg("-o").arg(&program).arg(&source).status().unwrap();
        assert!(done.success());
        program
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn members_lie_where_the_compiler_puts_them_in_old_and_new_dwarf() {
        for version in ["-gdwarf-2", "-gdwarf-5"] {
            let folder = tempfile::tempdir().unwrap();
            let program = compiled(folder.path(), &["-g", version]);
            let wanted = ["outer", "outer.head", "outer.in.b", "outer.choice.v.b", "outer.x", "outer.y"];
            let found = members(&program, &names(&wanted)).unwrap();
            let place = |name: &str| (found[name].offset, found[name].shift, found[name].bits);
            let places: Vec<_> = wanted.iter().map(|name| place(name)).collect();
            assert_eq!(
                places,
                [(48, 0, 0), (0, 0, 0), (16, 0, 0), (32, 0, 0), (40, 0, 3), (40, 3, 6)],
                "{version}"
            );
        }
    }

    #[test]
    fn a_member_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let program = compiled(folder.path(), &["-g"]);
        let error = members(&program, &names(&["outer.head", "outer.tail", "other.x"])).unwrap_err();
        assert!(error.to_string().contains("has no outer.tail, other.x"), "{error}");
    }

    #[test]
    fn a_function_has_its_first_bytes_and_a_symbol_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let program = compiled(folder.path(), &["-g"]);
        let found = symbols(&program, &names(&["main", "value"])).unwrap();
        assert!((1..=16).contains(&found["main"].bytes.len()));
        assert!(found["value"].address > found["main"].address);
        let error = symbols(&program, &names(&["main", "nothing"])).unwrap_err();
        assert!(error.to_string().contains("symbol table"), "{error}");
    }

    #[test]
    fn a_program_without_debug_information_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let program = compiled(folder.path(), &["-g0"]);
        assert!(members(&program, &names(&["outer.head"])).is_err());
    }
}
