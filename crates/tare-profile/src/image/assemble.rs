//! From stretches of machine code, and the calls between them, to functions.

use std::collections::HashSet;

use super::calls::Calls;
use super::code::Code;
use super::extents::Extent;
use super::file::Memory;
use super::links::Links;
use super::parts::Part;
use super::{Counts, Function, Image, Piece, inferred};

impl Code<'_> {
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
        let ends = found.no_return.iter().zip(&found.only_returns);
        for (function, (never, only)) in functions.iter_mut().zip(ends) {
            (function.no_return, function.only_returns) = (*never, *only);
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
            name: names.next().unwrap_or_default(),
            inferred: false,
            aliases: names.collect(),
            first: self.seen.bodies[stretch].first,
            no_return: false,
            only_returns: false,
            indirect_sites: 0,
            called_directly: false,
            address_taken: taken.contains(&address),
            exported,
        }
    }
}
