//! /proc/PID/status: labelled lines; here its user and its context switches.

/// The lines of /proc/PID/status that are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status {
    /// The process this thread belongs to.
    pub tgid: Option<i32>,
    /// The real user.
    pub uid: Option<u32>,
    /// Switches because the thread waited; of this thread only, even in the process's file.
    pub voluntary: Option<u64>,
    /// Switches because it was preempted; likewise.
    pub involuntary: Option<u64>,
}

impl Status {
    /// Parses the file's text; lines that are not known are skipped.
    pub fn parse(text: &[u8]) -> Self {
        let mut status = Self::default();
        for line in text.split(|&b| b == b'\n') {
            // The kernel escapes newlines in `Name:`, so no other line can pose as one of these.
            match line.first() {
                Some(b'T') => read(line, b"Tgid:", &mut status.tgid),
                Some(b'U') => read(line, b"Uid:", &mut status.uid),
                Some(b'v') => read(line, b"voluntary_ctxt_switches:", &mut status.voluntary),
                Some(b'n') => read(line, b"nonvoluntary_ctxt_switches:", &mut status.involuntary),
                _ => {}
            }
        }
        status
    }
}

fn read<T: TryFrom<u64>>(line: &[u8], label: &[u8], into: &mut Option<T>) {
    if let Some(rest) = line.strip_prefix(label) {
        let first = rest.split(u8::is_ascii_whitespace).find(|field| !field.is_empty());
        *into = first.and_then(super::unsigned).and_then(|v| T::try_from(v).ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_lines_are_read_and_others_skipped() {
        let text = b"Name:\tUid:\\n7\nUmask:\t0022\nTgid:\t41\nNgid:\t0\nUid:\t1000\t0\t0\t0\nThreads:\t1\n\
                     NewThing:\t5 kB\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
        let expected =
            Status { tgid: Some(41), uid: Some(1000), voluntary: Some(150), involuntary: Some(545) };
        assert_eq!(Status::parse(text), expected);
    }

    #[test]
    fn a_cut_file_gives_what_it_holds() {
        assert_eq!(Status::parse(b"Tgid:\t4\nUid:"), Status { tgid: Some(4), ..Status::default() });
    }
}
