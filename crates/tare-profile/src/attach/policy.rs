//! How a function's end may be watched without harm: by its return address, or at the places where it leaves.
//!
//! The kernel's return probes replace the return address. What walks the stack or leaves it in another way than by
//! returning finds that address: an exception ends the process there, a thread that ends in mid-function keeps its
//! locks, a coroutine's frames are taken for another's. So return probes are used only where nothing in the process can
//! do any of this, as far as its files tell. `sigaltstack` counts too, and so does a filter of system calls on kernels
//! whose return probes are a system call that such a filter forbids.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

use crate::maps::{self, Mapping};

/// What speaks against return probes in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hazard {
    /// It throws exceptions, or unwinds its stack for panics.
    Exceptions,
    /// Threads end in the middle of functions, and destructors run.
    ThreadExit,
    /// Threads end wherever they are.
    AsyncExit,
    /// It changes stacks by itself.
    Coroutines,
    /// It handles signals on a stack of their own.
    SignalStack,
    /// Stacks of goroutines are moved.
    Go,
    /// Its system calls are filtered, on Linux 6.11 to 6.13.
    Seccomp,
    /// A file in its memory cannot be read.
    Unknown,
    /// None, but to measure the other way.
    Asked,
}

/// Symbols whose use is a hazard. The C and C++ libraries themselves define them, and use them only when called.
const SYMBOLS: [(Hazard, &[&str]); 5] = [
    (
        Hazard::Exceptions,
        &[
            "__cxa_throw",
            "__cxa_rethrow",
            "_Unwind_RaiseException",
            "_Unwind_Resume_or_Rethrow",
            "_Unwind_ForcedUnwind",
        ],
    ),
    (Hazard::ThreadExit, &["pthread_exit", "pthread_cancel", "thrd_exit"]),
    (Hazard::AsyncExit, &["pthread_setcanceltype"]),
    (
        Hazard::Coroutines,
        &["makecontext", "swapcontext", "setcontext", "jump_fcontext", "ontop_fcontext", "swap_context"],
    ),
    (Hazard::SignalStack, &["sigaltstack"]),
];
/// Functions of the C++ library that throw (std::__throw_…).
const THROWS: &str = "_ZSt";
const THROWS_TOO: &str = "__throw_";
/// Names of files of the run-time libraries.
const RUNTIME: [&str; 8] =
    ["libc.so", "libc-", "ld-linux", "libstdc++.so", "libgcc_s.so", "libpthread", "libm.so", "libdl.so"];

impl Hazard {
    /// Whether it spares functions that are left only by returning (`Target::only_returns`), so that their return addresses
    /// may be replaced. Not a signal's handler: it may change stacks in the midst of such a function, or call one on a
    /// stack of its own, whose frames the kernel takes for those of the first.
    pub(super) fn spares_returning(self) -> bool {
        matches!(self, Self::Exceptions | Self::ThreadExit)
    }
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exceptions => "it can throw exceptions",
            Self::ThreadExit => "its threads can end in mid-function",
            Self::AsyncExit => "its threads can end at any instruction",
            Self::Coroutines => "it has coroutines",
            Self::SignalStack => "it handles signals on a stack of their own",
            Self::Go => "it is written in Go",
            Self::Seccomp => "its system calls are filtered",
            Self::Unknown => "a file in its memory cannot be read",
            Self::Asked => "it is asked for",
        })
    }
}

/// What files say of themselves, by device and inode.
#[derive(Debug, Default)]
pub(super) struct Policy(HashMap<maps::File, Vec<Hazard>>);

impl Policy {
    /// Hazards of these processes, each once.
    pub(super) fn hazards(&mut self, pids: &[i32]) -> Vec<Hazard> {
        let mut all = Vec::new();
        for (pid, mapping) in maps::executable_files(pids) {
            all.extend(self.0.entry(mapping.file()).or_insert_with(|| read(pid, &mapping)).iter().copied());
        }
        if kernel_filters() && pids.iter().any(|pid| filtered(*pid)) {
            all.push(Hazard::Seccomp);
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn read(pid: i32, mapping: &Mapping) -> Vec<Hazard> {
    let name = mapping.path.file_name().unwrap_or_default().to_string_lossy();
    if RUNTIME.iter().any(|runtime| name.starts_with(runtime)) {
        return Vec::new();
    }
    let inside = format!("/proc/{pid}/root{}", mapping.path.display());
    let opened = File::open(mapping.link(pid)).or_else(|_| File::open(inside));
    let Ok(file) = opened else { return vec![Hazard::Unknown] };
    let cache = object::ReadCache::new(file);
    let Ok(elf) = object::File::parse(&cache) else { return vec![Hazard::Unknown] };
    let mut found = Vec::new();
    let mut note = |symbol: &str| {
        let symbol = without_version(symbol);
        let listed = SYMBOLS.iter().filter(|(_, symbols)| symbols.contains(&symbol));
        found.extend(listed.map(|(hazard, _)| *hazard));
        if symbol.starts_with(THROWS) && symbol.contains(THROWS_TOO) {
            found.push(Hazard::Exceptions);
        }
    };
    elf.dynamic_symbols().chain(elf.symbols()).filter_map(|s| s.name().ok()).for_each(&mut note);
    let unwinds = elf.section_by_name(".gcc_except_table").is_some();
    // Without destructors and handlers nothing is lost where unwinding stops.
    found.retain(|hazard| !matches!(hazard, Hazard::ThreadExit | Hazard::AsyncExit) || unwinds);
    if elf.sections().any(|s| s.name().is_ok_and(|name| name == ".gopclntab" || name == ".go.buildinfo")) {
        found.push(Hazard::Go);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// A symbol without the version that a library gives it.
pub(super) fn without_version(symbol: &str) -> &str {
    symbol.split('@').next().unwrap_or(symbol)
}

fn filtered(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.split_ascii_whitespace().eq(["Seccomp:", "2"]))
}

/// Linux 6.11 to 6.13.
fn kernel_filters() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    matches!((numbers.next(), numbers.next()), (Some(6), Some(11..=13)))
}
