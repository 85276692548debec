//! The calls in which a thread was seen last.

use super::told::*;
use crate::transactions::last_calls;

fn last(thread: Thread) -> Option<(u64, Vec<u32>)> {
    let (_file, recording) = script([thread]).recorded();
    last_calls(&recording, (10, 1)).unwrap().map(|last| (last.seen_ns, last.functions))
}

fn within() -> Thread {
    Thread::new(1).enter(10, 1).enter(20, 2).exit(30, 2).enter(40, 3).enter(50, 4)
}

#[test]
fn calls_that_are_open_at_the_end_are_the_last() {
    assert_eq!(last(within()), Some((50, vec![1, 3, 4])));
    assert_eq!(last(within().exit(60, 3)), Some((60, vec![1])));
}

#[test]
fn calls_that_the_threads_end_left_were_open_until_then() {
    assert_eq!(last(within().left_now(90, 4).left_now(90, 3).left_now(90, 1)), Some((50, vec![1, 3, 4])));
    assert_eq!(
        last(within().left_now(90, 4).left_now(90, 3).exit(95, 1)),
        Some((95, vec![])),
        "an exception"
    );
}

#[test]
fn nothing_is_known_of_a_thread_without_records_or_after_lost_ones() {
    let (_file, recording) = script([within()]).recorded();
    assert_eq!(last_calls(&recording, (10, 2)).unwrap(), None);
    assert_eq!(last(within().lost(70, 3)), Some((70, vec![])));
}

#[test]
fn calls_are_known_until_their_window_is_over() {
    let mut two = script([within().enter(1_050, 1)]);
    two.spans = vec![window(0, 0, 100), window(1, 1_000, 1_200)];
    let (_file, recording) = two.recorded();
    let last = last_calls(&recording, (10, 1)).unwrap().unwrap();
    assert_eq!((last.functions, last.watched_until_ns), (vec![1], 1_200));
    let (_file, recording) = script([within()]).recorded();
    assert_eq!(last_calls(&recording, (10, 1)).unwrap().unwrap().watched_until_ns, 10_000);
}
