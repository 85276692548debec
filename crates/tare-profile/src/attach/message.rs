//! What attach.bpf.c tells besides events, seldom: told apart by its size.

use tare_probe::bpf::load::{Plain, from_bytes};
use tare_rings::record::TEXT_BYTES;

/// `struct text`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct RawText {
    hash: u32,
    unused: u32,
    bytes: [u8; TEXT_BYTES],
}

/// `struct life`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct RawLife {
    time: u64,
    what: u32,
    tgid: i32,
    parent: i32,
    unused: u32,
}

// SAFETY: two 32-bit numbers and bytes, a multiple of four of them.
unsafe impl Plain for RawText {}
// SAFETY: 64 bits and four 32-bit numbers.
unsafe impl Plain for RawLife {}

/// What the ring held.
#[derive(Debug, Clone)]
pub(super) enum Message {
    /// A text, by its hash.
    Text(u32, String),
    /// At this time, CLOCK_MONOTONIC in ns.
    Life(u64, Life),
}

/// What becomes of a watched process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// It has a child, which is watched too.
    Forked { parent: i32, child: i32 },
    /// It runs another program now.
    Replaced(i32),
    /// It is no more.
    Ended(i32),
    /// One of its threads is no more.
    ThreadEnded { pid: i32, tid: i32 },
}

impl Message {
    /// `None` for what this build does not know.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        const TEXT: usize = size_of::<RawText>();
        const LIFE: usize = size_of::<RawLife>();
        match bytes.len() {
            TEXT => from_bytes(bytes).map(|text: RawText| {
                let length = text.bytes.iter().position(|byte| *byte == 0).unwrap_or(TEXT_BYTES);
                Self::Text(text.hash, String::from_utf8_lossy(&text.bytes[..length]).into())
            }),
            LIFE => {
                let raw: RawLife = from_bytes(bytes)?;
                let life = match raw.what {
                    0 => Life::Forked { parent: raw.parent, child: raw.tgid },
                    1 => Life::Replaced(raw.tgid),
                    2 => Life::Ended(raw.tgid),
                    3 => Life::ThreadEnded { pid: raw.tgid, tid: raw.parent },
                    _ => return None,
                };
                Some(Self::Life(raw.time, life))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_tell_messages_apart() {
        assert_eq!([size_of::<RawLife>(), size_of::<RawText>()], [24, 128]);
        assert!(Message::read(&[0; 40]).is_none());
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&5u64.to_ne_bytes());
        bytes[8] = 2;
        bytes[12] = 9;
        assert!(matches!(Message::read(&bytes), Some(Message::Life(5, Life::Ended(9)))));
        bytes[8] = 77;
        assert!(Message::read(&bytes).is_none());
    }

    #[test]
    fn a_text_ends_at_its_nul_or_at_its_limit() {
        let mut bytes = [0; 128];
        bytes[0] = 7;
        bytes[8..11].copy_from_slice(b"abc");
        assert!(matches!(Message::read(&bytes), Some(Message::Text(7, text)) if text == "abc"));
        bytes[8..].fill(b'x');
        assert!(matches!(Message::read(&bytes), Some(Message::Text(7, text)) if text.len() == TEXT_BYTES));
    }
}
