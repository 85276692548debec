//! Counts of what processes ask of the kernel.

use std::collections::BTreeMap;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tare_trace::os::{Calls, Level, Message, Outstanding, Read, Request, Snapshot, Thread};

use crate::error::raise;
use crate::held::Held;

/// Counts of processes, their threads and the children they fork.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct OsTracer {
    inner: Held<tare_trace::OsTracer>,
    level: Level,
    #[pyo3(get)]
    absent: BTreeMap<&'static str, String>,
}

#[pymethods]
impl OsTracer {
    #[new]
    fn new(py: Python<'_>, level: &str, nodes: Vec<Vec<i32>>) -> PyResult<Self> {
        let level = Level::of(level).ok_or_else(|| PyValueError::new_err(format!("no level {level}")))?;
        let tracer = py.detach(|| tare_trace::OsTracer::start(level, &nodes)).map_err(raise)?;
        Ok(Self { absent: tracer.absent(), inner: Held::new(tracer), level })
    }

    #[pyo3(signature = (patience_s = 0.0))]
    fn snapshot(&self, py: Python<'_>, patience_s: f64) -> PyResult<OsSnapshot> {
        let is_full = self.level >= Level::Full;
        let patience = Duration::try_from_secs_f64(patience_s)
            .map_err(|_| PyValueError::new_err(format!("no duration {patience_s}")))?;
        self.inner.with(py, "observation", |tracer| Ok(OsSnapshot::of(tracer.snapshot(patience)?, is_full)))
    }

    fn stop(&self, py: Python<'_>) {
        self.inner.let_go(py);
    }
}

/// All counts at one moment.
#[pyclass(module = "tare._probe", frozen, get_all)]
pub(crate) struct OsSnapshot {
    at_ns: u64,
    threads: Vec<OsThread>,
    calls: Vec<OsCall>,
    requests: Vec<OsRequest>,
    outstanding: Vec<OsOutstanding>,
    messages: Vec<OsMessage>,
    reads: Vec<OsRead>,
    lost: BTreeMap<&'static str, u64>,
}

impl OsSnapshot {
    fn of(snapshot: Snapshot, is_full: bool) -> Self {
        Self {
            at_ns: snapshot.at_ns,
            threads: snapshot.threads.into_iter().map(|thread| OsThread::of(thread, is_full)).collect(),
            calls: snapshot.calls.iter().map(OsCall::from).collect(),
            requests: snapshot.requests.into_iter().map(OsRequest::from).collect(),
            outstanding: snapshot.outstanding.into_iter().map(OsOutstanding::from).collect(),
            messages: snapshot.messages.into_iter().map(OsMessage::from).collect(),
            reads: snapshot.reads.into_iter().map(OsRead::from).collect(),
            lost: snapshot.lost,
        }
    }
}

/// Counts of one thread since it was first seen.
#[pyclass(module = "tare._probe", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct OsThread {
    node: u32,
    tid: i32,
    tgid: i32,
    comm: String,
    title: String,
    ended: bool,
    present_ns: u64,
    on_cpu_ns: u64,
    run_queue_ns: u64,
    sleep_ns: u64,
    block_io_ns: u64,
    other_wait_ns: u64,
    system_ns: Option<u64>,
    io_on_cpu_ns: u64,
    reads: u64,
    requested: u64,
    missed: u64,
    in_flight: Option<u64>,
    ahead: u64,
    mapped: u64,
    sends: u64,
    sent_bytes: u64,
    receives: u64,
    received_bytes: u64,
    local_sends: u64,
    local_sent_bytes: u64,
    local_receives: u64,
    local_received_bytes: u64,
    run_ns: u64,
    run_delay_ns: u64,
    read_chars: u64,
    write_chars: u64,
    read_calls: u64,
    write_calls: u64,
    read_bytes: u64,
    write_bytes: u64,
    minor_faults: u64,
    major_faults: u64,
    voluntary: u64,
    involuntary: u64,
}

