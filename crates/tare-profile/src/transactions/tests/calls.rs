//! Calls in transactions that are a function's.

use super::told::*;
use crate::backend::Detail;
use crate::profile::Why::{self, Valid};
use crate::profile::Window;
use crate::recording::Span;
use crate::rules::Rules;
use crate::transactions::MAX_DEPTH;

const ROOT: Rules = Rules::Function { root: 1 };

#[test]
fn a_call_is_a_transaction_and_its_time_is_shared_out() {
    let thread = Thread::new(1)
        .enter(10, 1)
        .enter(20, 2)
        .enter(25, 3)
        .exit(30, 3)
        .exit(40, 2)
        .enter(41, 3)
        .exit(42, 3);
    let profile = profile(&ROOT, [thread.exit(50, 1)]);
    assert_eq!(told(&profile), [(10, 40, Valid)]);
    let expected = [
        (path(&[]), (1, 40, 0)),
        (path(&[1]), (1, 40, 19)),
        (path(&[1, 2]), (1, 20, 15)),
        (path(&[1, 2, 3]), (1, 5, 5)),
        (path(&[1, 3]), (1, 1, 1)),
    ];
    assert_eq!(times(&profile, 0), expected.into());
}

#[test]
fn call_sites_are_paths_of_their_own() {
    let thread =
        Thread::new(1).enter(0, 1).enter_with(1, 2, 7).exit(3, 2).enter_with(4, 2, 8).exit(5, 2).exit(9, 1);
    let profile = profile(&ROOT, [thread]);
    let sites: Vec<_> =
        profile.paths.iter().filter(|path| path.function == Some(2)).map(|path| path.site).collect();
    assert_eq!(sites, [7, 8]);
    assert_eq!(times(&profile, 0)[&path(&[1, 2])], (2, 3, 3));
}

#[test]
fn what_happens_outside_of_transactions_is_in_none() {
    let thread =
        Thread::new(1).exit(1, 9).enter(2, 2).enter(3, 1).enter(4, 2).exit(5, 2).exit(6, 1).exit(9, 2);
    let profile = profile(&ROOT, [thread]);
    assert_eq!(told(&profile), [(3, 3, Valid)]);
    assert_eq!(times(&profile, 0)[&path(&[1, 2])], (1, 1, 1));
}

#[test]
fn a_function_that_calls_itself_is_one_path() {
    let thread =
        Thread::new(1).enter(0, 1).enter(1, 2).enter(2, 2).enter(3, 3).exit(4, 3).exit(5, 2).exit(7, 2);
    let profile = profile(&ROOT, [thread.exit(8, 1)]);
    let times = times(&profile, 0);
    assert_eq!(times[&path(&[1, 2])], (2, 6, 5));
    assert_eq!(times[&path(&[1, 2, 3])], (1, 1, 1));
}

#[test]
fn functions_that_call_each_other_are_deeper_paths() {
    let thread =
        Thread::new(1).enter(0, 1).enter(1, 2).enter(2, 3).enter(3, 2).exit(4, 2).exit(5, 3).exit(6, 2);
    let profile = profile(&ROOT, [thread.exit(7, 1)]);
    assert_eq!(times(&profile, 0)[&path(&[1, 2, 3, 2])], (1, 1, 1));
}

#[test]
fn a_recursive_root_is_one_transaction() {
    let thread =
        Thread::new(1).enter_with(0, 1, 5).enter(1, 2).enter_with(2, 1, 6).exit(3, 1).exit(4, 2).exit(9, 1);
    assert_eq!(told(&profile(&ROOT, [thread])), [(0, 9, Valid)]);
}

#[test]
fn a_call_left_by_longjmp_ends_with_its_caller() {
    let thread = Thread::new(1).enter(0, 1).enter(1, 2).enter(2, 3).enter(3, 4).exit(6, 2).exit(9, 1);
    let profile = profile(&ROOT, [thread]);
    assert_eq!((told(&profile), profile.unwound), (vec![(0, 9, Valid)], 2));
    assert_eq!(times(&profile, 0)[&path(&[1, 2, 3, 4])], (1, 3, 3));
    let noticed = Thread::new(1).enter(0, 1).enter(1, 2).enter(2, 3).cut(5, 3).cut(5, 2).exit(9, 1);
    let profile = super::told::profile(&ROOT, [noticed]);
    assert_eq!((told(&profile), profile.unwound), (vec![(0, 9, Valid)], 2));
    assert_eq!(times(&profile, 0)[&path(&[1, 2])], (1, 4, 1));
}

