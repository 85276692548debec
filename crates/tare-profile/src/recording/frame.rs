//! The file's format. All numbers are little-endian.
//!
//! ```text
//! file    = "TAREPROF" version:u32 0:u32 frame*
//! frame   = kind:u32 bytes:u32 check:u64 body (`bytes` long)
//! BEGIN   = JSON of `WindowBegin`          a window's probes are on from here
//! END     = JSON of `WindowEnd`            and were, up to here
//! RECORDS = pid:i32 tid:i32 n:u32 …        n of one thread's, in their order: see `coding`
//! TEXTS   = JSON of [[hash, text], …]
//! LOST    = count:u64 from:u64 to:u64      records lost between two ticks that no thread's own stream tells of
//! CLOCK   = ticks:u64 ns:u64               the backend's clock beside CLOCK_MONOTONIC
//! LAST    = JSON of `Last`                 the recording was ended, not cut off
//! ```

use serde::{Deserialize, Serialize};

use crate::backend::{FunctionId, Mode};

/// How a recording begins.
pub(super) const MAGIC: &[u8; 8] = b"TAREPROF";
/// Of this format.
pub(super) const VERSION: u32 = 2;
/// Magic, version and four bytes of nothing.
pub(super) const HEAD_BYTES: usize = 16;
/// Kind, length, check.
pub(super) const FRAME_BYTES: usize = 16;
/// A longer body is no frame of ours: a bound on what a damaged length can ask for.
pub(super) const BODY_LIMIT: usize = 1 << 26;

/// What a frame holds.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    Begin = 1,
    End = 2,
    Records = 3,
    Texts = 4,
    Lost = 5,
    Clock = 6,
    Last = 7,
}

impl FrameKind {
    pub(super) fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Begin,
            2 => Self::End,
            3 => Self::Records,
            4 => Self::Texts,
            5 => Self::Lost,
            6 => Self::Clock,
            7 => Self::Last,
            _ => return None,
        })
    }
}

/// From here on these probes are on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WindowBegin {
    pub(super) number: u32,
    pub(super) ticks: u64,
    pub(super) mode: Mode,
    pub(super) purpose: String,
    pub(super) round: u32,
    pub(super) functions: Vec<FunctionId>,
    /// Those of which only entries are recorded.
    pub(super) entry_only: Vec<FunctionId>,
    /// Those whose entry tells something else than its call site, and what.
    pub(super) details: Vec<(FunctionId, String)>,
}

/// Up to here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WindowEnd {
    pub(super) number: u32,
    pub(super) ticks: u64,
    pub(super) calls: Vec<(FunctionId, u64)>,
    pub(super) own_cpu_ns: u64,
    /// See `backend::Taken`.
    #[serde(default)]
    pub(super) unrecorded: u64,
}

/// The recording's sums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Last {
    pub(super) own_cpu_ns: u64,
    pub(super) records: u64,
}

/// Over kind, length and body, 8 bytes at a time (the last ones padded with 0): tells a frame from what a crash left.
pub(super) fn check(kind: u32, body: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        let product = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ product >> 29
    };
    let (words, rest) = body.as_chunks::<8>();
    let hash = mix(u64::from(kind), body.len() as u64);
    let hash = words.iter().fold(hash, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    if rest.is_empty() { hash } else { mix(hash, u64::from_le_bytes(last)) }
}
