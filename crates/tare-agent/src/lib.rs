//! A library preloaded into a DBMS (LD_PRELOAD): it patches functions that a profiler's table names, so that each tells when it
//! is entered and left. `tare_profile::agent` is the other side.
//!
//! How a function is watched: before the program's main function a stub is made for it near the code (`stub`), and then or once it
//! is wanted (`later`) a jump is put at its entry that goes there. The stub tests the function's switch, one
//! byte in shared memory. Off: it runs the instructions that the jump displaced (`displace`) and goes back. On: C code
//! (`hot/hot.c`) writes a record to the thread's ring, takes the return address off the stack, and the stub calls the function;
//! when that returns to the stub, another record is written and control goes to where the function would have returned.
//!
//! What it keeps to: registers other than flags are as without it; a function is left alone where that cannot be
//! guaranteed, with a reason (`tare_rings::Refusal`); nothing is patched once threads run (`later`); a program that is not the table's
//! is not touched. What it changes for the watched: backtraces end at the first watched function,
//! and uprobes (BPF, perf) on a patched function crash the process, since the kernel takes the file's instructions for its.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod displace;
mod elf;
mod hooks;
mod later;
mod mark;
mod near;
mod objects;
mod patch;
mod preflight;
mod runtime;
mod stub;
mod sweep;
mod threads;
mod xray;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::{env, fs, panic, process};

use tare_rings::layout::Tier;
use tare_rings::{Refusal, Shared, shared};

/// The dynamic linker calls it before the program's main function.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    // Whatever goes wrong in here, the server starts.
    let _ = panic::catch_unwind(|| {
        if let Some(folder) = env::var_os(shared::VARIABLE) {
            load(Path::new(&folder));
        }
    });
}

/// Does what the folder's table asks for, if this is the program it is for; others (a shell that the server starts) inherit
/// the environment and go on as if nothing were.
fn load(folder: &Path) {
    let Ok(shared) = Shared::open(folder) else { return };
    // As long as the process lives.
    let shared: &'static Shared = Box::leak(Box::new(shared));
    let Some(program) = shared.objects().first() else { return };
    let same = shared::identity(Path::new("/proc/self/exe")).is_ok_and(|found| found == program.identity);
    let replaced = !same && fs::read_link("/proc/self/exe").is_ok_and(|path| path == program.path());
    if !same && !replaced {
        return;
    }
    let done = if replaced { Err(Refusal::Replaced) } else { watch(shared) };
    let header = shared.header();
    header.pid_namespace.store(preflight::pid_namespace(), Ordering::Relaxed);
    header.process.store(process::id(), Ordering::Relaxed);
    header.refusal.store(done.err().map_or(0, |why| why as u32), Ordering::Release);
    header.loads.fetch_add(1, Ordering::Release);
}

fn watch(shared: &'static Shared) -> Result<(), Refusal> {
    let objects = objects::mapped();
    runtime::start(shared, &objects);
    match Tier::from_number(shared.header().tier) {
        Some(Tier::Trampolines) => {
            preflight::check()?;
            patch::all(shared, &objects)
        }
        Some(Tier::Sleds) => xray::start(shared, &objects),
        Some(Tier::Marks) | None => Ok(()),
    }
}
