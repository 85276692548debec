//! The driver of transactional workloads.

use std::fs::File;
use std::io::BufReader;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use pyo3::prelude::*;
use tare_load::oltp::driver::{Databases, serve};

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
