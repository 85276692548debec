//! Where an ELF file's addresses are in the file, and the other way round: its program headers.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use tare_probe::{ProbeError, Result};

/// The parts of a file that a loader maps (PT_LOAD).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segments {
    loads: Vec<Segment>,
    /// Address at which a program begins; 0 for a library without such.
    pub entry: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    offset: u64,
    address: u64,
    length: u64,
    executable: bool,
}

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const PT_LOAD: u32 = 1;
const PF_X: u32 = 1;
/// ELF, 64 bits, little-endian.
const MAGIC: [u8; 6] = [0x7f, b'E', b'L', b'F', 2, 1];

impl Segments {
    /// Reads those of an open file. `path` names it in errors.
    pub(super) fn read(file: &File, path: &Path) -> Result<Self> {
        let unreadable = |e| {
            ProbeError::os(format!("cannot read {}", path.display()), &e, "run as root, or name another file")
        };
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0).map_err(unreadable)?;
        let (size, count) = (number(&header, 54, 2) as usize, number(&header, 56, 2) as usize);
        if header[..6] != MAGIC || size != PROGRAM_HEADER {
            return Err(ProbeError::new(
                format!("{} is no 64-bit little-endian ELF file", path.display()),
                "name an executable or a shared library",
            ));
        }
        let at = number(&header, 32, 8);
        let mut headers = vec![0; size * count];
        file.read_exact_at(&mut headers, at).map_err(unreadable)?;
        let loads = headers.chunks_exact(size).filter_map(Segment::read).collect();
        Ok(Self { loads, entry: number(&header, 24, 8) })
    }

    /// The file offset at which the byte of this address is; `None` where no segment has it from the file.
    pub(super) fn offset_of(&self, address: u64) -> Option<u64> {
        let load = self.loads.iter().find(|s| s.address <= address && address - s.address < s.length)?;
        Some(address - load.address + load.offset)
    }

    /// What to take from addresses in executable memory that is mapped at `start` from `offset` on for `length` bytes,
    /// so that they become the file's own; it may wrap.
    pub(super) fn bias(&self, start: u64, offset: u64, length: u64) -> Option<u64> {
        let overlaps =
            |s: &&Segment| s.executable && s.offset < offset + length && offset < s.offset + s.length;
        let load = self.loads.iter().find(overlaps)?;
        Some(start.wrapping_sub(offset).wrapping_add(load.offset).wrapping_sub(load.address))
    }
}

impl Segment {
    fn read(header: &[u8]) -> Option<Self> {
        (number(header, 0, 4) as u32 == PT_LOAD).then(|| Self {
            executable: number(header, 4, 4) as u32 & PF_X != 0,
            offset: number(header, 8, 8),
            address: number(header, 16, 8),
            length: number(header, 32, 8),
        })
    }
}

fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    bytes[at..at + length].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(offset: u64, address: u64) -> Segments {
        Segments { loads: vec![Segment { offset, address, length: 0x500, executable: true }], entry: 0 }
    }

    fn read(path: &str) -> Result<Segments> {
        Segments::read(&File::open(path).unwrap(), Path::new(path))
    }

    #[test]
    fn an_address_is_found_in_the_segment_that_has_it() {
        let segments = segments(0x1000, 0x40_1000);
        assert_eq!(segments.offset_of(0x40_1010), Some(0x1010));
        assert_eq!(segments.offset_of(0x40_1500), None);
        assert_eq!(segments.offset_of(0x1010), None);
    }

    #[test]
    fn the_bias_of_a_program_that_is_not_moved_is_nothing() {
        assert_eq!(segments(0x1000, 0x40_1000).bias(0x40_1000, 0x1000, 0x1000), Some(0));
    }

    #[test]
    fn the_bias_of_a_moved_one_is_where_its_address_nought_is() {
        assert_eq!(segments(0x1040, 0x2040).bias(0x5555_0000_2000, 0x1000, 0x1000), Some(0x5555_0000_0000));
        assert_eq!(segments(0x1000, 0x1000).bias(0x5555_0000_9000, 0x9000, 0x1000), None);
    }

    #[test]
    fn this_very_program_is_read() {
        let segments = read("/proc/self/exe").unwrap();
        assert!(segments.offset_of(segments.entry).is_some(), "{segments:?}");
    }

    #[test]
    fn what_is_no_program_is_said_to_be_none() {
        let error = read("/proc/self/status").unwrap_err();
        assert!(error.what.contains("no 64-bit"), "{error}");
    }
}
