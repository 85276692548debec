//! Machine code in stretches, each with its symbols and what is seen in it.

use super::disassembly::{Pass, Seen};
use super::extents::{Extent, at};
use super::file::Memory;
use super::inferred;
use super::links::Links;
use super::parts::{Evidence, Part};
use super::symbols::Symbol;

/// All code, in stretches.
pub(super) struct Code<'a> {
    pub(super) stretches: Vec<Extent>,
    /// The symbols at each one's first byte, the one to show first.
    pub(super) symbols: Vec<Vec<&'a Symbol>>,
    pub(super) parts: Vec<Part>,
    pub(super) seen: Seen,
    /// How many extents there were.
    pub(super) extents: usize,
}

impl<'a> Code<'a> {
    pub(super) fn read(
        symbols: &'a [Symbol],
        extents: Vec<Extent>,
        links: &Links,
        memory: &Memory<'_>,
    ) -> Self {
        let found = extents.len();
        let stretches = stretches(extents, symbols);
        let starts: Vec<u64> = stretches.iter().map(|stretch| stretch.address).collect();
        let mut by_stretch = vec![Vec::new(); stretches.len()];
        for symbol in symbols {
            if let Ok(at) = starts.binary_search(&symbol.address) {
                by_stretch[at].push(symbol);
            }
        }
        let reporters = inferred::reporters(|name| {
            let own = symbols.iter().filter(|symbol| symbol.name == name).map(|symbol| symbol.address);
            links.places(name, &own.collect::<Vec<_>>())
        });
        let pass = Pass { links, reporters, starts: &starts };
        let mut seen = Seen::default();
        for stretch in &stretches {
            pass.read(&mut seen, stretch.address, memory.bytes(stretch.address, stretch.size));
        }
        let names: Vec<Option<&str>> =
            by_stretch.iter().map(|at: &Vec<&Symbol>| at.first().map(|s| s.name.as_str())).collect();
        let evidence =
            Evidence { stretches: &stretches, names: &names, seen: &seen, pointed: &links.pointed };
        let parts = evidence.tell();
        Self { stretches, symbols: by_stretch, parts, seen, extents: found }
    }

    /// The stretch that covers an address.
    pub(super) fn at(&self, address: u64) -> Option<usize> {
        at(&self.stretches, address)
    }
}

/// Extents, and functions that have a symbol but no extent.
fn stretches(mut extents: Vec<Extent>, symbols: &[Symbol]) -> Vec<Extent> {
    let mut others: Vec<Extent> = Vec::new();
    for symbol in symbols.iter().filter(|symbol| at(&extents, symbol.address).is_none()) {
        match others.last_mut().filter(|last| last.address == symbol.address) {
            Some(last) => last.size = last.size.max(symbol.size),
            None => others.push(Extent { address: symbol.address, size: symbol.size, framed: false }),
        }
    }
    extents.extend(others);
    extents.sort_unstable_by_key(|extent| extent.address);
    extents
}
