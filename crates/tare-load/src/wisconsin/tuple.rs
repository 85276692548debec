//! What one tuple holds: all of it follows from unique1 and its place in the relation.

/// Letters of every string.
pub const STRING_LENGTH: usize = 52;

/// The names of the integers, in the order of [`Tuple::integers`].
pub const INTEGERS: [&str; 13] = [
    "unique1",
    "unique2",
    "two",
    "four",
    "ten",
    "twenty",
    "onePercent",
    "tenPercent",
    "twentyPercent",
    "fiftyPercent",
    "unique3",
    "evenOnePercent",
    "oddOnePercent",
];

/// One tuple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuple {
    /// The scattered key.
    pub unique1: u32,
    /// The place in load order, from 0.
    pub unique2: u32,
}

impl Tuple {
    /// All integers.
    #[must_use]
    pub fn integers(self) -> [u32; 13] {
        let Self { unique1: u, unique2 } = self;
        let one_percent = u % 100;
        [
            u,
            unique2,
            u % 2,
            u % 4,
            u % 10,
            u % 20,
            one_percent,
            u % 10,
            u % 5,
            u % 2,
            u,
            2 * one_percent,
            2 * one_percent + 1,
        ]
    }

    /// stringu1, stringu2, string4.
    #[must_use]
    pub fn strings(self) -> [[u8; STRING_LENGTH]; 3] {
        let mut string4 = [b'x'; STRING_LENGTH];
        string4[..4].fill(b"AHOV"[self.unique2 as usize % 4]);
        [lettered(self.unique1), lettered(self.unique2), string4]
    }
}

/// Seven letters, A for 0 to Z for 25, most significant first, and x's behind them.
fn lettered(number: u32) -> [u8; STRING_LENGTH] {
    let mut text = [b'x'; STRING_LENGTH];
    let mut rest = number;
    for letter in text[..7].iter_mut().rev() {
        *letter = b'A' + (rest % 26) as u8;
        rest /= 26;
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_tuple_has_the_values_of_its_definition() {
        let tuple = Tuple { unique1: 8_873, unique2: 29 };
        assert_eq!(tuple.integers(), [8_873, 29, 1, 1, 3, 13, 73, 3, 3, 1, 8_873, 146, 147]);
        let xs = "x".repeat(45);
        let shown = tuple.strings().map(|text| String::from_utf8(text.to_vec()).unwrap());
        assert_eq!(shown, [format!("AAAANDH{xs}"), format!("AAAAABD{xs}"), format!("HHHHxxx{xs}")]);
    }

    proptest! {
        #[test]
        fn strings_are_ordered_as_their_numbers_are(one in 0..100_000_000_u32, other in 0..100_000_000_u32) {
            prop_assert_eq!(one.cmp(&other), lettered(one).cmp(&lettered(other)));
        }
    }
}
