//! Functions watched by way of the sleds that clang leaves in them (-fxray-instrument), patched and unpatched while the
//! program runs: only those whose switch is on are patched.
//!
//! A process has a thread of ours that waits for the switches to change, a forked child one of its own. Between the time
//! that a switch changes and the time that its sleds do, the switch decides: a function that is patched still makes no
//! record once its switch is off.

mod library;
mod symbols;
mod trampoline;

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tare_rings::{Refusal, Shared};

use self::library::Library;
use crate::objects::Mapped;

/// How long switches may have been changed without a word: by the agent itself, where nobody listens any more.
const LOOK_AGAIN_MS: i64 = 500;
/// What the C code needs; `hot/hot.h` has the same.
#[repr(C)]
struct Handled {
    /// By XRay's id, the function's place in the table, or `NONE`.
    places: *const u32,
    count: u64,
}

const NONE: u32 = u32::MAX;

unsafe extern "C" {
    static mut tare_sleds: Handled;
    safe fn tare_sled_entry();
    safe fn tare_sled_exit();
    safe fn tare_sled_tail_exit();
}

/// What the thread that patches needs. Made once, never freed.
struct Sleds {
    shared: &'static Shared,
    library: Library,
    /// By place, XRay's id; 0: no sled.
    ids: Vec<i32>,
    /// By place, whether its sleds are patched in this process.
    patched: Vec<AtomicBool>,
}

static SLEDS: OnceLock<Sleds> = OnceLock::new();

/// In the constructor of the library, for `Tier::Sleds`: tells of each function in the table whether it has sleds, and
/// begins to follow the switches. Nothing is patched yet.
pub(crate) fn start(shared: &'static Shared, mapped: &[Mapped]) -> Result<(), Refusal> {
    let bias = mapped.first().map_or(0, |program| program.bias);
    let library = Library::find(bias).map_err(|_| Refusal::NotXray)?;
    let (places, ids) = numbered(shared, &library, bias);
    if ids.iter().all(|id| *id == 0) {
        return Err(Refusal::NotXray);
    }
    let handled = Handled { count: places.len() as u64, places: Vec::leak(places).as_ptr() };
    // SAFETY: before any function is patched, and so before the C code reads it.
    unsafe { (&raw mut tare_sleds).write(handled) };
    let ours = [tare_sled_entry, tare_sled_entry, tare_sled_exit, tare_sled_tail_exit];
    let pairs = std::array::from_fn(|at| (library.trampolines[at], ours[at] as *const () as usize));
    // SAFETY: XRay's own code, which no thread is in: there is one thread, and no sled is patched.
    unsafe { trampoline::lead(pairs) }?;
    let patched = ids.iter().map(|_| AtomicBool::new(false)).collect();
    let _ = SLEDS.set(Sleds { shared, library, ids, patched });
    // SAFETY: the function takes and gives nothing.
    unsafe { libc::pthread_atfork(None, None, Some(follow)) };
    follow();
    Ok(())
}

/// Places by id and ids by place; and their status in the table.
fn numbered(shared: &Shared, library: &Library, bias: usize) -> (Vec<u32>, Vec<i32>) {
    let last = library.last();
    let by_address: HashMap<u64, i32> =
        (1..=last as i32).map(|id| (library.address(id).wrapping_sub(bias) as u64, id)).collect();
    let mut places = vec![NONE; last + 1];
    let mut ids = vec![0; shared.functions().len()];
    for (place, function) in shared.functions().iter().enumerate() {
        let id = if function.object == 0 { by_address.get(&function.address).copied() } else { None };
        if let Some(id) = id {
            places[id as usize] = place as u32;
            ids[place] = id;
        }
        let status = if id.is_some() { 1 } else { Refusal::NoSled as u32 };
        function.status.store(status, Ordering::Release);
    }
    (places, ids)
}

/// Starts the thread that follows the switches; in a forked child too, where threads of the parent are not.
extern "C" fn follow() {
    // SAFETY: plain calls on sets of our own. The server's signals are for its own threads: ours takes none.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        // Without the thread sleds stay as they are, and the switches still decide.
        let _ = std::thread::Builder::new().name("tare-xray".into()).stack_size(64 << 10).spawn(run);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
    }
}

fn run() {
    let Some(sleds) = SLEDS.get() else { return };
    let header = sleds.shared.header();
    loop {
        let generation = header.generation.load(Ordering::Acquire);
        sleds.follow();
        if header.process.load(Ordering::Relaxed) == std::process::id() {
            header.applied.store(generation, Ordering::Release);
        }
        wait(&header.generation, generation);
    }
}

/// Until it is another, or for a while.
fn wait(generation: &AtomicU32, seen: u32) {
    let pause = libc::timespec { tv_sec: 0, tv_nsec: LOOK_AGAIN_MS * 1_000_000 };
    // SAFETY: the word is mapped for as long as the process lives; other processes wake us.
    unsafe { libc::syscall(libc::SYS_futex, generation.as_ptr(), libc::FUTEX_WAIT, seen, &raw const pause) };
}

impl Sleds {
    /// Patches what is switched on, and takes patches off all others.
    fn follow(&self) {
        for ((switch, patched), id) in self.shared.switches().iter().zip(&self.patched).zip(&self.ids) {
            let on = switch.load(Ordering::Acquire) != 0;
            if *id != 0 && on != patched.load(Ordering::Relaxed) && self.library.patch(*id, on) {
                patched.store(on, Ordering::Relaxed);
            }
        }
    }
}
