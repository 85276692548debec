//! Which instructions of a function control flow reaches from its entry. Only these are known to be instructions: a
//! compiler, and more so who writes assembly, may keep data among code, and a breakpoint in data changes it.
//!
//! Followed are direct jumps, tables of jumps, landing pads of exceptions and labels that data points to, in all parts of
//! the function. A call is taken to come back.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Register};

use super::around::Around;
use super::cycles::Components;
use super::graph::CallGraph;
use super::step::{goes_on, is_by_pointer, is_known, is_padding, target};
use super::tables::{self, GoesBy};

/// Code in one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub address: u64,
    pub code: Vec<u8>,
}

impl Stretch {
    fn addresses(&self) -> Range<u64> {
        self.address..self.address + self.code.len() as u64
    }
}

/// Why it is not known how control flows in a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Bytes that are reached are no instructions that are known.
    Code,
    /// Bytes are reached as parts of two instructions.
    Overlap,
    /// It has bytes that are neither reached nor padding, the first of them at this address.
    Unreached(u64),
    /// It runs on into what follows it.
    RunsOn,
    /// It never leaves.
    NoExit,
}

impl Unreadable {
    /// As the reason of a refusal.
    pub(crate) fn says(self) -> &'static str {
        match self {
            Self::Code => "its code is not understood, so that its ways out are not known",
            Self::Overlap => "its code can be read in two ways, so that its ways out are not known",
            Self::Unreached(_) => {
                "some of its bytes are not reached by any jump that is known: they may be data, or a way out"
            }
            Self::RunsOn => "it runs on into the function that follows it, so that its end is not seen",
            Self::NoExit => "it has no way out",
        }
    }
}

/// A function's instructions.
#[derive(Debug)]
pub(crate) struct Flow {
    /// Reached ones, by address.
    pub(super) instructions: Vec<Instruction>,
    stretches: Vec<Stretch>,
    /// Places in `instructions` of its own direct jumps, by the address that they lead to.
    jumps: HashMap<u64, Vec<usize>>,
    /// What tables, data and the unwinder lead to.
    by_pointer: HashSet<u64>,
    /// Jumps by pointer that stay within it.
    switches: HashSet<u64>,
    in_loop: Vec<bool>,
}

impl Flow {
    /// `stretches`: the one that it begins with, and others that belong to it. `all_code`: whether there is no data among
    /// its code, as with Go's compiler; then what nothing leads to is reached all the same.
    pub(crate) fn read(stretches: Vec<Stretch>, around: &Around, all_code: bool) -> Result<Self, Unreadable> {
        // Most comparisons before a jump by a table are with its length, but not all.
        let bounded = Self::read_once(&stretches, around, all_code, true);
        bounded.or_else(|_| Self::read_once(&stretches, around, all_code, false))
    }

    /// `bounded`: whether a comparison before a jump tells how long its table is; else the first entry that leads out of
    /// the function does.
    fn read_once(
        stretches: &[Stretch],
        around: &Around,
        all_code: bool,
        bounded: bool,
    ) -> Result<Self, Unreadable> {
        let mut walk = Walk::new(stretches, around, bounded);
        loop {
            walk.run()?;
            if walk.follow_pointers() {
                continue;
            }
            match walk.unreached() {
                None => break,
                Some(address) if all_code => walk.waiting.push(address),
                Some(address) => return Err(Unreadable::Unreached(address)),
            }
        }
        let Walk { reached, by_pointer, .. } = walk;
        let instructions = by_address(&reached);
        if instructions.windows(2).any(|pair| pair[0].next_ip() > pair[1].ip()) {
            return Err(Unreadable::Overlap);
        }
        let mut flow = Self {
            instructions,
            stretches: stretches.to_vec(),
            jumps: HashMap::new(),
            by_pointer,
            switches: HashSet::new(),
            in_loop: Vec::new(),
        };
        flow.learn_jumps(around);
        flow.learn_loops();
        Ok(flow)
    }

    /// Whether a direct jump leads out of the function.
    pub(super) fn leaves(&self, jump: &Instruction) -> bool {
        !inside(&self.stretches, jump.near_branch_target())
    }

