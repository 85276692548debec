//! Sections and symbols of an ELF file, as far as the unwinder's functions are to be found in it.

/// Whether a file has a section of this name, and its symbols.
pub(crate) struct Elf<'a> {
    bytes: &'a [u8],
    sections: Vec<Section<'a>>,
}

struct Section<'a> {
    name: &'a [u8],
    kind: u32,
    offset: usize,
    size: usize,
    link: usize,
}

const SYMTAB: u32 = 2;
const DYNSYM: u32 = 11;
const FUNCTION: u8 = 2;

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let mut wide = [0u8; 8];
    wide[..N].copy_from_slice(bytes.get(at..at.checked_add(N)?)?);
    Some(u64::from_le_bytes(wide))
}

fn c_string(bytes: &[u8], at: usize) -> &[u8] {
    let rest = bytes.get(at..).unwrap_or_default();
    &rest[..rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len())]
}

impl<'a> Elf<'a> {
    /// Of a 64-bit little-endian file; without section headers it has no sections.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let table = number::<8>(bytes, 40)? as usize;
        let (entry, count, names) = (
            number::<2>(bytes, 58)? as usize,
            number::<2>(bytes, 60)? as usize,
            number::<2>(bytes, 62)? as usize,
        );
        let mut sections: Vec<(usize, Section<'a>)> = Vec::with_capacity(count);
        for place in 0..count {
            let at = table.checked_add(place * entry)?;
            let section = Section {
                name: &[],
                kind: number::<4>(bytes, at + 4)? as u32,
                offset: number::<8>(bytes, at + 24)? as usize,
                size: number::<8>(bytes, at + 32)? as usize,
                link: number::<4>(bytes, at + 40)? as usize,
            };
            sections.push((number::<4>(bytes, at)? as usize, section));
        }
        let named = sections.get(names).map_or(0, |(_, section)| section.offset);
        let sections = sections
            .into_iter()
            .map(|(name, section)| Section { name: c_string(bytes, named.saturating_add(name)), ..section })
            .collect();
        Some(Self { bytes, sections })
    }

    /// Whether there is such a section.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.sections.iter().any(|section| section.name == name.as_bytes())
    }

    /// Names of functions with their addresses, 0 for those that come from elsewhere.
    pub(crate) fn functions(&self) -> Vec<(&'a [u8], u64)> {
        let mut functions = Vec::new();
        for section in self.sections.iter().filter(|section| matches!(section.kind, SYMTAB | DYNSYM)) {
            let Some(strings) = self.sections.get(section.link) else { continue };
            for at in (section.offset..section.offset.saturating_add(section.size)).step_by(24) {
                let (Some(name), Some(about), Some(place), Some(value)) = (
                    number::<4>(self.bytes, at),
                    number::<1>(self.bytes, at + 4),
                    number::<2>(self.bytes, at + 6),
                    number::<8>(self.bytes, at + 8),
                ) else {
                    break;
                };
                if about as u8 & 15 == FUNCTION || place == 0 {
                    let name = c_string(self.bytes, strings.offset.saturating_add(name as usize));
                    functions.push((name, if place == 0 { 0 } else { value }));
                }
            }
        }
        functions
    }
}
