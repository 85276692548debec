//! Text without a meaning.

use crate::oltp::Random;

const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.";

/// So many letters, digits, hyphens and points, each as likely as the next.
pub fn noise(random: &mut Random, length: usize) -> String {
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let mut bits = random.bits();
        for _ in 0..(length - text.len()).min(10) {
            text.push(char::from(CHARACTERS[(bits & 63) as usize]));
            bits >>= 6;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_as_long_as_asked_and_uses_every_character() {
        let mut random = Random::at(1, &[]);
        for length in [0, 1, 9, 10, 11, 512] {
            assert_eq!(noise(&mut random, length).len(), length);
        }
        let long = noise(&mut random, 10_000);
        assert!(CHARACTERS.iter().all(|character| long.contains(char::from(*character))));
    }
}
