//! Functions by name, as people write names.

use super::demangle::{base, demangled};
use super::{Function, Image};

/// Less alike than this, a name is not worth offering (0 to 1).
const ALIKE: f64 = 0.5;

/// How a name is a function's, the closest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Symbol,
    Demangled,
    /// The symbol without what a compiler appended.
    Base,
    Inferred,
}

impl Image {
    /// Functions of this name. Tried in turn until one has any: symbols; demangled names, with parameters or without;
    /// symbols without the compiler's suffix; inferred names. `0x…` is an address. Several are overloads, or static
    /// functions of several source files.
    pub fn find(&self, name: &str) -> Vec<&Function> {
        if let Some(address) = name.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok())
        {
            return self.functions.iter().filter(|function| function.address == address).collect();
        }
        let places = 0..self.functions.len();
        let ranked: Vec<(Fit, usize)> = places.filter_map(|at| Some((self.fit(at, name)?, at))).collect();
        let best = ranked.iter().map(|(fit, _)| *fit).min();
        ranked.iter().filter(|(fit, _)| Some(*fit) == best).map(|(_, at)| &self.functions[*at]).collect()
    }

    fn fit(&self, at: usize, name: &str) -> Option<Fit> {
        let function = &self.functions[at];
        let demangled = || {
            if name.contains('(') {
                function.demangled().as_deref() == Some(name)
            } else {
                self.spoken(at) == name
            }
        };
        if function.inferred {
            (function.name == name).then_some(Fit::Inferred)
        } else if function.symbols().any(|symbol| symbol == name) {
            Some(Fit::Symbol)
        } else if demangled() {
            Some(Fit::Demangled)
        } else {
            function.symbols().any(|symbol| base(symbol) == name).then_some(Fit::Base)
        }
    }

    /// Names of functions that are most like this one, the nearest first: for "no such function; did you mean …".
    pub fn near(&self, name: &str, most: usize) -> Vec<String> {
        let wanted = name.to_lowercase();
        let alike = |candidate: &str| {
            let candidate = candidate.to_lowercase();
            let within = candidate.contains(&wanted) || candidate.len() > 3 && wanted.contains(&candidate);
            let parts = f64::from(u8::from(within)) * wanted.len().min(candidate.len()) as f64
                / wanted.len().max(candidate.len()).max(1) as f64;
            strsim::normalized_damerau_levenshtein(&wanted, &candidate).max(parts.sqrt())
        };
        let mut found: Vec<(f64, &str)> = (0..self.functions.len())
            .map(|at| self.spoken(at))
            .filter(|spoken| !spoken.is_empty())
            .map(|spoken| {
                let last = spoken.rsplit("::").next().filter(|_| !name.contains("::")).unwrap_or(spoken);
                (alike(last), spoken)
            })
            .filter(|(alike, _)| *alike >= ALIKE)
            .collect();
        found.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
        found.dedup_by(|later, first| later.1 == first.1);
        found.into_iter().take(most).map(|(_, name)| name.to_string()).collect()
    }

    /// How a programmer says its name: demangled without parameters, or as it is.
    fn spoken(&self, at: usize) -> &str {
        let spoken = self.spoken.get_or_init(|| {
            self.functions
                .iter()
                .map(|function| demangled(&function.name, false).map(String::into_boxed_str))
                .collect()
        });
        spoken[at].as_deref().unwrap_or(&self.functions[at].name)
    }
}
