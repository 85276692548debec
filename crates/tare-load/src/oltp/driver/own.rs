//! What the driver itself costs: its whole process, with the interpreter that started it.

use std::fs;

use super::clock;
use crate::oltp::told::Own;

/// CPU time since `cpu_before`, and the most memory that was ever resident.
pub(super) fn own(cpu_before: i64) -> Own {
    Own { cpu_ns: (clock::process_cpu() - cpu_before).max(0) as u64, peak_rss_bytes: peak_rss() }
}

/// VmHWM; 0 where /proc cannot be read.
fn peak_rss() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}
