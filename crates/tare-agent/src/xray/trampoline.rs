//! XRay's trampolines, at which patched sleds arrive, go on to ours.

use std::ptr;

use tare_rings::Refusal;

use crate::near::{PAGE, protect};

/// `jmp [rip]`, with the address to go to behind it. XRay's shortest trampoline has some ninety bytes.
const JUMP: [u8; 6] = [0xff, 0x25, 0, 0, 0, 0];
const LENGTH: usize = JUMP.len() + size_of::<usize>();

/// From now on who comes to the first of a pair goes on to the second.
///
/// # Safety
/// Each first one is code of at least `LENGTH` bytes, and no thread runs in it.
pub unsafe fn lead(pairs: [(usize, usize); 4]) -> Result<(), Refusal> {
    let from = pairs.iter().map(|(at, _)| at & !(PAGE - 1)).min().unwrap_or(0);
    let length =
        pairs.iter().map(|(at, _)| (at + LENGTH).next_multiple_of(PAGE)).max().unwrap_or(from) - from;
    let executable = libc::PROT_READ | libc::PROT_EXEC;
    protect(from, length, executable | libc::PROT_WRITE)?;
    for (at, to) in pairs {
        // SAFETY: the caller's promise; the pages can be written to.
        unsafe {
            ptr::copy_nonoverlapping(JUMP.as_ptr(), at as *mut u8, JUMP.len());
            ptr::write_unaligned((at + JUMP.len()) as *mut usize, to);
        }
    }
    protect(from, length, executable)
}
