//! User-mode instructions of processes, from the CPU's own counter.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::error::{ProbeError, Result};
use crate::procfs::list::Ids;

/// The head of `struct perf_event_attr`, to its first published size (PERF_ATTR_SIZE_VER0).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const PERF_TYPE_HARDWARE: u32 = 0;
const PERF_COUNT_HW_INSTRUCTIONS: u64 = 1;
const TOTAL_TIME_ENABLED: u64 = 1;
const TOTAL_TIME_RUNNING: u64 = 2;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HV: u64 = 1 << 6;
const INHERIT_THREAD: u64 = 1 << 35;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;

/// One counter a thread, added up when read.
#[derive(Debug)]
pub struct Instructions {
    counters: Vec<OwnedFd>,
}

impl Instructions {
    /// Counts from now on in every thread of `pids` (and threads they start), and in all of `with_children` and
    /// whatever those fork from now on.
    pub fn count(pids: &[i32], with_children: &[i32]) -> Result<Self> {
        let mut counters = Vec::new();
        for &pid in with_children {
            attach(pid, &[INHERIT], &mut counters)?;
        }
        for &pid in pids.iter().filter(|pid| !with_children.contains(pid)) {
            // Kernels before 5.13 cannot follow threads without following children.
            attach(pid, &[INHERIT | INHERIT_THREAD, 0], &mut counters)?;
        }
        Ok(Self { counters })
    }

    /// Instructions so far. An error if the CPU was shared with other counters, so that only part was counted.
    pub fn read(&self) -> Result<u64> {
        let mut sum = 0u64;
        for fd in &self.counters {
            let mut values = [0u64; 3];
            // SAFETY: the buffer is as long as is said.
            let n = unsafe { libc::read(fd.as_raw_fd(), values.as_mut_ptr().cast(), size_of_val(&values)) };
            if n < 0 {
                return Err(refusal(&io::Error::last_os_error(), "cannot read the instruction counter"));
            }
            let [count, enabled, running] = values;
            if running < enabled {
                return Err(ProbeError::new(
                    "the instruction counter was shared, so that part of the instructions was not counted",
                    "stop other users of hardware counters (perf, the NMI watchdog: kernel.nmi_watchdog=0)",
                ));
            }
            sum = sum.saturating_add(count);
        }
        Ok(sum)
    }
}

fn attach(pid: i32, inherits: &[u64], counters: &mut Vec<OwnedFd>) -> Result<()> {
    let mut tids = Vec::new();
    Ids::open(&format!("/proc/{pid}/task"))
        .and_then(|folder| folder.read(&mut tids, &mut Vec::new()))
        .map_err(|e| {
            ProbeError::os(
                format!("cannot count instructions of process {pid}"),
                &e,
                "name a process that is alive",
            )
        })?;
    for tid in tids {
        let mut result = Err(io::Error::from_raw_os_error(libc::EINVAL));
        for &inherit in inherits {
            result = open(tid, inherit);
            if result.as_ref().err().and_then(io::Error::raw_os_error) != Some(libc::EINVAL) {
                break;
            }
        }
        match result {
            Ok(fd) => counters.push(fd),
            // It ended after it was listed.
            Err(e) if e.raw_os_error() == Some(libc::ESRCH) => {}
            Err(e) => return Err(refusal(&e, &format!("cannot count instructions of process {pid}"))),
        }
    }
    Ok(())
}

fn open(tid: i32, inherit: u64) -> io::Result<OwnedFd> {
    let attributes = Attributes {
        kind: PERF_TYPE_HARDWARE,
        size: size_of::<Attributes>() as u32,
        config: PERF_COUNT_HW_INSTRUCTIONS,
        read_format: TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING,
        flags: EXCLUDE_KERNEL | EXCLUDE_HV | inherit,
        ..Attributes::default()
    };
    // SAFETY: the struct has the kernel's layout and says its size; a non-negative result is ours to own.
    unsafe {
        let any_cpu = -1;
        let no_group = -1;
        let fd = libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            tid,
            any_cpu,
            no_group,
            PERF_FLAG_FD_CLOEXEC,
        );
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd as i32)) }
    }
}

fn refusal(error: &io::Error, what: &str) -> ProbeError {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENXIO) => ProbeError {
            what: format!("{what}: this machine (probably a virtual machine) exposes no instruction counter"),
            next_step: "measure on bare metal, or let the hypervisor pass the CPU's counters through"
                .to_owned(),
            errno: libc::ENOENT,
        },
        Some(libc::EACCES | libc::EPERM) => ProbeError::os(
            what,
            error,
            "run as root or with CAP_PERFMON; for processes of your own, kernel.perf_event_paranoid=2 is enough",
        ),
        Some(libc::ENOSYS) => ProbeError::os(what, error, "use a kernel built with CONFIG_PERF_EVENTS"),
        Some(libc::EMFILE) => ProbeError::os(what, error, "raise the limit of open files (ulimit -n)"),
        _ => ProbeError::os(what, error, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_struct_has_the_size_the_kernel_knows() {
        assert_eq!(size_of::<Attributes>(), 64);
    }

    #[test]
    fn our_own_instructions_are_counted_or_the_refusal_says_why() {
        match Instructions::count(&[std::process::id() as i32], &[]) {
            Ok(counter) => {
                let before = counter.read().unwrap();
                std::hint::black_box((0..100_000u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
                assert!(counter.read().unwrap() > before + 100_000);
            }
            Err(error) => assert!(!error.next_step.is_empty(), "{error}"),
        }
    }

    #[test]
    fn a_process_that_is_not_there_is_named() {
        assert!(Instructions::count(&[i32::MAX], &[]).unwrap_err().what.contains("2147483647"));
    }
}
