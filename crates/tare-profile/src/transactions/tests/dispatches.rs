//! Transactions of several calls of one function (MariaDB's `dispatch_command`).

use tare_rings::record::text_hash;

use super::told::*;
use crate::backend::Detail;
use crate::profile::Profile;
use crate::profile::Why::{self, Valid};
use crate::rules::Rules;

const DISPATCH: u32 = 1;
const BEGIN: u32 = 5;
const COMMIT: u32 = 6;
const QUERY: u32 = 3;
const PING: u32 = 14;

fn rules() -> Rules {
    Rules::Dispatch { root: DISPATCH, labelled: vec![QUERY], opens: vec![BEGIN], closes: vec![COMMIT] }
}

fn profile(thread: Thread) -> Profile {
    let mut script = script([thread]);
    script.texts = vec![(text_hash(b"SELECT a"), "SELECT a".to_owned())];
    scripted(&rules(), with_details(script, &[(DISPATCH, Detail::WordAndText { word: 0, text: 2 })]))
}

#[test]
fn a_transaction_lasts_from_its_opening_to_its_closing_call() {
    let thread = Thread::new(1)
        .enter_with(10, DISPATCH, QUERY)
        .enter(11, BEGIN)
        .exit(12, BEGIN)
        .exit(14, DISPATCH)
        .enter_with(20, DISPATCH, text_hash(b"SELECT a") << 4 | QUERY)
        .exit(26, DISPATCH)
        .enter_with(30, DISPATCH, QUERY)
        .enter(31, COMMIT)
        .exit(38, COMMIT)
        .exit(39, DISPATCH)
        .enter_with(50, DISPATCH, PING)
        .exit(51, DISPATCH);
    let profile = profile(thread);
    assert_eq!(told(&profile), [(10, 29, Valid), (50, 1, Valid)]);
    let one = &profile.transactions[0];
    assert_eq!((one.intervals, one.service_ns, one.waited_ns), (3, 19, 10));
    assert_eq!(profile.texts, [(one.label, "SELECT a".to_owned())]);
    assert_eq!(times(&profile, 0)[&path(&[DISPATCH])], (3, 19, 11));
    assert_eq!(times(&profile, 0)[&path(&[DISPATCH, COMMIT])], (1, 7, 7));
}

#[test]
fn without_autocommit_what_registers_for_more_than_a_statement_opens_a_transaction() {
    const REGISTER: u32 = 7;
    let statement = |thread: Thread, at: u64, whole: u32| {
        let thread = thread.enter_with(at, DISPATCH, QUERY).enter_with(at + 1, REGISTER, 0x7f00);
        thread.enter_with(at + 2, REGISTER, 0xff00 | whole).exit(at + 5, DISPATCH)
    };
    let thread = statement(statement(statement(Thread::new(1), 10, 0), 20, 1), 30, 0);
    let thread = thread.enter(40, DISPATCH).enter(41, COMMIT).exit(42, COMMIT).exit(44, DISPATCH);
    let rules = Rules::Dispatch {
        root: DISPATCH,
        labelled: vec![QUERY],
        opens: vec![BEGIN, REGISTER],
        closes: vec![COMMIT],
    };
    let mut script = script([statement(thread, 50, 0)]);
    script.spans[0].entry_only = vec![REGISTER];
    let details = [(DISPATCH, Detail::WordAndText { word: 0, text: 2 }), (REGISTER, Detail::Word(1))];
    let profile = scripted(&rules, with_details(script, &details));
    assert_eq!(told(&profile), [(10, 5, Valid), (20, 24, Valid), (50, 5, Valid)]);
}

#[test]
fn statements_before_a_closing_call_without_an_opening_one_are_of_a_transaction_from_before() {
    let statement = |thread: Thread, at: u64| thread.enter_with(at, DISPATCH, QUERY).exit(at + 2, DISPATCH);
    let thread =
        statement(statement(Thread::new(1), 10), 20).enter(30, DISPATCH).enter(31, COMMIT).exit(32, COMMIT);
    let thread = statement(thread.exit(33, DISPATCH), 40);
    let profile = profile(thread);
    assert_eq!(told(&profile), [(30, 3, Why::Unfinished), (40, 2, Valid)]);
    assert_eq!(ended(&profile), [true, true]);
}

#[test]
fn a_transaction_that_two_windows_cut_is_one_in_each() {
    let statement = |thread: Thread, at: u64| thread.enter_with(at, DISPATCH, QUERY).exit(at + 2, DISPATCH);
    let thread = Thread::new(1).enter(10, DISPATCH).enter(11, BEGIN).exit(12, BEGIN).exit(13, DISPATCH);
    let thread = statement(statement(statement(statement(thread, 20), 120), 130), 140);
    let thread = thread.enter(150, DISPATCH).enter(151, COMMIT).exit(152, COMMIT).exit(155, DISPATCH);
    let mut script = script([statement(thread, 160)]);
    script.spans = vec![window(0, 0, 100), window(1, 110, 200)];
    let details = [(DISPATCH, Detail::WordAndText { word: 0, text: 2 })];
    let profile = scripted(&rules(), with_details(script, &details));
    let expected = [(10, 12, Why::Changed), (150, 5, Why::Unfinished), (160, 2, Valid)];
    assert_eq!(told(&profile), expected);
    assert_eq!(ended(&profile), [false, true, true]);
}

#[test]
fn a_text_of_another_command_is_no_statement() {
    let thread =
        Thread::new(1).enter_with(10, DISPATCH, text_hash(b"SELECT a") << 4 | PING).exit(11, DISPATCH);
    assert_eq!(profile(thread).transactions[0].label, 0);
}
