//! Memory near code (a jump of 5 bytes reaches 2 GiB), and the protection of pages.

use std::ffi::c_void;
use std::fs;

use tare_rings::Refusal;

pub(crate) const PAGE: usize = 4096;
const REACH: usize = 0x7fff_0000;
/// Room left between a zone and its neighbours.
const GUARD: usize = 1 << 20;
/// The lowest address that may be mapped.
const LOWEST: usize = 1 << 16;
/// Above a program is its heap, which grows upwards.
const HEAP: usize = 1 << 30;

/// Address of reserved memory of `length` bytes within reach of all code from `begin` to `end`. Not accessible yet.
pub(crate) fn reserve(begin: usize, end: usize, length: usize) -> Option<usize> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let mut taken: Vec<(usize, usize)> = maps
        .lines()
        .filter_map(|line| {
            let (from, to) = line.split_whitespace().next()?.split_once('-')?;
            Some((usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?))
        })
        .collect();
    taken.sort_unstable();
    candidates(&taken, begin, end, length).into_iter().find(|at| map(*at, length))
}

pub(crate) fn protect(at: usize, length: usize, protection: i32) -> Result<(), Refusal> {
    // SAFETY: whole pages: of a zone of ours, or of code that stays readable and executable throughout.
    if unsafe { libc::mprotect(at as *mut c_void, length, protection) } == 0 {
        Ok(())
    } else {
        Err(Refusal::Protected)
    }
}

/// Places to try: the nearest below first.
fn candidates(taken: &[(usize, usize)], begin: usize, end: usize, length: usize) -> Vec<usize> {
    let length = length.div_ceil(4096) * 4096;
    let reaches = |at: usize| at.max(end).max(at + length) - at.min(begin) < REACH;
    let mut below = Vec::new();
    let mut above = Vec::new();
    let mut free_from = LOWEST;
    for (from, to) in taken.iter().copied().chain([(usize::MAX >> 17, usize::MAX >> 17)]) {
        if from > free_from && from - free_from >= length {
            let room = (from - free_from - length) / 2;
            if from <= begin {
                below.push((from - length - room.min(GUARD)) & !4095);
            } else if free_from >= end {
                // Not where the heap will be, if there is a choice.
                for distance in [HEAP, GUARD.min(room)] {
                    if distance <= room * 2 {
                        above.push((free_from + distance) & !4095);
                    }
                }
            }
        }
        free_from = free_from.max(to);
    }
    below.reverse();
    below.into_iter().chain(above).filter(|at| reaches(*at)).collect()
}

fn map(at: usize, length: usize) -> bool {
    // SAFETY: new memory, and none if something is there already.
    let got = unsafe {
        libc::mmap(
            at as *mut c_void,
            length,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE,
            -1,
            0,
        )
    };
    if got == libc::MAP_FAILED {
        return false;
    }
    if got as usize != at {
        // SAFETY: what a kernel that does not know the flag gave instead.
        unsafe { libc::munmap(got, length) };
        return false;
    }
    true
}
