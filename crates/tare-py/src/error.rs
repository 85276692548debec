//! The one place where the probe's errors become Python's.

use pyo3::create_exception;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

create_exception!(
    tare._probe,
    ProbeError,
    PyOSError,
    "A kernel interface refused; the text says which, why and what to do."
);

/// `ProbeError(text)` or, where the kernel gave one, `ProbeError(errno, text)`.
pub(crate) fn raise(error: tare_probe::ProbeError) -> PyErr {
    let text = error.to_string();
    if error.errno == 0 { ProbeError::new_err(text) } else { ProbeError::new_err((error.errno, text)) }
}

/// Something was used after it was closed.
pub(crate) fn closed(what: &str) -> PyErr {
    ProbeError::new_err(format!("the {what} is closed\n  next: open a new one"))
}
