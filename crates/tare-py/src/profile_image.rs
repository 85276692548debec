//! A binary's functions and calls.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use pyo3::prelude::*;

use crate::error::raise;

/// A function of an executable or library.
#[pyclass(module = "tare._probe", frozen, get_all)]
pub(crate) struct Function {
    address: u64,
    size: u64,
    parts: Vec<(u64, u64)>,
    name: String,
    display: String,
    inferred: bool,
    aliases: Vec<String>,
    first: &'static str,
    no_return: bool,
    indirect_sites: u32,
    address_taken: bool,
    called_directly: bool,
    exported: bool,
}

/// A USDT note.
#[pyclass(module = "tare._probe", frozen, get_all)]
pub(crate) struct Usdt {
    provider: String,
    name: String,
    address: u64,
    semaphore: u64,
    arguments: String,
}

/// What an executable or library says of itself.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct Image {
    inner: RwLock<tare_profile::image::Image>,
}

impl Image {
    fn new(inner: tare_profile::image::Image) -> Self {
        Self { inner: RwLock::new(inner) }
    }

    fn read(&self) -> RwLockReadGuard<'_, tare_profile::image::Image> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, tare_profile::image::Image> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Functions at the places that `ask` gives for the function at `address`.
    fn functions_of(
        &self,
        py: Python<'_>,
        address: u64,
        ask: impl FnOnce(&tare_profile::image::CallGraph, u32) -> Vec<u32> + Send,
    ) -> PyResult<Vec<Function>> {
        py.detach(|| {
            let image = self.read();
            let places = ask(image.graph(), image.entry(address).map_err(raise)?);
            Ok(places.into_iter().map(|place| Function::from(&image.functions()[place as usize])).collect())
        })
    }
}

