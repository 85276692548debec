//! kernel.task_delayacct: whether the kernel sums up waits for block I/O.
//!
//! Tasks that were created while it was off have no sum even after it is switched on, and /proc gives 0 for
//! them; only the BPF tier can tell such a task from one that never waited.

use std::sync::{Mutex, PoisonError};

use crate::procfs::kept::Kept;

/// Whether it is on; `None` where the kernel has no such switch.
pub fn accounting() -> Option<bool> {
    static FILE: Mutex<Option<Kept>> = Mutex::new(None);
    let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = file.get_or_insert_with(|| Kept::new("/proc/sys/kernel/task_delayacct".to_owned()));
    let mut buffer = Vec::new();
    match file.read(&mut buffer) {
        Ok(text) => Some(text.first() == Some(&b'1')),
        // Before 5.14 there was no switch: it was on unless the kernel was booted with nodelayacct.
        Err(_) => None,
    }
}
