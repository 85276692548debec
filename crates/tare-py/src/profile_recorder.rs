//! Recording what probes in a server see.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tare_profile::backend::{Backend, Mode, Probe, Target};
use tare_profile::recording::Recorder;

use crate::error::raise;
use crate::held::Held;
use crate::{profile_agent, profile_attach, profile_xray};

/// Number, name, object, address, size, cold parts (address and bytes of each).
pub(crate) type TargetTuple = (u32, String, PathBuf, u64, u64, Vec<(u64, u64)>);

/// A recording under way. See `python/tare/_probe.pyi`.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct ProfileRecorder {
    #[pyo3(get)]
    name: &'static str,
    #[pyo3(get)]
    says: String,
    inner: Held<Recorder>,
}

impl ProfileRecorder {
    fn start(
        py: Python<'_>,
        path: PathBuf,
        open: impl FnOnce() -> tare_profile::Result<Box<dyn Backend>> + Send,
    ) -> PyResult<Self> {
        let recorder = py.detach(|| Recorder::start(&path, open()?)).map_err(raise)?;
        Ok(Self { name: recorder.name(), says: recorder.says().to_owned(), inner: Held::new(recorder) })
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Recorder) -> tare_profile::Result<T> + Send,
    ) -> PyResult<T> {
        self.inner.with(py, "recorder", act)
    }
}

#[pymethods]
impl ProfileRecorder {
    #[staticmethod]
    fn attach(py: Python<'_>, path: PathBuf, pids: Vec<i32>, follow_children: bool) -> PyResult<Self> {
        Self::start(py, path, || profile_attach::open(&pids, follow_children))
    }

    #[staticmethod]
    fn agent(py: Python<'_>, path: PathBuf, folder: PathBuf) -> PyResult<Self> {
        Self::start(py, path, || profile_agent::open(&folder))
    }

    #[staticmethod]
    fn xray(py: Python<'_>, path: PathBuf, folder: PathBuf) -> PyResult<Self> {
        Self::start(py, path, || profile_xray::open(&folder))
    }

    #[staticmethod]
    fn annotation(py: Python<'_>, path: PathBuf, folder: PathBuf) -> PyResult<Self> {
        Self::start(py, path, || {
            Ok(Box::new(tare_profile::annotation::Annotation::over(profile_agent::open(&folder)?)))
        })
    }

    fn set(
        &self,
        py: Python<'_>,
        targets: Vec<TargetTuple>,
        probes: Vec<(u32, String, bool, bool)>,
        mode: &str,
        purpose: &str,
        round: u32,
    ) -> PyResult<Vec<(u32, String)>> {
        let mode = match mode {
            "timing" => Mode::Timing,
            "counting" => Mode::Counting,
            other => return Err(PyValueError::new_err(format!("probes have no mode {other}"))),
        };
        let targets: Vec<Target> = targets.into_iter().map(target).collect();
        let refused = self.with(py, |recorder| {
            let probes = probes.into_iter().map(probe).collect::<tare_profile::Result<Vec<_>>>()?;
            recorder.set(&targets, &probes, mode, purpose, round)
        })?;
        Ok(refused.into_iter().map(|refused| (refused.function, refused.why)).collect())
    }

    fn stepped(&self, py: Python<'_>, targets: Vec<TargetTuple>) -> PyResult<Vec<(u32, bool, bool)>> {
        let targets: Vec<Target> = targets.into_iter().map(target).collect();
        let stepped = self.with(py, |recorder| Ok(recorder.stepped(&targets)))?;
        Ok(stepped.into_iter().map(|one| (one.function, one.entered, one.left)).collect())
    }

    /// Number of functions watched in each way.
    fn watching(&self, py: Python<'_>) -> PyResult<BTreeMap<&'static str, usize>> {
        let ways = self.with(py, |recorder| Ok(recorder.watching()))?;
        Ok(ways.into_iter().map(|(way, functions)| (way.word(), functions)).collect())
    }

    fn calls(&self, py: Python<'_>) -> PyResult<BTreeMap<u32, u64>> {
        Ok(self.with(py, |recorder| recorder.calls())?.into_iter().collect())
    }

    fn alive(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |recorder| Ok(recorder.alive()))
    }

    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Recorder::stop)
    }
}

pub(crate) fn target((id, name, object, address, size, parts): TargetTuple) -> Target {
    Target { id, name, object, address, size, semaphore: 0, parts }
}

fn probe((function, detail, cpu, entry_only): (u32, String, bool, bool)) -> tare_profile::Result<Probe> {
    Ok(Probe { function, detail: detail.parse()?, cpu, entry_only })
}
