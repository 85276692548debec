//! How much of its core a CPU has from one moment to the next.
//!
//! Two kinds of work, neither of which touches memory. In a *chain* each operation waits for the one before: a core's
//! units are idle most of the time, and what a sibling thread takes of them is not missed. *Wide* work has operations
//! that could go at the same time, and takes longer as soon as somebody else uses the core. A change of the clock's
//! frequency changes both alike. So a guest sees its neighbours' threads, which no counter tells it of.

use std::hint::black_box;
use std::{io, thread};

use crate::error::{ProbeError, Result};

/// Iterations: about a millisecond each.
const CHAIN: u64 = 500_000;
const WIDE: u64 = 500_000;

/// The same work of either kind, once: CPU time, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Operations that wait for each other.
    pub chain_ns: u64,
    /// Operations that could go at the same time.
    pub wide_ns: u64,
}

/// So many turns on this CPU, some 2 ms each, in a thread of their own.
pub fn turns(cpu: usize, count: usize) -> Result<Vec<Turn>> {
    let worker = thread::spawn(move || {
        stay_on(cpu)?;
        once(); // its code is in the cache from here on
        Ok((0..count).map(|_| once()).collect())
    });
    worker.join().unwrap_or_else(|_| Err(io::Error::other("the thread ended"))).map_err(|error| {
        ProbeError::os(
            format!("no thread can work on CPU {cpu}"),
            &error,
            "name a CPU that this process may use",
        )
    })
}

fn once() -> Turn {
    Turn { chain_ns: timed(chain), wide_ns: timed(wide) }
}

fn timed(work: fn()) -> u64 {
    let before = thread_cpu_ns();
    work();
    thread_cpu_ns() - before
}

#[inline(never)]
fn chain() {
    let mut x = black_box(88_172_645_463_325_252u64);
    for i in 0..CHAIN {
        x = x.wrapping_mul(x | 5).wrapping_add(i); // not linear: of a linear row a compiler takes several steps at once
    }
    black_box(x);
}

/// More operations at once than a core can start in a cycle, each row of another shape: rows alike would become vectors.
#[inline(never)]
fn wide() {
    let (mut a, mut b, mut c, mut d, mut e, mut f) = black_box((1u64, 2u64, 3u64, 4u64, 5u64, 6u64));
    for i in 0..WIDE {
        a = a.rotate_left(7).wrapping_add(i);
        b = (b ^ i).rotate_left(13);
        c = c.wrapping_sub(i).rotate_left(21);
        d = d.wrapping_add(d >> 5) ^ i;
        e = e.wrapping_add(e << 3).wrapping_add(i);
        f = f.rotate_left(31) ^ (i | 3);
    }
    black_box((a, b, c, d, e, f));
}

fn thread_cpu_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec that the call fills in.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn stay_on(cpu: usize) -> io::Result<()> {
    // SAFETY: all zeros are an empty set, CPU_SET writes within it, and the call reads it; 0 is this thread.
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if cpu >= libc::CPU_SETSIZE as usize {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mine() -> usize {
        // SAFETY: it has no preconditions.
        usize::try_from(unsafe { libc::sched_getcpu() }).unwrap()
    }

    #[test]
    fn each_turn_takes_time_of_both_kinds() {
        let some = turns(mine(), 5).unwrap();
        assert_eq!(some.len(), 5);
        for turn in some {
            for ns in [turn.chain_ns, turn.wide_ns] {
                assert!((50_000..500_000_000).contains(&ns), "{turn:?}");
            }
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named() {
        for cpu in [1023, 1 << 20] {
            let error = turns(cpu, 1).unwrap_err();
            assert!(error.what.contains(&cpu.to_string()), "{error}");
        }
    }

    #[test]
    fn the_caller_stays_where_it_may_run() {
        let before = thread::available_parallelism().unwrap();
        turns(mine(), 1).unwrap();
        assert_eq!(thread::available_parallelism().unwrap(), before);
    }
}
