//! One entry or exit as attach.bpf.c writes it (attach_records.h).

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
    /// Address of the return address at an entry, or a number that goes with it on the stack of a goroutine.
    pub sp: u64,
    /// Address of the goroutine; 0: none is known.
    pub goroutine: u64,
    pub tgid: i32,
    pub tid: i32,
    /// As `Record::word`, or with `ENTER_FROM` as its kind.
    pub word: u32,
    /// Records of this thread that found no room just before.
    pub lost: u32,
}

/// Kinds that only events have.
pub(super) mod kind {
    /// A thread goes on where another context was saved; the value is its stack pointer. Subject: whether it may come
    /// back to where it is.
    pub(in crate::attach) const SWITCH: u32 = 11;
    /// An exception was caught: what is deeper on its stack is over.
    pub(in crate::attach) const LANDING: u32 = 12;
    /// As `EXIT_AT`, by what may be a tail call.
    pub(in crate::attach) const TAIL_AT: u32 = 13;
    /// An `Enter` whose value is a return address.
    pub(in crate::attach) const ENTER_FROM: u32 = 14;
    /// An `Exit` whose value is the address of its frame's return address.
    pub(in crate::attach) const EXIT_AT: u32 = 15;
}
