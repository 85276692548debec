//! The kernel's own counts of its programs.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use libbpf_rs::{Object, libbpf_sys};
use tare_probe::bpf::load::program;
use tare_probe::{ProbeError, Result};

/// What the kernel counts of one of its programs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Runs {
    /// 0 unless `count_run_times` is on, as is `ns`.
    pub count: u64,
    /// Their time.
    pub ns: u64,
    /// How often the kernel passed over the program because it was at work on that CPU already.
    pub passed_over: u64,
}

pub(super) fn runs_of(object: &mut Object, name: &str) -> Result<Runs> {
    let program = program(object, name)?;
    let mut info = libbpf_sys::bpf_prog_info::default();
    let mut length = size_of::<libbpf_sys::bpf_prog_info>() as u32;
    // SAFETY: `info` is as long as `length` says, and asks for no arrays.
    let refused = unsafe {
        libbpf_sys::bpf_obj_get_info_by_fd(
            program.as_fd().as_raw_fd(),
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if refused != 0 {
        let error = std::io::Error::from_raw_os_error(-refused);
        return Err(ProbeError::os(format!("the kernel says nothing of its program {name}"), &error, ""));
    }
    Ok(Runs { count: info.run_cnt, ns: info.run_time_ns, passed_over: info.recursion_misses })
}

/// The kernel counts runs and run times of all programs while this is open. None where it refuses to.
pub(super) fn count_run_times() -> Option<OwnedFd> {
    // SAFETY: no pointers; what comes back is a descriptor of ours, or negative.
    let descriptor = unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) };
    // SAFETY: it is open, and nobody else has it.
    (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) })
}
