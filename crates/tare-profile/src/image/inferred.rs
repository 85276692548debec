//! Names of functions that have no symbol, as they give them themselves where they report an error: `__func__`.
//!
//! A function that the compiler put into another reports under its own name there. Hence reports under a symbol's name
//! don't count, and those that are left count only where all of a function's agree and no other function has the like.

use std::collections::{HashMap, HashSet};

use iced_x86::Register;

use super::file::Memory;
use super::links::Place;

/// Functions that report errors, and the register in which they are told the name of who reports.
const REPORTERS: [(&str, Register); 2] = [
    ("errfinish", Register::RDX), // PostgreSQL 13 and later: (filename, lineno, funcname)
    ("__assert_fail", Register::RCX), // glibc: (assertion, file, line, function)
];

/// Those that the file has or uses; `places` tells where a function of this name is called at.
pub(super) fn reporters(places: impl Fn(&str) -> Vec<Place>) -> HashMap<Place, Register> {
    let places = &places;
    REPORTERS
        .iter()
        .flat_map(|(name, register)| places(name).into_iter().map(|place| (place, *register)))
        .collect()
}

/// Names by function, from reports (function, address of the name). `unfit` functions don't get one, nor is any of
/// `taken` given away.
pub(super) fn names(
    reports: impl Iterator<Item = (u32, u64)>,
    memory: &Memory<'_>,
    unfit: impl Fn(u32) -> bool,
    taken: &HashSet<&str>,
) -> Vec<(u32, String)> {
    let mut reported: HashMap<u32, HashSet<&str>> = HashMap::new();
    for (function, address) in reports.filter(|(function, _)| !unfit(*function)) {
        if let Some(name) = memory.text(address).filter(|name| is_identifier(name) && !taken.contains(name)) {
            reported.entry(function).or_default().insert(name);
        }
    }
    let mut reporters: HashMap<&str, usize> = HashMap::new();
    for name in reported.values().flatten() {
        *reporters.entry(name).or_default() += 1;
    }
    let mut names = Vec::new();
    for (function, reported) in &reported {
        if let [name] = *reported.iter().copied().collect::<Vec<_>>()
            && reporters[name] == 1
        {
            names.push((*function, name.to_string()));
        }
    }
    names
}

fn is_identifier(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(letter) && name.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
}
