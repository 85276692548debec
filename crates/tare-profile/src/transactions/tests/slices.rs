//! Calls one by one, of chosen stretches.

use super::told::*;
use crate::transactions::{Slice, Stretch, slices};

fn found(
    threads: impl IntoIterator<Item = Thread>,
    stretches: &[(i32, u64, u64)],
) -> Vec<(u32, u64, u64, u32)> {
    let (_file, recording) = script(threads).recorded();
    let stretches: Vec<_> = stretches
        .iter()
        .map(|(tid, begin_ns, end_ns)| Stretch { thread: (10, *tid), begin_ns: *begin_ns, end_ns: *end_ns })
        .collect();
    let told = |one: Slice| (one.function, one.begin_ns, one.end_ns, one.depth);
    slices(&recording, &stretches).unwrap().into_iter().map(told).collect()
}

fn nested() -> Thread {
    Thread::new(1).enter(10, 1).enter(20, 2).exit(30, 2).enter(30, 3).exit(40, 3).exit(50, 1)
}

#[test]
fn calls_come_with_what_is_around_them() {
    assert_eq!(found([nested()], &[(1, 0, 100)]), [(2, 20, 30, 1), (3, 30, 40, 1), (1, 10, 50, 0)]);
}

#[test]
fn a_call_is_cut_to_its_stretch_and_may_be_in_several() {
    assert_eq!(
        found([nested()], &[(1, 25, 30), (1, 45, 99)]),
        [(2, 25, 30, 1), (1, 25, 30, 0), (1, 45, 50, 0)]
    );
}

#[test]
fn another_threads_calls_are_not_in_it() {
    let other = Thread::new(2).enter(11, 4).exit(12, 4);
    assert_eq!(found([nested(), other], &[(2, 0, 100)]), [(4, 11, 12, 0)]);
}

#[test]
fn calls_without_an_exit_end_with_their_callers() {
    let thread = Thread::new(1).enter(1, 1).enter(2, 2).enter(3, 3).exit(9, 1);
    assert_eq!(found([thread], &[(1, 0, 100)]), [(3, 3, 9, 2), (2, 2, 9, 1), (1, 1, 9, 0)]);
}
