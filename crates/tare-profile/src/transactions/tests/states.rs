//! Transactions told by what state a thread reports (PostgreSQL's `pgstat_report_activity`).

use tare_rings::record::text_hash;

use super::told::*;
use crate::backend::Detail;
use crate::profile::Profile;
use crate::profile::Why::{self, Valid};
use crate::rules::Rules;

const MARKER: u32 = 9;
const IDLE: u32 = 1;
const RUNNING: u32 = 2;
const IN_TRANSACTION: u32 = 3;

fn rules() -> Rules {
    Rules::State { marker: MARKER, running: vec![RUNNING], pausing: vec![IN_TRANSACTION], ended: vec![IDLE] }
}

/// Reports of states and statements, after one that says it is idle.
fn thread(reports: &[(u64, u32, &str)]) -> Thread {
    let report = |thread: Thread, (at, word, text): &(u64, u32, &str)| {
        let hash = if text.is_empty() { 0 } else { text_hash(text.as_bytes()) };
        thread.enter_with(*at, MARKER, hash << 4 | word)
    };
    reports.iter().fold(Thread::new(1).enter_with(0, MARKER, IDLE), report)
}

fn profile(thread: Thread, texts: &[&str]) -> Profile {
    let mut script = script([thread]);
    script.texts = texts.iter().map(|text| (text_hash(text.as_bytes()), (*text).to_owned())).collect();
    let mut script = with_details(script, &[(MARKER, Detail::WordAndText { word: 0, text: 1 })]);
    script.spans[0].entry_only = vec![MARKER];
    scripted(&rules(), script)
}

fn labels(profile: &Profile) -> Vec<&str> {
    let name =
        |label: u32| profile.texts.iter().find(|(hash, _)| *hash == label).map_or("", |(_, text)| text);
    profile.transactions.iter().map(|one| name(one.label)).collect()
}

#[test]
fn a_transaction_goes_on_over_statements_and_its_client_s_time_is_waiting() {
    let texts = ["BEGIN", "UPDATE t SET a = 5", "COMMIT"];
    let thread = thread(&[(10, RUNNING, texts[0]), (12, IN_TRANSACTION, ""), (20, RUNNING, texts[1])]);
    let thread = thread.enter(21, 2).exit(25, 2).enter_with(26, MARKER, IN_TRANSACTION);
    let commit = text_hash(texts[2].as_bytes()) << 4 | RUNNING;
    let thread = thread.enter_with(30, MARKER, commit).enter(31, 2).exit(37, 2).enter_with(38, MARKER, IDLE);
    let profile = profile(thread, &texts);
    assert_eq!(told(&profile), [(10, 28, Valid)]);
    let expected = [(path(&[]), (3, 28, 6)), (path(&[2]), (2, 10, 10)), (vec![None], (2, 12, 12))];
    assert_eq!(times(&profile, 0), expected.into());
    assert_eq!(labels(&profile), ["UPDATE t SET a = ?"]);
}

#[test]
fn what_a_thread_did_before_it_was_seen_at_rest_is_not_believed() {
    let reports = [(10, RUNNING), (12, IN_TRANSACTION), (13, RUNNING), (15, IDLE), (16, RUNNING), (18, IDLE)];
    let report = |thread: Thread, (at, word): &(u64, u32)| thread.enter_with(*at, MARKER, *word);
    let thread = reports.iter().fold(Thread::new(1), report);
    assert_eq!(told(&profile(thread.clone(), &[])), [(10, 5, Why::Unfinished), (16, 2, Valid)]);
    let lost = thread.lost(20, 1).enter_with(21, MARKER, RUNNING).enter_with(22, MARKER, IDLE);
    assert_eq!(told(&profile(lost, &[]))[2], (21, 1, Why::Lost));
}

#[test]
fn a_statement_reported_in_parts_is_one() {
    let thread = thread(&[(10, RUNNING, "SELECT 1"), (11, RUNNING, "SELECT 1"), (12, 5, ""), (14, IDLE, "")]);
    let profile = profile(thread.enter_with(15, MARKER, IDLE), &["SELECT 1"]);
    assert_eq!(told(&profile), [(10, 4, Valid)]);
    assert_eq!(profile.transactions[0].intervals, 1);
}

#[test]
fn functions_open_at_a_pause_go_on_after_it() {
    let thread = thread(&[]).enter(1, 2).enter_with(10, MARKER, RUNNING).enter(11, 3);
    let thread = thread.enter_with(13, MARKER, IN_TRANSACTION).enter_with(20, MARKER, RUNNING);
    let profile = profile(thread.exit(24, 3).exit(25, 2).enter_with(26, MARKER, IDLE), &[]);
    assert_eq!(told(&profile), [(10, 16, Valid)]);
    assert_eq!(times(&profile, 0)[&path(&[3])], (1, 6, 6), "entered once; two intervals");
    assert!(!times(&profile, 0).contains_key(&path(&[2])), "entered before the transaction began");
}

