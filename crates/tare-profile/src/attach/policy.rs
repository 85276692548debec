//! How a function's end may be watched without harm: by its return address, or at the places where it leaves.
//!
//! The kernel's return probes replace the return address. What walks the stack or leaves it in another way than by
//! returning finds that address: an exception ends the process there, a thread that ends in mid-function keeps its
//! locks, a coroutine's frames are taken for another's. So return probes are used only where nothing in the process can
//! do any of this, as far as its files tell. `sigaltstack` counts too, and so does a filter of system calls on kernels
//! whose return probes are a system call that such a filter forbids.

use std::collections::HashMap;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

use crate::backend::Hazard;
use crate::maps::{self, Mapping};

/// What a file's symbols tell of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// A hazard wherever it is.
    Hazard(Hazard),
    /// It throws exceptions of C++, which nobody may catch: then they end the process anyway.
    Throws,
    /// It catches them.
    Catches,
    /// Its threads may end in mid-function; without destructors nothing is lost where unwinding stops.
    EndsThreads,
    /// Where and whenever it likes.
    EndsThreadsAnywhere,
    /// It has destructors, or handlers.
    Unwinds,
    /// It has them, and how they are come to was compiled into it and has no name.
    UnwindsByItself,
}

/// Symbols that are signs. The C and C++ libraries themselves define them, and use them only when called.
const SYMBOLS: [(Sign, &[&str]); 7] = [
    (
        Sign::Hazard(Hazard::Exceptions),
        &["_Unwind_RaiseException", "_Unwind_Resume_or_Rethrow", "_Unwind_ForcedUnwind"],
    ),
    (Sign::Throws, &["__cxa_throw", "__cxa_rethrow", "__cxa_throw_bad_array_new_length"]),
    (Sign::Catches, &["__cxa_begin_catch"]),
    (Sign::EndsThreads, &["pthread_exit", "pthread_cancel", "thrd_exit"]),
    (Sign::EndsThreadsAnywhere, &["pthread_setcanceltype"]),
    (
        Sign::Hazard(Hazard::Coroutines),
        &[
            "makecontext",
            "swapcontext",
            "setcontext",
            "jump_fcontext",
            "ontop_fcontext",
            "swap_context",
            "ASYNC_pause_job",
        ],
    ),
    (Sign::Hazard(Hazard::SignalStack), &["sigaltstack"]),
];
/// Functions of the C++ library that throw (std::__throw_…).
const THROWS: &str = "_ZSt";
const THROWS_TOO: &str = "__throw_";
/// Functions by which the unwinder asks a file what to do, under any of which its tables are of use.
const PERSONALITIES: [&str; 3] = ["__gxx_personality_v0", "__gcc_personality_v0", "rust_eh_personality"];
/// Names of files that are no sign: the run-time libraries; OpenSSL, which leaves a stack of its own only where an engine
/// calls ASYNC_pause_job; OpenLDAP and GnuTLS, which end threads of their own at most.
const KNOWN: [&str; 11] = [
    "libc.so",
    "libc-",
    "ld-linux",
    "libstdc++.so",
    "libgcc_s.so",
    "libpthread",
    "libm.so",
    "libdl.so",
    "libcrypto.so",
    "libldap",
    "libgnutls.so",
];

/// Whether a hazard spares functions that are left only by returning (`Target::only_returns`), so that their return
/// addresses may be replaced. Not a signal's handler: it may change stacks in the midst of such a function, or call one on
/// a stack of its own, whose frames the kernel takes for those of the first.
pub(super) fn spares_returning(hazard: Hazard) -> bool {
    matches!(hazard, Hazard::Exceptions | Hazard::ThreadExit)
}

/// What files tell of themselves, by device and inode.
#[derive(Debug, Default)]
pub(super) struct Policy(HashMap<maps::File, Vec<Sign>>);

