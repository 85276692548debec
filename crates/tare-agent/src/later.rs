//! Which detours are there. In a process of one thread, those of functions that are watched, and no others: it writes them into its
//! own copy of the code when it comes to a trigger, a function that is patched from the start, and takes them out when they are not
//! wanted any more. A detour that nobody wants costs two jumps and a line of cache at each call: with all of PostgreSQL's some 8% of
//! a server that only computes. While other threads run, code cannot be changed: before a process starts its second one it
//! writes all detours, for good.

use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};
use std::{mem, process, ptr};

use tare_rings::{Refusal, Shared};

use crate::displace::{JUMP, reach};
use crate::near::{PAGE, protect};
use crate::objects::Mapped;
use crate::runtime;
use crate::threads::{self, Signals};

/// A jump over a function's entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Detour {
    /// In the table; a function of the unwinder has none, and is always wanted.
    place: Option<usize>,
    address: u64,
    jump: [u8; JUMP],
    original: [u8; JUMP],
    there: bool,
}

impl Detour {
    /// From an entry in code that is mapped, with as many bytes as a jump has, to a stub.
    pub(crate) fn new(place: Option<usize>, address: u64, to: u64) -> Result<Self, Refusal> {
        let mut jump = [0xe9; JUMP];
        jump[1..].copy_from_slice(&reach(address + JUMP as u64, to)?.to_le_bytes());
        // SAFETY: the entry's first instructions, which were found to be displaceable.
        let original = unsafe { *(address as *const [u8; JUMP]) };
        Ok(Self { place, address, jump, original, there: false })
    }
}

/// Executable pages of one file.
pub(crate) struct Code {
    from: usize,
    length: usize,
    detours: Vec<Detour>,
    /// By page: jumps that have a byte in it.
    jumps: Vec<u16>,
    /// A page without jumps is as in the file.
    as_in_file: bool,
}

/// Those of an object that have detours.
pub(crate) fn codes(object: &Mapped, detours: &[Detour]) -> Vec<Code> {
    let code = |(begin, end): &(usize, usize)| {
        let inside = |one: &&Detour| (*begin..*end).contains(&(one.address as usize));
        let from = begin & !(PAGE - 1);
        let length = end.next_multiple_of(PAGE) - from;
        Code {
            from,
            length,
            detours: detours.iter().filter(inside).copied().collect(),
            jumps: vec![0; length / PAGE],
            as_in_file: !object.relocated,
        }
    };
    object.code.iter().map(code).filter(|code| !code.detours.is_empty()).collect()
}

impl Code {
    /// Writes and takes out what is not as it is wanted. There is no other thread and no signal. Nothing is allocated: the process
    /// may be anywhere.
    fn change(&mut self, wanted: impl Fn(usize) -> bool) -> Result<(), Refusal> {
        let wanted = |one: &Detour| one.place.is_none_or(&wanted);
        if self.detours.iter().all(|one| one.there == wanted(one)) {
            return Ok(());
        }
        let executable = libc::PROT_READ | libc::PROT_EXEC;
        protect(self.from, self.length, executable | libc::PROT_WRITE)?;
        for place in 0..self.detours.len() {
            let one = self.detours[place];
            let wanted = wanted(&one);
            if one.there != wanted {
                write(one.address, if wanted { one.jump } else { one.original });
                self.detours[place].there = wanted;
                self.count(one.address as usize, wanted);
            }
        }
        protect(self.from, self.length, executable)
    }

    /// One jump more or less at `address`. A page that has none any more is the file's again, shared with other processes.
    fn count(&mut self, address: usize, more: bool) {
        let first = (address - self.from) / PAGE;
        let last = (address + JUMP - 1 - self.from) / PAGE;
        for page in first..=last {
            self.jumps[page] = if more { self.jumps[page] + 1 } else { self.jumps[page] - 1 };
            if self.jumps[page] == 0 && self.as_in_file {
                let at = self.from + page * PAGE;
                // SAFETY: a page of a private mapping of a file, with the same bytes as there.
                unsafe { libc::madvise(at as *mut c_void, PAGE, libc::MADV_DONTNEED) };
            }
        }
    }
}

/// Byte by byte: no library function, which might use registers that the interrupted code needs.
fn write(address: u64, code: [u8; JUMP]) {
    for (place, byte) in code.into_iter().enumerate() {
        // SAFETY: within an entry whose first bytes may be displaced, in pages that are writable.
        unsafe { ptr::write_volatile((address as *mut u8).add(place), byte) };
    }
}

struct Later {
    shared: &'static Shared,
    codes: Vec<Code>,
}

/// Forked children have it as it was: it goes with the process's own copy of the code.
static LATER: Mutex<Option<Later>> = Mutex::new(None);

/// Writes what is to be there from the start.
pub(crate) fn start(shared: &'static Shared, mut codes: Vec<Code>) -> Result<(), Refusal> {
    let functions = shared.functions();
    let trigger = |place: usize| functions[place].trigger.load(Ordering::Relaxed) != 0;
    let later = codes.iter().flat_map(|code| &code.detours).any(|one| one.place.is_some_and(trigger));
    for code in &mut codes {
        code.change(|place| !later || trigger(place))?;
    }
    if later {
        *LATER.lock().map_err(|_| Refusal::Protected)? = Some(Later { shared, codes });
        runtime::set_apply(Some(apply));
        // Before a fork too: the children have the same pages as their parent and each other.
        // SAFETY: registers a function that stays.
        unsafe { libc::pthread_atfork(Some(fork_begins), None, None) };
    }
    Ok(())
}

unsafe extern "C" fn fork_begins() {
    runtime::tare_apply();
}

/// What is watched by now, and the triggers.
extern "C" fn apply() {
    let Ok(mut later) = LATER.try_lock() else { return };
    let Some(Later { shared, codes }) = later.as_mut() else { return };
    let switches: &[AtomicU8] = shared.switches();
    let functions = shared.functions();
    let _signals = Signals::blocked();
    if threads::running() == Some(1) {
        for code in codes {
            // What cannot be changed stays as it is: the profiler sees no calls of it.
            let _ = code.change(|place| {
                switches[place].load(Ordering::Relaxed) != 0
                    || functions[place].trigger.load(Ordering::Relaxed) != 0
            });
        }
    } else {
        shared.header().threaded.store(process::id(), Ordering::Relaxed);
    }
}

/// All, for good: the process is about to have a second thread.
fn complete() {
    let Ok(mut later) = LATER.try_lock() else { return };
    let Some(Later { shared, mut codes }) = later.take() else { return };
    runtime::set_apply(None);
    let _signals = Signals::blocked();
    if threads::running() != Some(1) || codes.iter_mut().any(|code| code.change(|_| true).is_err()) {
        shared.header().threaded.store(process::id(), Ordering::Relaxed);
    }
}

type Create = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    extern "C" fn(*mut c_void) -> *mut c_void,
    *mut c_void,
) -> c_int;

/// Stands before the threads library's: the process is about to have a second thread.
///
/// # Safety
/// As the function of that name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    complete();
    // SAFETY: looks a name up.
    let real = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
    if real.is_null() {
        return libc::EAGAIN;
    }
    // SAFETY: the function of that name, called as we are.
    unsafe { mem::transmute::<*mut c_void, Create>(real)(thread, attributes, start, argument) }
}
