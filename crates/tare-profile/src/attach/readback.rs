//! What a process really has in the places of probes: it may have text in pages of its own, which it wrote itself.

use std::fs::File;
use std::os::unix::fs::FileExt;

use iced_x86::{Decoder, DecoderOptions};

use super::object::Object;
use crate::maps::{self, Mapping};

/// A breakpoint.
const INT3: u8 = 0xcc;
/// What the kernel makes of one on a nop of five bytes (Linux 6.18): a call.
const CALL: u8 = 0xe8;
/// Most bytes of an instruction.
const LONGEST: u64 = 15;

/// The memory of a process. A file that is not in it, and memory that cannot be read, have nothing to say against a place.
pub(super) struct Readback {
    memory: Option<File>,
    mappings: Vec<Mapping>,
}

impl Readback {
    pub(super) fn of(pid: i32) -> Self {
        let memory = File::open(format!("/proc/{pid}/mem")).ok();
        Self { memory, mappings: maps::read(pid).unwrap_or_default() }
    }

    /// Whether the instruction at this offset is the file's, but for another tracer's probe on it: the kernel goes by the
    /// file when it carries the instruction out.
    pub(super) fn is_the_files(&self, object: &Object, offset: u64) -> bool {
        let file = object.code(offset, LONGEST);
        let length = Decoder::new(64, &file, DecoderOptions::NONE).decode().len();
        let Some(memory) = self.bytes(object.id(), offset, length) else { return true };
        memory[..] == file[..length] || memory[0] == INT3 && memory[1..] == file[1..length]
    }

    /// Whether a probe is there.
    pub(super) fn holds(&self, file: maps::File, offset: u64) -> bool {
        self.bytes(file, offset, 1).is_none_or(|bytes| [INT3, CALL].contains(&bytes[0]))
    }

    fn bytes(&self, file: maps::File, offset: u64, length: usize) -> Option<Vec<u8>> {
        let covers = |mapping: &&Mapping| {
            let length = mapping.end - mapping.start;
            mapping.executable && mapping.file() == file && offset.wrapping_sub(mapping.offset) < length
        };
        let mapping = self.mappings.iter().find(covers)?;
        let mut bytes = vec![0; length.max(1)];
        let address = mapping.start + (offset - mapping.offset);
        self.memory.as_ref()?.read_exact_at(&mut bytes, address).ok()?;
        Some(bytes)
    }
}
