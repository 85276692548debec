//! Traces of chosen processes and their reduction.

use std::collections::BTreeMap;

use pyo3::prelude::*;

use crate::error::raise;
use crate::held::Held;

/// A kernel trace of processes, their threads and the children they fork, with all block requests.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct Tracer {
    inner: Held<tare_trace::Tracer>,
}

#[pymethods]
impl Tracer {
    #[new]
    fn new(py: Python<'_>, processes: Vec<i32>) -> PyResult<Self> {
        let tracer = py.detach(|| tare_trace::Tracer::start(&processes)).map_err(raise)?;
        Ok(Self { inner: Held::new(tracer) })
    }

    fn finish(&self, py: Python<'_>) -> PyResult<Recording> {
        self.inner.end(py, "trace", |tracer| tracer.finish()).map(|inner| Recording { inner })
    }

    fn stop(&self, py: Python<'_>) {
        self.inner.let_go(py);
    }
}

/// A finished trace, to be asked about any interval in it.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct Recording {
    inner: tare_trace::Recording,
}

#[pymethods]
impl Recording {
    #[getter]
    fn began_ns(&self) -> u64 {
        self.inner.began_ns
    }

    #[getter]
    fn ended_ns(&self) -> u64 {
        self.inner.ended_ns
    }

    #[getter]
    fn events(&self) -> u64 {
        self.inner.events
    }

    #[getter]
    fn dropped(&self) -> u64 {
        self.inner.dropped
    }

    #[getter]
    fn passed_over(&self) -> BTreeMap<&'static str, u64> {
        self.inner.passed_over.iter().copied().collect()
    }

    fn weigh(&self, py: Python<'_>, begin_ns: u64, end_ns: u64, processes: Vec<i32>) -> Weighed {
        let found = py.detach(|| self.inner.weigh(begin_ns, end_ns, &processes));
        Weighed {
            threads: found.threads.into_iter().map(ThreadParts::from).collect(),
            disk: found.disk.into(),
            cpus: found.cpus.into_iter().map(CpuParts::from).collect(),
            why: found.why,
        }
    }
}

/// What a trace says of an interval, for chosen processes.
#[pyclass(module = "tare._probe", frozen, get_all)]
pub(crate) struct Weighed {
    threads: Vec<ThreadParts>,
    disk: DiskParts,
    cpus: Vec<CpuParts>,
    why: Vec<String>,
}

/// Where one thread's time went.
#[pyclass(module = "tare._probe", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct ThreadParts {
    tid: i32,
    tgid: i32,
    present_ns: u64,
    on_cpu_ns: u64,
    run_queue_ns: u64,
    sleep_ns: u64,
    block_io_ns: u64,
    other_wait_ns: u64,
    stolen_ns: u64,
    own_io_ns: u64,
    switch_ins: u64,
    slices: u64,
    why: Option<String>,
}

/// The block requests of chosen processes, and those of others.
#[pyclass(module = "tare._probe", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct DiskParts {
    in_flight_ns: u64,
    outstanding_ns: u64,
    requests: u64,
    bytes: u64,
    others_ns: u64,
    others_requests: u64,
    kernel_requests: u64,
}

/// What one CPU did without work.
#[pyclass(module = "tare._probe", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct CpuParts {
    cpu: u32,
    idle_ns: u64,
    iowait_ns: u64,
    own_iowait_ns: u64,
    own_disk_ns: u64,
    unknown_ns: u64,
}

impl From<tare_trace::thread::ThreadParts> for ThreadParts {
    fn from(parts: tare_trace::thread::ThreadParts) -> Self {
        let [on_cpu_ns, run_queue_ns, sleep_ns, block_io_ns, other_wait_ns] = parts.spent_ns;
        Self {
            tid: parts.tid,
            tgid: parts.tgid,
            present_ns: parts.present_ns,
            on_cpu_ns,
            run_queue_ns,
            sleep_ns,
            block_io_ns,
            other_wait_ns,
            stolen_ns: parts.stolen_ns,
            own_io_ns: parts.own_io_ns,
            switch_ins: parts.switch_ins,
            slices: parts.slices,
            why: parts.why,
        }
    }
}

impl From<tare_trace::disk::DiskParts> for DiskParts {
    fn from(parts: tare_trace::disk::DiskParts) -> Self {
        let tare_trace::disk::DiskParts {
            in_flight_ns,
            outstanding_ns,
            requests,
            bytes,
            others_ns,
            others_requests,
            kernel_requests,
            trusted: _, // `Weighed.why` tells
        } = parts;
        Self { in_flight_ns, outstanding_ns, requests, bytes, others_ns, others_requests, kernel_requests }
    }
}

impl From<tare_trace::processor::CpuParts> for CpuParts {
    fn from(parts: tare_trace::processor::CpuParts) -> Self {
        let tare_trace::processor::CpuParts {
            cpu,
            idle_ns,
            iowait_ns,
            own_iowait_ns,
            own_disk_ns,
            unknown_ns,
        } = parts;
        Self { cpu, idle_ns, iowait_ns, own_iowait_ns, own_disk_ns, unknown_ns }
    }
}
