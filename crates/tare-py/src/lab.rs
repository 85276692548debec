//! The rows of a SQLite lab, as a stream that any reader of Arrow takes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tare_lab::{Column, Kind, Place, Rows};

use crate::stream;

/// To be read once.
#[pyclass]
pub(crate) struct LabRows {
    rows: Mutex<Option<Rows>>,
    misfit: Arc<AtomicBool>,
}

#[pymethods]
impl LabRows {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        let rows = rows.ok_or_else(|| PyValueError::new_err("these rows were read already"))?;
        stream::capsule(py, rows)
    }

    /// Whether a value was not of its column's kind.
    #[getter]
    fn misfit(&self) -> bool {
        self.misfit.load(Ordering::Acquire)
    }
}

/// The answer to a query of just these columns: name, kind and, of a `word`, the words.
#[pyfunction]
pub(crate) fn read_lab(
    path: PathBuf,
    writable: bool,
    sql: String,
    columns: Vec<(String, String, Vec<String>)>,
) -> PyResult<LabRows> {
    let columns = columns
        .into_iter()
        .map(|(name, kind, words)| Ok(Column { name, kind: parsed(&kind, words)? }))
        .collect::<PyResult<_>>()?;
    let rows = tare_lab::open(Place { path, writable }, sql, columns);
    Ok(LabRows { misfit: rows.misfit(), rows: Mutex::new(Some(rows)) })
}

fn parsed(kind: &str, words: Vec<String>) -> PyResult<Kind> {
    Ok(match kind {
        "int32" => Kind::Int32,
        "int64" => Kind::Int64,
        "boolean" => Kind::Boolean,
        "text" => Kind::Text,
        "word" => Kind::Word(words),
        other => return Err(PyValueError::new_err(format!("no kind of column is called {other}"))),
    })
}
