//! The types of transactions of a workload.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tare_load::oltp::{Options, find};

/// Name, percent of the default mix, and whether it may change anything, in numbering order. Raises ValueError.
#[pyfunction]
pub(crate) fn oltp_kinds(workload: &str) -> PyResult<Vec<(&'static str, f64, bool)>> {
    let found =
        find(workload, 1.0, 0, Options::default()).map_err(|mistake| PyValueError::new_err(mistake.0))?;
    Ok(found.kinds().iter().map(|kind| (kind.name, kind.share, kind.writes)).collect())
}
