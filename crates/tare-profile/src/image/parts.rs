//! Compilers move what they expect never to run, error paths above all, out of a function to a place far off. Such a
//! cold part has an extent of its own and mostly no name; here it is told from functions and joined to its own.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use super::disassembly::{Place, Seen, Way};
use super::extents::{Extent, at};

/// What a stretch of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A function, from its first byte.
    Whole,
    /// The cold part of this one (by its place in the list), or of one that is not known.
    Cold(Option<u32>),
}

/// What is known of stretches before they are told apart.
pub(super) struct Evidence<'a> {
    /// By address.
    pub(super) stretches: &'a [Extent],
    /// Symbols at their first bytes.
    pub(super) names: &'a [Option<&'a str>],
    pub(super) seen: &'a Seen,
    /// Addresses that data points to.
    pub(super) pointed: &'a HashSet<u64>,
}

impl Evidence<'_> {
    /// One for each stretch.
    pub(super) fn tell(&self) -> Vec<Part> {
        let entries = self.entries();
        let surely: Vec<bool> = (0..self.stretches.len()).map(|at| self.surely_cold(at)).collect();
        let distant = self.distant(&surely);
        let probably = |at: usize| {
            let far = distant.as_ref().is_some_and(|far| far.contains(&self.stretches[at].address));
            self.names[at].is_none() && entries.probably_cold(at as u32, far)
        };
        let cold: Vec<bool> = surely.iter().enumerate().map(|(at, surely)| *surely || probably(at)).collect();
        let part = |(cold, owner): (&bool, _)| if *cold { Part::Cold(owner) } else { Part::Whole };
        cold.iter().zip(self.owners(&cold)).map(part).collect()
    }

    fn surely_cold(&self, at: usize) -> bool {
        match self.names[at] {
            Some(name) => name.ends_with(".cold") || name.contains(".cold."),
            None => self.stretches[at].framed,
        }
    }

    /// Where the linker puts all cold code together: from the first part that is surely cold to the last.
    fn distant(&self, surely: &[bool]) -> Option<RangeInclusive<u64>> {
        let mut cold = self.stretches.iter().zip(surely).filter(|(_, cold)| **cold).map(|(at, _)| at.address);
        Some(cold.next()?..=cold.next_back()?)
    }

    fn entries(&self) -> Entries {
        let mut entries = Entries::default();
        for transfer in &self.seen.transfers {
            let Place::Code(target) = transfer.to else { continue };
            let Some(place) = at(self.stretches, target) else { continue };
            let first = self.stretches[place].address == target;
            let at = place as u32;
            match transfer.way {
                Way::Call if first => _ = entries.functions.insert(at),
                Way::Call => {}
                Way::Branch => _ = entries.branched.entry(at).or_default().insert(transfer.from),
                Way::Jump => _ = entries.jumped.entry(at).or_default().insert(transfer.from),
            }
        }
        let pointed = self.pointed.iter().chain(&self.seen.pointed);
        entries.functions.extend(pointed.filter_map(|address| {
            self.stretches.binary_search_by_key(address, |stretch| stretch.address).ok().map(|at| at as u32)
        }));
        entries
    }

    /// Of each cold part the function that jumps to it, or to which it jumps back; of one that only a table of jumps leads
    /// to, the function of its name.
    fn owners(&self, cold: &[bool]) -> Vec<Option<u32>> {
        let mut votes: Vec<HashMap<u32, usize>> = vec![HashMap::new(); cold.len()];
        for transfer in &self.seen.transfers {
            let (Place::Code(target), from) = (transfer.to, transfer.from as usize) else { continue };
            let Some(to) = at(self.stretches, target).filter(|_| transfer.way != Way::Call) else { continue };
            let inside = target != self.stretches[to].address;
            if cold[to] && !cold[from] {
                *votes[to].entry(from as u32).or_default() += 1;
            } else if cold[from] && !cold[to] && inside {
                *votes[from].entry(to as u32).or_default() += 1;
            }
        }
        let most =
            |votes: HashMap<u32, usize>| votes.into_iter().max_by_key(|(owner, count)| (*count, *owner));
        let owners = votes.into_iter().enumerate().map(|(at, votes)| match most(votes) {
            Some((owner, _)) => Some(owner),
            None => self.named_like(at, cold),
        });
        owners.collect()
    }

    /// The only function that this part is named after.
    fn named_like(&self, part: usize, cold: &[bool]) -> Option<u32> {
        let (function, _) = self.names[part]?.rsplit_once(".cold")?;
        let named = |at: &usize| !cold[*at] && self.names[*at] == Some(function);
        let mut all = (0..self.names.len()).filter(named);
        all.next().filter(|_| all.next().is_none()).map(|at| at as u32)
    }
}

/// How control comes to stretches, by their place in the list.
#[derive(Default)]
struct Entries {
    /// Called, or pointed to.
    functions: HashSet<u32>,
    /// Jumped to, by whom.
    jumped: HashMap<u32, HashSet<u32>>,
    branched: HashMap<u32, HashSet<u32>>,
}

impl Entries {
    /// Of one without a name whose frame says nothing: never called, and jumped to by a single function, on a condition
    /// (which compilers don't do in tail calls) or to where cold code is kept.
    fn probably_cold(&self, at: u32, distant: bool) -> bool {
        let (jumped, branched) = (self.jumped.get(&at), self.branched.get(&at));
        let from: HashSet<u32> = jumped.into_iter().chain(branched).flatten().copied().collect();
        !self.functions.contains(&at) && from.len() == 1 && (branched.is_some() || distant)
    }
}
