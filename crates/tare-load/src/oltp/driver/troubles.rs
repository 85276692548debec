//! What went wrong, in the DBMS's words: each text once a second, and not too many.

use std::collections::HashSet;

use super::clock::SECOND;

/// Texts of one second. A server that names a key in each of a thousand errors has been understood by then.
const MOST: usize = 20;

/// From workers to the collector.
#[derive(Default)]
pub(super) struct Troubles {
    second: i64,
    said: HashSet<String>,
    unreported: Vec<(i64, String)>,
}

impl Troubles {
    pub(super) fn note(&mut self, at: i64, text: &str) {
        if at / SECOND != self.second {
            self.second = at / SECOND;
            self.said.clear();
        }
        if self.said.len() < MOST && self.said.insert(text.to_owned()) {
            self.unreported.push((at, text.to_owned()));
        }
    }

    pub(super) fn take(&mut self) -> Vec<(i64, String)> {
        std::mem::take(&mut self.unreported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_reported_once_in_a_second_and_again_in_the_next() {
        let mut troubles = Troubles::default();
        for at in [0, 1, SECOND - 1, SECOND, SECOND + 1] {
            troubles.note(at, "gone");
        }
        assert_eq!(troubles.take(), [(0, "gone".to_owned()), (SECOND, "gone".to_owned())]);
        assert!(troubles.take().is_empty());
    }

    #[test]
    fn a_flood_of_different_texts_is_cut_off() {
        let mut troubles = Troubles::default();
        (0..1000).for_each(|key| troubles.note(key, &format!("no row {key}")));
        assert_eq!(troubles.take().len(), MOST);
    }
}
