//! The agent in a server that was started with it.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tare_profile::Result;
use tare_profile::agent::{Agent, Tier};
use tare_profile::backend::{Backend, FunctionId, Target};
use tare_profile::xray::Xray;

use crate::error::raise;
use crate::profile_recorder::{TargetTuple, target};

pub(crate) fn open(folder: &Path) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Agent::open(folder)?))
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