#[test]
fn a_root_left_by_longjmp_does_not_swallow_the_next_transaction() {
    let thread = Thread::new(1).enter(0, 1).enter(3, 2).enter(20, 1).exit(25, 1).enter(30, 1).exit(31, 1);
    let expected = [(0, 3, Why::Unwound), (20, 5, Valid), (30, 1, Valid)];
    assert_eq!(told(&profile(&ROOT, [thread])), expected);
    let noticed = Thread::new(1).enter(0, 1).cut(9, 1).enter(20, 1).exit(25, 1);
    assert_eq!(told(&profile(&ROOT, [noticed])), [(0, 9, Why::Unwound), (20, 5, Valid)]);
}

#[test]
fn a_root_left_at_a_time_that_is_known_is_a_whole_transaction() {
    let thread =
        Thread::new(1).enter(0, 1).enter(1, 2).left_now(9, 2).left_now(9, 1).enter(20, 1).exit(25, 1);
    let profile = profile(&ROOT, [thread]);
    assert_eq!((told(&profile), profile.unwound), (vec![(0, 9, Valid), (20, 5, Valid)], 2));
}

#[test]
fn a_tail_call_returns_with_its_caller_in_either_order() {
    for exits in [[3, 2], [2, 3]] {
        let thread = Thread::new(1).enter(0, 1).enter(1, 2).enter(4, 3).exit(6, exits[0]).exit(6, exits[1]);
        let profile = profile(&ROOT, [thread.enter(7, 3).exit(8, 3).exit(9, 1)]);
        assert_eq!((told(&profile), profile.unwound), (vec![(0, 9, Valid)], 0), "{exits:?}");
        assert_eq!(times(&profile, 0)[&path(&[1, 2, 3])], (1, 2, 2));
        assert_eq!(times(&profile, 0)[&path(&[1, 2])], (1, 5, 3));
    }
}

#[test]
fn an_exit_without_an_entry_speaks_against_its_transaction() {
    let thread = Thread::new(1).enter(0, 1).exit(1, 5).exit(2, 1).enter(3, 1).exit(4, 1);
    assert_eq!(told(&profile(&ROOT, [thread])), [(0, 2, Why::Unnested), (3, 1, Valid)]);
}

#[test]
fn calls_too_deep_to_be_followed_are_told() {
    let mut thread = Thread::new(1).enter(0, 1);
    for depth in 0..MAX_DEPTH as u32 {
        thread = thread.enter(1, 2 + depth % 2);
    }
    for depth in (0..MAX_DEPTH as u32).rev() {
        thread = thread.exit(2, 2 + depth % 2);
    }
    let profile = profile(&ROOT, [thread.exit(3, 1).enter(5, 1).exit(6, 1)]);
    assert_eq!(told(&profile), [(0, 1, Why::Deep), (5, 1, Valid)]);
}

#[test]
fn lost_records_speak_against_the_transaction_that_was_open() {
    let thread = Thread::new(1).enter(0, 1).exit(1, 1).enter(2, 1).enter(3, 2).lost(8, 4).exit(9, 1);
    let profile = profile(&ROOT, [thread.enter(11, 1).exit(12, 1)]);
    assert_eq!(told(&profile), [(0, 1, Valid), (2, 1, Why::Lost), (11, 1, Valid)]);
    assert_eq!((profile.lost, profile.records), (4, 8));
}

#[test]
fn records_lost_of_nobody_knows_which_thread_speak_against_all_that_were_open() {
    let one = Thread::new(1).enter(0, 1).exit(50, 1).enter(60, 1).exit(61, 1);
    let two = Thread::new(2).enter(1, 1).exit(9, 1).enter(22, 1).exit(29, 1).enter(70, 1).exit(71, 1);
    let three = Thread::new(3).enter(10, 1);
    let profile = scripted(&ROOT, with_gap(script([one, two, three]), 20, 30));
    let expected = [
        (0, 0, Why::Lost),
        (1, 8, Valid),
        (10, 0, Why::Lost),
        (22, 7, Why::Lost),
        (60, 1, Valid),
        (70, 1, Valid),
    ];
    assert_eq!(told(&profile), expected);
    assert_eq!(profile.lost, 1);
}

