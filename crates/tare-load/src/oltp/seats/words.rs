//! Invented names and codes: each number has its own, and neighbours do not look alike.

const CONSONANTS: [&str; 16] =
    ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "st"];
const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
const SYLLABLES: u64 = 80;

/// Three syllables: 512,000 names.
pub fn name(number: u64) -> String {
    let mut rest = scattered(number, SYLLABLES.pow(3));
    let mut word = String::new();
    for _ in 0..3 {
        let syllable = (rest % SYLLABLES) as usize;
        word.push_str(CONSONANTS[syllable / VOWELS.len()]);
        word.push_str(VOWELS[syllable % VOWELS.len()]);
        rest /= SYLLABLES;
    }
    word[..1].to_ascii_uppercase() + &word[1..]
}

/// So many capital letters.
pub fn letters(number: u64, length: u32) -> String {
    written(scattered(number, 26_u64.pow(length)), length, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

/// Two letters or digits: 1,296 codes.
pub fn airline_code(number: u64) -> String {
    written(scattered(number, 36 * 36), 2, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
}

/// One to one below `size`, which has no factor in common with the multiplier.
fn scattered(number: u64, size: u64) -> u64 {
    number * 7_919 % size
}

fn written(mut number: u64, length: u32, digits: &[u8]) -> String {
    let mut text = String::new();
    for _ in 0..length {
        text.push(char::from(digits[(number % digits.len() as u64) as usize]));
        number /= digits.len() as u64;
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_numbers_share_a_name_or_a_code() {
        let all =
            |count: u64, word: &dyn Fn(u64) -> String| (0..count).map(word).collect::<HashSet<_>>().len();
        assert_eq!(all(100_000, &name), 100_000);
        assert_eq!(all(676, &|number| letters(number, 2)), 676);
        assert_eq!(all(17_576, &|number| letters(number, 3)), 17_576);
        assert_eq!(all(1_296, &airline_code), 1_296);
    }
}
