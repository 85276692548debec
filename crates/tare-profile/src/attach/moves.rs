//! Functions of run-time libraries by which a thread comes to another frame without returning to it.

use std::collections::{HashMap, HashSet};

use libbpf_rs::Link;
use object::{Object as _, ObjectSymbol as _};
use tare_probe::Result;

use super::batch::Prober;
use super::object::{self as objects, Object};
use super::tier::{Purpose, Spot};
use crate::maps;

/// By name, what attach.bpf.c has them as.
const MOVES: [(&str, u64); 3] = [("__cxa_begin_catch", 0), ("swapcontext", 1), ("setcontext", 2)];

/// A function that the C library alone exports.
const C_LIBRARY: &str = "__libc_start_main";

/// What a file has of them.
#[derive(Debug, Default)]
struct Known {
    /// Where it defines some.
    spots: Vec<(Spot, &'static str)>,
    /// Those of other files that it calls.
    called: Vec<&'static str>,
    /// Whether it is the C library, which has some that nobody may call.
    is_libc: bool,
}

/// By file: one is read once, and its probes stay on while functions are timed.
#[derive(Default)]
pub(super) struct Moves {
    known: HashMap<maps::File, Known>,
    on: HashMap<maps::File, Vec<Link>>,
}

impl Moves {
    /// Puts probes on those that are called, in every file that these processes have in memory. One that is not there is
    /// passed over: then frames that were left are noticed later.
    pub(super) fn watch(&mut self, prober: &mut Prober, pids: &[i32]) -> Result<()> {
        let files = maps::executable_files(pids);
        for (pid, mapping) in &files {
            if !self.known.contains_key(&mapping.file())
                && let Some(object) = objects::behind(mapping, *pid)
            {
                self.known.insert(mapping.file(), known(&object));
            }
        }
        let all = files.iter().filter_map(|(_, mapping)| self.known.get(&mapping.file()));
        let called: HashSet<&str> = all.flat_map(|known| known.called.iter().copied()).collect();
        for (pid, mapping) in files {
            let Some(known) = self.known.get(&mapping.file()) else { continue };
            let is_called = |(_, name): &&(Spot, &str)| !known.is_libc || called.contains(name);
            let spots: Vec<Spot> = known.spots.iter().filter(is_called).map(|(spot, _)| *spot).collect();
            if spots.is_empty() || self.on.contains_key(&mapping.file()) {
                continue;
            }
            let Some(object) = objects::behind(&mapping, pid) else { continue };
            self.on.insert(mapping.file(), prober.put(Purpose::Move, &object, &spots)?);
        }
        Ok(())
    }

    /// Takes them off.
    pub(super) fn leave(&mut self) {
        self.on.clear();
    }
}

fn known(found: &Object) -> Known {
    let mut known = Known::default();
    let Ok(file) = found.contents() else { return known };
    let cache = object::ReadCache::new(file);
    let Ok(elf) = object::File::parse(&cache) else { return known };
    let exports = |symbol: object::Symbol<'_, '_, _>| {
        symbol.is_definition() && symbol.name().is_ok_and(|name| name.split('@').next() == Some(C_LIBRARY))
    };
    known.is_libc = elf.dynamic_symbols().any(exports);
    for symbol in elf.dynamic_symbols().chain(elf.symbols()) {
        let name = symbol.name().unwrap_or_default();
        let name = name.split('@').next().unwrap_or(name); // without the version that a library gives it
        let Some((name, cookie)) = MOVES.iter().find(|(move_, _)| *move_ == name) else { continue };
        if !symbol.is_definition() {
            known.called.push(*name);
            continue;
        }
        let Some(offset) = found.segments.offset_of(symbol.address()) else { continue };
        if known.spots.iter().all(|(spot, _)| spot.offset != offset) {
            known.spots.push((Spot { offset, semaphore: 0, cookie: *cookie }, *name));
        }
    }
    known
}
