//! /proc/PID/schedstat: one *thread's* run time, run-queue wait and slices.

/// What the scheduler counted of one thread; the process's file speaks of its main thread only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchedStat {
    /// Time on a CPU, ns.
    pub run_ns: u64,
    /// Time runnable without one, ns.
    pub run_queue_ns: u64,
    /// Times it was given a CPU.
    pub slices: u64,
}

impl SchedStat {
    /// Parses the file's text; fields beyond the third are ignored.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut fields = text.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty()).map(super::unsigned);
        Some(Self { run_ns: fields.next()??, run_queue_ns: fields.next()??, slices: fields.next()?? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_and_whatever_a_newer_kernel_adds() {
        let expected = SchedStat { run_ns: 10, run_queue_ns: 20, slices: 3 };
        assert_eq!(SchedStat::parse(b"10 20 3\n"), Some(expected));
        assert_eq!(SchedStat::parse(b"10 20 3 4 5\n"), Some(expected));
        assert_eq!(SchedStat::parse(b"10 20"), None);
    }
}
