//! The machine's ticks.

use pyo3::prelude::*;
use pyo3::types::PyDict;

macro_rules! cpu_ticks {
    ($($field:ident = $at:literal,)*) => {
        /// One CPU's ticks since boot, or the sum over CPUs.
        #[pyclass(module = "tare._probe", frozen)]
        #[derive(Clone)]
        pub(crate) struct CpuTicks {
            #[pyo3(get)] cpu: i32,
            $(#[pyo3(get)] $field: u64,)*
        }

        impl From<tare_probe::machine::CpuTicks> for CpuTicks {
            fn from(cpu: tare_probe::machine::CpuTicks) -> Self {
                Self { cpu: cpu.cpu, $($field: cpu.ticks[$at],)* }
            }
        }

        #[pymethods]
        impl CpuTicks {
            /// All fields by name.
            fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let fields = PyDict::new(py);
                fields.set_item("cpu", self.cpu)?;
                $(fields.set_item(stringify!($field), self.$field)?;)*
                Ok(fields)
            }
        }
    };
}

cpu_ticks! {
    user = 0,
    nice = 1,
    system = 2,
    idle = 3,
    iowait = 4,
    irq = 5,
    softirq = 6,
    steal = 7,
    guest = 8,
    guest_nice = 9,
}

/// /proc/stat at one moment, in ticks.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct Machine {
    pub(crate) inner: tare_probe::machine::Machine,
}

#[pymethods]
impl Machine {
    #[getter]
    fn taken_ns(&self) -> u64 {
        self.inner.taken_ns
    }

    #[getter]
    fn total(&self) -> CpuTicks {
        self.inner.total.into()
    }

    #[getter]
    fn cpus(&self) -> Vec<CpuTicks> {
        self.inner.cpus.iter().copied().map(CpuTicks::from).collect()
    }

    #[getter]
    fn forks(&self) -> u64 {
        self.inner.forks
    }

    #[getter]
    fn context_switches(&self) -> u64 {
        self.inner.context_switches
    }

    #[getter]
    fn running(&self) -> u64 {
        self.inner.running
    }

    #[getter]
    fn blocked(&self) -> u64 {
        self.inner.blocked
    }
}
