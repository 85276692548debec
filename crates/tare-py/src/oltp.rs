//! Transactional workloads: the driver, its contract, the types of transactions.

use std::fs::File;
use std::io::BufReader;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tare_load::oltp::contract::contract;
use tare_load::oltp::driver::{Databases, serve};
use tare_load::oltp::{Options, find};

/// One call of the driver, in a process of its own, which is ended when whoever asked is gone. Its exit code.
#[pyfunction]
pub(crate) fn oltp_driver(py: Python<'_>, input: i32, output: i32) -> PyResult<i32> {
    let (input, output) = (BufReader::new(own(input)?), own(output)?);
    Ok(py.detach(|| serve(Box::new(input), Box::new(output), Arc::new(Databases), || std::process::exit(1))))
}

fn own(descriptor: i32) -> std::io::Result<File> {
    // SAFETY: the caller's file stays open during the call; what is used is a duplicate of it.
    let theirs = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(File::from(theirs.try_clone_to_owned()?))
}

/// JSON schemas of the driver's request and events, and the table of counts, as one JSON document.
#[pyfunction]
pub(crate) fn oltp_contract() -> String {
    contract().to_string()
}

/// Name, percent of the default mix, and whether it may change anything, in numbering order. Raises ValueError.
#[pyfunction]
pub(crate) fn oltp_kinds(workload: &str) -> PyResult<Vec<(&'static str, f64, bool)>> {
    let found =
        find(workload, 1.0, 0, Options::default()).map_err(|mistake| PyValueError::new_err(mistake.0))?;
    Ok(found.kinds().iter().map(|kind| (kind.name, kind.share, kind.writes)).collect())
}
