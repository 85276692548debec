//! Names that the file gives its functions.

use object::{Object, ObjectSymbol, SymbolKind};

use super::file::{Elf, Memory};

/// A function's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Symbol {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) name: String,
    pub(super) exported: bool,
    local: bool,
}

impl Symbol {
    /// Of several at one address the first is shown: global ones, and those that a programmer would write.
    fn order(&self) -> (u64, bool, bool, usize, &str, bool) {
        let internal =
            self.name.starts_with('_') && !self.name.starts_with("_Z") && !self.name.starts_with("_R");
        (self.address, self.local, internal, self.name.len(), &self.name, !self.exported)
    }
}

/// Of .symtab and .dynsym of `elf`, and of the .symtab of its `debug` file: by address, the one to show first.
pub(super) fn read(elf: &Elf<'_>, debug: Option<&Elf<'_>>, memory: &Memory<'_>) -> Vec<Symbol> {
    let stripped = debug.into_iter().flat_map(|debug| debug.symbols());
    let own = elf.symbols().chain(stripped).filter_map(|symbol| function(symbol, false));
    let exported = elf.dynamic_symbols().filter_map(|symbol| function(symbol, true));
    let mut symbols: Vec<Symbol> = own.chain(exported).collect();
    symbols.retain(|symbol| memory.is_code(symbol.address));
    symbols.sort_unstable_by(|left, right| left.order().cmp(&right.order()));
    symbols.dedup_by(|later, first| (later.address, &later.name) == (first.address, &first.name));
    symbols
}

fn function<'a>(symbol: impl ObjectSymbol<'a>, exported: bool) -> Option<Symbol> {
    // An indirect function is no definition: its address is that of what chooses it once, not of what callers call.
    if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
        return None;
    }
    let name = symbol.name().ok()?;
    let name = name.split('@').next().unwrap_or(name); // without its version
    let found = Symbol {
        address: symbol.address(),
        size: symbol.size(),
        name: name.to_string(),
        exported,
        local: symbol.is_local(),
    };
    (!name.is_empty()).then_some(found)
}
