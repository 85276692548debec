//! Asking taskstats for one living process.

use std::io;

use super::decode::Stats;
use super::netlink::{Attributes, Socket};
use crate::error::{ProbeError, Result};

const TASKSTATS_CMD_GET: u8 = 1;
const TASKSTATS_CMD_ATTR_TGID: u16 = 2;
/// Of an answer: the aggregates of a thread and of a process, and the struct within each.
pub(crate) const TYPE_STATS: u16 = 3;
pub(crate) const TYPE_AGGR_PID: u16 = 4;
const TYPE_AGGR_TGID: u16 = 5;

/// Why taskstats cannot be used, in words.
pub(crate) fn refusal(error: &io::Error) -> ProbeError {
    let next = match error.raw_os_error() {
        Some(libc::ENOENT | libc::EPROTONOSUPPORT | libc::EAFNOSUPPORT) => {
            "use a kernel built with CONFIG_TASKSTATS"
        }
        Some(libc::EPERM | libc::EACCES) => "run as root, or with CAP_NET_ADMIN in the initial namespaces",
        Some(libc::EINVAL | libc::ESRCH) => "run in the machine's own PID namespace",
        _ => "",
    };
    ProbeError::os("taskstats does not answer", error, next)
}

/// A socket that asks for processes. A process's answer has its dead threads too, but no I/O and no faults.
#[derive(Debug)]
pub struct Query {
    socket: Socket,
    buffer: Vec<u8>,
}

impl Query {
    /// Connects and, to see that it works, asks for this very process.
    pub fn open() -> Result<Self> {
        let socket = Socket::open().map_err(|e| refusal(&e))?;
        let mut query = Self { socket, buffer: vec![0; 8192] };
        let me = std::process::id().cast_signed();
        match query.process(me) {
            // A process that has just been forked may have no run time booked yet, but it was given a CPU.
            Ok(Some(stats)) if stats.sched().is_some_and(|sched| sched.slices > 0) => Ok(query),
            Ok(_) => Err(ProbeError::new(
                "taskstats answers without run times",
                "use a kernel built with CONFIG_TASK_DELAY_ACCT",
            )),
            Err(e) => Err(refusal(&e)),
        }
    }

    /// The process's counters; an error if it is gone.
    pub(crate) fn process(&mut self, tgid: i32) -> io::Result<Option<Stats<'_>>> {
        self.socket.send(TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_TGID, &tgid.to_ne_bytes(), 0)?;
        let answer = self.socket.answer(&mut self.buffer)?;
        let aggregate = Attributes(answer).find(|&(kind, _)| kind == TYPE_AGGR_TGID);
        let stats = aggregate.and_then(|(_, inner)| Attributes(inner).find(|&(kind, _)| kind == TYPE_STATS));
        Ok(stats.map(|(_, raw)| Stats(raw)))
    }
}
