//! Snapshots of all processes from kept /proc files, with taskstats where it answers.
//!
//! A task that slept at its last reading and whose scheduler counters stand still has not run since, and
//! only a task that runs changes its own counters: one pread tells that its last row still holds.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::list::Ids;
use super::schedstat::SchedStat;
use super::task::{TaskFiles, ThreadSums, Who, block_io_ns, row};
use super::threads::Threads;
use crate::delay;
use crate::error::{ProbeError, Result};
use crate::process::Process;
use crate::snapshot::Row;
use crate::split::scale;
use crate::taskstats::query::Query;
use crate::title::Title;

#[derive(Debug)]
struct Life {
    files: TaskFiles,
    title: Arc<Title>,
    uid: Option<u32>,
    threads: Option<Threads>,
    last: Option<Last>,
    round: u64,
}

#[derive(Debug)]
struct Last {
    sched: Option<SchedStat>,
    row: Arc<Process>,
    /// It slept, alone in its process.
    rested: bool,
    /// Whether delay accounting was on.
    accounting: bool,
}

/// Reads all processes, again and again.
#[derive(Debug)]
pub struct Reader {
    root: Ids,
    lives: HashMap<i32, Life>,
    taskstats: Option<Query>,
    round: u64,
    ids: Vec<i32>,
    buffer: Vec<u8>,
}

/// What one round found.
pub(crate) struct Round {
    pub processes: Vec<Row>,
    pub threads: Vec<Row>,
    pub vanished: usize,
}

impl Reader {
    /// `taskstats` replaces the files that it is better than.
    pub fn open(taskstats: Option<Query>) -> Result<Self> {
        let root = Ids::open("/proc").map_err(|e| {
            ProbeError::os("cannot list /proc", &e, "mount proc on /proc (mount -t proc proc /proc)")
        })?;
        Ok(Self { root, lives: HashMap::new(), taskstats, round: 0, ids: Vec::new(), buffer: Vec::new() })
    }

    /// Reads every process, and every thread of those in `threads_of`.
    pub(crate) fn read(&mut self, threads_of: &[i32]) -> Result<Round> {
        self.round += 1;
        let accounting = delay::accounting() == Some(true);
        self.root
            .read(&mut self.ids, &mut self.buffer)
            .map_err(|e| ProbeError::os("cannot list /proc", &e, ""))?;
        let mut processes = Vec::with_capacity(self.ids.len());
        let mut vanished = 0;
        for at in 0..self.ids.len() {
            match self.process(self.ids[at], accounting) {
                Some(row) => processes.push(row),
                None => vanished += 1,
            }
        }
        if self.lives.len() > processes.len() {
            let round = self.round;
            self.lives.retain(|_, life| life.round == round);
        }
        let mut threads = Vec::new();
        for &tgid in threads_of {
            self.threads(tgid, accounting, &mut threads);
        }
        Ok(Round { processes, threads, vanished })
    }

    fn process(&mut self, pid: i32, accounting: bool) -> Option<Row> {
        // A kept life that has ended may have left its id to a new one: look once more.
        for _ in 0..2 {
            let life = self.lives.entry(pid).or_insert_with(|| Life::begin(pid));
            match life.read(pid, accounting, &self.ids, self.taskstats.as_mut(), &mut self.buffer) {
                Ok(process) => {
                    life.round = self.round;
                    return Some(Row { process, title: Arc::clone(&life.title) });
                }
                Err(_) => drop(self.lives.remove(&pid)),
            }
        }
        None
    }

    fn threads(&mut self, tgid: i32, accounting: bool, rows: &mut Vec<Row>) {
        let Some(life) = self.lives.get(&tgid) else { return };
        let mut tids = Vec::new();
        let listed =
            Ids::open(&format!("/proc/{tgid}/task")).and_then(|f| f.read(&mut tids, &mut self.buffer));
        if listed.is_err() {
            return;
        }
        for tid in tids {
            let mut files = TaskFiles::thread(tgid, tid);
            let who = Who { pid: tid, tgid, uid: life.uid };
            if let Ok(process) = single(&mut files, &who, accounting, &mut self.buffer) {
                rows.push(Row { process: Arc::new(process), title: Arc::clone(&life.title) });
            }
        }
    }
}

/// A row of one thread, or of a process that has but one.
pub(crate) fn single(
    files: &mut TaskFiles,
    who: &Who,
    accounting: bool,
    buffer: &mut Vec<u8>,
) -> io::Result<Process> {
    let sched = files.read_sched(buffer)?;
    let status = files.read_status(buffer)?;
    let io = files.read_io(buffer)?;
    let stat = files.read_stat(buffer)?;
    let sums = ThreadSums {
        sched,
        voluntary: status.voluntary,
        involuntary: status.involuntary,
        block_io_ns: block_io_ns(&stat, accounting),
    };
    Ok(row(who, &stat, &sums, io, scale))
}

impl Life {
    fn begin(pid: i32) -> Self {
        Self {
            files: TaskFiles::process(pid),
            title: Arc::new(Title::none()),
            uid: None,
            threads: None,
            last: None,
            round: 0,
        }
    }

    fn read(
        &mut self,
        pid: i32,
        accounting: bool,
        present: &[i32],
        taskstats: Option<&mut Query>,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Arc<Process>> {
        let sched = self.files.read_sched(buffer)?;
        if let Some(last) = &self.last
            && last.rested
            && last.accounting == accounting
            && sched.is_some()
            && sched == last.sched
            // An orphan gets a new parent without running.
            && (last.row.ppid == 0 || present.binary_search(&last.row.ppid).is_ok())
        {
            return Ok(Arc::clone(&last.row));
        }
        let stat = self.files.read_stat(buffer)?;
        let mut status = None;
        if self.last.is_none() {
            let seen = self.files.read_status(buffer)?;
            self.uid = seen.uid;
            status = Some(seen);
            if stat.flags & crate::process::PF_KTHREAD == 0 {
                self.title = Arc::new(Title::of(pid));
            }
        }
        self.title.learn();
        let io = self.files.read_io(buffer)?;
        // taskstats passes over threads that have ended but were not waited for.
        let counted = match taskstats {
            Some(query) if !matches!(stat.state, b'Z' | b'X') => query.process(pid)?,
            _ => None,
        };
        let sums = if let Some(counted) = counted {
            counted.sums(accounting)
        } else if stat.threads > 1 || self.threads.is_some() {
            if self.threads.is_none() {
                self.threads = Some(Threads::open(pid)?);
            }
            match &mut self.threads {
                Some(threads) => threads.sums(accounting, buffer)?,
                None => ThreadSums::default(),
            }
        } else {
            let status = match status {
                Some(seen) => seen,
                None => self.files.read_status(buffer)?,
            };
            ThreadSums {
                sched,
                voluntary: status.voluntary,
                involuntary: status.involuntary,
                block_io_ns: block_io_ns(&stat, accounting),
            }
        };
        let who = Who { pid, tgid: pid, uid: self.uid };
        let process = Arc::new(row(&who, &stat, &sums, io, |user, system, run, kernel| {
            let last = self.last.as_ref().map_or((0, 0), |last| (last.row.user_ns, last.row.system_ns));
            crate::split::onward(last, scale(user, system, run, kernel))
        }));
        self.last = Some(Last {
            sched,
            row: Arc::clone(&process),
            rested: stat.state != b'R' && stat.threads == 1,
            accounting,
        });
        Ok(process)
    }
}
