//! What must be so in the process before its code is changed.

use std::fs;
use std::os::unix::fs::MetadataExt;

use tare_rings::Refusal;

/// arch_prctl: which shadow-stack features are on.
const ARCH_SHSTK_STATUS: libc::c_long = 0x5005;

/// Inode of the name space that process numbers here are of.
pub(crate) fn pid_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |about| about.ino())
}

/// One thread, and a processor that does not compare return addresses.
pub(crate) fn check() -> Result<(), Refusal> {
    if fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() > 1) {
        return Err(Refusal::Threads);
    }
    let mut features: u64 = 0;
    // SAFETY: writes 8 bytes to `features`, or fails on kernels without it.
    let asked = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SHSTK_STATUS, &mut features) };
    if asked == 0 && features & 1 != 0 { Err(Refusal::ShadowStack) } else { Ok(()) }
}
