//! The page cache.

use pyo3::prelude::*;

use crate::error::raise;

/// What of one file is in the page cache.
#[pyclass(module = "tare._probe", frozen, get_all)]
pub(crate) struct Residency {
    path: String,
    size_bytes: u64,
    page_bytes: u64,
    pages: u64,
    resident: u64,
    dirty: Option<u64>,
    how: &'static str,
}

/// What of each file is in the page cache. Raises ProbeError naming the file.
#[pyfunction]
pub(crate) fn residency(py: Python<'_>, paths: Vec<String>) -> PyResult<Vec<Residency>> {
    py.detach(|| {
        paths.iter().map(|path| tare_probe::page_cache::residency(path)).collect::<Result<Vec<_>, _>>()
    })
    .map(|found| found.into_iter().map(Residency::from).collect())
    .map_err(raise)
}

/// posix_fadvise(DONTNEED); dirty pages stay. Raises ProbeError naming the file.
#[pyfunction]
pub(crate) fn evict(py: Python<'_>, paths: Vec<String>) -> PyResult<()> {
    py.detach(|| paths.iter().try_for_each(|path| tare_probe::page_cache::evict(path))).map_err(raise)
}

impl From<tare_probe::page_cache::Residency> for Residency {
    fn from(found: tare_probe::page_cache::Residency) -> Self {
        let tare_probe::page_cache::Residency { path, size_bytes, page_bytes, pages, resident, dirty, how } =
            found;
        Self { path, size_bytes, page_bytes, pages, resident, dirty, how }
    }
}
