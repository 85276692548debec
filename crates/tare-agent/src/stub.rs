//! The code that a patched entry jumps to. All of it fits a line of cache in most cases: a function that is called now and then
//! waits for each line that it needs, 0.1 us and more in a server.
//!
//! ```text
//!            cmp byte [switch], 0
//!            je unwatched
//!            push place
//!            call [tare_entry]            the place is off the stack; carry: not to be watched after all
//!            jb unwatched
//!            lea rsp, [rsp + 8]           takes the return address off: tare_entry has kept it
//!            call unwatched               puts the stub's in its place
//! site:      push place
//!            jmp [tare_exit]              goes on at the address kept
//! unwatched: displaced instructions
//!            jmp back
//! ```

use tare_rings::Refusal;

use crate::displace::{Displaced, reach};

/// Bytes of a stub, at most, and its alignment.
pub(crate) const MOST: usize = 128;
pub(crate) const ALIGNMENT: usize = 64;
/// From a stub's beginning to the displaced instructions.
const UNWATCHED: u64 = 43;

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
    pub(crate) code: Vec<u8>,
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

    /// A jump to a place a few instructions on.
    fn short(&mut self, opcode: u8, target: u64) {
        let distance = target - (self.here() + 2);
        debug_assert!(distance < 0x80);
        self.bytes(&[opcode, distance as u8]);
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
        at: u64,
    ) -> Result<Stub, Refusal> {
        let unwatched = at + UNWATCHED;
        let mut writer = Writer { at, code: Vec::new() };
        writer.relative(&[0x80, 0x3d], self.switches + u64::from(place), &[0])?;
        writer.short(0x74, unwatched);
        writer.bytes(&[0x68]);
        writer.bytes(&place.to_le_bytes());
        writer.relative(&[0xff, 0x15], self.pointers, &[])?;
        writer.short(0x72, unwatched);
        writer.bytes(&[0x48, 0x8d, 0x64, 0x24, 0x08]);
        writer.relative(&[0xe8], unwatched, &[])?;
        let site = writer.here();
        writer.bytes(&[0x68]);
        writer.bytes(&place.to_le_bytes());
        writer.relative(&[0xff, 0x25], self.pointers + 8, &[])?;
        debug_assert_eq!(writer.here(), unwatched);
        writer.bytes(&displaced.encode(address, unwatched)?);
        if writer.code.len() > MOST { Err(Refusal::Fixed) } else { Ok(Stub { code: writer.code, site }) }
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
        if writer.code.len() > MOST { Err(Refusal::Fixed) } else { Ok(writer.code) }
    }
}
