//! What the C code works on; `hot/hot.h` has the same structures.

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use tare_rings::Shared;
use tare_rings::layout::{Slot, Text};

use crate::objects::Mapped;

#[repr(C)]
struct Object {
    begin: u64,
    end: u64,
    base: u64,
}

#[repr(C, align(64))]
struct Runtime {
    switches: *const AtomicU8,
    this: u64,
    program: u64,
    span: u64,
    ticks: u32,
    applied: u32,
    modes: *const AtomicU32,
    slots: *const Slot,
    rings: *mut u8,
    texts: *const Text,
    sites: *const u64,
    objects: *const Object,
    marks: *const AtomicU32,
    stopped: *const AtomicU32,
    used: *const AtomicU32,
    claims: *const AtomicU32,
    kept: *const AtomicU32,
    heartbeat: *const AtomicU64,
    unplaced: *const AtomicU64,
    unrecorded: *const AtomicU64,
    generation: *const AtomicU32,
    apply: *const c_void,
    clock_gettime: *const c_void,
    pthread_setspecific: *const c_void,
    stride: u64,
    functions: u32,
    slot_count: u32,
    ring: u32,
    text_count: u32,
    object_count: u32,
    key: u32,
    has_key: u32,
}

unsafe extern "C" {
    static mut tare_runtime: Runtime;
    pub(crate) safe fn tare_entry();
    pub(crate) safe fn tare_exit();
    pub(crate) safe fn tare_hook_entry();
    pub(crate) safe fn tare_apply();
    safe fn tare_self_offset() -> u64;
    fn tare_thread_ends(value: *mut c_void);
    safe fn tare_put(word: u32, detail: u32) -> i32;
    fn tare_text(pointer: *const c_char) -> u32;
}

/// glibc keeps so many keys' values in the thread itself; setting one of them allocates nothing.
const KEYS_IN_PLACE: u32 = 32;

/// Fills in what the C code needs, once, before anything is patched.
pub(crate) fn start(shared: &'static Shared, mapped: &[Mapped]) {
    let objects: Vec<Object> = mapped
        .iter()
        .flat_map(|object| object.code.iter().map(|(begin, end)| (object.bias, *begin, *end)))
        .map(|(bias, begin, end)| Object { begin: begin as u64, end: end as u64, base: bias as u64 })
        .collect();
    let mut key: libc::pthread_key_t = 0;
    // SAFETY: makes one key; its destructor gets the value that the C code set.
    let made = unsafe { libc::pthread_key_create(&mut key, Some(ends)) } == 0;
    let (header, plan) = (shared.header(), shared.plan());
    let runtime = Runtime {
        switches: shared.switches().as_ptr(),
        this: tare_self_offset(),
        program: mapped[0].bias as u64,
        // Of no length, no call is a plain one.
        span: if header.ticks == 0 { (mapped[0].span().1 - mapped[0].bias) as u64 } else { 0 },
        ticks: header.ticks,
        applied: 0,
        modes: header.modes.as_ptr(),
        slots: shared.slots().as_ptr(),
        rings: shared.ring(0).cast(),
        texts: shared.texts().as_ptr(),
        sites: std::ptr::null(),
        object_count: objects.len() as u32,
        objects: Vec::leak(objects).as_ptr(),
        marks: &raw const header.marks,
        stopped: &raw const header.stopped,
        used: &raw const header.used,
        claims: &raw const header.claims,
        kept: &raw const header.kept,
        heartbeat: &raw const header.heartbeat,
        unplaced: &raw const header.unplaced,
        unrecorded: &raw const header.unrecorded,
        generation: &raw const header.generation,
        apply: std::ptr::null(),
        clock_gettime: libc::clock_gettime as *const c_void,
        pthread_setspecific: libc::pthread_setspecific as *const c_void,
        stride: plan.stride() as u64,
        functions: plan.functions,
        slot_count: plan.slots,
        ring: plan.ring,
        text_count: plan.texts,
        key,
        has_key: u32::from(made && key < KEYS_IN_PLACE),
    };
    // SAFETY: before any other thread, and before anything calls the C code.
    unsafe { (&raw mut tare_runtime).write(runtime) };
}

/// The switches where the program's stubs see them: what a stub has looked at is in the cache by that address.
pub(crate) fn set_switches(switches: *const AtomicU8) {
    // SAFETY: before any other thread, and before anything calls the C code; mapped for good.
    unsafe { tare_runtime.switches = switches };
}

/// Where each function returns to while it is watched; before the first function is patched.
pub(crate) fn set_sites(sites: Vec<u64>) {
    // SAFETY: before any other thread, and before anything calls the C code.
    unsafe { tare_runtime.sites = Vec::leak(sites).as_ptr() };
}

/// What a trigger calls when other functions are wanted than before; `None`: all are patched for good.
pub(crate) fn set_apply(apply: Option<extern "C" fn()>) {
    // SAFETY: there is no other thread.
    unsafe { tare_runtime.apply = apply.map_or(std::ptr::null(), |function| function as *const c_void) };
}

/// Whether markers are to make records: a profiler listens.
pub(crate) fn marks() -> bool {
    // SAFETY: set once before threads; the header is mapped for good.
    unsafe {
        let marks = tare_runtime.marks;
        !marks.is_null() && (*marks).load(std::sync::atomic::Ordering::Relaxed) != 0
    }
}

/// Writes a record to this thread's ring, with the time at which it does. False if there is none, or a signal's handler has
/// come upon the agent itself.
pub(crate) fn put(word: u32, detail: u32) -> bool {
    tare_put(word, detail) != 0
}

/// Keeps a text and returns its hash; 0 if there is none.
///
/// # Safety
/// `pointer` is null or a C string.
pub(crate) unsafe fn text(pointer: *const c_char) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { tare_text(pointer) }
}

unsafe extern "C" fn ends(value: *mut c_void) {
    // SAFETY: called by the threads library with the value that the C code set for this thread.
    unsafe { tare_thread_ends(value) };
}