#[test]
fn a_change_of_probes_ends_what_is_open() {
    let thread = Thread::new(1)
        .enter(5, 1)
        .exit(7, 1)
        .enter(8, 1)
        .enter(9, 2)
        .exit(101, 2)
        .exit(102, 1)
        .enter(103, 1)
        .exit(104, 1)
        .enter(205, 1)
        .exit(206, 2)
        .enter(207, 1);
    let mut script = script([thread]);
    script.spans = vec![window(0, 0, 100), window(1, 100, 200), window(2, 204, 300)];
    let profile = scripted(&ROOT, script);
    let windows: Vec<_> = profile.transactions.iter().map(|one| one.window).collect();
    assert_eq!(windows[..4], [0, 0, 1, 1]);
    let expected = [
        (5, 2, Valid),
        (8, 1, Why::Changed),
        (102, 0, Why::Unfinished),
        (103, 1, Valid),
        (205, 1, Why::Unnested),
    ];
    assert_eq!(told(&profile)[..5], expected);
    assert_eq!(told(&profile)[5], (207, 0, Why::Unfinished));
    assert_eq!(ended(&profile), [true, false, true, true, false, false]);
}

#[test]
fn cpu_time_is_that_between_both_ends() {
    let thread = Thread::new(1).enter(0, 1).cpu(500).enter(1, 2).cpu(9).exit(2, 2).cpu(9).exit(5, 1).cpu(503);
    let profile = profile(&ROOT, [thread.enter(6, 1).exit(7, 1).cpu(600)]);
    assert_eq!(profile.transactions.iter().map(|one| one.cpu_ns).collect::<Vec<_>>(), [Some(3), None]);
}

#[test]
fn entries_alone_are_counted() {
    let thread = Thread::new(1).enter(0, 1).enter(1, 2).enter(2, 2).enter(3, 3).exit(5, 3).exit(6, 1);
    let mut script = script([thread]);
    script.spans[0].entry_only = vec![2];
    let profile = scripted(&ROOT, script);
    assert_eq!(times(&profile, 0)[&path(&[1, 2])], (2, 0, 0));
    assert_eq!(times(&profile, 0)[&path(&[1, 3])], (1, 2, 2));
}

#[test]
fn a_root_may_tell_its_statement() {
    let details = [(1, Detail::WordAndText { word: 1, text: 0 })];
    let mut script = script([Thread::new(1).enter_with(0, 1, 77 << 4).exit(1, 1)]);
    script.texts = vec![(77, "SELECT 5".to_owned())];
    let profile = scripted(&ROOT, with_details(script, &details));
    assert_eq!(profile.texts, [(profile.transactions[0].label, "SELECT ?".to_owned())]);
}

#[test]
fn windows_come_as_they_were() {
    let mut script = script([]);
    let window = Window { number: 3, purpose: "counting".into(), calls: vec![(1, 5)], ..Window::default() };
    script.spans = vec![Span { window: window.clone(), begin: 5, end: 9, ..Span::default() }];
    assert_eq!(scripted(&ROOT, script).windows, [Window { begin_ns: 5, end_ns: 9, ..window }]);
}

#[test]
fn uprobes_of_marks_begin_and_end_transactions() {
    let rules = Rules::Marks { begin: 7, end: vec![8, 9] };
    let thread =
        Thread::new(1).enter(0, 8).enter(1, 7).enter(2, 2).exit(3, 2).enter(4, 9).enter(5, 7).enter(6, 7);
    let profile = profile(&rules, [thread.enter(8, 8)]);
    assert_eq!(told(&profile), [(1, 3, Valid), (5, 1, Why::Unnested), (6, 2, Valid)]);
    assert_eq!(times(&profile, 0)[&path(&[2])], (1, 1, 1));
}
