//! The threads of one process: their counters summed, those of the dead carried on.

use std::collections::HashMap;
use std::io;

use super::list::Ids;
use super::schedstat::SchedStat;
use super::task::{TaskFiles, ThreadSums, block_io_ns};

#[derive(Debug)]
struct Thread {
    files: TaskFiles,
    last: ThreadSums,
    /// It slept at the last reading, so unless the scheduler counted since, nothing has changed.
    rested: bool,
    seen: u64,
}

/// The kept files of all threads of a process.
#[derive(Debug)]
pub(crate) struct Threads {
    tgid: i32,
    folder: Ids,
    live: HashMap<i32, Thread>,
    /// Last readings of threads that ended while we watched.
    dead: ThreadSums,
    round: u64,
    ids: Vec<i32>,
}

impl Threads {
    pub(crate) fn open(tgid: i32) -> io::Result<Self> {
        Ok(Self {
            tgid,
            folder: Ids::open(&format!("/proc/{tgid}/task"))?,
            live: HashMap::new(),
            dead: ThreadSums::default(),
            round: 0,
            ids: Vec::new(),
        })
    }

    /// The sums over all threads, those that ended while we watched too.
    pub(crate) fn sums(&mut self, accounting: bool, buffer: &mut Vec<u8>) -> io::Result<ThreadSums> {
        self.round += 1;
        self.folder.read(&mut self.ids, buffer)?;
        let mut total = ThreadSums::default();
        for &tid in &self.ids {
            let thread = self.live.entry(tid).or_insert_with(|| Thread {
                files: TaskFiles::thread(self.tgid, tid),
                last: ThreadSums::default(),
                rested: false,
                seen: 0,
            });
            // A thread that has just ended keeps its old round and is counted among the dead below.
            if thread.read(accounting, buffer).is_ok() {
                thread.seen = self.round;
                total.add(&thread.last);
            }
        }
        let (round, dead) = (self.round, &mut self.dead);
        self.live.retain(|_, thread| {
            let lives = thread.seen == round;
            if !lives {
                dead.add(&thread.last);
            }
            lives
        });
        total.add(&self.dead);
        Ok(total)
    }
}

impl Thread {
    fn read(&mut self, accounting: bool, buffer: &mut Vec<u8>) -> io::Result<()> {
        let sched: Option<SchedStat> = self.files.read_sched(buffer)?;
        if self.rested && sched.is_some() && sched == self.last.sched {
            return Ok(());
        }
        let status = self.files.read_status(buffer)?;
        let stat = self.files.read_stat(buffer)?;
        self.rested = stat.state != b'R';
        self.last = ThreadSums {
            sched,
            voluntary: status.voluntary,
            involuntary: status.involuntary,
            block_io_ns: block_io_ns(&stat, accounting),
        };
        Ok(())
    }
}
