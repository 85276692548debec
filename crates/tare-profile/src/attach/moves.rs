//! Functions of run-time libraries by which a thread comes to another frame without returning to it.

use std::collections::HashMap;

use libbpf_rs::Link;
use object::{Object as _, ObjectSymbol as _};
use tare_probe::Result;

use super::batch::Prober;
use super::object::{self as objects, Object};
use super::tier::{Purpose, Spot};
use crate::maps;

/// By name, what attach.bpf.c has them as.
const MOVES: [(&str, u64); 3] = [("__cxa_begin_catch", 0), ("swapcontext", 1), ("setcontext", 2)];

/// Their places, by file: a file is read once, however often probes are set.
#[derive(Debug, Default)]
pub(super) struct Moves(HashMap<maps::File, Vec<Spot>>);

impl Moves {
    /// Puts probes on them in every file that these processes have in memory. One that is not there is passed over: then
    /// frames that were left are noticed later.
    pub(super) fn watch(&mut self, prober: &mut Prober, pids: &[i32]) -> Result<Vec<Link>> {
        let mut links = Vec::new();
        for (pid, mapping) in maps::executable_files(pids) {
            let known = self.0.get(&mapping.file());
            if known.is_some_and(Vec::is_empty) {
                continue;
            }
            let Ok(object) = objects::find(&mapping.path, &[pid]) else { continue };
            let spots = self.0.entry(mapping.file()).or_insert_with(|| spots(&object));
            if !spots.is_empty() {
                links.extend(prober.put(Purpose::Move, &object, spots)?);
            }
        }
        Ok(links)
    }
}

fn spots(found: &Object) -> Vec<Spot> {
    let Ok(file) = found.contents() else { return Vec::new() };
    let cache = object::ReadCache::new(file);
    let Ok(elf) = object::File::parse(&cache) else { return Vec::new() };
    let mut spots: Vec<Spot> = Vec::new();
    for symbol in elf.dynamic_symbols().chain(elf.symbols()).filter(|symbol| symbol.is_definition()) {
        let name = symbol.name().unwrap_or_default();
        let name = name.split('@').next().unwrap_or(name); // without the version that a library gives it
        let Some((_, cookie)) = MOVES.iter().find(|(known, _)| *known == name) else { continue };
        let Some(offset) = found.segments.offset_of(symbol.address()) else { continue };
        if spots.iter().all(|spot| spot.offset != offset) {
            spots.push(Spot { offset, semaphore: 0, cookie: *cookie });
        }
    }
    spots
}
