//! `tare._probe`: the Rust probe for Python. No logic here; see `python/tare/_probe.pyi`.

mod burst;
mod core_share;
mod error;
mod exits;
mod held;
mod instructions;
mod lab;
mod machine;
mod oltp;
mod oltp_kinds;
mod os_trace;
mod page_cache;
mod probe;
mod process;
mod profile_agent;
mod profile_assemble;
mod profile_attach;
mod profile_image;
mod profile_recorder;
mod profile_xray;
mod snapshot;
mod stream;
mod timeline;
mod trace;
mod wisconsin;

use pyo3::prelude::*;

#[pymodule]
mod _probe {
    #[pymodule_export]
    use super::burst::burst;
    #[pymodule_export]
    use super::core_share::core_share;
    #[pymodule_export]
    use super::error::ProbeError;
    #[pymodule_export]
    use super::exits::{Exit, ExitListener};
    #[pymodule_export]
    use super::instructions::{Instructions, count_instructions};
    #[pymodule_export]
    use super::lab::{LabRows, read_lab};
    #[pymodule_export]
    use super::machine::{CpuTicks, Machine};
    #[pymodule_export]
    use super::oltp::oltp_driver;
    #[pymodule_export]
    use super::oltp_kinds::oltp_kinds;
    #[pymodule_export]
    use super::os_trace::{
        OsCall, OsMessage, OsOutstanding, OsRead, OsRequest, OsSnapshot, OsThread, OsTracer,
    };
    #[pymodule_export]
    use super::page_cache::{Residency, evict, residency};
    #[pymodule_export]
    use super::probe::{Attempt, Probe, delay_accounting};
    #[pymodule_export]
    use super::process::{Process, read_process};
    #[pymodule_export]
    use super::profile_agent::prepare_agent;
    #[pymodule_export]
    use super::profile_assemble::{Assembled, ProfileColumns, assemble, last_calls, slices};
    #[pymodule_export]
    use super::profile_image::{Function, Image, Usdt};
    #[pymodule_export]
    use super::profile_recorder::ProfileRecorder;
    #[pymodule_export]
    use super::snapshot::Snapshot;
    #[pymodule_export]
    use super::timeline::{Follower, Timeline};
    #[pymodule_export]
    use super::trace::{CpuParts, DiskParts, Recording, ThreadParts, Tracer, Weighed};
    #[pymodule_export]
    use super::wisconsin::{wisconsin_digest, write_wisconsin};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("TICK_NS", tare_probe::clock::tick_ns())
    }
}
