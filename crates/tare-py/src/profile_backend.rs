//! Backends of the profiler: the kernel's probes on running processes, and libraries in a server that was started with them.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tare_profile::Result;
use tare_profile::agent::{Agent, Tier};
use tare_profile::annotation::Annotation;
use tare_profile::backend::{Backend, FunctionId, Target};
use tare_profile::xray::Xray;

use crate::error::raise;

/// Number, name, object, address, size, whether it only returns.
pub(crate) type TargetTuple = (u32, String, PathBuf, u64, u64, bool);

pub(crate) fn target((id, name, object, address, size, only_returns): TargetTuple) -> Target {
    Target { id, name, object, address, size, semaphore: 0, only_returns }
}

#[cfg(feature = "bpf")]
pub(crate) fn attach(pids: &[i32], follow_children: bool, at_exits: bool) -> Result<Box<dyn Backend>> {
    let mut attach = tare_profile::attach::Attach::open(pids, follow_children)?;
    if at_exits {
        attach.watch_at_exits();
    }
    Ok(Box::new(attach))
}

#[cfg(not(feature = "bpf"))]
pub(crate) fn attach(_pids: &[i32], _follow_children: bool, _at_exits: bool) -> Result<Box<dyn Backend>> {
    Err(tare_profile::ProbeError::new(
        "this build of Tare cannot set probes on running processes: it has no BPF",
        "install clang and libelf-dev, and build it again: make build",
    ))
}

pub(crate) fn agent(folder: &Path) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Agent::open(folder)?))
}

pub(crate) fn xray(folder: &Path) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Xray::open(folder)?))
}

pub(crate) fn annotation(folder: &Path) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Annotation::over(agent(folder)?)))
}

/// From a folder, a program, its functions, those of them that are triggers, and who is to own the folder.
type Make = fn(&Path, &Path, &[Target], &[FunctionId], Option<(u32, u32)>) -> Result<()>;

/// See `python/tare/_probe.pyi`.
#[pyfunction]
pub(crate) fn prepare_agent(
    py: Python<'_>,
    folder: PathBuf,
    backend: &str,
    program: PathBuf,
    targets: Vec<TargetTuple>,
    triggers: Vec<FunctionId>,
    owner: Option<(u32, u32)>,
) -> PyResult<()> {
    let targets: Vec<Target> = targets.into_iter().map(target).collect();
    let make: Make = match backend {
        "agent" => |folder, program, targets, triggers, owner| {
            Agent::create(folder, Tier::Trampolines, program, targets, triggers, owner)
        },
        "annotation" => {
            |folder, program, _, _, owner| Agent::create(folder, Tier::Marks, program, &[], &[], owner)
        }
        "xray" => |folder, program, targets, _, owner| Xray::create(folder, program, targets, owner),
        other => return Err(PyValueError::new_err(format!("no library is preloaded for {other}"))),
    };
    py.detach(|| make(&folder, &program, &targets, &triggers, owner)).map_err(raise)
}
