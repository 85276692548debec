//! Recordings put together, as columns that any reader of Arrow takes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Int32Array, RecordBatch, RecordBatchIterator, StringArray, UInt32Array,
    UInt64Array,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tare_profile::profile::{Cell, Path, Profile, Transaction};
use tare_profile::recording::{Cut, Recording};
use tare_profile::rules::Rules;
use tare_profile::transactions::{LastCalls, Slice, Stretch};

use crate::error::raise;
use crate::stream;

/// A table, to be read as often as one likes.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct ProfileColumns {
    batch: RecordBatch,
}

#[pymethods]
impl ProfileColumns {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let rows = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        stream::capsule(py, rows)
    }
}

/// A recording put together. See `python/tare/_probe.pyi`.
#[pyclass(module = "tare._probe", frozen, get_all)]
pub(crate) struct Assembled {
    transactions: Py<ProfileColumns>,
    paths: Py<ProfileColumns>,
    cells: Py<ProfileColumns>,
    windows: String,
    texts: BTreeMap<u32, String>,
    records: u64,
    lost: u64,
    unwound: u64,
    unrecorded: u64,
    cut_off: Option<String>,
}

/// By rules in JSON; ValueError for others.
#[pyfunction]
pub(crate) fn assemble(py: Python<'_>, path: PathBuf, rules: &str) -> PyResult<Assembled> {
    let rules: Rules =
        serde_json::from_str(rules).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (tables, profile, cut) = py.detach(|| {
        let recording = Recording::open(&path).map_err(raise)?;
        let mut profile = tare_profile::transactions::assemble(&recording, &rules).map_err(raise)?;
        Ok::<_, PyErr>((tables(&mut profile), profile, recording.cut))
    })?;
    let [transactions, paths, cells] = tables;
    let said =
        |Cut { whole, rest }| format!("not ended: whole up to byte {whole}, {rest} bytes behind it left out");
    Ok(Assembled {
        transactions: Py::new(py, ProfileColumns { batch: transactions })?,
        paths: Py::new(py, ProfileColumns { batch: paths })?,
        cells: Py::new(py, ProfileColumns { batch: cells })?,
        windows: serde_json::to_string(&profile.windows).expect("plain data has a JSON form"),
        texts: profile.texts.into_iter().collect(),
        records: profile.records,
        lost: profile.lost,
        unwound: profile.unwound,
        unrecorded: profile.unrecorded,
        cut_off: cut.map(said),
    })
}

/// Gives calls within stretches (pid, tid, begin and end in ns), as (pid, tid, function, begin, end, depth), to a callable.
#[pyfunction]
pub(crate) fn slices(
    py: Python<'_>,
    path: PathBuf,
    stretches: Vec<(i32, i32, u64, u64)>,
    keep: Py<PyAny>,
) -> PyResult<()> {
    let stretches: Vec<_> = stretches
        .into_iter()
        .map(|(pid, tid, begin_ns, end_ns)| Stretch { thread: (pid, tid), begin_ns, end_ns })
        .collect();
    let told = |one: &Slice| {
        let (pid, tid) = one.thread;
        (pid, tid, one.function, one.begin_ns, one.end_ns, one.depth)
    };
    let mut refused = None;
    let read = py.detach(|| {
        let recording = Recording::open(&path)?;
        tare_profile::transactions::slices(&recording, &stretches, |calls| {
            for some in calls.chunks(AT_ONCE) {
                if refused.is_none() {
                    let some: Vec<_> = some.iter().map(told).collect();
                    refused = Python::attach(|py| keep.call1(py, (some,))).err();
                }
            }
        })
    });
    refused.map_or_else(|| read.map_err(raise), Err)
}

/// Functions that a thread was in at its last records, the outermost first, and until when their window was on; None: it
/// has none.
#[pyfunction]
pub(crate) fn last_calls(
    py: Python<'_>,
    path: PathBuf,
    pid: i32,
    tid: i32,
) -> PyResult<Option<(u64, Vec<u32>)>> {
    let last = py.detach(|| {
        let recording = Recording::open(&path)?;
        tare_profile::transactions::last_calls(&recording, (pid, tid))
    });
    Ok(last
        .map_err(raise)?
        .map(|LastCalls { watched_until_ns, functions, .. }| (watched_until_ns, functions)))
}

/// Calls that a callable is given at once.
const AT_ONCE: usize = 1 << 14;

/// Transactions, paths and cells; each is freed once it is in columns.
fn tables(profile: &mut Profile) -> [RecordBatch; 3] {
    let transactions = transactions(&std::mem::take(&mut profile.transactions));
    let paths = paths(&std::mem::take(&mut profile.paths));
    [transactions, paths, cells(&std::mem::take(&mut profile.cells))]
}

fn transactions(rows: &[Transaction]) -> RecordBatch {
    let u32s = |of: fn(&Transaction) -> u32| u32s(rows, of);
    let u64s = |of: fn(&Transaction) -> u64| u64s(rows, of);
    let i32s =
        |of: fn(&Transaction) -> i32| Arc::new(Int32Array::from_iter_values(rows.iter().map(of))) as ArrayRef;
    batch([
        ("window", u32s(|row| row.window)),
        ("pid", i32s(|row| row.pid)),
        ("tid", i32s(|row| row.tid)),
        ("begin_ns", u64s(|row| row.begin_ns)),
        ("duration_ns", u64s(|row| row.duration_ns)),
        ("service_ns", u64s(|row| row.service_ns)),
        ("waited_ns", u64s(|row| row.waited_ns)),
        ("overlap_ns", u64s(|row| row.overlap_ns)),
        ("ended", Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.ended))))),
        ("cpu_ns", Arc::new(UInt64Array::from_iter(rows.iter().map(|row| row.cpu_ns)))),
        ("intervals", u32s(|row| row.intervals)),
        ("label", u32s(|row| row.label)),
        ("why", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.why.word())))),
    ])
}

fn paths(rows: &[Path]) -> RecordBatch {
    batch([
        ("parent", Arc::new(UInt32Array::from_iter(rows.iter().map(|row| row.parent))) as ArrayRef),
        ("function", Arc::new(UInt32Array::from_iter(rows.iter().map(|row| row.function)))),
        ("site", u32s(rows, |row| row.site)),
    ])
}

fn cells(rows: &[Cell]) -> RecordBatch {
    batch([
        ("transaction", u32s(rows, |row| row.transaction)),
        ("path", u32s(rows, |row| row.path)),
        ("calls", u32s(rows, |row| row.calls)),
        ("inclusive_ns", u64s(rows, |row| row.inclusive_ns)),
        ("own_ns", u64s(rows, |row| row.own_ns)),
    ])
}

fn u32s<T>(rows: &[T], of: fn(&T) -> u32) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(rows.iter().map(of)))
}

fn u64s<T>(rows: &[T], of: fn(&T) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(of)))
}

fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}
