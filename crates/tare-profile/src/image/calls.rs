//! Calls of functions, from transfers of control between stretches of code.

use std::collections::HashSet;

use super::Counts;
use super::code::Code;
use super::disassembly::{Place, Way};
use super::graph::{CallGraph, Role};
use super::links::{Linked, Links};
use super::no_return::{self, Ends};
use super::parts::Part;

/// What calls are found in.
pub(super) struct Calls<'a> {
    pub(super) code: &'a Code<'a>,
    /// Of each stretch its function's place in the list of functions.
    pub(super) place: &'a [Option<u32>],
    pub(super) links: &'a Links,
}

/// What is found.
pub(super) struct Found {
    pub(super) graph: CallGraph,
    /// By function: the functions of other libraries that it calls.
    pub(super) others: Vec<Vec<Box<str>>>,
    /// By function: whether it never returns.
    pub(super) no_return: Vec<bool>,
}

/// From where a function is called, and how often.
#[derive(Clone, Copy, Default)]
struct Sites {
    ordinary: u32,
    cold: u32,
}

impl Sites {
    fn count(&mut self, cold: bool) {
        *if cold { &mut self.cold } else { &mut self.ordinary } += 1;
    }

    fn role(self, no_return: bool) -> Role {
        match (self.cold > self.ordinary, no_return) {
            (true, _) => Role::Errors,
            (false, true) => Role::NeverReturns,
            (false, false) => Role::Ordinary,
        }
    }
}

/// Who is at the other end of a call.
enum Callee<'a> {
    Function(u32),
    Other(&'a str),
}

impl Calls<'_> {
    /// Calls between so many functions.
    pub(super) fn find(&self, functions: usize, counts: &mut Counts) -> Found {
        let mut graph = CallGraph::new(functions);
        let mut others: Vec<HashSet<&str>> = vec![HashSet::new(); functions];
        let mut ends = self.ends(functions);
        let mut sites = vec![Sites::default(); functions];
        for transfer in &self.code.seen.transfers {
            let Some(from) = self.place[transfer.from as usize] else { continue };
            let cold = self.code.parts[transfer.from as usize] != Part::Whole;
            let callee = self.callee(transfer.to, counts);
            match callee {
                Some(Callee::Function(to)) if to != from || transfer.way == Way::Call => {
                    graph.add(from, to, cold);
                    sites[to as usize].count(cold);
                    counts.sites += 1;
                    if transfer.way != Way::Call {
                        ends[from as usize].tails.push(to);
                    }
                }
                Some(Callee::Other(name)) => {
                    others[from as usize].insert(name);
                    ends[from as usize].returns |= transfer.way != Way::Call && !no_return::is_known(name);
                }
                // Into code that is not known, or the middle of another function's: it may return from there.
                None if !self.is_inside(from, transfer.to) => {
                    ends[from as usize].returns |= transfer.way != Way::Call;
                }
                _ => {}
            }
        }
        let no_return = no_return::find(&ends);
        graph.set_roles(no_return.iter().zip(&sites).map(|(never, sites)| sites.role(*never)).collect());
        counts.edges = graph.edges();
        Found { graph, others: others.into_iter().map(sorted).collect(), no_return }
    }

    /// By their own instructions; tail calls come later.
    fn ends(&self, functions: usize) -> Vec<Ends> {
        let mut ends = vec![Ends::default(); functions];
        for (stretch, body) in self.code.seen.bodies.iter().enumerate() {
            if let Some(function) = self.place[stretch] {
                // Of one whose size is not known no code was read.
                ends[function as usize].returns |= body.returns || self.code.stretches[stretch].size == 0;
            }
        }
        ends
    }

    fn is_inside(&self, function: u32, to: Place) -> bool {
        let Place::Code(address) = to else { return false };
        self.code.at(address).is_some_and(|stretch| self.place[stretch] == Some(function))
    }

    /// `None` where a jump goes into the middle of something: between a function and its cold part.
    fn callee(&self, to: Place, counts: &mut Counts) -> Option<Callee<'_>> {
        let linked = match to {
            Place::Slot(slot) => self.links.slot(slot),
            Place::Code(address) => self.links.stub(address),
        };
        let address = match (linked, to) {
            (Some(Linked::Other(name)), _) => {
                counts.other_plt_calls += 1;
                return Some(Callee::Other(name));
            }
            (Some(Linked::Own(address)), _) => {
                counts.own_plt_calls += 1;
                *address
            }
            (None, Place::Code(address)) => address,
            (None, Place::Slot(_)) => return None,
        };
        let at = self.code.stretches.binary_search_by_key(&address, |stretch| stretch.address).ok()?;
        (self.code.parts[at] == Part::Whole).then(|| self.place[at].map(Callee::Function))?
    }
}

fn sorted(names: HashSet<&str>) -> Vec<Box<str>> {
    let mut names: Vec<Box<str>> = names.into_iter().map(Box::from).collect();
    names.sort_unstable();
    names
}
