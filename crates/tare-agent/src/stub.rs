//! The code that a patched entry jumps to.
//!
//! ```text
//!           cmp byte [switch], 0            call  jne watched            a zone's first part: what runs while the switch is
//! unwatched: displaced instructions               jmp back                off, packed so that it takes little cache
//!
//! watched:  push place                                                    its second part
//!           call [tare_entry]               the place is off the stack; carry: not to be watched after all
//!           jb unwatched
//!           lea rsp, [rsp + 8]              takes the return address off: tare_entry has kept it
//!           call unwatched                  puts the stub's in its place
//! site:     push place
//!           jmp [tare_exit]                 goes on at the address kept
//! ```

use tare_rings::Refusal;

use crate::displace::{Displaced, reach};

/// Bytes for the first part of a stub, at most, and its alignment.
pub(crate) const FIRST: usize = 112;
pub(crate) const ALIGNMENT: usize = 32;
/// Bytes of its second part.
pub(crate) const SECOND: usize = 40;

/// Where a zone has what its stubs need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zone {
    /// Of the first switch.
    pub(crate) switches: u64,
    /// Of three pointers: tare_entry, tare_exit, tare_hook_entry.
    pub(crate) pointers: u64,
}

/// A stub's code.
pub(crate) struct Stub {
    pub(crate) first: Vec<u8>,
    pub(crate) second: Vec<u8>,
    /// Where a watched function returns to.
    pub(crate) site: u64,
}

struct Writer {
    at: u64,
    code: Vec<u8>,
}

impl Writer {
    fn here(&self) -> u64 {
        self.at + self.code.len() as u64
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.code.extend(bytes);
    }

    /// An instruction that ends in the distance to `target`, after `more` bytes that follow the distance.
    fn relative(&mut self, opcode: &[u8], target: u64, more: &[u8]) -> Result<(), Refusal> {
        self.bytes(opcode);
        let from = self.here() + 4 + more.len() as u64;
        self.bytes(&reach(from, target)?.to_le_bytes());
        self.bytes(more);
        Ok(())
    }
}

impl Zone {
    /// The stub of the function at `address`, whose place in the table is `place`.
    pub(crate) fn stub(
        &self,
        displaced: &Displaced,
        address: u64,
        place: u32,
        first: u64,
        second: u64,
    ) -> Result<Stub, Refusal> {
        let mut cold = Writer { at: first, code: Vec::new() };
        cold.relative(&[0x80, 0x3d], self.switches + u64::from(place), &[0])?;
        cold.relative(&[0x0f, 0x85], second, &[])?;
        let unwatched = cold.here();
        let code = displaced.encode(address, unwatched)?;
        cold.bytes(&code);

        let mut hot = Writer { at: second, code: Vec::new() };
        hot.bytes(&[0x68]);
        hot.bytes(&place.to_le_bytes());
        hot.relative(&[0xff, 0x15], self.pointers, &[])?;
        hot.relative(&[0x0f, 0x82], unwatched, &[])?;
        hot.bytes(&[0x48, 0x8d, 0x64, 0x24, 0x08]);
        hot.relative(&[0xe8], unwatched, &[])?;
        let site = hot.here();
        hot.bytes(&[0x68]);
        hot.bytes(&place.to_le_bytes());
        hot.relative(&[0xff, 0x25], self.pointers + 8, &[])?;
        if cold.code.len() > FIRST || hot.code.len() > SECOND {
            return Err(Refusal::Fixed);
        }
        Ok(Stub { first: cold.code, second: hot.code, site })
    }

    /// The stub of a function of the unwinder: tells which kind it is, and goes on.
    pub(crate) fn hook(
        &self,
        displaced: &Displaced,
        address: u64,
        kind: u32,
        at: u64,
    ) -> Result<Vec<u8>, Refusal> {
        let mut writer = Writer { at, code: Vec::new() };
        writer.bytes(&[0x68]);
        writer.bytes(&kind.to_le_bytes());
        writer.relative(&[0xff, 0x15], self.pointers + 16, &[])?;
        let code = displaced.encode(address, writer.here())?;
        writer.bytes(&code);
        if writer.code.len() > FIRST { Err(Refusal::Fixed) } else { Ok(writer.code) }
    }
}