#[test]
fn cpu_time_is_that_from_beginning_to_end_whatever_was_read_between() {
    let begun = || thread(&[(10, RUNNING, "")]).cpu(100).enter_with(20, MARKER, IN_TRANSACTION);
    let ended = |thread: Thread| thread.enter_with(30, MARKER, RUNNING).enter_with(39, MARKER, IDLE).cpu(157);
    assert_eq!(profile(ended(begun()), &[]).transactions[0].cpu_ns, Some(57));
    let read_between = begun().cpu(104).enter_with(30, MARKER, RUNNING).cpu(150);
    let profile = profile(read_between.enter_with(39, MARKER, IDLE).cpu(157), &[]);
    assert_eq!(profile.transactions[0].cpu_ns, Some(57), "attaching reads it at every marker");
}

#[test]
fn a_transaction_whose_beginning_or_end_was_not_read_has_no_cpu_time() {
    let script = thread(&[(10, RUNNING, "")]).enter_with(39, MARKER, IDLE).cpu(157);
    assert_eq!(profile(script, &[]).transactions[0].cpu_ns, None);
    let script = thread(&[(10, RUNNING, "")]).cpu(100).enter_with(39, MARKER, IDLE);
    assert_eq!(profile(script, &[]).transactions[0].cpu_ns, None);
}

#[test]
fn a_transaction_is_named_by_what_says_most() {
    let named = "/* tare:payment */ SELECT 2";
    let all = ["BEGIN", "SET x = 1", "SELECT 1", named];
    let reports = [
        (10, RUNNING, "BEGIN"),
        (11, RUNNING, "SET x = 1"),
        (12, RUNNING, "SELECT 1"),
        (13, RUNNING, named),
        (19, IDLE, ""),
        (20, RUNNING, "SELECT 1"),
        (21, IDLE, ""),
        (30, RUNNING, "BEGIN"),
        (31, IDLE, ""),
        (40, RUNNING, ""),
        (41, IDLE, ""),
    ];
    assert_eq!(labels(&profile(thread(&reports), &all)), ["payment", "SELECT ?", "BEGIN", ""]);
}

#[test]
fn statements_whose_texts_were_lost_are_one_type() {
    let reports = [
        (10, RUNNING, "SELECT 1"),
        (11, IDLE, ""),
        (12, RUNNING, "UPDATE 1"),
        (13, IDLE, ""),
        (14, RUNNING, "UPDATE 2"),
        (15, IDLE, ""),
    ];
    let lost = "(statements that were not kept)";
    assert_eq!(labels(&profile(thread(&reports), &["SELECT 1"])), ["SELECT ?", lost, lost]);
}

#[test]
fn a_pause_over_a_change_of_probes_is_a_change() {
    let thread = thread(&[(10, RUNNING, ""), (12, IN_TRANSACTION, ""), (120, RUNNING, ""), (125, IDLE, "")]);
    let mut script = script([thread.enter_with(130, MARKER, RUNNING).enter_with(131, MARKER, IDLE)]);
    script.spans = vec![window(0, 0, 100), window(1, 110, 200)];
    let profile =
        scripted(&rules(), with_details(script, &[(MARKER, Detail::WordAndText { word: 0, text: 1 })]));
    assert_eq!(told(&profile), [(10, 2, Why::Changed), (120, 5, Why::Unfinished), (130, 1, Valid)]);
    assert_eq!(ended(&profile), [false, true, true]);
}

#[test]
fn of_a_transaction_that_goes_on_over_a_change_of_probes_the_end_is_seen() {
    let one = thread(&[(90, RUNNING, ""), (120, IDLE, ""), (130, RUNNING, ""), (135, IDLE, "")]);
    let new = Thread::new(2).enter_with(125, MARKER, IDLE);
    let mut script = script([one, new]);
    script.spans = vec![window(0, 0, 100), window(1, 110, 200)];
    let profile =
        scripted(&rules(), with_details(script, &[(MARKER, Detail::WordAndText { word: 0, text: 1 })]));
    assert_eq!(told(&profile), [(90, 0, Why::Changed), (120, 0, Why::Unfinished), (130, 5, Valid)]);
    assert_eq!(ended(&profile), [false, true, true], "a new connection that is idle has ended nothing");
}
