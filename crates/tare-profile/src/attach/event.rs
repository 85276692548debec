//! Events as attach.bpf.c hands them over: told apart by their size.

use tare_probe::bpf::load::{Plain, from_bytes};
use tare_rings::record::TEXT_BYTES;

/// `struct event`: an entry or an exit.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    /// CLOCK_MONOTONIC, ns.
    pub time: u64,
    /// The record's detail; of an `ENTER_FROM` the return address.
    pub value: u64,
    pub tgid: i32,
    pub tid: i32,
    /// As `Record::word`, or with `ENTER_FROM` as its kind.
    pub word: u32,
    /// Records of this thread that found no room just before.
    pub lost: u32,
}

/// The kind that only events have: an `Enter` whose value is a return address.
pub(super) const ENTER_FROM: u32 = 14;

/// `struct timed_event`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Timed {
    event: Event,
    cpu: u64,
}

/// `struct text`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Text {
    hash: u32,
    unused: u32,
    bytes: [u8; TEXT_BYTES],
}

/// `struct life`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Life {
    what: u32,
    tgid: i32,
    parent: i32,
    unused: u32,
}

// SAFETY: two 64-bit and four 32-bit numbers: no padding.
unsafe impl Plain for Event {}
// SAFETY: a Plain whose size is a multiple of eight, then 64 bits.
unsafe impl Plain for Timed {}
// SAFETY: two 32-bit numbers and bytes, a multiple of four of them.
unsafe impl Plain for Text {}
// SAFETY: four 32-bit numbers.
unsafe impl Plain for Life {}

/// What the ring held.
#[derive(Debug, Clone)]
pub(super) enum Raw {
    /// An entry or an exit, and the CPU time that the thread had had, ns.
    Event(Event, Option<u64>),
    /// A text, by its hash.
    Text(u32, Box<str>),
    /// A watched process has a child, which is watched too.
    Forked { parent: i32, child: i32 },
    /// It runs another program now.
    Replaced(i32),
    /// It is no more.
    Ended(i32),
}

impl Raw {
    /// `None` for what this build does not know.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        const EVENT: usize = size_of::<Event>();
        const TIMED: usize = size_of::<Timed>();
        const TEXT: usize = size_of::<Text>();
        const LIFE: usize = size_of::<Life>();
        match bytes.len() {
            EVENT => from_bytes(bytes).map(|event| Self::Event(event, None)),
            TIMED => from_bytes(bytes).map(|timed: Timed| Self::Event(timed.event, Some(timed.cpu))),
            TEXT => from_bytes(bytes).map(|text: Text| {
                let length = text.bytes.iter().position(|byte| *byte == 0).unwrap_or(TEXT_BYTES);
                Self::Text(text.hash, String::from_utf8_lossy(&text.bytes[..length]).into())
            }),
            LIFE => match from_bytes::<Life>(bytes)? {
                Life { what: 0, tgid, parent, .. } => Some(Self::Forked { parent, child: tgid }),
                Life { what: 1, tgid, .. } => Some(Self::Replaced(tgid)),
                Life { what: 2, tgid, .. } => Some(Self::Ended(tgid)),
                Life { .. } => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_tell_events_apart() {
        let sizes = [size_of::<Life>(), size_of::<Event>(), size_of::<Timed>(), size_of::<Text>()];
        assert_eq!(sizes, [16, 32, 40, 128]);
        assert!(Raw::read(&[0; 24]).is_none());
    }

    #[test]
    fn a_text_ends_at_its_nul_or_at_its_limit() {
        let mut bytes = [0; 128];
        bytes[0] = 7;
        bytes[8..11].copy_from_slice(b"abc");
        assert!(matches!(Raw::read(&bytes), Some(Raw::Text(7, text)) if &*text == "abc"));
        bytes[8..].fill(b'x');
        assert!(matches!(Raw::read(&bytes), Some(Raw::Text(7, text)) if text.len() == TEXT_BYTES));
    }
}
