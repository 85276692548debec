//! Timelines of followed threads.

use pyo3::prelude::*;

use crate::held::Held;

/// Where one thread's time went since `Probe.follow()`, up to `as_of_ns`.
#[pyclass(module = "tare._probe", frozen, get_all)]
pub(crate) struct Timeline {
    tid: i32,
    followed_ns: u64,
    as_of_ns: u64,
    on_cpu_ns: u64,
    run_queue_ns: u64,
    sleep_ns: u64,
    block_io_ns: u64,
    other_wait_ns: u64,
    stolen_ns: u64,
    interrupted_ns: u64,
    since_ns: u64,
    switch_ins: u64,
    slices: u64,
    alive: bool,
    trusted: bool,
    state: &'static str,
}

/// A scheduler trace of few threads, summed in the kernel (BPF tier only).
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct Follower {
    inner: Held<tare_probe::probe::Follower>,
}

impl Follower {
    pub(crate) fn new(follower: tare_probe::probe::Follower) -> Self {
        Self { inner: Held::new(follower) }
    }
}

#[pymethods]
impl Follower {
    fn read(&self, py: Python<'_>) -> PyResult<Vec<Timeline>> {
        let lines = self.inner.with(py, "follower", |follower| follower.read())?;
        Ok(lines.into_iter().map(Timeline::from).collect())
    }

    fn stop(&self, py: Python<'_>) {
        self.inner.let_go(py);
    }
}

impl From<tare_probe::timeline::Timeline> for Timeline {
    fn from(line: tare_probe::timeline::Timeline) -> Self {
        let [on_cpu_ns, run_queue_ns, sleep_ns, block_io_ns, other_wait_ns] = line.spent_ns;
        Self {
            tid: line.tid,
            followed_ns: line.followed_ns,
            as_of_ns: line.as_of_ns,
            on_cpu_ns,
            run_queue_ns,
            sleep_ns,
            block_io_ns,
            other_wait_ns,
            stolen_ns: line.stolen_ns,
            interrupted_ns: line.interrupted_ns,
            since_ns: line.since_ns,
            switch_ins: line.switch_ins,
            slices: line.slices,
            alive: line.alive,
            trusted: line.trusted,
            state: line.state.name(),
        }
    }
}
