//! BPF array maps in our own memory.

use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{MapCore, MapHandle};
use memmap2::{MmapOptions, MmapRaw};
use tare_probe::{ProbeError, Result};

/// Maps an array map whose values are of `T`; the kernel's programs may write to it at any time.
pub(super) fn mapped<T>(map: &MapHandle) -> Result<MmapRaw> {
    debug_assert_eq!(map.value_size() as usize, size_of::<T>());
    let length = map.max_entries() as usize * size_of::<T>();
    MmapOptions::new().len(length).map_raw(map.as_fd().as_raw_fd()).map_err(|e| {
        ProbeError::os("a map of the BPF program cannot be had in memory", &e, "use Linux 5.15 or later")
    })
}
