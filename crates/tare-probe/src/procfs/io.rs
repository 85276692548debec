//! /proc/PID/io: what a task read and wrote, by call and by storage.

/// Cumulative I/O of a process (its dead threads too) or of one thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Io {
    /// Bytes that reads delivered.
    pub read_chars: u64,
    /// Bytes that writes took.
    pub write_chars: u64,
    /// Calls that read.
    pub read_calls: u64,
    /// Calls that wrote.
    pub write_calls: u64,
    /// Bytes fetched from storage.
    pub read_bytes: u64,
    /// Bytes that will go to storage.
    pub write_bytes: u64,
}

impl Io {
    /// Parses the file's text; `None` unless all six lines are there.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut found = [None; 6];
        let labels: [&[u8]; 6] =
            [b"rchar: ", b"wchar: ", b"syscr: ", b"syscw: ", b"read_bytes: ", b"write_bytes: "];
        for line in text.split(|&b| b == b'\n') {
            for (slot, label) in found.iter_mut().zip(labels) {
                if let Some(value) = line.strip_prefix(label) {
                    *slot = super::unsigned(value);
                }
            }
        }
        Some(Self {
            read_chars: found[0]?,
            write_chars: found[1]?,
            read_calls: found[2]?,
            write_calls: found[3]?,
            read_bytes: found[4]?,
            write_bytes: found[5]?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_lines_are_read_and_cancelled_writes_are_not_mistaken_for_writes() {
        let text = b"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n\
                     cancelled_write_bytes: 7\nnew_line: 8\n";
        let expected = Io {
            read_chars: 1,
            write_chars: 2,
            read_calls: 3,
            write_calls: 4,
            read_bytes: 5,
            write_bytes: 6,
        };
        assert_eq!(Io::parse(text), Some(expected));
    }

    #[test]
    fn an_empty_file_is_no_reading() {
        assert_eq!(Io::parse(b""), None);
    }
}
