//! The BPF programs of the traces.

mod audit;
mod os;
mod raw;
mod runs;

pub(crate) use self::audit::Audit;
pub(crate) use self::os::Programs;
