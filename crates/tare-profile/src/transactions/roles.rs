//! What a window's records of each function mean under the rules.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::paths::Mixer;
use crate::backend::{Detail, FunctionId};
use crate::recording::Span;
use crate::rules::Rules;

/// Bits of what a function is.
pub(super) mod is {
    /// Only its entries are recorded.
    pub(in crate::transactions) const ENTRY_ONLY: u8 = 1;
    /// Its detail is not its call site.
    pub(in crate::transactions) const SITELESS: u8 = 2;
    /// Its detail has the hash of a text.
    pub(in crate::transactions) const TEXT: u8 = 4;
    /// Its calls are transactions, or intervals of them.
    pub(in crate::transactions) const ROOT: u8 = 8;
    /// Its entry marks a transaction, and is no call in it.
    pub(in crate::transactions) const MARKER: u8 = 16;
    /// Its call opens a transaction.
    pub(in crate::transactions) const OPENS: u8 = 32;
    /// Its call closes one.
    pub(in crate::transactions) const CLOSES: u8 = 64;
}

/// By function; one that is not here is a plain one.
pub(super) struct Roles(HashMap<FunctionId, u8, BuildHasherDefault<Mixer>>);

impl Roles {
    pub(super) fn new(span: &Span, rules: &Rules) -> Self {
        let mut roles = Self(HashMap::default());
        span.entry_only.iter().for_each(|function| roles.add(*function, is::ENTRY_ONLY));
        for (function, detail) in &span.details {
            roles.add(*function, is::SITELESS);
            if matches!(detail, Detail::WordAndText { .. } | Detail::State { .. }) {
                roles.add(*function, is::TEXT);
            }
        }
        match rules {
            Rules::Function { root } => roles.add(*root, is::ROOT),
            Rules::State { marker, .. } => roles.add(*marker, is::MARKER),
            Rules::Dispatch { root, opens, closes, .. } => {
                roles.add(*root, is::ROOT);
                opens.iter().for_each(|function| roles.add(*function, is::OPENS));
                closes.iter().for_each(|function| roles.add(*function, is::CLOSES));
            }
            Rules::Annotation => {}
            Rules::Marks { begin, end } => {
                roles.add(*begin, is::MARKER | is::OPENS);
                end.iter().for_each(|function| roles.add(*function, is::MARKER | is::CLOSES));
            }
        }
        roles
    }

    fn add(&mut self, function: FunctionId, role: u8) {
        *self.0.entry(function).or_default() |= role;
    }

    #[inline]
    pub(super) fn of(&self, function: FunctionId) -> u8 {
        self.0.get(&function).copied().unwrap_or(0)
    }
}

/// A marker's words, by what they mean.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Words {
    running: u16,
    pausing: u16,
    ended: u16,
    labelled: u16,
}

/// What a thread comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Running,
    Pausing,
    Ended,
    Other,
}

impl Words {
    pub(super) fn new(rules: &Rules) -> Self {
        let bits =
            |words: &[u32]| words.iter().filter(|word| **word < 16).fold(0, |bits, word| bits | 1 << word);
        match rules {
            Rules::State { running, pausing, ended, .. } => Self {
                running: bits(running),
                pausing: bits(pausing),
                ended: bits(ended),
                labelled: bits(running),
            },
            Rules::Dispatch { labelled, .. } => Self { labelled: bits(labelled), ..Self::default() },
            _ => Self { labelled: u16::MAX, ..Self::default() },
        }
    }

    pub(super) fn state(self, detail: u32) -> State {
        let has = |set: u16| set & 1 << (detail & 15) != 0;
        match () {
            () if has(self.running) => State::Running,
            () if has(self.pausing) => State::Pausing,
            () if has(self.ended) => State::Ended,
            () => State::Other,
        }
    }

    /// The text of a detail whose text is a statement; else 0.
    pub(super) fn text(self, detail: u32) -> u32 {
        if self.labelled & 1 << (detail & 15) == 0 { 0 } else { detail >> 4 }
    }
}
