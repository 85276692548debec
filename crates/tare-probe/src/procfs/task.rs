//! The files of one task, process or thread alike, and how they become a row.

use std::io;
use std::sync::Arc;

use super::io::Io;
use super::kept::Kept;
use super::schedstat::SchedStat;
use super::stat::Stat;
use super::status::Status;
use crate::clock::tick_ns;
use crate::process::{PF_KTHREAD, Process};

/// What /proc tells of single threads only, and so must be summed for a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ThreadSums {
    pub sched: Option<SchedStat>,
    pub voluntary: Option<u64>,
    pub involuntary: Option<u64>,
    pub block_io_ns: Option<u64>,
}

impl ThreadSums {
    pub(crate) fn add(&mut self, other: &Self) {
        fn sum(into: &mut Option<u64>, value: Option<u64>) {
            if let Some(value) = value {
                *into = Some(into.unwrap_or(0).saturating_add(value));
            }
        }
        if let Some(sched) = other.sched {
            let into = self.sched.get_or_insert_default();
            into.run_ns += sched.run_ns;
            into.run_queue_ns += sched.run_queue_ns;
            into.slices += sched.slices;
        }
        sum(&mut self.voluntary, other.voluntary);
        sum(&mut self.involuntary, other.involuntary);
        sum(&mut self.block_io_ns, other.block_io_ns);
    }
}

/// The four files of one task.
#[derive(Debug)]
pub(crate) struct TaskFiles {
    pub stat: Kept,
    pub schedstat: Kept,
    pub status: Kept,
    pub io: Kept,
}

impl TaskFiles {
    /// Of a process.
    pub(crate) fn process(pid: i32) -> Self {
        Self::under(&format!("/proc/{pid}"))
    }

    /// Of a thread.
    pub(crate) fn thread(tgid: i32, tid: i32) -> Self {
        Self::under(&format!("/proc/{tgid}/task/{tid}"))
    }

    fn under(folder: &str) -> Self {
        let file = |name: &str| Kept::new(format!("{folder}/{name}"));
        Self { stat: file("stat"), schedstat: file("schedstat"), status: file("status"), io: file("io") }
    }

    pub(crate) fn read_stat(&mut self, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        Stat::parse(self.stat.read(buffer)?).ok_or_else(gone)
    }

    /// `None` on kernels without CONFIG_SCHED_INFO.
    pub(crate) fn read_sched(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<SchedStat>> {
        match self.schedstat.read(buffer) {
            Ok(text) => Ok(SchedStat::parse(text)),
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub(crate) fn read_status(&mut self, buffer: &mut Vec<u8>) -> io::Result<Status> {
        Ok(Status::parse(self.status.read(buffer)?))
    }

    pub(crate) fn read_io(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<Io>> {
        Ok(self.io.read_if_allowed(buffer)?.and_then(Io::parse))
    }
}

/// What a read says of a task that has ended.
pub(crate) fn gone() -> io::Error {
    io::Error::from_raw_os_error(libc::ESRCH)
}

/// Delay accounting's ticks in nanoseconds; `None` where it is off.
pub(crate) fn block_io_ns(stat: &Stat, accounting: bool) -> Option<u64> {
    stat.block_io_ticks.filter(|_| accounting).map(|ticks| ticks * tick_ns())
}

/// Who a row is about.
pub(crate) struct Who {
    pub pid: i32,
    pub tgid: i32,
    pub uid: Option<u32>,
}

/// Makes a row, `split` being the user and system time in ns.
pub(crate) fn row(
    who: &Who,
    stat: &Stat,
    sums: &ThreadSums,
    io: Option<Io>,
    split: impl FnOnce(u64, u64, u64, bool) -> (u64, u64),
) -> Process {
    let kernel = stat.flags & PF_KTHREAD != 0;
    let ticks_ns = (stat.user_ticks + stat.system_ticks) * tick_ns();
    // The ticks are the exact time rounded down, and count dead threads that no file counts any more.
    let run_ns = sums.sched.map(|sched| sched.run_ns.max(ticks_ns));
    let (user_ns, system_ns) = split(stat.user_ticks, stat.system_ticks, run_ns.unwrap_or(ticks_ns), kernel);
    Process {
        pid: who.pid,
        tgid: who.tgid,
        ppid: stat.ppid,
        comm: Arc::from(stat.comm.as_str()),
        cmdline: Arc::from(""),
        uid: who.uid,
        start_ns: stat.start_ticks * tick_ns(),
        kernel,
        threads: stat.threads,
        cpu: stat.cpu,
        user_ns,
        system_ns,
        guest_ns: stat.guest_ticks.map(|t| t * tick_ns()),
        child_guest_ns: stat.child_guest_ticks.map(|t| t * tick_ns()),
        run_ns,
        run_queue_ns: sums.sched.map(|s| s.run_queue_ns),
        slices: sums.sched.map(|s| s.slices),
        block_io_ns: sums.block_io_ns,
        min_faults: Some(stat.min_faults),
        maj_faults: Some(stat.maj_faults),
        voluntary_switches: sums.voluntary,
        involuntary_switches: sums.involuntary,
        read_calls: io.map(|io| io.read_calls),
        write_calls: io.map(|io| io.write_calls),
        read_chars: io.map(|io| io.read_chars),
        write_chars: io.map(|io| io.write_chars),
        read_bytes: io.map(|io| io.read_bytes),
        write_bytes: io.map(|io| io.write_bytes),
    }
}