    /// Whether a jump by pointer stays within it.
    pub(super) fn is_switch(&self, jump: &Instruction) -> bool {
        self.switches.contains(&jump.ip())
    }

    pub(super) fn is_in_loop(&self, place: usize) -> bool {
        self.in_loop[place]
    }

    /// Its direct jumps to this address, as places in `instructions`.
    pub(super) fn jumps_to(&self, address: u64) -> &[usize] {
        self.jumps.get(&address).map_or(&[], Vec::as_slice)
    }

    /// Whether control comes to this address otherwise than from the instruction before it and by its direct jumps.
    pub(super) fn is_led_to(&self, address: u64) -> bool {
        self.by_pointer.contains(&address)
            || self.stretches.first().is_some_and(|first| first.address == address)
    }

    /// Addresses in this range to which control comes by any jump.
    pub(crate) fn joined(&self, within: Range<u64>) -> Vec<u64> {
        let all = self.jumps.keys().chain(&self.by_pointer).copied();
        all.filter(|address| within.contains(address)).collect()
    }

    /// The instruction that runs on to this one.
    pub(super) fn before(&self, place: usize) -> Option<usize> {
        let before = place.checked_sub(1)?;
        let one = &self.instructions[before];
        (one.next_ip() == self.instructions[place].ip() && goes_on(one)).then_some(before)
    }

    fn learn_jumps(&mut self, around: &Around) {
        for (place, instruction) in self.instructions.iter().enumerate() {
            if let Some(target) = target(instruction).filter(|target| inside(&self.stretches, *target)) {
                self.jumps.entry(target).or_default().push(place);
            }
        }
        let labelled = labels(&self.stretches, around).next().is_some();
        let tables = Tables::of(&self.instructions, &self.stretches, around, false);
        let by_pointer = self.instructions.iter().enumerate().filter(|(_, one)| is_by_pointer(one));
        let switches = by_pointer.filter(|(place, jump)| {
            let before = iter::successors(Some(*place), |place| self.before(*place)).skip(1);
            labelled
                || match tables::goes_by(jump, before.map(|place| &self.instructions[place])) {
                    GoesBy::Sum => !tables.distances.is_empty(),
                    GoesBy::Table(address) => tables.addresses.contains(&address),
                    GoesBy::Tables => !tables.addresses.is_empty(),
                    // The prefix `notrack` is on no jump to a function.
                    GoesBy::Pointer => jump.segment_prefix() == Register::DS && tables.are_there(),
                }
        });
        self.switches = switches.map(|(_, jump)| jump.ip()).collect();
    }

    /// All tables are taken for one: where a switch leads to is of no matter but here.
    fn learn_loops(&mut self) {
        let tables = self.instructions.len();
        let mut graph = CallGraph::new(tables + 1);
        let at = |address| self.instructions.binary_search_by_key(&address, Instruction::ip);
        for (place, instruction) in self.instructions.iter().enumerate() {
            if self.before(place).is_some() {
                graph.add(place as u32 - 1, place as u32, false);
            }
            if self.is_switch(instruction) {
                graph.add(place as u32, tables as u32, false);
            }
            for from in self.jumps_to(instruction.ip()) {
                graph.add(*from as u32, place as u32, false);
            }
        }
        for to in self.by_pointer.iter().filter_map(|address| at(*address).ok()) {
            graph.add(tables as u32, to as u32, false);
        }
        let components = Components::of(&graph, |_, _| true);
        let mut members = vec![0; components.count];
        components.of.iter().for_each(|component| members[*component as usize] += 1);
        let itself = |place: u32| graph.callees(place).iter().any(|edge| edge.to == place);
        let turns = |place: usize| members[components.of[place] as usize] > 1 || itself(place as u32);
        self.in_loop = (0..tables).map(turns).collect();
    }
}

/// Follows control.
struct Walk<'a> {
    stretches: &'a [Stretch],
    around: &'a Around,
    bounded: bool,
    reached: HashMap<u64, Instruction>,
    waiting: Vec<u64>,
    by_pointer: HashSet<u64>,
}

