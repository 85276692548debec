//! The shared file, part by part. `crates/tare-agent/src/hot/hot.h` has the same slots, texts and records in C.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use crate::record::{Record, TEXT_BYTES};

/// The first 8 bytes of the file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"tarering");
/// Of this layout; both sides must have the same.
pub const VERSION: u32 = 5;
/// Ways of watching a function, at most: a switch is one byte, and 0 is off.
pub const MODES: usize = 256;
const PAGE: usize = 4096;

/// How the agent comes to a function's entry and exit.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// It patches their first instructions.
    Trampolines = 1,
    /// A compiler left room for that (XRay).
    Sleds = 2,
    /// Not at all: the program says itself where its transactions are.
    Marks = 3,
}

impl Tier {
    /// The tier with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::Trampolines, Self::Sleds, Self::Marks].into_iter().find(|tier| *tier as u32 == number)
    }
}

/// What `Record::time` counts.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticks {
    /// The processor's time-stamp counter.
    Tsc = 0,
    /// ns of CLOCK_MONOTONIC, where that counter is not constant or stops.
    Monotonic = 1,
}

/// How much of everything there is; all offsets follow from it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Executables and libraries; the first is the program itself.
    pub objects: u32,
    /// Functions that may be watched.
    pub functions: u32,
    /// Threads that can have a ring at one time.
    pub slots: u32,
    /// Records in a ring; a power of two.
    pub ring: u32,
    /// Texts kept.
    pub texts: u32,
}

/// The file's first page.
#[repr(C)]
#[derive(Debug)]
pub struct Header {
    /// `MAGIC`.
    pub magic: u64,
    /// `VERSION`.
    pub version: u32,
    /// `Tier`.
    pub tier: u32,
    /// `Ticks`.
    pub ticks: u32,
    /// How much of everything.
    pub plan: Plan,
    /// Changes with every change of switches or modes.
    pub generation: AtomicU32,
    /// Whether markers make records: 1 while a profiler listens.
    pub marks: AtomicU32,
    /// The agent found nobody listening and switched everything off: 1.
    pub stopped: AtomicU32,
    /// Slots below this one have been used.
    pub used: AtomicU32,
    /// How often a thread has taken a slot: the next one's number.
    pub claims: AtomicU32,
    /// Processes in which the agent started and found its program.
    pub loads: AtomicU32,
    /// The last of them.
    pub process: AtomicU32,
    /// Why it does nothing there: a `Refusal`, 0 for none.
    pub refusal: AtomicU32,
    /// Which name space its process numbers are of: inode of /proc/self/ns/pid.
    pub pid_namespace: AtomicU64,
    /// When the profiler last looked: CLOCK_MONOTONIC, ns.
    pub heartbeat: AtomicU64,
    /// Records lost for want of a slot, and marks lost because a signal handler came upon the agent at work.
    pub unplaced: AtomicU64,
    /// Calls that ran unwatched because a signal handler that made them came upon the agent at work. Both their
    /// entry and their exit are missing, so that the calls around them still nest; or they are not counted.
    pub unrecorded: AtomicU64,
    /// What a switch's value means (see `mode`). Only added to.
    pub modes: [AtomicU32; MODES],
    /// The `generation` whose switches the process that started last has seen to; where sleds are patched.
    pub applied: AtomicU32,
    /// A process whose functions could not be patched when they came to be wanted: it has more than one thread.
    pub threaded: AtomicU32,
    /// How often a thread has kept a text.
    pub kept: AtomicU32,
}

/// A file with functions in it.
#[repr(C)]
#[derive(Debug)]
pub struct Object {
    /// `st_dev`, `st_ino`, `st_size` and `st_mtim` in ns when the table was made: together they say whether the file
    /// that is mapped is the one whose addresses these are.
    pub identity: [u64; 4],
    /// 1: found mapped by the agent.
    pub mapped: AtomicU32,
    /// Of `path`.
    pub path_length: u32,
    /// Its path when the table was made, for messages.
    pub path: [u8; 472],
}

