//! Calls one by one, of chosen stretches.

use super::told::*;
use crate::recording::tests::Script;
use crate::transactions::{Slice, Stretch, slices};

fn found(
    threads: impl IntoIterator<Item = Thread>,
    stretches: &[(i32, u64, u64)],
) -> Vec<(u32, u64, u64, u32)> {
    found_in(script(threads), stretches)
}

fn found_in(script: Script, stretches: &[(i32, u64, u64)]) -> Vec<(u32, u64, u64, u32)> {
    let (_file, recording) = script.recorded();
    let stretches: Vec<_> = stretches
        .iter()
        .map(|(tid, begin_ns, end_ns)| Stretch { thread: (10, *tid), begin_ns: *begin_ns, end_ns: *end_ns })
        .collect();
    let told = |one: Slice| (one.function, one.begin_ns, one.end_ns, one.depth);
    let mut found = Vec::new();
    slices(&recording, &stretches, |calls| found.extend(calls.into_iter().map(told))).unwrap();
    found
}

fn nested() -> Thread {
    Thread::new(1).enter(10, 1).enter(20, 2).exit(30, 2).enter(30, 3).exit(40, 3).exit(50, 1)
}

#[test]
fn calls_come_with_what_is_around_them() {
    assert_eq!(found([nested()], &[(1, 0, 100)]), [(1, 10, 50, 0), (2, 20, 30, 1), (3, 30, 40, 1)]);
}

#[test]
fn a_call_is_cut_to_its_stretch_and_may_be_in_several() {
    assert_eq!(
        found([nested()], &[(1, 25, 30), (1, 45, 99)]),
        [(1, 25, 30, 0), (2, 25, 30, 1), (1, 45, 50, 0)]
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
    assert_eq!(found([thread], &[(1, 0, 100)]), [(1, 1, 9, 0), (2, 2, 9, 1), (3, 3, 9, 2)]);
}

#[test]
fn a_call_goes_on_where_its_stretch_ends() {
    assert_eq!(
        found([nested()], &[(1, 5, 25), (1, 35, 38)]),
        [(1, 10, 25, 0), (2, 20, 25, 1), (1, 35, 38, 0), (3, 35, 38, 1)]
    );
}

#[test]
fn stretches_that_overlap_show_a_call_once() {
    assert_eq!(
        found([nested()], &[(1, 15, 35), (1, 25, 45)]),
        [(1, 15, 45, 0), (2, 20, 30, 1), (3, 30, 40, 1)]
    );
}

#[test]
fn a_function_that_another_window_only_counts_has_its_calls_in_the_one_that_times_it() {
    let thread = Thread::new(1)
        .enter(10, 1)
        .enter(20, 2)
        .exit(90, 1)
        .enter(110, 1)
        .enter(120, 2)
        .exit(130, 2)
        .exit(150, 1);
    let mut script = script([thread]);
    script.spans = vec![window(0, 0, 100), window(1, 100, 200)];
    script.spans[0].entry_only.push(2);
    assert_eq!(
        found_in(script, &[(1, 0, 100), (1, 105, 160)]),
        [(1, 10, 90, 0), (1, 110, 150, 0), (2, 120, 130, 1)]
    );
}

#[test]
fn calls_that_were_open_at_the_end_of_a_window_are_not_around_those_of_the_next() {
    let thread = Thread::new(1).enter(10, 1).enter(110, 1).exit(150, 1);
    let mut script = script([thread]);
    script.spans = vec![window(0, 0, 100), window(1, 100, 200)];
    assert_eq!(found_in(script, &[(1, 105, 160)]), [(1, 110, 150, 0)]);
}