impl<'a> Walk<'a> {
    fn new(stretches: &'a [Stretch], around: &'a Around, bounded: bool) -> Self {
        let landings = stretches.iter().flat_map(|stretch| around.landings(stretch.addresses()));
        let by_pointer: HashSet<u64> = landings.copied().collect();
        let waiting = stretches.first().map(|first| first.address).into_iter().chain(by_pointer.clone());
        Self { stretches, around, bounded, reached: HashMap::new(), waiting: waiting.collect(), by_pointer }
    }

    fn run(&mut self) -> Result<(), Unreadable> {
        while let Some(address) = self.waiting.pop() {
            self.run_from(address)?;
        }
        Ok(())
    }

    fn run_from(&mut self, address: u64) -> Result<(), Unreadable> {
        let Some(stretch) = self.stretches.iter().find(|one| one.addresses().contains(&address)) else {
            return Ok(());
        };
        let rest = &stretch.code[(address - stretch.address) as usize..];
        for instruction in &mut Decoder::with_ip(64, rest, address, DecoderOptions::NONE) {
            if !is_known(&instruction) {
                return Err(Unreadable::Code);
            }
            if self.reached.insert(instruction.ip(), instruction).is_some() {
                return Ok(());
            }
            self.waiting.extend(target(&instruction).filter(|target| inside(self.stretches, *target)));
            if !goes_on(&instruction) {
                return Ok(());
            }
            let next = instruction.next_ip();
            if next == stretch.addresses().end && !inside(self.stretches, next) {
                // A call there does not come back.
                let ends = instruction.flow_control() != FlowControl::Next || is_padding(&instruction);
                return if ends { Ok(()) } else { Err(Unreadable::RunsOn) };
            }
        }
        self.waiting.push(stretch.addresses().end); // where another part may begin
        Ok(())
    }

    /// Whether jumps by pointer lead to more.
    fn follow_pointers(&mut self) -> bool {
        if !self.reached.values().any(is_by_pointer) {
            return false;
        }
        let tables = Tables::of(&by_address(&self.reached), self.stretches, self.around, self.bounded);
        let found: Vec<u64> = tables.targets.into_iter().chain(labels(self.stretches, self.around)).collect();
        for address in found {
            if self.by_pointer.insert(address) {
                self.waiting.push(address);
            }
        }
        !self.waiting.is_empty()
    }

    /// The first address that is neither reached nor padding. A part of which nothing is reached may be another function's.
    fn unreached(&self) -> Option<u64> {
        self.stretches.iter().enumerate().find_map(|(number, stretch)| {
            let mut reached: Vec<(u64, u64)> = self
                .reached
                .values()
                .filter(|one| stretch.addresses().contains(&one.ip()))
                .map(|one| (one.ip(), one.next_ip()))
                .collect();
            if number > 0 && reached.is_empty() {
                return None;
            }
            reached.sort_unstable();
            let end = stretch.addresses().end;
            let mut from = stretch.address;
            for (begin, next) in reached.into_iter().chain([(end, end)]) {
                if begin > from
                    && let Some(address) = not_padding(stretch, from..begin)
                {
                    return Some(address);
                }
                from = from.max(next);
            }
            None
        })
    }
}

/// Tables that a function's instructions mention.
struct Tables {
    distances: HashSet<u64>,
    addresses: HashSet<u64>,
    targets: HashSet<u64>,
}

impl Tables {
    /// `reached`: by address.
    fn of(reached: &[Instruction], stretches: &[Stretch], around: &Around, bounded: bool) -> Self {
        // What only a reading from one byte to the next finds may end a table, and no more.
        let all = stretches.iter().flat_map(|stretch| {
            Decoder::with_ip(64, &stretch.code, stretch.address, DecoderOptions::NONE).into_iter()
        });
        let ends: HashSet<u64> = all.flat_map(|one| tables::mentioned(&one)).collect();
        let bounds = if bounded { tables::bounds(reached) } else { HashMap::new() };
        let within = |address| inside(stretches, address);
        let mut found =
            Self { distances: HashSet::new(), addresses: HashSet::new(), targets: HashSet::new() };
        let mentioned: HashSet<u64> = reached.iter().flat_map(tables::mentioned).collect();
        for table in mentioned {
            let most = bounds.get(&table).copied().unwrap_or(usize::MAX);
            let targets = tables::distances(table, around, &ends, within);
            if !targets.is_empty() {
                found.distances.insert(table);
            }
            found.targets.extend(targets.into_iter().take(most));
            let targets = tables::addresses(table, around, &ends, within);
            if !targets.is_empty() {
                found.addresses.insert(table);
            }
            found.targets.extend(targets.into_iter().take(most));
        }
        found
    }

