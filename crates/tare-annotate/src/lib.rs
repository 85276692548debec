//! Marks of transactions in a program of your own, for `tare profile`: which thread works on which transaction, and when.
//!
//! ```
//! tare_annotate::begin(7);
//! tare_annotate::label(7, c"payment");
//! tare_annotate::suspend(7); // this thread turns to something else; the transaction waits
//! tare_annotate::resume(7); // some thread, perhaps another, goes on with it
//! tare_annotate::end(7);
//! ```
//!
//! An id is below 2^60 and of one transaction at a time in its process; it may be used again after `end`. A thread works
//! on one transaction at a time: to begin or resume another suspends the one before. Intervals of one id that overlap in
//! time are reported, and their times not added up (SIGMOD 2017, §3.1).
//!
//! Without a profiler a mark costs a call, a load and a branch. Under the agent it becomes a record; `tare profile attach`
//! puts a probe on `tare_mark`, which needs its symbol: do not strip the program. The marks of C and C++ are in
//! `include/tare_profile.h`; a program may have both.

use std::ffi::{CStr, c_char, c_void};
use std::hint::black_box;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

// Those of `tare_rings::Kind`, in which a mark is recorded.
const BEGIN: u32 = 4;
const SUSPEND: u32 = 5;
const RESUME: u32 = 6;
const END: u32 = 7;
const LABEL: u32 = 8;

const NAME_BYTES: usize = 120;

/// A new transaction, that this thread works on.
pub fn begin(id: u64) {
    tare_mark(BEGIN, id, ptr::null());
}

/// This thread turns to something else; the transaction waits.
pub fn suspend(id: u64) {
    tare_mark(SUSPEND, id, ptr::null());
}

/// This thread goes on with a transaction that waits.
pub fn resume(id: u64) {
    tare_mark(RESUME, id, ptr::null());
}

/// The transaction is over.
pub fn end(id: u64) {
    tare_mark(END, id, ptr::null());
}

/// Its type; up to 120 bytes count.
pub fn label(id: u64, name: &CStr) {
    // A probe cannot read a page that nobody has touched.
    black_box(name.to_bytes().iter().take(NAME_BYTES).fold(0, |all, byte| all | byte));
    tare_mark(LABEL, id, name.as_ptr());
}

type Agent = extern "C" fn(u32, u64, *const c_char);

static AGENT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut()); // null: not looked for yet

/// All marks go through here, so that a probe can be put on it.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn tare_mark(kind: u32, id: u64, label: *const c_char) {
    let mut agent = AGENT.load(Ordering::Relaxed);
    if agent.is_null() {
        agent = find();
        AGENT.store(agent, Ordering::Relaxed);
    }
    if agent != nobody() {
        // SAFETY: the agent's library exports this name with this signature (`include/tare_profile.h`).
        let agent = unsafe { mem::transmute::<*mut c_void, Agent>(agent) };
        agent(kind, id, label);
    }
}

/// What stands for "there is no agent".
fn nobody() -> *mut c_void {
    (&raw const AGENT).cast_mut().cast()
}

#[cold]
fn find() -> *mut c_void {
    // SAFETY: a search by name among the libraries that are loaded.
    let agent = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"tare_agent_mark".as_ptr()) };
    if agent.is_null() { nobody() } else { agent }
}
