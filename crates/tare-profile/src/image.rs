//! What an unmodified x86-64 executable or library says of itself: its functions, their names, and who calls whom.
//!
//! `extents` and `symbols` find functions, `disassembly` the calls between them, `parts` joins to a function the code
//! that the compiler moved out of it, `inferred` names functions that have no symbol, `links` follows calls by the
//! linker's tables, `indirect` those by resolvers, and `heights` measures the graph that this makes. Of one function
//! `flow` finds the instructions that are reached, by what is `around` it; `entry` and `exits` are where probes come to.

#[cfg(feature = "bpf")]
pub(crate) mod around;
mod calls;
mod code;
mod cycles;
mod debug;
mod demangle;
mod disassembly;
#[cfg(feature = "bpf")]
pub(crate) mod entry;
#[cfg(feature = "bpf")]
pub(crate) mod exits;
mod extents;
mod file;
mod first;
#[cfg(feature = "bpf")]
pub(crate) mod flow;
mod function;
mod graph;
mod heights;
mod indirect;
mod inferred;
#[cfg(feature = "bpf")]
mod landings;
mod links;
mod lookup;
mod no_return;
mod parts;
mod read;
mod registers;
mod running;
#[cfg(feature = "bpf")]
mod step;
mod symbols;
#[cfg(feature = "bpf")]
mod tables;
mod usdt;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use first::First;
pub use function::Function;
pub use graph::{CallGraph, Edge, Role};
pub use heights::TreeSize;
pub use usdt::Usdt;

use crate::{ProbeError, Result};

/// An executable or library. `open` reads it; it does not change after that, but for calls that are learnt.
#[derive(Debug, Default)]
pub struct Image {
    path: PathBuf,
    inode: Inode,
    build_id: String,
    preloadable: bool,
    functions: Vec<Function>,   // by address
    pieces: Vec<Piece>,         // by address
    pointer_calls: Vec<u64>,    // return addresses, ascending
    direct_calls: Vec<u64>,     // the same
    graph: CallGraph,           // by place in `functions`
    others: Vec<Vec<Box<str>>>, // functions of other libraries that each calls
    usdt: Vec<Usdt>,
    resolvers: Vec<indirect::Resolver>, // of indirect functions
    own_slots: Vec<(u64, u64)>,         // that their choices are kept in: (slot, resolver)
    imports: Vec<(Box<str>, u64)>, // functions of other files, with the slots that come to hold their addresses
    first_load: (u64, u64),        // offset and address of the first part that is mapped
    counts: Counts,
    spoken: OnceLock<Vec<Option<Box<str>>>>,
}

/// Which file, whatever its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Inode {
    device: u64,
    number: u64,
}

/// A stretch of code: a function, or the cold part of one.
#[derive(Debug, Clone, Copy)]
struct Piece {
    address: u64,
    size: u64,
    function: Option<u32>,
}

/// How much was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Stretches of code in the unwind tables.
    pub extents: usize,
    /// Of them, parts that were moved out of functions.
    pub cold_parts: usize,
    /// Functions with a symbol.
    pub symbols: usize,
    /// Functions without, whose name was inferred.
    pub inferred: usize,
    /// Pairs of caller and callee.
    pub edges: usize,
    /// Places from which these calls are made.
    pub sites: usize,
    /// Calls by the linker's tables that end in this file.
    pub own_plt_calls: usize,
    /// The same to other libraries.
    pub other_plt_calls: usize,
    /// Calls by pointer.
    pub indirect_sites: usize,
}

impl Counts {
    /// By name.
    pub fn named(&self) -> [(&'static str, usize); 9] {
        [
            ("extents", self.extents),
            ("cold_parts", self.cold_parts),
            ("symbols", self.symbols),
            ("inferred", self.inferred),
            ("edges", self.edges),
            ("sites", self.sites),
            ("own_plt_calls", self.own_plt_calls),
            ("other_plt_calls", self.other_plt_calls),
            ("indirect_sites", self.indirect_sites),
        ]
    }
}

impl Image {
    /// Absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Hexadecimal; empty where the file has none.
    pub fn build_id(&self) -> &str {
        &self.build_id
    }