    fn are_there(&self) -> bool {
        !self.targets.is_empty()
    }
}

/// Places within the function, other than its beginning, that data points to.
fn labels<'a>(stretches: &'a [Stretch], around: &'a Around) -> impl Iterator<Item = u64> + 'a {
    let all = stretches.iter().flat_map(|stretch| around.labels(stretch.addresses()));
    all.copied().filter(|label| stretches.iter().all(|stretch| stretch.address != *label))
}

fn by_address(reached: &HashMap<u64, Instruction>) -> Vec<Instruction> {
    let mut instructions: Vec<Instruction> = reached.values().copied().collect();
    instructions.sort_unstable_by_key(Instruction::ip);
    instructions
}

fn inside(stretches: &[Stretch], address: u64) -> bool {
    stretches.iter().any(|stretch| stretch.addresses().contains(&address))
}

/// The first address in this range that padding does not cover.
fn not_padding(stretch: &Stretch, range: Range<u64>) -> Option<u64> {
    let bytes =
        &stretch.code[(range.start - stretch.address) as usize..(range.end - stretch.address) as usize];
    let mut decoder = Decoder::with_ip(64, bytes, range.start, DecoderOptions::NONE);
    let other = decoder.iter().find(|instruction| !is_padding(instruction));
    other.map(|instruction| instruction.ip())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::file::{self, Cache, Memory};
    use super::super::{Image, exits};
    use super::*;

    /// Why functions of this file cannot be read, with what was met, and how many it has.
    fn refused(path: &Path) -> (Vec<(String, Unreadable)>, usize) {
        let image = Image::open(path).unwrap();
        let cache = Cache::new(file::open(path).unwrap());
        let memory = Memory::of(path, &file::parse(path, &cache).unwrap()).unwrap();
        let around = Around::read(file::open(path).unwrap());
        let sized = || image.functions().iter().filter(|function| function.size > 0);
        let why = sized().filter_map(|function| {
            let whole = iter::once((function.address, function.size)).chain(function.parts.iter().copied());
            let code = |(address, size)| Stretch { address, code: memory.bytes(address, size).to_vec() };
            let flow = Flow::read(whole.map(code).collect(), &around, false);
            let why = flow.and_then(|flow| exits::read(&flow)).err()?;
            Some((function.display(), why))
        });
        (why.filter(|(_, why)| *why != Unreadable::NoExit).collect(), sized().count())
    }

    /// Data among code, and jumps that are not understood, are found in few functions, nearly all in assembly.
    #[test]
    fn nearly_all_functions_of_servers_are_understood() {
        for (path, most) in [
            ("/usr/lib/postgresql/15/bin/postgres", 0.001),
            ("/usr/sbin/mariadbd", 0.0005),
            ("/lib/x86_64-linux-gnu/libc.so.6", 0.01),
        ] {
            let path = Path::new(path);
            if !path.exists() {
                eprintln!("skipped: there is no {}", path.display());
                continue;
            }
            let (refused, of) = refused(path);
            let share = refused.len() as f64 / of as f64;
            assert!(share <= most, "{}: {} of {of}: {refused:x?}", path.display(), refused.len());
        }
    }

    #[test]
    fn what_nothing_leads_to_is_reached_where_all_is_code() {
        // ret; push %rbp; ret: Go's way out after a panic.
        let code = vec![0xc3, 0x55, 0xc3];
        let read = |all_code| {
            Flow::read(vec![Stretch { address: 0, code: code.clone() }], &Around::default(), all_code)
        };
        assert_eq!(read(false).err(), Some(Unreadable::Unreached(1)));
        assert_eq!(read(true).unwrap().instructions.len(), 3);
    }
}
