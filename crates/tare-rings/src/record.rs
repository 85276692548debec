//! One event of one thread, in 16 bytes: what every backend writes, and all that analysis reads.

/// Bits of `word` below the kind.
const SUBJECT_BITS: u32 = 28;
const SUBJECT: u32 = (1 << SUBJECT_BITS) - 1;

/// An event. Little-endian in files and rings.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Record {
    /// Ticks of the backend's clock: TSC inside a process, CLOCK_MONOTONIC in ns from the kernel.
    pub time: u64,
    /// The kind in the high 4 bits, its subject in the other 28.
    pub word: u32,
    /// More of the subject; see `Kind`.
    pub detail: u32,
}

/// What happened.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A function was entered. Subject: its id; detail: as its probe asks (`tare_profile::Detail`).
    Enter = 1,
    /// It returned. Subject: its id; detail 0.
    Exit = 2,
    /// It was left in another way: longjmp, exception, end of thread. Time: when that was noticed; detail: 1 where that
    /// is when it was left, else 0.
    Cut = 3,
    /// Annotation: an interval of a transaction begins. Subject and detail: the transaction's id (`Record::id`).
    Begin = 4,
    /// Annotation: this thread turns from it; it is not over.
    Suspend = 5,
    /// Annotation: some thread, perhaps another, turns to it again.
    Resume = 6,
    /// Annotation: it is over.
    End = 7,
    /// A transaction is of this type. Subject: the low 28 bits of the annotation's id, or 0: the one that the thread
    /// works on; detail: the hash of the type's name (see `text_hash`).
    Label = 8,
    /// CPU time that this thread has had, ns (`Record::id`), at the record before.
    Cpu = 9,
    /// So many records of this thread found no room just before. Detail: how many, saturating.
    Lost = 10,
}

impl Kind {
    /// The kind with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Enter,
            2 => Self::Exit,
            3 => Self::Cut,
            4 => Self::Begin,
            5 => Self::Suspend,
            6 => Self::Resume,
            7 => Self::End,
            8 => Self::Label,
            9 => Self::Cpu,
            10 => Self::Lost,
            _ => return None,
        })
    }
}

impl Record {
    /// A record whose subject fits 28 bits.
    pub fn new(time: u64, kind: Kind, subject: u32, detail: u32) -> Self {
        debug_assert!(subject <= SUBJECT);
        Self { time, word: (kind as u32) << SUBJECT_BITS | subject & SUBJECT, detail }
    }

    /// A record with a number of up to 60 bits: a transaction's id, or ns of CPU time. Higher bits are cut off.
    pub fn with_id(time: u64, kind: Kind, id: u64) -> Self {
        Self::new(time, kind, (id >> 32) as u32 & SUBJECT, id as u32)
    }

    /// `None` for a number that no kind has: not written by us.
    pub fn kind(self) -> Option<Kind> {
        Kind::from_number(self.word >> SUBJECT_BITS)
    }

    /// The low 28 bits of `word`.
    pub fn subject(self) -> u32 {
        self.word & SUBJECT
    }

    /// Subject and detail as one number of 60 bits.
    pub fn id(self) -> u64 {
        u64::from(self.subject()) << 32 | u64::from(self.detail)
    }
}

/// Of a statement's text, so that a record can say which it was: 28 bits, never 0, of its bytes up to the first NUL or
/// `TEXT_BYTES`. Eight bytes at a time, little-endian, the last ones filled up with NULs: a probe makes it for each
/// statement. The text itself travels once, beside the records.
pub fn text_hash(text: &[u8]) -> u32 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 by the golden ratio: odd, and its bits are well mixed
    let length = text.iter().take(TEXT_BYTES).take_while(|byte| **byte != 0).count();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in text[..length].chunks(8) {
        let mut bytes = [0; 8];
        bytes[..part.len()].copy_from_slice(part);
        hash = (hash ^ u64::from_le_bytes(bytes)).wrapping_mul(SPREAD);
        hash ^= hash >> 32;
    }
    ((hash.wrapping_mul(SPREAD) >> 36) as u32).max(1)
}

/// How much of a text counts, and is kept.
pub const TEXT_BYTES: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_sixteen_bytes_and_gives_back_what_it_was_given() {
        assert_eq!(size_of::<Record>(), 16);
        let entered = Record::new(7, Kind::Enter, 0x0abc_def0, 0xffff_ffff);
        assert_eq!(
            (entered.kind(), entered.subject(), entered.detail),
            (Some(Kind::Enter), 0x0abc_def0, u32::MAX)
        );
        let begun = Record::with_id(7, Kind::Begin, (1 << 60) - 1);
        assert_eq!((begun.kind(), begun.id()), (Some(Kind::Begin), (1 << 60) - 1));
        assert_eq!(Record::default().kind(), None);
    }

    #[test]
    fn a_text_counts_up_to_its_end_and_no_further_than_its_limit() {
        assert_eq!(text_hash(b"SELECT 1\0junk"), text_hash(b"SELECT 1"));
        let long = [b'x'; TEXT_BYTES + 9];
        assert_eq!(text_hash(&long), text_hash(&long[..TEXT_BYTES]));
        assert_ne!(text_hash(b"a"), text_hash(b"b"));
        assert_ne!(text_hash(b""), 0);
    }

    #[test]
    fn no_two_of_many_texts_that_differ_in_one_letter_or_in_length_have_one_hash() {
        let statement =
            b"SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = $1 AND c_d_id = $2";
        let mut hashes: Vec<u32> =
            (0..=statement.len()).map(|length| text_hash(&statement[..length])).collect();
        for place in 0..statement.len() {
            for bit in 0..8 {
                let mut other = *statement;
                other[place] ^= 1 << bit;
                if other[place] != 0 {
                    hashes.push(text_hash(&other));
                }
            }
        }
        let all = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        // Of as many random numbers of 28 bits two are the same once in a thousand draws; this draw is always the same.
        assert_eq!(hashes.len(), all);
    }
}
