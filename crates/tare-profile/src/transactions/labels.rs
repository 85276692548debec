//! A transaction's type, from the texts of its statements.
//!
//! A statement's numbers and strings become `?`, so that its executions are of one type. BEGIN, SET, COMMIT and their
//! like say little: the first statement that is something else names the transaction. A comment `/* tare:NAME */` in
//! any statement, or a `Label` of the program's own, names it NAME.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasherDefault;

use tare_rings::record::text_hash;

use super::paths::Mixer;
use crate::Result;
use crate::recording::Recording;

/// Of a statement whose literals were replaced: what follows was cut off at another place each time.
const FIRM_CHARS: usize = 72;

/// Instead of a statement whose text the backend had no room for.
const UNKNOWN: &str = "(statements that were not kept)";

/// How much a text says, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Rank {
    #[default]
    Nothing,
    Poor,
    Statement,
    Named,
    Label,
}

/// The best name so far: of those that say as much, the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Candidate {
    pub(super) rank: Rank,
    pub(super) label: u32,
}

impl Candidate {
    /// A label that the program gave.
    pub(super) fn given(hash: u32) -> Self {
        Self { rank: Rank::Label, label: hash }
    }

    pub(super) fn or(&mut self, other: Self) {
        if other.rank > self.rank {
            *self = other;
        }
    }
}

/// What each text of a recording says.
#[derive(Default)]
pub(super) struct Labels {
    by_text: HashMap<u32, Candidate, BuildHasherDefault<Mixer>>,
}

impl Labels {
    pub(super) fn read(recording: &Recording) -> Result<Self> {
        let mut labels = Self::default();
        recording.texts(|hash, text| {
            let (rank, name) = judge(text);
            labels.by_text.insert(hash, Candidate { rank, label: text_hash(name.as_bytes()) });
        })?;
        Ok(labels)
    }

    /// What the text with this hash says; one that was lost is taken for a statement.
    pub(super) fn of(&self, hash: u32) -> Candidate {
        match self.by_text.get(&hash) {
            Some(found) => *found,
            None if hash == 0 => Candidate::default(),
            None => Candidate { rank: Rank::Statement, label: text_hash(UNKNOWN.as_bytes()) },
        }
    }
}

/// The names of labels, those that are known.
pub(super) fn names(recording: &Recording, labels: &HashSet<u32>) -> Result<Vec<(u32, String)>> {
    let mut names = BTreeMap::new();
    let unknown = text_hash(UNKNOWN.as_bytes());
    if labels.contains(&unknown) {
        names.insert(unknown, UNKNOWN.to_owned());
    }
    recording.texts(|hash, text| {
        let (_, name) = judge(text);
        let label = text_hash(name.as_bytes());
        if labels.contains(&label) {
            names.entry(label).or_insert(name);
        }
        if labels.contains(&hash) {
            names.entry(hash).or_insert_with(|| text.to_owned());
        }
    })?;
    Ok(names.into_iter().collect())
}

fn judge(text: &str) -> (Rank, String) {
    if let Some(name) = named(text) {
        return (Rank::Named, name.to_owned());
    }
    let plain = plain(text);
    let rank = if poor(&plain) { Rank::Poor } else { Rank::Statement };
    (rank, plain)
}

fn named(text: &str) -> Option<&str> {
    text.split("/*").skip(1).find_map(|comment| {
        let name = comment.split_once("*/")?.0.trim().strip_prefix("tare:")?.trim();
        (!name.is_empty()).then_some(name)
    })
}

/// One statement that says nothing of what a transaction does.
fn poor(plain: &str) -> bool {
    let statement = plain.trim_end_matches([';', ' ']);
    let word = statement.split([' ', ';', '(']).next().unwrap_or_default().to_ascii_uppercase();
    let empty = ["", "BEGIN", "START", "SET", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"];
    empty.contains(&word.as_str()) && !statement.contains(';')
}

/// Without comments and literals, spaces made one.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut replaced = false;
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (taken, said) = token(rest, first, &plain);
        match said {
            Said::Space if plain.is_empty() || plain.ends_with(' ') => {}
            Said::Space => plain.push(' '),
            Said::Literal => {
                replaced = true;
                plain.push('?');
            }
            Said::Itself => plain.push_str(&rest[..taken]),
        }
        rest = &rest[taken..];
    }
    if replaced && let Some((end, _)) = plain.char_indices().nth(FIRM_CHARS) {
        plain.truncate(end);
    }
    plain.truncate(plain.trim_end().len());
    plain
}

