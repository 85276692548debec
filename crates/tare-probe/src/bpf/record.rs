//! One task's counters as the BPF programs write them; the twin of record.h.

use std::sync::Arc;

use super::load::Plain;
use crate::clock::tick_ns;
use crate::process::{PF_KTHREAD, Process};

const HAS_DELAYS: u32 = 1;
const HAS_SCHED: u32 = 2;
const HAS_IO: u32 = 4;
const DEAD: u32 = 8;

/// Times are ns; user and system are the tick's raw samples.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Record {
    pub pid: i32,
    pub tgid: i32,
    pub ppid: i32,
    pub uid: u32,
    pub start_boottime: u64,
    pub flags: u32,
    pub cpu: i32,
    pub threads: u32,
    pub has: u32,
    pub sums: Sums,
    pub comm: [u8; 16],
}

/// What adds up over the threads of a process.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub user: u64,
    pub system: u64,
    pub guest: u64,
    /// Of the process, in each of its threads' records: does not add up.
    pub child_guest: u64,
    pub run: u64,
    pub run_delay: u64,
    pub slices: u64,
    pub block_io: u64,
    pub min_faults: u64,
    pub maj_faults: u64,
    pub voluntary: u64,
    pub involuntary: u64,
    pub read_chars: u64,
    pub write_chars: u64,
    pub read_calls: u64,
    pub write_calls: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
}

// SAFETY: four 32-bit numbers, one of 64 bits, four of 32, eighteen of 64 and sixteen bytes: no padding.
unsafe impl Plain for Record {}

impl Record {
    /// The sums of a process's dead threads, not a task.
    pub(crate) fn dead(&self) -> bool {
        self.has & DEAD != 0
    }

    /// A process's main thread.
    pub(crate) fn leads(&self) -> bool {
        self.pid == self.tgid && !self.dead()
    }

    pub(crate) fn kernel(&self) -> bool {
        u64::from(self.flags) & PF_KTHREAD != 0
    }

    /// Since boot, in whole ticks, as /proc tells it.
    pub(crate) fn start_ns(&self) -> u64 {
        self.start_boottime / tick_ns() * tick_ns()
    }

    /// Adds another thread of the process, or its dead ones.
    pub(crate) fn add(&mut self, other: &Self) {
        // Delay accounting counts for the process if it does for any thread of it.
        self.has |= other.has & HAS_DELAYS;
        let (a, b) = (&mut self.sums, &other.sums);
        a.user += b.user;
        a.system += b.system;
        a.guest += b.guest;
        a.run += b.run;
        a.run_delay += b.run_delay;
        a.slices += b.slices;
        a.block_io += b.block_io;
        a.min_faults += b.min_faults;
        a.maj_faults += b.maj_faults;
        a.voluntary += b.voluntary;
        a.involuntary += b.involuntary;
        a.read_chars += b.read_chars;
        a.write_chars += b.write_chars;
        a.read_calls += b.read_calls;
        a.write_calls += b.write_calls;
        a.read_bytes += b.read_bytes;
        a.write_bytes += b.write_bytes;
    }

    /// The row, `split` being user and system time scaled to the run time.
    pub(crate) fn row(
        &self,
        accounting: bool,
        (user_ns, system_ns): (u64, u64),
        cmdline: Arc<str>,
    ) -> Process {
        let sums = &self.sums;
        let comm = self.comm.split(|&b| b == 0).next().unwrap_or_default();
        let sched = |value| (self.has & HAS_SCHED != 0).then_some(value);
        let io = |value| (self.has & HAS_IO != 0).then_some(value);
        Process {
            pid: self.pid,
            tgid: self.tgid,
            ppid: self.ppid,
            comm: String::from_utf8_lossy(comm).into(),
            cmdline,
            uid: Some(self.uid),
            start_ns: self.start_ns(),
            kernel: self.kernel(),
            threads: self.threads,
            cpu: self.cpu,
            user_ns,
            system_ns,
            guest_ns: Some(sums.guest),
            child_guest_ns: Some(sums.child_guest),
            run_ns: Some(sums.run),
            run_queue_ns: sched(sums.run_delay),
            slices: sched(sums.slices),
            block_io_ns: (accounting && self.has & HAS_DELAYS != 0).then_some(sums.block_io),
            min_faults: Some(sums.min_faults),
            maj_faults: Some(sums.maj_faults),
            voluntary_switches: Some(sums.voluntary),
            involuntary_switches: Some(sums.involuntary),
            read_calls: io(sums.read_calls),
            write_calls: io(sums.write_calls),
            read_chars: io(sums.read_chars),
            write_chars: io(sums.write_chars),
            read_bytes: io(sums.read_bytes),
            write_bytes: io(sums.write_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_has_no_padding() {
        assert_eq!(size_of::<Record>(), 4 * 4 + 8 + 4 * 4 + 18 * 8 + 16);
    }

    #[test]
    fn without_delay_accounting_there_is_no_block_io_wait() {
        let record = Record { has: HAS_SCHED, ..Record::default() };
        assert_eq!(record.row(true, (0, 0), "".into()).block_io_ns, None);
        let record = Record { has: HAS_DELAYS, ..Record::default() };
        assert_eq!(record.row(false, (0, 0), "".into()).block_io_ns, None);
        assert_eq!(record.row(true, (0, 0), "".into()).block_io_ns, Some(0));
    }
}