#[pymethods]
impl Image {
    #[new]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| tare_profile::image::Image::open(path)).map(Self::new).map_err(raise)
    }

    #[staticmethod]
    fn of_process(py: Python<'_>, pid: i32) -> PyResult<Self> {
        py.detach(|| tare_profile::image::Image::of_process(pid)).map(Self::new).map_err(raise)
    }

    fn check(&self, pid: i32) -> PyResult<()> {
        self.read().check(pid).map_err(raise)
    }

    fn require_names(&self) -> PyResult<()> {
        self.read().require_names().map_err(raise)
    }

    #[getter]
    fn path(&self) -> String {
        self.read().path().to_string_lossy().into_owned()
    }

    #[getter]
    fn build_id(&self) -> String {
        self.read().build_id().to_string()
    }

    #[getter]
    fn preloadable(&self) -> bool {
        self.read().preloadable()
    }

    #[getter]
    fn says(&self) -> String {
        self.read().says()
    }

    #[getter]
    fn counts(&self) -> BTreeMap<&'static str, usize> {
        self.read().counts().named().into()
    }

    fn functions(&self, py: Python<'_>) -> Vec<Function> {
        py.detach(|| self.read().functions().iter().map(Function::from).collect())
    }

    fn find(&self, py: Python<'_>, name: &str) -> Vec<Function> {
        py.detach(|| self.read().find(name).into_iter().map(Function::from).collect())
    }

    #[pyo3(signature = (name, most=5))]
    fn near(&self, py: Python<'_>, name: &str, most: usize) -> Vec<String> {
        py.detach(|| self.read().near(name, most))
    }

    fn function_at(&self, address: u64) -> Option<Function> {
        self.read().function_at(address).map(Function::from)
    }

    fn name_at(&self, address: u64) -> String {
        self.read().name_at(address)
    }

    fn calls_by_pointer(&self, return_address: u64) -> bool {
        self.read().calls_by_pointer(return_address)
    }

    fn calls(&self, return_address: u64) -> bool {
        self.read().calls(return_address)
    }

    fn is_indirect(&self, name: &str) -> bool {
        self.read().is_indirect(name)
    }

    fn implementation(
        &self,
        py: Python<'_>,
        pid: i32,
        name: &str,
        callers: Vec<PyRef<'_, Self>>,
    ) -> PyResult<Option<Function>> {
        // The image may be among its own callers: reading it twice is safe, since nobody waits to write meanwhile.
        let callers: Vec<&Self> = callers.iter().map(|caller| &**caller).collect();
        py.detach(|| {
            let image = self.read();
            let callers: Vec<_> = callers.iter().map(|caller| caller.read()).collect();
            let callers: Vec<&tare_profile::image::Image> = callers.iter().map(|caller| &**caller).collect();
            image.implementation(pid, name, &callers).map(|found| found.map(Function::from)).map_err(raise)
        })
    }

    fn children(&self, py: Python<'_>, address: u64) -> PyResult<Vec<Function>> {
        self.functions_of(py, address, |graph, place| graph.children(place))
    }

    fn callees(&self, address: u64) -> PyResult<Vec<(u64, String)>> {
        let image = self.read();
        let place = image.entry(address).map_err(raise)?;
        let own = image.graph().callees(place).iter().map(|edge| &image.functions()[edge.to as usize]);
        let own = own.map(|function| (function.address, function.name.clone()));
        Ok(own.chain(image.others(place).map(|name| (0, name.to_string()))).collect())
    }

    fn callers(&self, py: Python<'_>, address: u64) -> PyResult<Vec<Function>> {
        self.functions_of(py, address, |graph, place| graph.callers(place))
    }

    fn learn(&self, caller: u64, callee: u64) -> bool {
        self.write().learn(caller, callee)
    }

    fn reachable(&self, py: Python<'_>, roots: Vec<u64>) -> PyResult<Vec<u64>> {
        py.detach(|| {
            let image = self.read();
            let roots = roots
                .into_iter()
                .map(|root| image.entry(root))
                .collect::<Result<Vec<_>, _>>()
                .map_err(raise)?;
            let places = image.graph().reachable(&roots);
            Ok(places.into_iter().map(|place| image.functions()[place as usize].address).collect())
        })
    }

    fn heights(&self, py: Python<'_>, root: u64) -> PyResult<BTreeMap<u64, u32>> {
        py.detach(|| {
            let image = self.read();
            let reached = image.graph().reachable(&[image.entry(root).map_err(raise)?]);
            let heights = image.graph().heights();
            let height = |place: u32| (image.functions()[place as usize].address, heights[place as usize]);
            Ok(reached.into_iter().map(height).collect())
        })
    }

    fn largest_cycle(&self, py: Python<'_>, root: u64) -> PyResult<Vec<Function>> {
        self.functions_of(py, root, |graph, root| graph.largest_cycle(&graph.reachable(&[root])))
    }

    fn naive_nodes(&self, py: Python<'_>, root: u64) -> PyResult<(f64, f64)> {
        py.detach(|| {
            let image = self.read();
            let size = image.graph().tree_size(image.entry(root).map_err(raise)?);
            Ok((size.nodes, size.leaves))
        })
    }

    fn usdt(&self) -> Vec<Usdt> {
        self.read().usdt().iter().map(Usdt::from).collect()
    }
}

impl From<&tare_profile::image::Function> for Function {
    fn from(function: &tare_profile::image::Function) -> Self {
        Self {
            address: function.address,
            size: function.size,
            parts: function.parts.clone(),
            name: function.name.clone(),
            display: function.display(),
            inferred: function.inferred,
            aliases: function.aliases.clone(),
            first: function.first.as_str(),
            no_return: function.no_return,
            indirect_sites: function.indirect_sites,
            address_taken: function.address_taken,
            called_directly: function.called_directly,
            exported: function.exported,
        }
    }
}

impl From<&tare_profile::image::Usdt> for Usdt {
    fn from(note: &tare_profile::image::Usdt) -> Self {
        Self {
            provider: note.provider.clone(),
            name: note.name.clone(),
            address: note.address,
            semaphore: note.semaphore,
            arguments: note.arguments.clone(),
        }
    }
}
