//! A relation as CSV, streamed: what is written is not kept, so memory does not grow with the relation.

use std::io::{self, Write};

use super::permutation::{Permutation, WrongSize};
use super::tuple::{STRING_LENGTH, Tuple};

/// The first line of a file that has one.
pub const HEADER: &str = "unique1,unique2,two,four,ten,twenty,onePercent,tenPercent,twentyPercent,fiftyPercent,\
                          unique3,evenOnePercent,oddOnePercent,stringu1,stringu2,string4\n";

const BUFFER: usize = 1 << 18;
const LONGEST_LINE: usize = 13 * 11 + 3 * (STRING_LENGTH + 1);

/// The tuples of one relation on their way into `out`.
pub struct Csv<W> {
    out: W,
    permutation: Permutation,
    next: u32,
    end: u32,
    buffer: Vec<u8>,
}

impl<W: Write> Csv<W> {
    /// The first `tuples` of a relation of `size`; `size` or fewer.
    ///
    /// # Errors
    /// `WrongSize` for a size that no relation has, or more tuples than the relation has.
    pub fn new(out: W, size: u32, tuples: u32) -> Result<Self, WrongSize> {
        if tuples > size {
            return Err(WrongSize(tuples));
        }
        let permutation = Permutation::new(size)?;
        Ok(Self { out, permutation, next: 0, end: tuples, buffer: Vec::with_capacity(BUFFER) })
    }

    /// Writes at most `most` further tuples; how many are left.
    ///
    /// # Errors
    /// What `out` said. Some of the tuples may have been written.
    pub fn write(&mut self, most: u32) -> io::Result<u32> {
        let until = self.end.min(self.next.saturating_add(most));
        for (unique2, unique1) in (self.next..until).zip(self.permutation.by_ref()) {
            append(&mut self.buffer, Tuple { unique1, unique2 });
            if self.buffer.len() > BUFFER - LONGEST_LINE {
                self.out.write_all(&self.buffer)?;
                self.buffer.clear();
            }
        }
        self.next = until;
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(self.end - until)
    }
}

fn append(line: &mut Vec<u8>, tuple: Tuple) {
    for number in tuple.integers() {
        append_number(line, number);
        line.push(b',');
    }
    for text in tuple.strings() {
        line.extend_from_slice(&text);
        line.push(b',');
    }
    if let Some(last) = line.last_mut() {
        *last = b'\n';
    }
}

fn append_number(line: &mut Vec<u8>, number: u32) {
    let mut digits = [0_u8; 10];
    let mut first = digits.len();
    let mut rest = number;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tuple::INTEGERS;
    use super::*;

    fn written(size: u32, tuples: u32, at_once: u32) -> String {
        let mut out = Vec::new();
        let mut csv = Csv::new(&mut out, size, tuples).unwrap();
        while csv.write(at_once).unwrap() > 0 {}
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_first_line_is_the_first_tuple() {
        let text = written(10_000, 1, 1);
        let xs = "x".repeat(45);
        let numbers = "8800,0,0,0,0,0,0,0,0,0,8800,0,1";
        assert_eq!(text, format!("{numbers},AAAANAM{xs},AAAAAAA{xs},AAAAxxx{xs}\n"));
    }

    #[test]
    fn the_header_names_every_attribute_in_order() {
        assert_eq!(HEADER.trim(), format!("{},stringu1,stringu2,string4", INTEGERS.join(",")));
    }

    #[test]
    fn a_part_of_a_relation_is_its_beginning() {
        let (whole, part) = (written(2_000, 2_000, 999), written(2_000, 200, 200));
        assert!(whole.starts_with(&part));
        assert_eq!((whole.lines().count(), part.lines().count()), (2_000, 200));
    }

    #[test]
    fn more_tuples_than_the_relation_has_are_refused() {
        assert_eq!(Csv::new(Vec::new(), 1_000, 1_001).err(), Some(WrongSize(1_001)));
    }

    #[test]
    fn what_the_file_says_is_handed_on() {
        let mut full: [u8; 100] = [0; 100];
        let mut csv = Csv::new(&mut full[..], 1_000, 1_000).unwrap();
        assert_eq!(csv.write(1_000).unwrap_err().kind(), io::ErrorKind::WriteZero);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_many_are_written_at_once(size in 1_u32..4_000, at_once in 1_u32..5_000) {
            prop_assert_eq!(written(size, size, at_once), written(size, size, size));
        }

        #[test]
        fn numbers_are_written_as_they_are(number: u32) {
            let mut line = Vec::new();
            append_number(&mut line, number);
            prop_assert_eq!(String::from_utf8(line).unwrap(), number.to_string());
        }
    }
}
