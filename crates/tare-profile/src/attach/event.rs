//! One entry or exit as attach.bpf.c writes it.

/// `struct event`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Event {
    /// CLOCK_MONOTONIC, ns.
    pub time: u64,
    /// The record's detail; of an `ENTER_FROM` the return address.
    pub value: u64,
    /// CPU time that the thread had had, ns; 0: not asked for.
    pub cpu: u64,
    pub tgid: i32,
    pub tid: i32,
    /// As `Record::word`, or with `ENTER_FROM` as its kind.
    pub word: u32,
    /// Records of this thread that found no room just before.
    pub lost: u32,
}

/// The kind that only events have: an `Enter` whose value is a return address.
pub(super) const ENTER_FROM: u32 = 14;
