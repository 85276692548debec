//! The kernel's probes on running processes.

#[cfg(not(feature = "bpf"))]
use tare_profile::ProbeError;
use tare_profile::Result;
use tare_profile::backend::Backend;

#[cfg(feature = "bpf")]
pub(crate) fn open(pids: &[i32], follow_children: bool) -> Result<Box<dyn Backend>> {
    Ok(Box::new(tare_profile::attach::Attach::open(pids, follow_children)?))
}

#[cfg(not(feature = "bpf"))]
pub(crate) fn open(_pids: &[i32], _follow_children: bool) -> Result<Box<dyn Backend>> {
    Err(ProbeError::new(
        "this build of Tare cannot set probes on running processes: it has no BPF",
        "install clang and libelf-dev, and build it again: make build",
    ))
}
