//! The tuples of the Wisconsin benchmark of 1993.

use std::fs::File;
use std::os::fd::BorrowedFd;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tare_load::wisconsin::{Csv, HEADER, WrongSize, digest};

const AT_ONCE: u32 = 1 << 16; // tuples between two looks at Python's signals

/// Writes the first `tuples` of a relation of `size` as CSV. Raises OSError and ValueError.
#[pyfunction]
#[pyo3(signature = (descriptor, size, tuples, header=false))]
pub(crate) fn write_wisconsin(
    py: Python<'_>,
    descriptor: i32,
    size: u32,
    tuples: u32,
    header: bool,
) -> PyResult<()> {
    // SAFETY: the caller's file stays open during the call; what is written to is a duplicate of it.
    let theirs = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let mut file = File::from(theirs.try_clone_to_owned()?);
    if header {
        std::io::Write::write_all(&mut file, HEADER.as_bytes())?;
    }
    let mut csv = Csv::new(file, size, tuples).map_err(refuse)?;
    while py.detach(|| csv.write(AT_ONCE))? > 0 {
        py.check_signals()?;
    }
    Ok(())
}

/// The checksum's sum over the first `tuples` of a relation of `size`. Raises ValueError.
#[pyfunction]
pub(crate) fn wisconsin_digest(py: Python<'_>, size: u32, tuples: u32) -> PyResult<u64> {
    py.detach(|| digest(size, tuples)).map_err(refuse)
}

fn refuse(size: WrongSize) -> PyErr {
    PyValueError::new_err(size.to_string())
}
