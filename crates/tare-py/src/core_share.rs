//! How much of its core a CPU has.

use pyo3::prelude::*;

use crate::error::raise;

/// (CPU time of a chain of operations, of operations that could go at the same time), ns, of so many turns on this CPU.
/// Raises ProbeError.
#[pyfunction]
pub(crate) fn core_share(py: Python<'_>, cpu: usize, turns: usize) -> PyResult<Vec<(u64, u64)>> {
    py.detach(|| tare_probe::core_share::turns(cpu, turns))
        .map(|found| found.into_iter().map(|turn| (turn.chain_ns, turn.wide_ns)).collect())
        .map_err(raise)
}