    /// Whether the dynamic loader, and with it a preloaded library, has a part in running it.
    pub fn preloadable(&self) -> bool {
        self.preloadable
    }

    /// How much was found.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// By address.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Statically defined probes, in the file's order.
    pub fn usdt(&self) -> &[Usdt] {
        &self.usdt
    }

    /// Calls, by functions' places in `functions`.
    pub fn graph(&self) -> &CallGraph {
        &self.graph
    }

    /// In a line.
    pub fn says(&self) -> String {
        let Counts { symbols, inferred, edges, indirect_sites, .. } = self.counts;
        let name = self.path.file_name().unwrap_or_default().display();
        let functions = self.functions.len();
        let linkage = if self.preloadable { "" } else { "; static, so nothing can be preloaded into it" };
        format!(
            "{name}: {functions} functions, {symbols} with symbols and {inferred} with inferred names; \
             {edges} calls between them, {indirect_sites} places that call by pointer{linkage}"
        )
    }

    /// The place in `functions` of the one whose code covers an address, cold parts too.
    pub fn place(&self, address: u64) -> Option<u32> {
        let next = self.pieces.partition_point(|piece| piece.address <= address);
        let piece = self.pieces[next.checked_sub(1)?];
        (address - piece.address < piece.size.max(1)).then_some(piece.function)?
    }

    /// The place of the function that begins at an address.
    pub fn entry(&self, address: u64) -> Result<u32> {
        let at = self.functions.binary_search_by_key(&address, |function| function.address);
        at.map(|at| at as u32).map_err(|_| {
            ProbeError::new(
                format!("no function of {} begins at {address:#x}", self.path.display()),
                "take addresses from this very file: it may have been built anew",
            )
        })
    }

    /// Whether a call by pointer returns to this address.
    pub fn calls_by_pointer(&self, return_address: u64) -> bool {
        self.pointer_calls.binary_search(&return_address).is_ok()
    }

    /// Whether any call returns to this address.
    pub fn calls(&self, return_address: u64) -> bool {
        self.direct_calls.binary_search(&return_address).is_ok() || self.calls_by_pointer(return_address)
    }

    /// The function whose code covers an address.
    pub fn function_at(&self, address: u64) -> Option<&Function> {
        self.place(address).map(|place| &self.functions[place as usize])
    }

    /// An address by its function's name, `heap_update+0x1f4`; in a cold part `heap_update.cold+0x4`. Functions without
    /// a name go by their address. Empty where there is no function.
    pub fn name_at(&self, address: u64) -> String {
        let next = self.pieces.partition_point(|piece| piece.address <= address);
        let (Some(function), Some(at)) = (self.function_at(address), next.checked_sub(1)) else {
            return String::new();
        };
        let piece = self.pieces[at];
        let name =
            if function.name.is_empty() { format!("{:#x}", function.address) } else { function.display() };
        let cold = if piece.address == function.address { "" } else { ".cold" };
        match address - piece.address {
            0 => format!("{name}{cold}"),
            offset => format!("{name}{cold}+{offset:#x}"),
        }
    }

    /// Symbols of other libraries that a function calls, in order.
    pub fn others(&self, place: u32) -> impl Iterator<Item = &str> {
        self.others[place as usize].iter().map(|name| &**name)
    }

    /// A call by pointer that was seen, by any addresses in the two functions. Whether it was new.
    pub fn learn(&mut self, caller: u64, callee: u64) -> bool {
        match (self.place(caller), self.place(callee)) {
            (Some(caller), Some(callee)) => self.graph.add(caller, callee, false),
            _ => false,
        }
    }
}
