//! Rows as lines of tab-separated text, as COPY and LOAD DATA read them by default.

use std::io::Write;

use crate::oltp::civil::Civil;
use crate::oltp::{Failure, Rows};

const BLOCK: usize = 1 << 17;

/// Where full blocks of whole lines go.
pub(crate) type Sink<'a> = dyn FnMut(&[u8]) -> Result<(), Failure> + 'a;

/// Lines on their way into `sink`, a block at a time.
pub(crate) struct Tsv<'a> {
    block: Vec<u8>,
    rows: u64,
    sink: &'a mut Sink<'a>,
}

impl<'a> Tsv<'a> {
    pub fn new(sink: &'a mut Sink<'a>) -> Self {
        Self { block: Vec::with_capacity(BLOCK + BLOCK / 8), rows: 0, sink }
    }

    /// Sends what is left; how many rows there were.
    pub fn finish(mut self) -> Result<u64, Failure> {
        self.send()?;
        Ok(self.rows)
    }

    fn send(&mut self) -> Result<(), Failure> {
        if !self.block.is_empty() {
            (self.sink)(&self.block)?;
            self.block.clear();
        }
        Ok(())
    }
}

impl Rows for Tsv<'_> {
    fn int(&mut self, number: i64) {
        digits(&mut self.block, number, 0);
        self.block.push(b'\t');
    }

    fn float(&mut self, number: f64) {
        let _ = write!(self.block, "{number:e}\t"); // a Vec takes all
    }

    fn decimal(&mut self, unscaled: i64, scale: u8) {
        digits(&mut self.block, unscaled, scale.into());
        self.block.push(b'\t');
    }

    fn text(&mut self, text: &str) {
        escaped(&mut self.block, text.as_bytes());
        self.block.push(b'\t');
    }

    fn time(&mut self, micros: i64) {
        instant(&mut self.block, Civil::at(micros));
        self.block.push(b'\t');
    }

    fn null(&mut self) {
        self.block.extend_from_slice(b"\\N\t");
    }

    fn end(&mut self) -> Result<(), Failure> {
        if let Some(last) = self.block.last_mut() {
            *last = b'\n';
        }
        self.rows += 1;
        if self.block.len() >= BLOCK { self.send() } else { Ok(()) }
    }
}

/// Written from the last digit to the first; `scale` of them behind a point.
pub(crate) fn digits(out: &mut Vec<u8>, number: i64, scale: usize) {
    let mut text = [0_u8; 300]; // a scale of 255, and what an i64 has
    let mut first = text.len();
    let mut rest = number.unsigned_abs();
    let mut written = 0;
    while rest > 0 || written <= scale {
        if written == scale && scale > 0 {
            first -= 1;
            text[first] = b'.';
        }
        first -= 1;
        text[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        written += 1;
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&text[first..]);
}

fn escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(place) = rest.iter().position(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b'\\')) {
        out.extend_from_slice(&rest[..place]);
        out.extend_from_slice(match rest[place] {
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            _ => b"\\\\",
        });
        rest = &rest[place + 1..];
    }
    out.extend_from_slice(rest);
}

/// `2025-01-31 23:59:59.000001`, years 1 to 9999: what every DBMS reads, in the session's time zone, which is UTC.
pub(crate) fn instant(out: &mut Vec<u8>, at: Civil) {
    padded(out, at.year as u32, 4);
    for (before, number) in
        [(b'-', at.month), (b'-', at.day), (b' ', at.hour), (b':', at.minute), (b':', at.second)]
    {
        out.push(before);
        padded(out, number, 2);
    }
    out.push(b'.');
    padded(out, at.micro, 6);
}

fn padded(out: &mut Vec<u8>, number: u32, width: usize) {
    let start = out.len();
    out.resize(start + width, b'0');
    let mut rest = number;
    for digit in out[start..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(fill: impl FnOnce(&mut dyn Rows)) -> String {
        let mut all = Vec::new();
        let mut sink = |block: &[u8]| {
            all.extend_from_slice(block);
            Ok(())
        };
        let mut tsv = Tsv::new(&mut sink);
        fill(&mut tsv);
        tsv.finish().unwrap();
        String::from_utf8(all).unwrap()
    }

    #[test]
    fn a_row_is_a_line_of_its_fields() {
        let line = written(|rows| {
            rows.int(-42);
            rows.float(0.25);
            rows.decimal(-5, 2);
            rows.decimal(123_456, 4);
            rows.decimal(7, 0);
            rows.text("plain");
            rows.time(1_738_367_999_000_001);
            rows.null();
            rows.end().unwrap();
        });
        assert_eq!(line, "-42\t2.5e-1\t-0.05\t12.3456\t7\tplain\t2025-01-31 23:59:59.000001\t\\N\n");
    }

    #[test]
    fn what_would_end_a_field_or_a_line_is_escaped() {
        let line = written(|rows| {
            rows.text("a\tb\nc\rd\\e\\N");
            rows.text("");
            rows.text("żółć");
            rows.end().unwrap();
        });
        assert_eq!(line, "a\\tb\\nc\\rd\\\\e\\\\N\t\tżółć\n");
    }

    #[test]
    fn blocks_hold_whole_lines_and_no_row_is_lost() {
        let mut blocks = Vec::new();
        let mut sink = |block: &[u8]| {
            blocks.push(block.to_vec());
            Ok(())
        };
        let mut tsv = Tsv::new(&mut sink);
        for number in 0..100_000 {
            tsv.int(number);
            tsv.end().unwrap();
        }
        assert_eq!(tsv.finish().unwrap(), 100_000);
        assert!(blocks.len() > 1);
        assert!(blocks.iter().all(|block| block.ends_with(b"\n")));
        let numbers: Vec<i64> = blocks
            .concat()
            .split(|byte| *byte == b'\n')
            .filter_map(|line| str::from_utf8(line).ok()?.parse().ok())
            .collect();
        assert_eq!(numbers, (0..100_000).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn digits_are_those_of_the_number(number: i64) {
            let mut out = Vec::new();
            digits(&mut out, number, 0);
            prop_assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }

        #[test]
        fn a_decimal_without_its_point_is_its_digits(unscaled: i64, scale in 1_usize..=255) {
            let mut out = Vec::new();
            digits(&mut out, unscaled, scale);
            let text = String::from_utf8(out).unwrap();
            let (_, behind) = text.split_once('.').unwrap();
            prop_assert_eq!(behind.len(), scale);
            prop_assert_eq!(text.replace('.', "").parse::<i64>().unwrap(), unscaled);
        }
    }
}
