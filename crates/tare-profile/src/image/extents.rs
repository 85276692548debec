//! Where functions begin and end, from the tables that unwind the stack: they stay in stripped binaries.

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, EndianSlice, FrameDescriptionEntry, LittleEndian,
    UnwindContext, UnwindSection, X86_64,
};
use object::{Object, ObjectSection};

use super::file::{Elf, Memory};

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// A stretch of code with one entry in the table: a function, or the cold part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) address: u64,
    pub(super) size: u64,
    /// Its first instruction finds more on the stack than a return address: no function begins so.
    pub(super) framed: bool,
}

impl Extent {
    pub(super) fn covers(&self, address: u64) -> bool {
        address.wrapping_sub(self.address) < self.size
    }
}

/// The one of `extents`, which are by address, that covers an address.
pub(super) fn at(extents: &[Extent], address: u64) -> Option<usize> {
    let next = extents.partition_point(|extent| extent.address <= address);
    next.checked_sub(1).filter(|at| extents[*at].covers(address))
}

/// By address, each once. A table that breaks off gives what came before.
pub(super) fn read(elf: &Elf<'_>, memory: &Memory<'_>) -> Vec<Extent> {
    let mut extents = Vec::new();
    let mut context = UnwindContext::new();
    each(elf, |entry, table, bases| {
        let (address, size) = (entry.initial_address(), entry.len());
        if size > 0 && memory.is_code(address) {
            let framed = framed(entry, table, bases, &mut context);
            extents.push(Extent { address, size, framed });
        }
    });
    extents.sort_unstable_by_key(|extent| extent.address);
    extents.dedup_by_key(|extent| extent.address);
    extents
}

/// Shows all entries of the table that can be read.
pub(super) fn each<'a>(
    elf: &Elf<'a>,
    mut show: impl FnMut(&FrameDescriptionEntry<Slice<'a>>, &EhFrame<Slice<'a>>, &BaseAddresses),
) {
    let Some(section) = elf.section_by_name(".eh_frame") else { return };
    let Ok(bytes) = section.data() else { return };
    let at = |name| elf.section_by_name(name).map_or(0, |section| section.address());
    let bases = BaseAddresses::default()
        .set_eh_frame(section.address())
        .set_eh_frame_hdr(at(".eh_frame_hdr"))
        .set_text(at(".text"))
        .set_got(at(".got"));
    let table = EhFrame::new(bytes, LittleEndian);
    let mut entries = table.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        if let Ok(entry) = partial.parse(|table, bases, offset| table.cie_from_offset(bases, offset)) {
            show(&entry, &table, &bases);
        }
    }
}

/// At a function's entry the frame's address is rsp + 8 (System V ABI, x86-64 supplement, §3.2.2).
fn framed<'a>(
    entry: &FrameDescriptionEntry<Slice<'a>>,
    table: &EhFrame<Slice<'a>>,
    bases: &BaseAddresses,
    context: &mut UnwindContext<usize>,
) -> bool {
    let Ok(mut rows) = entry.rows(table, bases, context) else { return false };
    match rows.next_row() {
        Ok(Some(row)) => {
            let plain = CfaRule::RegisterAndOffset { register: X86_64::RSP, offset: 8 };
            *row.cfa() != plain
        }
        _ => false,
    }
}
