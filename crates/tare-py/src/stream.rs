//! Rows as any reader of Arrow takes them: Arrow's PyCapsule interface.

use std::ffi::CStr;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const STREAM: &CStr = c"arrow_array_stream";

/// What `__arrow_c_stream__` gives. The schema that it is asked for is best effort, says the interface: ours is the
/// only one.
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    rows: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(rows)), STREAM)
}
