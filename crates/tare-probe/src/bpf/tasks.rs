//! Snapshots of all tasks through the BPF task iterator.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use libbpf_rs::{Link, Object};

use super::load::{attach, from_bytes, iterate, load, object};
use super::record::Record;
use crate::clock::monotonic_ns;
use crate::delay;
use crate::error::{ProbeError, Result};
use crate::process::Process;
use crate::split::Splits;
use crate::title::Title;

/// A process's id and start time.
type Life = (i32, u64);

/// Reads all tasks, again and again.
pub(crate) struct Reader {
    link: Link,
    /// Keeps the program loaded.
    _object: Object,
    titles: Arc<HashMap<Life, Arc<Title>>>,
    splits: Arc<Mutex<Splits>>,
    /// Read into again and again: its pages are there.
    buffer: Vec<u8>,
}

impl Reader {
    /// Loads the iterator and, to see that it works, reads it and looks for this very process.
    pub(crate) fn open() -> Result<Self> {
        let mut object = load(object!("tasks"))?;
        let link = attach(&mut object, "tasks")?;
        let mut reader = Self {
            link,
            _object: object,
            titles: Arc::default(),
            splits: Arc::default(),
            buffer: Vec::new(),
        };
        let (tasks, _) = reader.read()?;
        let me = std::process::id().cast_signed();
        if tasks.records().any(|record| record.pid == me) {
            return Ok(reader);
        }
        Err(ProbeError::new(
            "the task iterator does not see this process",
            "run in the machine's own PID namespace",
        ))
    }

    /// All tasks, and the moment the last was read.
    pub(crate) fn read(&mut self) -> Result<(Tasks, u64)> {
        let length = iterate(&self.link, &mut self.buffer)?;
        let ended_ns = monotonic_ns();
        let bytes = self.buffer[..length].to_vec();
        let mut tasks = Tasks {
            bytes,
            processes: 0,
            titles: Arc::clone(&self.titles),
            splits: Arc::clone(&self.splits),
            accounting: delay::accounting() == Some(true),
        };
        tasks.processes = self.meet(&tasks);
        tasks.titles = Arc::clone(&self.titles);
        Ok((tasks, ended_ns))
    }

    /// Reads the command lines of processes that are new, for they may end before anyone asks; counts all.
    fn meet(&mut self, tasks: &Tasks) -> usize {
        let (mut processes, mut programs) = (0, 0);
        let mut new = Vec::new();
        for record in tasks.records().filter(Record::leads) {
            processes += 1;
            if !record.kernel() {
                programs += 1;
                let life = (record.pid, record.start_ns());
                match self.titles.get(&life) {
                    Some(title) => title.learn(),
                    None => new.push((life, Arc::new(Title::of(record.pid)))),
                }
            }
        }
        if !new.is_empty() || self.titles.len() != programs {
            let mut titles: HashMap<_, _> = new.into_iter().collect();
            for record in tasks.records().filter(Record::leads) {
                let life = (record.pid, record.start_ns());
                if let Some(title) = self.titles.get(&life) {
                    titles.insert(life, Arc::clone(title));
                }
            }
            self.titles = Arc::new(titles);
            let alive: HashSet<Life> = tasks.records().map(|r| (r.pid, r.start_ns())).collect();
            self.splits
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .keep(|&(id, start)| alive.contains(&(id.abs(), start)));
        }
        processes
    }
}

/// The iterator's records; rows are made on demand.
pub(crate) struct Tasks {
    bytes: Vec<u8>,
    processes: usize,
    titles: Arc<HashMap<Life, Arc<Title>>>,
    splits: Arc<Mutex<Splits>>,
    accounting: bool,
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tasks").field("processes", &self.processes).finish_non_exhaustive()
    }
}

impl Tasks {
    fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.bytes.chunks_exact(size_of::<Record>()).filter_map(from_bytes)
    }

    pub(crate) fn len(&self) -> usize {
        self.processes
    }

    /// One row a process, its threads and its dead threads summed.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let mut at = HashMap::new();
        let mut sums: Vec<Record> = Vec::with_capacity(self.processes);
        // The iterator goes by thread id, so a thread can come before its main thread.
        for record in self.records().filter(Record::leads) {
            at.insert(record.tgid, sums.len());
            sums.push(record);
        }
        for record in self.records().filter(|record| !record.leads()) {
            if let Some(&index) = at.get(&record.tgid) {
                sums[index].add(&record);
            }
        }
        sums.iter().map(|record| self.row(record, (record.pid, record.start_ns()), record.pid)).collect()
    }

    /// One row a thread of this process.
    pub(crate) fn threads(&self, tgid: i32) -> Vec<Process> {
        let Some(leader) = self.records().find(|r| r.leads() && r.tgid == tgid) else { return Vec::new() };
        let life = (tgid, leader.start_ns());
        // A main thread's own split is not its process's, so threads are remembered under their negative ids.
        self.records().filter(|r| r.tgid == tgid && !r.dead()).map(|r| self.row(&r, life, -r.pid)).collect()
    }

    fn row(&self, record: &Record, life: Life, who: i32) -> Process {
        let title = self.titles.get(&life).map_or_else(|| Arc::from(""), |title| title.read());
        let mut splits = self.splits.lock().unwrap_or_else(PoisonError::into_inner);
        let sums = &record.sums;
        let split = splits.scale((who, record.start_ns()), sums.user, sums.system, sums.run, record.kernel());
        record.row(self.accounting, split, title)
    }
}
