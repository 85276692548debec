//! What Python holds until it lets go of it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::error::{closed, raise};

/// Used and let go of without Python's lock.
pub(crate) struct Held<T>(Mutex<Option<T>>);

impl<T: Send> Held<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self(Mutex::new(Some(inner)))
    }

    /// `what` names it in the error that it is closed.
    pub(crate) fn with<R: Send>(
        &self,
        py: Python<'_>,
        what: &str,
        act: impl FnOnce(&mut T) -> tare_probe::Result<R> + Send,
    ) -> PyResult<R> {
        py.detach(|| act(self.lock().as_mut().ok_or_else(|| closed(what))?).map_err(raise))
    }

    /// The last use.
    pub(crate) fn end<R: Send>(
        &self,
        py: Python<'_>,
        what: &str,
        act: impl FnOnce(T) -> tare_probe::Result<R> + Send,
    ) -> PyResult<R> {
        py.detach(|| {
            let inner = self.lock().take();
            act(inner.ok_or_else(|| closed(what))?).map_err(raise)
        })
    }

    /// Safe to repeat.
    pub(crate) fn let_go(&self, py: Python<'_>) {
        py.detach(|| drop(self.lock().take()));
    }

    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
