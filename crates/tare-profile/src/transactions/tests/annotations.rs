//! Transactions that the program marks, over threads.

use tare_rings::Kind::{Begin, End, Resume, Suspend};

use super::told::*;
use crate::profile::Why::{self, Valid};
use crate::rules::Rules;

const RULES: Rules = Rules::Annotation;

#[test]
fn intervals_of_one_id_are_one_transaction_over_threads() {
    let one =
        Thread::new(1).mark(10, Begin, 7).enter(11, 2).exit(13, 2).mark(15, Suspend, 7).mark(16, Begin, 8);
    let one = one.mark(18, End, 8);
    let two =
        Thread::new(2).enter(3, 9).mark(30, Resume, 7).enter(31, 2).exit(32, 2).mark(36, End, 7).exit(40, 9);
    let profile = profile(&RULES, [two, one]);
    assert_eq!(told(&profile), [(10, 26, Valid), (16, 2, Valid)]);
    let first = &profile.transactions[0];
    assert_eq!((first.intervals, first.service_ns, first.waited_ns, first.tid), (2, 11, 15, 1));
    let expected = [(path(&[]), (2, 26, 8)), (path(&[2]), (2, 3, 3)), (vec![None], (1, 15, 15))];
    assert_eq!(times(&profile, 0), expected.into());
}

#[test]
fn intervals_that_overlap_are_told_and_not_summed() {
    let one = Thread::new(1).mark(0, Begin, 7).enter(1, 2).exit(9, 2).mark(10, Suspend, 7);
    let two = Thread::new(2).mark(5, Resume, 7).enter(5, 2).exit(19, 2).mark(20, Suspend, 7);
    let three = Thread::new(3).mark(8, Resume, 7).mark(12, Suspend, 7).mark(30, Resume, 7).mark(31, End, 7);
    let profile = profile(&RULES, [one, two, three]);
    assert_eq!(told(&profile), [(0, 31, Why::Overlap)]);
    let one = &profile.transactions[0];
    assert_eq!((one.service_ns, one.waited_ns, one.overlap_ns, one.intervals), (21, 10, 7, 4));
    assert_eq!(times(&profile, 0), [(path(&[]), (4, 31, 21)), (vec![None], (1, 10, 10))].into());
}

#[test]
fn an_id_may_be_used_again_once_it_is_over() {
    let thread =
        Thread::new(1).mark(1, Begin, 0).mark(2, End, 0).mark(2, Begin, 0).mark(5, End, 0).mark(6, Begin, 0);
    let profile = profile(&RULES, [thread.mark(7, Suspend, 0).mark(8, Begin, 0).mark(9, End, 0)]);
    assert_eq!(told(&profile), [(1, 1, Valid), (2, 3, Valid), (6, 1, Why::Unnested), (8, 1, Valid)]);
}

#[test]
fn a_thread_works_on_one_transaction_at_a_time() {
    let thread = Thread::new(1)
        .mark(0, Begin, 1)
        .mark(4, Begin, 2)
        .mark(9, End, 2)
        .mark(10, Resume, 1)
        .mark(12, End, 1);
    let profile = profile(&RULES, [thread]);
    assert_eq!(told(&profile), [(0, 12, Valid), (4, 5, Valid)]);
    assert_eq!((profile.transactions[0].service_ns, profile.transactions[0].waited_ns), (6, 6));
}

#[test]
fn another_thread_may_say_that_it_is_over() {
    let one = Thread::new(1).mark(0, Begin, 1).mark(4, Suspend, 1);
    let two = Thread::new(2).mark(9, End, 1);
    let profile = profile(&RULES, [one, two]);
    assert_eq!(told(&profile), [(0, 9, Valid)]);
    assert_eq!((profile.transactions[0].intervals, profile.transactions[0].waited_ns), (1, 5));
}

#[test]
fn what_has_no_beginning_or_no_end_is_unfinished() {
    let thread = Thread::new(1).mark(1, Resume, 1).mark(2, End, 1).mark(3, Begin, 2).mark(4, Suspend, 2);
    let profile = profile(&RULES, [thread.mark(5, Begin, 3).enter(6, 2), Thread::new(2).mark(9, End, 4)]);
    let unfinished = Why::Unfinished;
    let expected = [(1, 1, unfinished), (3, 1, unfinished), (5, 1, unfinished), (9, 0, unfinished)];
    assert_eq!(told(&profile), expected);
}

