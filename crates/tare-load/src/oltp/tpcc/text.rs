//! Random strings (clause 4.3.2).

use std::str;

use crate::oltp::Random;

const ALPHANUMERIC: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LETTERS: &[u8] = ALPHANUMERIC.split_at(10).1.split_at(26).0;
const DIGITS: &[u8] = ALPHANUMERIC.split_at(10).0;
const MARK: &[u8; 8] = b"ORIGINAL";

/// The longest column's.
const LONGEST: usize = 500;
/// Of one draw of 64 bits; with so few, no character is favoured by more than one in 2^20.
const AT_ONCE: usize = 8;

/// Writes one string after the other into the same place.
pub struct Text([u8; LONGEST]);

impl Text {
    /// With nothing in it.
    pub fn new() -> Self {
        Self([0; LONGEST])
    }

    /// An a-string of a length between the two.
    pub fn a(&mut self, random: &mut Random, shortest: i64, longest: i64) -> &str {
        let length = random.between(shortest, longest) as usize;
        self.fill(random, ALPHANUMERIC, length)
    }

    /// An n-string.
    pub fn n(&mut self, random: &mut Random, length: usize) -> &str {
        self.fill(random, DIGITS, length)
    }

    /// The letters of a state.
    pub fn state(&mut self, random: &mut Random) -> &str {
        self.fill(random, LETTERS, 2)
    }

    /// A ZIP code: four digits and 11111 (clause 4.3.2.7).
    pub fn zip(&mut self, random: &mut Random) -> &str {
        self.fill(random, DIGITS, 4);
        self.0[4..9].fill(b'1');
        self.first(9)
    }

    /// The data of an item or of its stock, which may be marked as original somewhere in it.
    pub fn data(&mut self, random: &mut Random, original: bool) -> &str {
        let length = self.a(random, 26, 50).len();
        if original {
            let start = random.between(0, (length - MARK.len()) as i64) as usize;
            self.0[start..start + MARK.len()].copy_from_slice(MARK);
        }
        self.first(length)
    }

    fn fill(&mut self, random: &mut Random, alphabet: &[u8], length: usize) -> &str {
        for part in self.0[..length].chunks_mut(AT_ONCE) {
            let mut fraction = random.bits();
            for character in part {
                let scaled = u128::from(fraction) * alphabet.len() as u128;
                *character = alphabet[(scaled >> 64) as usize];
                fraction = scaled as u64;
            }
        }
        self.first(length)
    }

    fn first(&self, length: usize) -> &str {
        str::from_utf8(&self.0[..length]).unwrap_or_default()
    }
}

/// Whether the data of both an item and its stock are so marked is for New-Order to say.
pub fn is_original(data: &str) -> bool {
    data.contains("ORIGINAL")
}

/// Chooses so many of so many rows, each set of them as likely as any other (Knuth's algorithm S).
pub struct Chosen {
    wanted: u64,
    left: u64,
}

impl Chosen {
    /// One in ten.
    pub fn tenth_of(rows: i64) -> Self {
        let rows = rows.unsigned_abs();
        Self { wanted: rows / 10, left: rows }
    }

    /// Whether the next row is one of them.
    pub fn next(&mut self, random: &mut Random) -> bool {
        let chosen = random.below(self.left) < self.wanted;
        self.left -= 1;
        self.wanted -= u64::from(chosen);
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_about_as_frequent_as_the_next() {
        let (mut text, mut random) = (Text::new(), Random::at(1, &[]));
        let mut found = [0_i64; 128];
        for _ in 0..2_000 {
            text.a(&mut random, 500, 500).bytes().for_each(|byte| found[byte as usize] += 1);
        }
        let expected = 1_000_000 / 62;
        assert!(ALPHANUMERIC.iter().all(|&byte| (found[byte as usize] - expected).abs() < 800), "{found:?}");
    }

    #[test]
    fn lengths_reach_both_ends_of_their_range() {
        let (mut text, mut random) = (Text::new(), Random::at(1, &[]));
        let lengths: std::collections::BTreeSet<_> =
            (0..1_000).map(|_| text.a(&mut random, 10, 20).len()).collect();
        assert_eq!(lengths, (10..=20).collect());
    }

    #[test]
    fn states_are_letters_and_zip_codes_end_in_ones() {
        let (mut text, mut random) = (Text::new(), Random::at(1, &[]));
        for _ in 0..100 {
            assert!(text.state(&mut random).bytes().all(|byte| byte.is_ascii_uppercase()));
            let zip = text.zip(&mut random);
            assert!(
                zip.len() == 9 && zip.ends_with("11111") && zip.bytes().all(|byte| byte.is_ascii_digit())
            );
        }
    }

    #[test]
    fn exactly_a_tenth_is_chosen_wherever_it_stands() {
        let mut first = 0;
        for seed in 0..2_000 {
            let (mut chosen, mut random) = (Chosen::tenth_of(50), Random::at(seed, &[]));
            let marks: Vec<_> = (0..50).map(|_| chosen.next(&mut random)).collect();
            assert_eq!(marks.iter().filter(|mark| **mark).count(), 5);
            first += u32::from(marks[0]);
        }
        assert!((140..260).contains(&first), "{first} of 2000 where 200 are expected");
    }
}
