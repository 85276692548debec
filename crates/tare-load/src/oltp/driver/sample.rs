//! Raw samples: every arrival of the measured part, in the order in which they were tallied.
//!
//! The file is a sequence of records of 40 bytes, little-endian, without a header:
//!
//! | offset | type | what |
//! |---:|---|---|
//! | 0 | u16 | the type's number |
//! | 2 | u8 | its end, as `End` numbers it (`counts.rs`) |
//! | 3 | u8 | tries |
//! | 4 | u32 | connection, from 0; 4294967295: it was never sent |
//! | 8 | u64 | arrival's number in the schedule, from 0; closed loop: its number on its connection |
//! | 16 | i64 | intended start, ns of CLOCK_MONOTONIC; closed loop: the real one |
//! | 24 | i64 | real start of the first try; 0: it was never sent |
//! | 32 | i64 | end; 0: it was never sent |

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::record::{RECORD_BYTES, Record};
use crate::oltp::database::Problem;

/// A file that is being written. After its first error it takes no more, and says so.
pub(super) struct Samples {
    out: Option<BufWriter<File>>,
    path: PathBuf,
    rows: u64,
    failed: Option<String>,
}

impl Samples {
    /// Takes the place of a file that is there.
    pub(super) fn create(path: &Path) -> Result<Self, Problem> {
        let file = File::create(path).map_err(|error| {
            Problem::usage(
                format!("the samples {} cannot be written: {error}", path.display()),
                "name a file in a folder of yours",
            )
        })?;
        let out = Some(BufWriter::with_capacity(1 << 16, file));
        Ok(Self { out, path: path.to_owned(), rows: 0, failed: None })
    }

    pub(super) fn add(&mut self, record: &Record) {
        let Some(out) = &mut self.out else { return };
        match out.write_all(&laid_out(record)) {
            Ok(()) => self.rows += 1,
            Err(error) => self.fail(&error),
        }
    }

    /// Why it cannot be written any more. None: it can.
    pub(super) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// How many are in the file.
    pub(super) fn finish(&mut self) -> u64 {
        if let Some(Err(error)) = self.out.as_mut().map(Write::flush) {
            self.fail(&error);
        }
        self.rows
    }

    /// Whole records that reached the file are what counts: what is left of one is cut off, and what the buffer holds
    /// is forgotten, not written by its drop.
    fn fail(&mut self, error: &io::Error) {
        self.failed = Some(format!("the samples {} cannot be written: {error}", self.path.display()));
        let Some((file, _)) = self.out.take().map(BufWriter::into_parts) else { return };
        self.rows = file.metadata().map_or(0, |data| data.len()) / RECORD_BYTES as u64;
        let _ = file.set_len(self.rows * RECORD_BYTES as u64); // if it fails, the last record is a torn one
    }
}

fn laid_out(record: &Record) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    let (started, ended) = if record.end.is_unsent() { (0, 0) } else { (record.started, record.ended) };
    bytes[0..2].copy_from_slice(&record.kind.to_le_bytes());
    bytes[2] = record.end as u8;
    bytes[3] = record.tries;
    bytes[4..8].copy_from_slice(&record.connection.to_le_bytes());
    bytes[8..16].copy_from_slice(&record.arrival.to_le_bytes());
    bytes[16..24].copy_from_slice(&record.intended.to_le_bytes());
    bytes[24..32].copy_from_slice(&started.to_le_bytes());
    bytes[32..40].copy_from_slice(&ended.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oltp::driver::record::{End, Retried};

    fn record(arrival: u64, end: End) -> Record {
        let retried = Retried { deadlock: 1, ..Retried::default() };
        let (kind, tries, connection, seen) = (3, 2, 17, false);
        Record {
            kind,
            end,
            tries,
            retried,
            seen,
            connection,
            arrival,
            intended: 100,
            started: 200,
            ended: 300,
        }
    }

    #[test]
    fn a_record_stands_in_the_file_as_its_layout_says() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut samples = Samples::create(file.path()).unwrap();
        samples.add(&record(9, End::Deadlock));
        samples.add(&record(10, End::Shed));
        assert_eq!((samples.finish(), samples.failed()), (2, None));
        let bytes = std::fs::read(file.path()).unwrap();
        let number = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!(bytes.len(), 2 * RECORD_BYTES);
        assert_eq!(bytes[..8], [3, 0, 2, 2, 17, 0, 0, 0]);
        assert_eq!([8, 16, 24, 32].map(number), [9, 100, 200, 300]);
        assert_eq!([48, 56, 64, 72].map(number), [10, 100, 0, 0]);
    }

    #[test]
    fn a_full_disk_is_said_once_and_ends_the_writing() {
        let mut samples = Samples::create(Path::new("/dev/full")).unwrap();
        (0..10_000).for_each(|arrival| samples.add(&record(arrival, End::Committed)));
        assert_eq!(samples.finish(), 0);
        assert!(samples.failed().unwrap().contains("/dev/full cannot be written: No space left"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_the_requests_fault() {
        assert!(Samples::create(Path::new("/nowhere/samples")).err().unwrap().usage);
    }
}
