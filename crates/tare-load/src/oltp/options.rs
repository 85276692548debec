//! A workload's own settings by name, as a user gave them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The request is at fault; the text says in what, and what may be given instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake(pub String);

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Mistake {}

/// Name to text: `fixed_lines` → `15`. A workload takes what it knows; what is left over is a mistake.
#[derive(Clone, Debug, Default)]
pub struct Options {
    given: BTreeMap<String, String>,
    known: Vec<&'static str>,
}

impl Options {
    /// As given.
    pub fn new(given: BTreeMap<String, String>) -> Self {
        Self { given, known: Vec::new() }
    }

    /// Takes one out. None: not given.
    pub fn take<T: FromStr>(&mut self, name: &'static str, wanted: &str) -> Result<Option<T>, Mistake> {
        self.known.push(name);
        let Some(text) = self.given.remove(name) else { return Ok(None) };
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(Mistake(format!("{name} = {text}: give {wanted}"))),
        }
    }

    /// Refuses what nobody took.
    pub fn finish(self, workload: &str) -> Result<(), Mistake> {
        let Some(name) = self.given.keys().next() else { return Ok(()) };
        let known = if self.known.is_empty() { "none".to_owned() } else { self.known.join(", ") };
        Err(Mistake(format!("{workload} has no option {name}; it has: {known}")))
    }
}
