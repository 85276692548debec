//! From stretches of machine code to functions.

use std::collections::HashSet;

use super::calls::Calls;
use super::disassembly::{Pass, Seen};
use super::extents::{Extent, at};
use super::file::Memory;
use super::links::Links;
use super::parts::{Evidence, Part};
use super::symbols::Symbol;
use super::{Counts, Function, Image, Piece, inferred};

/// All code, in stretches.
pub(super) struct Code<'a> {
    pub(super) stretches: Vec<Extent>,
    /// The symbols at each one's first byte, the one to show first.
    symbols: Vec<Vec<&'a Symbol>>,
    pub(super) parts: Vec<Part>,
    pub(super) seen: Seen,
    extents: usize,
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

    /// The function that a stretch is (part) of, by the function's stretch.
    fn owner(&self, stretch: u32) -> Option<u32> {
        match self.parts[stretch as usize] {
            Part::Whole => Some(stretch),
            Part::Cold(owner) => owner,
        }
    }

    pub(super) fn image(self, memory: &Memory<'_>, links: &Links) -> Image {
        let whole = |at: &usize| self.parts[*at] == Part::Whole;
        let wholes: Vec<usize> = (0..self.stretches.len()).filter(whole).collect();
        let mut place = vec![None; self.stretches.len()]; // of a stretch's function in the list of functions
        for (function, stretch) in wholes.iter().enumerate() {
            place[*stretch] = Some(function as u32);
        }
        for stretch in 0..self.stretches.len() {
            place[stretch] = self.owner(stretch as u32).and_then(|owner| place[owner as usize]);
        }
        let taken: HashSet<u64> = links.taken.iter().chain(&self.seen.pointed).copied().collect();
        let mut functions: Vec<Function> =
            wholes.iter().map(|stretch| self.function(*stretch, &taken)).collect();
        let mut counts = Counts {
            extents: self.extents,
            cold_parts: self.parts.len() - wholes.len(),
            symbols: functions.iter().filter(|function| !function.name.is_empty()).count(),
            ..Counts::default()
        };
        for (stretch, body) in self.seen.bodies.iter().enumerate() {
            counts.indirect_sites += body.indirect_sites as usize;
            if let Some(function) = place[stretch] {
                functions[function as usize].indirect_sites += body.indirect_sites;
            }
        }
        let found = Calls { code: &self, place: &place, links }.find(functions.len(), &mut counts);
        for caller in 0..functions.len() as u32 {
            for edge in found.graph.callees(caller).iter().filter(|edge| edge.to != caller) {
                functions[edge.to as usize].called_directly = true;
            }
        }
        for (function, never) in functions.iter_mut().zip(&found.no_return) {
            function.no_return = *never;
        }
        for (stretch, part) in self.stretches.iter().zip(&place).filter(|(stretch, _)| stretch.size > 0) {
            let function = part.map(|function| &mut functions[function as usize]);
            if let Some(function) = function.filter(|function| function.address != stretch.address) {
                function.parts.push((stretch.address, stretch.size));
            }
        }
        let names: HashSet<&str> = self.symbols.iter().flatten().map(|symbol| symbol.name.as_str()).collect();
        let reports =
            self.seen.reports.iter().filter_map(|(stretch, name)| Some((place[*stretch as usize]?, *name)));
        // One that never returns is not what people mean by a name: it is the part of that function that gives up.
        let unfit = |function: u32| {
            let function = &functions[function as usize];
            !function.name.is_empty() || function.no_return
        };
        for (function, name) in inferred::names(reports, memory, unfit, &names) {
            let function = &mut functions[function as usize];
            (function.name, function.inferred) = (name, true);
            counts.inferred += 1;
        }
        let pieces = self.stretches.iter().zip(&place).map(|(at, function)| Piece {
            address: at.address,
            size: at.size,
            function: *function,
        });
        let pieces = pieces.collect();
        let mut pointer_calls = self.seen.pointer_calls;
        pointer_calls.sort_unstable();
        let mut direct_calls = self.seen.direct_calls;
        direct_calls.sort_unstable();
        Image {
            functions,
            pieces,
            pointer_calls,
            direct_calls,
            graph: found.graph,
            others: found.others,
            counts,
            ..Image::default()
        }
    }

    /// `taken`: addresses that data or code holds.
    fn function(&self, stretch: usize, taken: &HashSet<u64>) -> Function {
        let Extent { address, size, .. } = self.stretches[stretch];
        let exported = self.symbols[stretch].iter().any(|symbol| symbol.exported);
        let mut names = self.symbols[stretch].iter().map(|symbol| symbol.name.clone());
        Function {
            address,
            size,
            parts: Vec::new(),
            name: names.next().unwrap_or_default(),
            inferred: false,
            aliases: names.collect(),
            first: self.seen.bodies[stretch].first,
            no_return: false,
            indirect_sites: 0,
            called_directly: false,
            address_taken: taken.contains(&address),
            exported,
        }
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
