//! Calls of functions that do nothing.

use pyo3::prelude::*;

/// Nanoseconds that so many calls take, of the function over whose instructions the kernel steps, or of the other.
#[pyfunction]
pub(crate) fn burst(stepped: bool, calls: u32) -> u64 {
    tare_profile::burst::burst(stepped, calls)
}
