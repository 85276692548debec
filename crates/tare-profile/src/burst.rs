//! Two functions that do nothing, to learn what probes on them cost: of one the kernel emulates the instructions that
//! carry them, over those of the other it steps.

use std::time::Instant;

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".text",
    ".p2align 4",
    ".type tare_burst_emulated, @function",
    "tare_burst_emulated:",
    "push rbx",
    "pop rbx",
    "jmp tare_burst_end",
    ".size tare_burst_emulated, . - tare_burst_emulated",
    ".p2align 4",
    ".type tare_burst_end, @function",
    "tare_burst_end:",
    "ret",
    ".size tare_burst_end, . - tare_burst_end",
    ".p2align 4",
    ".type tare_burst_stepped, @function",
    "tare_burst_stepped:",
    "mov eax, edi",
    "ret",
    ".size tare_burst_stepped, . - tare_burst_stepped",
);

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    fn tare_burst_emulated();
    fn tare_burst_stepped();
}

/// Nanoseconds that so many calls take, of the function that is stepped over or of the other.
#[cfg(target_arch = "x86_64")]
pub fn burst(stepped: bool, calls: u32) -> u64 {
    let function = if stepped { tare_burst_stepped } else { tare_burst_emulated };
    let begun = Instant::now();
    for _ in 0..calls {
        // SAFETY: assembly above that keeps all registers but rax, which a call may change.
        unsafe { function() };
    }
    begun.elapsed().as_nanos() as u64
}

/// No probe can be set on this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub fn burst(_stepped: bool, _calls: u32) -> u64 {
    0
}
