//! Rows: processes and threads.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raise;

macro_rules! row {
    ($($field:ident: $kind:ty,)*) => {
        /// One process, or one thread of it, as a snapshot saw it.
        #[pyclass(module = "tare._probe", frozen)]
        #[derive(Clone)]
        pub(crate) struct Process {
            $(#[pyo3(get)] $field: $kind,)*
        }

        impl From<tare_probe::process::Process> for Process {
            fn from(row: tare_probe::process::Process) -> Self {
                let tare_probe::process::Process { comm, cmdline, .. } = &row;
                let (comm, cmdline) = (comm.to_string(), cmdline.to_string());
                let texts = Texts { comm, cmdline };
                Self { $($field: take!(row, texts, $field),)* }
            }
        }

        #[pymethods]
        impl Process {
            /// All fields by name.
            fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let fields = PyDict::new(py);
                $(fields.set_item(stringify!($field), self.$field.clone())?;)*
                Ok(fields)
            }

            fn __repr__(&self) -> String {
                format!("Process(pid={}, comm={:?}, cmdline={:?})", self.pid, self.comm, self.cmdline)
            }
        }
    };
}

struct Texts {
    comm: String,
    cmdline: String,
}

macro_rules! take {
    ($row:ident, $texts:ident, comm) => {
        $texts.comm
    };
    ($row:ident, $texts:ident, cmdline) => {
        $texts.cmdline
    };
    ($row:ident, $texts:ident, $field:ident) => {
        $row.$field
    };
}

row! {
    pid: i32,
    tgid: i32,
    ppid: i32,
    comm: String,
    cmdline: String,
    uid: Option<u32>,
    start_ns: u64,
    kernel: bool,
    threads: u32,
    cpu: i32,
    user_ns: u64,
    system_ns: u64,
    guest_ns: Option<u64>,
    child_guest_ns: Option<u64>,
    run_ns: Option<u64>,
    run_queue_ns: Option<u64>,
    slices: Option<u64>,
    block_io_ns: Option<u64>,
    min_faults: Option<u64>,
    maj_faults: Option<u64>,
    voluntary_switches: Option<u64>,
    involuntary_switches: Option<u64>,
    read_calls: Option<u64>,
    write_calls: Option<u64>,
    read_chars: Option<u64>,
    write_chars: Option<u64>,
    read_bytes: Option<u64>,
    write_bytes: Option<u64>,
}

/// One process (or thread) from /proc alone. Raises ProbeError if it is gone.
#[pyfunction]
#[pyo3(signature = (pid, tid=None))]
pub(crate) fn read_process(py: Python<'_>, pid: i32, tid: Option<i32>) -> PyResult<Process> {
    py.detach(|| tare_probe::procfs::once::read_process(pid, tid)).map(Process::from).map_err(raise)
}
