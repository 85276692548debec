//! What loading costs the driver's own process.

use std::fs;
use std::mem::MaybeUninit;

use crate::oltp::events::DriverCost;

/// CPU time of the process until now, ns.
pub struct Before(u64);

impl Before {
    pub fn now() -> Self {
        Self(cpu_ns())
    }

    /// Since then; memory at its most.
    pub fn own(&self) -> DriverCost {
        DriverCost { cpu_ns: cpu_ns() - self.0, peak_rss_bytes: peak_rss_bytes().unwrap_or(0) }
    }
}

fn cpu_ns() -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the kernel fills `time`; the clock exists on every Linux, so the call cannot fail.
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn peak_rss_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}
