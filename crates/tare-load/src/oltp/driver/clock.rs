//! CLOCK_MONOTONIC, and sleeping until an instant on it.

use std::mem::MaybeUninit;

/// In ns.
pub(super) const SECOND: i64 = 1_000_000_000;

/// The instant, in ns.
pub(super) fn now() -> i64 {
    read(libc::CLOCK_MONOTONIC)
}

/// User and system time of this process so far, in ns.
pub(super) fn process_cpu() -> i64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Until the instant. Absolute, so that being preempted before the call costs nothing.
pub(super) fn sleep_until(instant: i64) {
    let until = libc::timespec { tv_sec: instant / SECOND, tv_nsec: instant % SECOND };
    // SAFETY: `until` outlives the call; with TIMER_ABSTIME nothing is written back.
    while unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const until,
            std::ptr::null_mut(),
        )
    } == libc::EINTR
    {}
}

/// The kernel may round the calling thread's sleeps up by so little: 1 ns, where it is 50 µs by default.
pub(super) fn sleep_precisely() {
    // SAFETY: takes one number, concerns the calling thread alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

/// Seconds of a request as ns.
pub(super) fn ns(seconds: f64) -> i64 {
    (seconds * SECOND as f64).round() as i64
}

fn read(clock: libc::clockid_t) -> i64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the kernel fills `time`; both clocks exist on every Linux, so the call cannot fail.
    let time = unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec * SECOND + time.tv_nsec
}