enum Said {
    Space,
    Literal,
    Itself,
}

/// The length of the next token in bytes, and what becomes of it.
fn token(rest: &str, first: char, before: &str) -> (usize, Said) {
    let up_to = |end: Option<usize>| end.unwrap_or(rest.len());
    let word = |part: &str| up_to(part.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')));
    match first {
        _ if first.is_whitespace() => (up_to(rest.find(|c: char| !c.is_whitespace())), Said::Space),
        '/' if rest.starts_with("/*") => (up_to(rest.find("*/").map(|at| at + 2)), Said::Space),
        '-' if rest.starts_with("--") => (up_to(rest.find('\n')), Said::Space),
        '\'' => (quoted(rest), Said::Literal),
        '0'..='9' => (number(rest), Said::Literal),
        '-' | '+' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) && operand(before) => {
            (1 + number(&rest[1..]), Said::Literal)
        }
        _ if first.is_alphanumeric() || first == '_' || first == '$' => (word(rest), Said::Itself),
        _ => (first.len_utf8(), Said::Itself),
    }
}

/// Whether an operand is to follow, so that a sign is a number's own.
fn operand(before: &str) -> bool {
    before.trim_end().ends_with(['=', '<', '>', '+', '-', '*', '/', '(', ',', '%'])
}

fn quoted(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'\'', Some(b'\'')) | (b'\\', Some(_)) => at += 2,
            (b'\'', _) => return at + 1,
            _ => at += 1,
        }
    }
    // A backslash before a longer character leads into its middle: its end is a boundary again.
    rest.len()
}

fn number(rest: &str) -> usize {
    rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_')).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn executions_of_one_statement_are_of_one_type() {
        let one = judge("UPDATE accounts SET balance = balance + -1234 WHERE aid = 567;");
        assert_eq!(one, judge("UPDATE accounts  SET balance = balance + 9 WHERE aid = 1;"));
        assert_eq!(one.1, "UPDATE accounts SET balance = balance + ? WHERE aid = ?;");
    }

    #[test]
    fn a_statement_cut_off_after_its_literals_keeps_its_type() {
        let text = |id: u64| {
            let columns = "abc, bcd, cde, def, efg, fgh, ghi, hij, ijk, jkl, klm, lmn, mno";
            let whole =
                format!("SELECT a FROM t WHERE id = {id} AND name = 'x' AND other = 17 ORDER BY {columns}");
            whole[..120].to_owned()
        };
        assert_eq!(judge(&text(1)), judge(&text(1_234_567)));
    }

    #[test]
    fn names_with_digits_and_parameters_stay() {
        assert_eq!(
            plain("SELECT c1 FROM t2 WHERE x=$1 AND y = 0x1F"),
            "SELECT c1 FROM t2 WHERE x=$1 AND y = ?"
        );
        assert_eq!(plain("SELECT a-1, 'it''s' -- gone\n FROM t"), "SELECT a-?, ? FROM t");
    }

    #[test]
    fn what_only_frames_a_transaction_says_little() {
        for text in ["BEGIN", "begin;", "START TRANSACTION", "SET x = 1", " /* hi */ COMMIT ;", ""] {
            assert_eq!(judge(text).0, Rank::Poor, "{text}");
        }
        for text in ["BEGIN; UPDATE t SET a = 1", "SELECT 1", "settle()"] {
            assert_eq!(judge(text).0, Rank::Statement, "{text}");
        }
    }

    #[test]
    fn a_comment_names_a_transaction() {
        assert_eq!(judge("/* tare:new order */ BEGIN"), (Rank::Named, "new order".to_owned()));
        assert_eq!(judge("SELECT 1 /*x*/ /*tare:NewOrder*/").1, "NewOrder");
        assert_eq!(judge("/* tare: */ SELECT 1").0, Rank::Statement);
    }

    #[test]
    fn the_first_of_those_that_say_most_counts() {
        let mut best = Candidate::default();
        for (rank, label) in [(Rank::Poor, 1), (Rank::Statement, 2), (Rank::Statement, 3), (Rank::Nothing, 4)]
        {
            best.or(Candidate { rank, label });
        }
        assert_eq!(best.label, 2);
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in "[-+'\\\\ a-z0-9é*/;$.(]{0,120}") {
            let (_, name) = judge(&text);
            prop_assert!(name.len() <= text.len() + 1);
        }
    }
}