impl OsThread {
    fn of(thread: Thread, is_full: bool) -> Self {
        let [on_cpu_ns, run_queue_ns, sleep_ns, block_io_ns, other_wait_ns] = thread.spent;
        let (cache, network, local, kept) = (thread.cache, thread.network, thread.local, thread.kept);
        Self {
            node: thread.node,
            tid: thread.tid,
            tgid: thread.tgid,
            comm: thread.comm,
            title: thread.title,
            ended: thread.ended,
            present_ns: thread.present_ns,
            on_cpu_ns,
            run_queue_ns,
            sleep_ns,
            block_io_ns,
            other_wait_ns,
            system_ns: is_full.then_some(thread.system_ns),
            io_on_cpu_ns: thread.io_on_cpu_ns,
            reads: cache.reads,
            requested: cache.requested,
            missed: cache.missed,
            in_flight: is_full.then_some(cache.in_flight),
            ahead: cache.ahead,
            mapped: cache.mapped,
            sends: network.sends,
            sent_bytes: network.sent_bytes,
            receives: network.receives,
            received_bytes: network.received_bytes,
            local_sends: local.sends,
            local_sent_bytes: local.sent_bytes,
            local_receives: local.receives,
            local_received_bytes: local.received_bytes,
            run_ns: kept.run,
            run_delay_ns: kept.run_delay,
            read_chars: kept.read_chars,
            write_chars: kept.write_chars,
            read_calls: kept.read_calls,
            write_calls: kept.write_calls,
            read_bytes: kept.read_bytes,
            write_bytes: kept.write_bytes,
            minor_faults: kept.minor_faults,
            major_faults: kept.major_faults,
            voluntary: kept.voluntary,
            involuntary: kept.involuntary,
        }
    }
}

/// Calls of one kind by one thread.
#[pyclass(module = "tare._probe", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct OsCall {
    tid: i32,
    name: String,
    count: u64,
    errors: u64,
    result: u64,
    on_cpu_ns: u64,
    run_queue_ns: u64,
    sleep_ns: u64,
    block_io_ns: u64,
    other_wait_ns: u64,
}

impl From<&Calls> for OsCall {
    fn from(calls: &Calls) -> Self {
        let [on_cpu_ns, run_queue_ns, sleep_ns, block_io_ns, other_wait_ns] = calls.spent;
        Self {
            tid: calls.tid,
            name: calls.name(),
            count: calls.count,
            errors: calls.errors,
            result: calls.result,
            on_cpu_ns,
            run_queue_ns,
            sleep_ns,
            block_io_ns,
            other_wait_ns,
        }
    }
}

/// A block request that is done.
#[pyclass(module = "tare._probe", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct OsRequest {
    node: Option<u32>,
    tid: i32,
    device: u32,
    write: bool,
    sector: u64,
    bytes: u32,
    submitted_ns: u64,
    issued_ns: u64,
    done_ns: u64,
}

impl From<Request> for OsRequest {
    fn from(request: Request) -> Self {
        let Request { node, tid, device, write, sector, bytes, submitted_ns, issued_ns, done_ns } = request;
        Self { node, tid, device, write, sector, bytes, submitted_ns, issued_ns, done_ns }
    }
}

/// A block request that was submitted and is not done.
#[pyclass(module = "tare._probe", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct OsOutstanding {
    node: Option<u32>,
    tid: i32,
    submitted_ns: u64,
}

impl From<Outstanding> for OsOutstanding {
    fn from(request: Outstanding) -> Self {
        let Outstanding { node, tid, submitted_ns } = request;
        Self { node, tid, submitted_ns }
    }
}

/// A message that was sent by one system call.
#[pyclass(module = "tare._probe", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct OsMessage {
    at_ns: u64,
    node: u32,
    tid: i32,
    sender: String,
    receiver: String,
    bytes: u32,
    hash: Option<u64>,
    head: Vec<u8>,
}

impl From<Message> for OsMessage {
    fn from(message: Message) -> Self {
        Self {
            at_ns: message.at_ns,
            node: message.node,
            tid: message.tid,
            sender: message.sender.to_string(),
            receiver: message.receiver.to_string(),
            bytes: message.bytes,
            hash: message.hash,
            head: message.head,
        }
    }
}

/// Pages of a file that a buffered read got at once.
#[pyclass(module = "tare._probe", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct OsRead {
    at_ns: u64,
    node: u32,
    tid: i32,
    device: u32,
    inode: u64,
    page: u64,
    pages: u32,
    missed: u32,
    in_flight: u32,
}

impl From<Read> for OsRead {
    fn from(read: Read) -> Self {
        let Read { at_ns, node, tid, device, inode, page, pages, missed, in_flight } = read;
        Self { at_ns, node, tid, device, inode, page, pages, missed, in_flight }
    }
}
