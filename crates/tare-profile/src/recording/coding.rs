//! One thread's records in a third of their bytes: a server that calls two million watched functions a second would fill
//! 60 MB a second with whole ones, and the CPU time for that is taken from it.
//!
//! ```text
//! record = head:u8 subject time detail
//! head   = kind | time's length << 4 | detail's form << 6
//! ```
//!
//! `subject` has 7 bits in a byte, lowest first, and the eighth says that more follow. `time` is the difference to the record
//! before (to 0 for the first) in 2, 3, 4 or 8 bytes. `detail` is nothing where it is 0 or what the last record of this kind and
//! subject had, among those that share the low bits of their subject; else 4 bytes.

use tare_rings::Record;

/// Bytes of a record at least, and at most.
pub(super) const LEAST: usize = 4;
const MOST: usize = 1 + 4 + 8 + 4;

const SUBJECT_BITS: u32 = 28;
const LENGTHS: [usize; 4] = [2, 3, 4, 8];
/// Which of them, by how many bytes a number has.
const LENGTH_OF: [u8; 9] = [0, 0, 0, 1, 2, 3, 3, 3, 3];
/// Records that are written into one piece of memory.
const AT_ONCE: usize = 64;
const PLACES: usize = 256;
const NOTHING: u8 = 0;
const AS_BEFORE: u8 = 1;
const WHOLE: u8 = 2;

/// What both sides remember of the records so far.
struct Before {
    time: u64,
    details: [(u32, u32); PLACES], // the word and its detail
}

impl Before {
    fn new() -> Self {
        Self { time: 0, details: [(0, 0); PLACES] }
    }

    fn detail(&mut self, word: u32) -> &mut (u32, u32) {
        &mut self.details[word as usize % PLACES]
    }
}

/// Appends them. What follows is as long as the data say, which no processor foresees: numbers are written whole, and what
/// comes next is written over what they have too much.
pub(super) fn encode(records: &[Record], into: &mut Vec<u8>) {
    let mut before = Before::new();
    for some in records.chunks(AT_ONCE) {
        let mut bytes = [0; AT_ONCE * MOST + 8];
        let mut at = 0;
        let mut put = |number: u64, length: usize| {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            at += length;
        };
        for record in some {
            let difference = record.time.wrapping_sub(before.time);
            before.time = record.time;
            let length = LENGTH_OF[bytes_of(difference)];
            let known = before.detail(record.word);
            let form = match record.detail {
                0 => NOTHING,
                detail if *known == (record.word, detail) => AS_BEFORE,
                _ => WHOLE,
            };
            if form == WHOLE {
                *known = (record.word, record.detail);
            }
            let head = (record.word >> SUBJECT_BITS) as u8 | length << 4 | form << 6;
            let (subject, groups) = in_groups(record.word & ((1 << SUBJECT_BITS) - 1));
            put(u64::from(head) | subject << 8, 1 + groups);
            put(difference, LENGTHS[usize::from(length)]);
            put(record.detail.into(), if form == WHOLE { 4 } else { 0 });
        }
        into.extend_from_slice(&bytes[..at]);
    }
}

fn bytes_of(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()).div_ceil(8) as usize
}

/// A number of 28 bits, 7 of them in a byte, and how many bytes it has.
fn in_groups(number: u32) -> (u64, usize) {
    let groups = (u32::BITS - (number | 1).leading_zeros()).div_ceil(7) as usize;
    let spread =
        number & 0x7f | (number & 0x3f80) << 1 | (number & 0x1f_c000) << 2 | (number & 0xfe0_0000) << 3;
    (u64::from(spread | [0, 0, 0x80, 0x8080, 0x80_8080][groups]), groups)
}

/// Gives so many to `take`. `None` for bytes that `encode` never wrote.
pub(super) fn decode(mut bytes: &[u8], records: u32, mut take: impl FnMut(Record)) -> Option<()> {
    let mut before = Before::new();
    for _ in 0..records {
        let (head, rest) = bytes.split_first()?;
        bytes = rest;
        let mut word = u32::from(head & 15) << SUBJECT_BITS;
        for shift in [0, 7, 14, 21] {
            let (byte, rest) = bytes.split_first()?;
            bytes = rest;
            word |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let (difference, rest) = bytes.split_at_checked(LENGTHS[usize::from(head >> 4 & 3)])?;
        bytes = rest;
        let mut wide = [0; 8];
        wide[..difference.len()].copy_from_slice(difference);
        before.time = before.time.wrapping_add(u64::from_le_bytes(wide));
        let known = before.detail(word);
        let detail = match head >> 6 {
            NOTHING => 0,
            AS_BEFORE => known.1,
            WHOLE => {
                let (detail, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                *known = (word, u32::from_le_bytes(*detail));
                known.1
            }
            _ => return None,
        };
        take(Record { time: before.time, word, detail });
    }
    bytes.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tare_rings::Kind;

    use super::*;

    fn there_and_back(records: &[Record]) -> (usize, Vec<Record>) {
        let mut bytes = Vec::new();
        encode(records, &mut bytes);
        let mut back = Vec::new();
        decode(&bytes, records.len() as u32, |record| back.push(record)).expect("what encode wrote");
        (bytes.len(), back)
    }

    #[test]
    fn calls_as_they_come_take_five_bytes_each() {
        let call = |n: u64, function: u32| {
            let enter = Record::new(1_000_000 + 900 * n, Kind::Enter, function, 0x1234 + function);
            [enter, Record::new(enter.time + 400, Kind::Exit, function, 0)]
        };
        let records: Vec<Record> = (0..1000).flat_map(|n| call(n, 200 + (n % 9) as u32)).collect();
        let (bytes, back) = there_and_back(&records);
        assert_eq!(back, records);
        assert!(bytes < records.len() * 5 + 60, "{bytes} bytes for {} records", records.len());
    }

    #[test]
    fn bytes_that_end_too_early_or_too_late_are_not_taken_for_records() {
        let mut bytes = Vec::new();
        encode(&[Record::new(5, Kind::Enter, 7, 3), Record::new(6, Kind::Exit, 7, 0)], &mut bytes);
        for end in 0..bytes.len() {
            assert_eq!(decode(&bytes[..end], 2, |_| {}), None, "{end} of {}", bytes.len());
        }
        assert_eq!(decode(&bytes, 1, |_| {}), None);
        assert_eq!(decode(&bytes, 2, |_| {}), Some(()));
    }

    fn record() -> impl Strategy<Value = Record> {
        let time = prop_oneof![any::<u64>(), 0..200_000_u64];
        let word =
            prop_oneof![any::<u32>(), (1..3_u32, 0..3_u32).prop_map(|(kind, place)| kind << 28 | place << 8)];
        let detail = prop_oneof![Just(0), any::<u32>(), 0..4_u32];
        (time, word, detail).prop_map(|(time, word, detail)| Record { time, word, detail })
    }

    proptest! {
        #[test]
        fn any_records_come_back_as_they_were(records in prop::collection::vec(record(), 0..200)) {
            prop_assert_eq!(there_and_back(&records).1, records);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0..60_u32) {
            let _ = decode(&bytes, count, |_| {});
        }
    }
}
