//! One function of a file.

use super::demangle::demangled;
use super::first::First;

/// A function. Its address is its file's own (ELF virtual address).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Of its first byte.
    pub address: u64,
    /// Bytes of machine code, without its cold parts; 0 where unknown.
    pub size: u64,
    /// Address and bytes of each cold part: code that the compiler expects never to run, and keeps elsewhere.
    pub parts: Vec<(u64, u64)>,
    /// Its symbol, or the name inferred for it; empty if it has neither.
    pub name: String,
    /// `name` was read off its error reports. About one in 25 such names is that of a function the compiler
    /// put into it (PostgreSQL 16 and 18, held against their symbols).
    pub inferred: bool,
    /// Other symbols at its address.
    pub aliases: Vec<String>,
    /// Its first instruction.
    pub first: First,
    /// It never returns to its caller: no exit of it is ever seen.
    pub no_return: bool,
    /// Calls in it by pointer, whose callees are learnt at run time.
    pub indirect_sites: u32,
    /// Data or an instruction of its file holds its address: it may be called by pointer.
    pub address_taken: bool,
    /// Code of its file calls it by name.
    pub called_directly: bool,
    /// Other files can link to it, or ask for it by name (`dlsym`).
    pub exported: bool,
}

impl Function {
    /// Its symbols; none where its name is inferred.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        let first = (!self.inferred && !self.name.is_empty()).then_some(self.name.as_str());
        first.into_iter().chain(self.aliases.iter().map(String::as_str))
    }

    /// Its name in its language, if that is C++ or Rust.
    pub fn demangled(&self) -> Option<String> {
        demangled(&self.name, true)
    }

    /// Its name for people.
    pub fn display(&self) -> String {
        self.demangled().unwrap_or_else(|| self.name.clone())
    }
}
