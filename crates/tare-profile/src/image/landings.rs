//! Where exceptions land: the tables by which C++ and Rust find who catches or cleans up (Itanium C++ ABI, exception
//! handling tables; the section `.gcc_except_table`).

use gimli::{EndianSlice, LittleEndian, Pointer, Reader};
use object::{Object, ObjectSection};

use super::extents;
use super::file::Elf;

/// How a number of the table is encoded (DW_EH_PE, Linux Standard Base, §10.5).
const OMITTED: u8 = 0xff;
const RELATIVE: u8 = 0x10;

/// Addresses in code, ascending, each once. A table that cannot be read gives what came before.
pub(super) fn read(elf: &Elf<'_>) -> Vec<u64> {
    let Some(section) = elf.section_by_name(".gcc_except_table") else { return Vec::new() };
    let Ok(bytes) = section.data() else { return Vec::new() };
    let mut landings = Vec::new();
    extents::each(elf, |entry, _, _| {
        let Some(Pointer::Direct(table)) = entry.lsda() else { return };
        let at = table.wrapping_sub(section.address());
        if let Some(rest) = usize::try_from(at).ok().and_then(|at| bytes.get(at..)) {
            let mut table =
                Table { rest: EndianSlice::new(rest, LittleEndian), whole: rest.len(), address: table };
            // What was found before the table broke off stands.
            let _ = table.landings(entry.initial_address(), &mut landings);
        }
    });
    landings.sort_unstable();
    landings.dedup();
    landings
}

struct Table<'a> {
    rest: EndianSlice<'a, LittleEndian>,
    whole: usize,
    /// Of its first byte.
    address: u64,
}

impl Table<'_> {
    fn landings(&mut self, function: u64, into: &mut Vec<u64>) -> gimli::Result<()> {
        let start = match self.rest.read_u8()? {
            OMITTED => function,
            encoding => self.number(encoding)?,
        };
        if self.rest.read_u8()? != OMITTED {
            self.rest.read_uleb128()?; // where the table of types ends
        }
        let encoding = self.rest.read_u8()?;
        let length = self.rest.read_uleb128()? as usize;
        let end = self.rest.len().saturating_sub(length);
        while self.rest.len() > end {
            let _from = self.number(encoding)?;
            let _size = self.number(encoding)?;
            let landing = self.number(encoding)?;
            let _action = self.rest.read_uleb128()?;
            if landing != 0 {
                into.push(start.wrapping_add(landing));
            }
        }
        Ok(())
    }

    fn number(&mut self, encoding: u8) -> gimli::Result<u64> {
        let here = self.address + (self.whole - self.rest.len()) as u64;
        let number = match encoding & 0x0f {
            0x01 => self.rest.read_uleb128()?,
            0x02 => self.rest.read_u16()?.into(),
            0x03 => self.rest.read_u32()?.into(),
            0x09 => self.rest.read_sleb128()? as u64,
            0x0a => i64::from(self.rest.read_i16()?) as u64,
            0x0b => i64::from(self.rest.read_i32()?) as u64,
            _ => self.rest.read_u64()?,
        };
        Ok(if encoding & 0x70 == RELATIVE { here.wrapping_add(number) } else { number })
    }
}