/// A function that may be watched. Its place in the table is the subject of its records.
#[repr(C)]
#[derive(Debug)]
pub struct Function {
    /// ELF virtual address.
    pub address: u64,
    /// Bytes; 0: not known.
    pub size: u32,
    /// Which object.
    pub object: u32,
    /// 0: not tried; 1: patched; else a `Refusal`.
    pub status: AtomicU32,
    /// 1: patched from the start, so that a process that comes to it can see what else is wanted by then.
    pub trigger: AtomicU32,
}

/// A text. The profiler frees its place when room is short: a thread may then keep it again.
#[repr(C)]
#[derive(Debug)]
pub struct Text {
    /// 0: free.
    pub hash: AtomicU32,
    /// 1: the text is there.
    pub ready: AtomicU32,
    /// Up to the first NUL.
    pub text: [u8; TEXT_BYTES],
}

/// Who owns a slot.
pub mod state {
    /// Nobody.
    pub const FREE: u32 = 0;
    /// A thread is about to.
    pub const CLAIMING: u32 = 1;
    /// A thread that may run.
    pub const OWNED: u32 = 2;
    /// A thread that has ended; the profiler empties and frees it.
    pub const LEFT: u32 = 3;
}

/// A thread's ring: one writer, one reader, each with a cache line of its own.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Slot {
    /// See `state`.
    pub state: AtomicU32,
    /// Process.
    pub pid: AtomicU32,
    /// Thread.
    pub tid: AtomicU32,
    /// Which claim this is, over all slots.
    pub number: AtomicU32,
    spare: [u64; 6],
    /// Records written, ever. The thread's.
    pub head: AtomicU64,
    /// Records lost that no `Lost` record has told yet. The thread's.
    pub lost: AtomicU64,
    spare_head: [u64; 6],
    /// Records read, ever. The profiler's.
    pub tail: AtomicU64,
    spare_tail: [u64; 7],
}

const _: () = assert!(size_of::<Header>() <= PAGE);
const _: () = assert!(size_of::<Slot>() == 192);
const _: () = assert!(size_of::<Text>() == 128);
const _: () = assert!(size_of::<Object>() == 512);
const _: () = assert!(size_of::<Function>() == 24);
const _: () = assert!(size_of::<AtomicU8>() == 1);

const fn pages(bytes: usize) -> usize {
    bytes.div_ceil(PAGE) * PAGE
}

impl Plan {
    /// Where the objects are.
    pub const fn objects_at(&self) -> usize {
        PAGE
    }

    /// Where the functions are.
    pub const fn functions_at(&self) -> usize {
        self.objects_at() + pages(self.objects as usize * size_of::<Object>())
    }

    /// Where the switches are: whole pages of their own, which the agent maps a second time near the code.
    pub const fn switches_at(&self) -> usize {
        self.functions_at() + pages(self.functions as usize * size_of::<Function>())
    }

    /// How long they are.
    pub const fn switches_length(&self) -> usize {
        pages(self.functions as usize)
    }

    /// Where the texts are.
    pub const fn texts_at(&self) -> usize {
        self.switches_at() + self.switches_length()
    }

    /// Where the slots are.
    pub const fn slots_at(&self) -> usize {
        self.texts_at() + pages(self.texts as usize * size_of::<Text>())
    }

    /// Where the first slot's ring is.
    pub const fn rings_at(&self) -> usize {
        self.slots_at() + pages(self.slots as usize * size_of::<Slot>())
    }

    /// Bytes of a slot's records.
    pub const fn ring_length(&self) -> usize {
        self.ring as usize * size_of::<Record>()
    }

    /// From one slot's ring to the next: its records, then its counts, one `u32` for each function.
    pub const fn stride(&self) -> usize {
        pages(self.ring_length() + self.functions as usize * size_of::<u32>())
    }

    /// Of the whole file.
    pub const fn length(&self) -> usize {
        self.rings_at() + self.slots as usize * self.stride()
    }

    /// Whether it is one that can be: what is read from a file may be anything.
    pub fn is_sound(&self) -> bool {
        self.ring.is_power_of_two()
            && (64..=1 << 24).contains(&self.ring)
            && (1..=1 << 16).contains(&self.slots)
            && self.objects <= 1 << 12
            && self.functions < 1 << 28
            && (1..=1 << 16).contains(&self.texts)
    }
}