#[test]
fn a_wait_over_a_change_of_probes_is_a_change() {
    let thread = Thread::new(1).mark(1, Begin, 1).mark(2, Suspend, 1).mark(120, Resume, 1).mark(125, End, 1);
    let mut script = script([thread.mark(126, Begin, 2).mark(127, End, 2)]);
    script.spans = vec![window(0, 0, 100), window(1, 110, 200)];
    assert_eq!(told(&scripted(&RULES, script)), [(1, 124, Why::Changed), (126, 1, Valid)]);
}

#[test]
fn any_thread_s_lost_records_touch_what_was_open_in_its_process() {
    let one = Thread::new(1).mark(10, Begin, 1).mark(12, Suspend, 1).mark(40, Resume, 1).mark(41, End, 1);
    let one = one.mark(50, Begin, 2).mark(51, End, 2);
    let two = Thread::new(2).enter(20, 2).lost(30, 5).exit(31, 2);
    assert_eq!(told(&profile(&RULES, [one.clone(), two])), [(10, 31, Why::Lost), (50, 1, Valid)]);
    let mut stranger = Thread::new(3).enter(20, 2).lost(30, 5);
    stranger.0.pid = 11;
    assert_eq!(told(&profile(&RULES, [one.clone(), stranger])), [(10, 31, Valid), (50, 1, Valid)]);
    let gap = with_gap(script([one]), 20, 30);
    assert_eq!(told(&scripted(&RULES, gap))[0].2, Why::Lost);
}

#[test]
fn functions_open_at_a_suspension_go_on_where_the_same_thread_resumes() {
    let thread = Thread::new(1).enter(0, 8).mark(10, Begin, 1).enter(11, 2).enter(12, 3).mark(14, Suspend, 1);
    let thread = thread.mark(20, Begin, 2).enter(21, 4).mark(25, Suspend, 2);
    let thread =
        thread.mark(30, Resume, 1).enter(31, 5).exit(33, 5).exit(34, 4).exit(36, 3).mark(39, Suspend, 1);
    let thread = thread.mark(40, Resume, 2).exit(43, 2).mark(44, End, 2).mark(50, Resume, 1).mark(51, End, 1);
    let profile = profile(&RULES, [thread.exit(60, 8)]);
    assert_eq!(told(&profile), [(10, 41, Valid), (20, 24, Valid)]);
    let (first, second) = (times(&profile, 0), times(&profile, 1));
    assert_eq!(first[&path(&[2])], (1, (14 - 11) + (39 - 30), (12 - 11) + (39 - 36)));
    assert_eq!(first[&path(&[2, 3])], (1, (14 - 12) + (36 - 30), (14 - 12) + (31 - 30) + (36 - 33)));
    assert_eq!(first[&path(&[2, 3, 5])], (1, 2, 2));
    assert_eq!(second[&path(&[4])], (1, 4, 4), "left while the other ran");
}

#[test]
fn a_label_is_the_transaction_s_wherever_it_is_given() {
    let one = Thread::new(1).mark(1, Begin, 1).label(2, 1, 50).label(2, 1, 51).mark(3, Suspend, 1);
    let one = one.mark(4, Begin, 2).mark(5, Suspend, 2).mark(30, Resume, 2).mark(31, End, 2).mark(40, End, 1);
    let two = Thread::new(2).label(20, 2, 51);
    let mut script = script([one, two]);
    script.texts = vec![(50, "order 1".to_owned()), (51, "payment".to_owned()), (52, "unused".to_owned())];
    let profile = scripted(&RULES, script);
    assert_eq!(profile.transactions.iter().map(|one| one.label).collect::<Vec<_>>(), [50, 51]);
    assert_eq!(profile.texts, [(50, "order 1".to_owned()), (51, "payment".to_owned())]);
}

#[test]
fn cpu_time_is_known_where_every_interval_s_is() {
    let one = Thread::new(1).mark(1, Begin, 1).cpu(10).mark(3, Suspend, 1).cpu(11).mark(5, Begin, 2).cpu(11);
    let one = one.mark(7, Suspend, 2).mark(8, Resume, 2).mark(9, End, 2).cpu(13);
    let two = Thread::new(2).mark(10, Resume, 1).cpu(100).mark(20, End, 1).cpu(105);
    let cpu: Vec<_> = profile(&RULES, [one, two]).transactions.iter().map(|one| one.cpu_ns).collect();
    assert_eq!(cpu, [Some(6), None]);
}

#[test]
fn marks_mean_nothing_under_other_rules() {
    let thread = Thread::new(1).enter(0, 1).mark(1, Begin, 5).mark(2, End, 5).exit(9, 1);
    assert_eq!(told(&profile(&Rules::Function { root: 1 }, [thread])), [(0, 9, Valid)]);
}
