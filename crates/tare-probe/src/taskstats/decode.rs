//! `struct taskstats`, read by offset: it grows at its end with kernel versions.

use crate::procfs::schedstat::SchedStat;
use crate::procfs::task::ThreadSums;

/// `ac_flag` of the last thread of a process.
const AGROUP: u8 = 0x20;

/// One `struct taskstats` of whatever length; what lies beyond its end reads as absent.
#[derive(Debug, Clone, Copy)]
pub struct Stats<'a>(pub &'a [u8]);

impl Stats<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at + N)?.try_into().ok()
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.bytes(at).map(u32::from_ne_bytes)
    }

    fn u64(&self, at: usize) -> Option<u64> {
        self.bytes(at).map(u64::from_ne_bytes)
    }

    /// The exit code, as wait(2) encodes it.
    pub fn exit_code(&self) -> i32 {
        self.u32(4).map_or(0, u32::cast_signed)
    }

    /// The process ended with this thread.
    pub fn last_of_group(&self) -> bool {
        self.0.get(8).is_some_and(|flag| flag & AGROUP != 0)
    }

    /// Exact run time (ns), run-queue wait (ns) and slices.
    pub fn sched(&self) -> Option<SchedStat> {
        Some(SchedStat { run_ns: self.u64(72)?, run_queue_ns: self.u64(24)?, slices: self.u64(16)? })
    }

    /// Wait for block I/O, ns; 0 also for tasks that are older than delay accounting.
    pub fn block_io_ns(&self) -> Option<u64> {
        self.u64(40)
    }

    /// The kernel's name of the task.
    pub fn comm(&self) -> String {
        let raw = self.0.get(80..112).unwrap_or_default();
        String::from_utf8_lossy(raw.split(|&b| b == 0).next().unwrap_or_default()).into_owned()
    }

    /// The real user.
    pub fn uid(&self) -> Option<u32> {
        self.u32(120)
    }

    /// The task.
    pub fn pid(&self) -> i32 {
        self.u32(128).map_or(0, u32::cast_signed)
    }

    /// Its parent process.
    pub fn ppid(&self) -> i32 {
        self.u32(132).map_or(0, u32::cast_signed)
    }

    /// Time since it was born, ns (kept in µs).
    pub fn age_ns(&self) -> Option<u64> {
        Some(self.u64(144)?.saturating_mul(1000))
    }

    /// User and system time in µs: raw samples of the tick, good for their ratio only.
    pub fn sampled(&self) -> (u64, u64) {
        (self.u64(152).unwrap_or(0), self.u64(160).unwrap_or(0))
    }

    /// Page faults without and with I/O.
    pub fn faults(&self) -> Option<(u64, u64)> {
        Some((self.u64(168)?, self.u64(176)?))
    }

    /// Bytes by read calls and write calls (the kernel rounds them down to KiB), the calls, and storage bytes.
    pub fn io(&self) -> Option<[u64; 6]> {
        let mut io = [0; 6];
        for (slot, at) in io.iter_mut().zip((216..).step_by(8)) {
            *slot = self.u64(at)?;
        }
        Some(io)
    }

    /// Voluntary and involuntary context switches.
    pub fn switches(&self) -> Option<(u64, u64)> {
        Some((self.u64(272)?, self.u64(280)?))
    }

    /// The process of this task; absent before version 12 of the struct.
    pub fn tgid(&self) -> Option<i32> {
        self.u32(368).map(u32::cast_signed)
    }

    /// What /proc has for single threads only.
    pub(crate) fn sums(&self, accounting: bool) -> ThreadSums {
        ThreadSums {
            sched: self.sched(),
            voluntary: self.switches().map(|(voluntary, _)| voluntary),
            involuntary: self.switches().map(|(_, involuntary)| involuntary),
            block_io_ns: self.block_io_ns().filter(|_| accounting),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbered() -> Vec<u8> {
        (0..64u64).flat_map(|n| (n * 8).to_ne_bytes()).collect()
    }

    #[test]
    fn each_counter_is_at_its_offset() {
        let raw = numbered();
        let stats = Stats(&raw);
        assert_eq!(stats.sched(), Some(SchedStat { run_ns: 72, run_queue_ns: 24, slices: 16 }));
        assert_eq!((stats.switches(), stats.faults()), (Some((272, 280)), Some((168, 176))));
        assert_eq!(stats.io(), Some([216, 224, 232, 240, 248, 256]));
        assert_eq!((stats.pid(), stats.tgid(), stats.uid()), (128, Some(368), Some(120)));
    }

    #[test]
    fn an_older_kernel_sends_a_shorter_struct() {
        let raw = numbered();
        let stats = Stats(&raw[..320]);
        assert_eq!(stats.tgid(), None);
        assert_eq!(stats.switches(), Some((272, 280)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(raw: Vec<u8>) {
            let stats = Stats(&raw);
            let _ = (stats.sums(true), stats.io(), stats.comm(), stats.tgid(), stats.last_of_group());
        }
    }
}