impl Policy {
    /// Hazards of these processes, each once.
    pub(super) fn hazards(&mut self, pids: &[i32]) -> Vec<Hazard> {
        let mut signs = Vec::new();
        for (pid, mapping) in maps::executable_files(pids) {
            let known = self.0.get(&mapping.file()).cloned();
            let Some(found) = known.or_else(|| read(pid, &mapping)) else { continue };
            signs.extend_from_slice(&found);
            self.0.insert(mapping.file(), found);
        }
        if kernel_filters() && pids.iter().any(|pid| filtered(*pid)) {
            signs.push(Sign::Hazard(Hazard::Seccomp));
        }
        together(&signs)
    }
}

/// What signs of all files come to in one process.
fn together(signs: &[Sign]) -> Vec<Hazard> {
    let has = |sign| signs.contains(&sign);
    let alone = signs.iter().filter_map(|sign| match sign {
        Sign::Hazard(hazard) => Some(*hazard),
        Sign::UnwindsByItself => Some(Hazard::Exceptions),
        _ => None,
    });
    let mut hazards: Vec<Hazard> = alone.collect();
    let unwinds = has(Sign::Unwinds) || has(Sign::UnwindsByItself);
    hazards.extend((has(Sign::Throws) && has(Sign::Catches)).then_some(Hazard::Exceptions));
    hazards.extend((has(Sign::EndsThreads) && unwinds).then_some(Hazard::ThreadExit));
    hazards.extend((has(Sign::EndsThreadsAnywhere) && unwinds).then_some(Hazard::AsyncExit));
    hazards.sort_unstable();
    hazards.dedup();
    hazards
}

/// What a file tells of itself. `None`: the process has ended, so that nothing is known of the file.
fn read(pid: i32, mapping: &Mapping) -> Option<Vec<Sign>> {
    let name = mapping.path.file_name().unwrap_or_default().to_string_lossy();
    if KNOWN.iter().any(|known| name.starts_with(known)) {
        return Some(Vec::new());
    }
    let unknown = Some(vec![Sign::Hazard(Hazard::Unknown)]);
    let file = match mapping.open(pid) {
        Ok(file) => file,
        Err(_) if maps::read(pid).is_ok_and(|mappings| !mappings.is_empty()) => return unknown,
        Err(_) => return None,
    };
    let cache = object::ReadCache::new(file);
    let Ok(elf) = object::File::parse(&cache) else { return unknown };
    let mut signs = Vec::new();
    let mut asked_by_name = false;
    for symbol in elf.dynamic_symbols().chain(elf.symbols()).filter_map(|symbol| symbol.name().ok()) {
        let symbol = without_version(symbol);
        signs.extend(SYMBOLS.iter().filter(|(_, symbols)| symbols.contains(&symbol)).map(|(sign, _)| *sign));
        if symbol.starts_with(THROWS) && symbol.contains(THROWS_TOO) {
            signs.push(Sign::Throws);
        }
        asked_by_name |= PERSONALITIES.contains(&symbol);
    }
    if elf.section_by_name(".gcc_except_table").is_some() {
        signs.push(if asked_by_name { Sign::Unwinds } else { Sign::UnwindsByItself });
    }
    if elf.sections().any(|s| s.name().is_ok_and(|name| name == ".gopclntab" || name == ".go.buildinfo")) {
        signs.push(Sign::Hazard(Hazard::Go));
    }
    Some(signs)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_a_hazard_where_one_file_throws_and_another_catches() {
        assert_eq!(together(&[Sign::Throws, Sign::Unwinds]), []);
        assert_eq!(together(&[Sign::Catches, Sign::Unwinds]), []);
        assert_eq!(together(&[Sign::Throws, Sign::Unwinds, Sign::Catches]), [Hazard::Exceptions]);
        assert_eq!(together(&[Sign::UnwindsByItself]), [Hazard::Exceptions]);
    }

    #[test]
    fn ends_of_threads_are_a_hazard_where_any_file_has_destructors() {
        assert_eq!(together(&[Sign::EndsThreads, Sign::EndsThreadsAnywhere]), []);
        assert_eq!(together(&[Sign::EndsThreads, Sign::Unwinds]), [Hazard::ThreadExit]);
        assert_eq!(together(&[Sign::EndsThreadsAnywhere, Sign::Unwinds]), [Hazard::AsyncExit]);
    }
}
