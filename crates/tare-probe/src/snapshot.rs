//! All processes at one moment; rows are made when they are asked for.

use std::sync::Arc;

use crate::process::Process;
use crate::title::Title;

/// One reading and the command line that goes with it.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub process: Arc<Process>,
    pub title: Arc<Title>,
}

impl Row {
    fn make(&self) -> Process {
        Process { cmdline: self.title.read(), ..(*self.process).clone() }
    }
}

/// What a tier read.
#[derive(Debug)]
pub(crate) enum Body {
    /// Rows from /proc, and of the threads that were asked for.
    Rows { processes: Vec<Row>, threads: Vec<Row> },
    /// The task iterator's records.
    #[cfg(feature = "bpf")]
    Tasks(crate::bpf::tasks::Tasks),
}

/// All processes at one moment.
#[derive(Debug)]
pub struct Snapshot {
    /// CLOCK_MONOTONIC before the first process was read.
    pub started_ns: u64,
    /// CLOCK_MONOTONIC after the last.
    pub ended_ns: u64,
    /// The tier that read it.
    pub tier: &'static str,
    /// Processes that ended while they were being read.
    pub vanished: usize,
    pub(crate) body: Body,
}

impl Snapshot {
    /// How many processes it holds.
    pub fn len(&self) -> usize {
        match &self.body {
            Body::Rows { processes, .. } => processes.len(),
            #[cfg(feature = "bpf")]
            Body::Tasks(tasks) => tasks.len(),
        }
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row for each process. Command lines are those of now, or the last ones of processes that have ended.
    pub fn processes(&self) -> Vec<Process> {
        match &self.body {
            Body::Rows { processes, .. } => processes.iter().map(Row::make).collect(),
            #[cfg(feature = "bpf")]
            Body::Tasks(tasks) => tasks.processes(),
        }
    }

    /// A row for each thread of one process; the /proc tiers have only those asked for when it was taken.
    pub fn threads(&self, tgid: i32) -> Vec<Process> {
        match &self.body {
            Body::Rows { threads, .. } => {
                threads.iter().filter(|row| row.process.tgid == tgid).map(Row::make).collect()
            }
            #[cfg(feature = "bpf")]
            Body::Tasks(tasks) => tasks.threads(tgid),
        }
    }
}
