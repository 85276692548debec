//! Programs run under the agent as without it, whatever they do with their stacks; and their records nest.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod watched;

use std::sync::atomic::Ordering;

use tare_profile::backend::{Mode, Probe};
use tare_rings::{Kind, Shared};
use watched::compile;

#[test]
fn calls_are_told_in_their_order_with_the_same_result() {
    let ended = compile("nesting.c", &[]).run(&["inner", "outer"]);
    assert_eq!(ended.well().output, "14\n");
    assert_eq!(ended.story(0), ["+outer", "+inner", "-inner", "+inner", "-inner", "-outer"]);
    assert_eq!(ended.taken.lost, 0);
}

#[test]
fn tail_calls_return_through_each_function_that_was_entered() {
    let ended = compile("tail.c", &[]).run(&["first", "middle", "last", "odd", "even"]);
    assert_eq!(ended.well().output, "1003000 1\n1\n");
    assert_eq!(ended.story(0)[..6], ["+first", "+middle", "+last", "-last", "-middle", "-first"]);
    assert_eq!(ended.count(Kind::Exit, "first"), 1000);
    assert!(
        ended.all().any(|record| record.kind() == Some(Kind::Lost)),
        "100,000 tail calls exceed the frames kept"
    );
}

#[test]
fn longjmp_cuts_what_it_leaves_and_nothing_else() {
    let ended = compile("jumps.c", &[]).run(&["thrower", "between", "catcher"]);
    assert_eq!(ended.well().output, "3001000\n");
    assert_eq!((ended.count(Kind::Cut, "thrower"), ended.count(Kind::Exit, "thrower")), (1000, 2000));
    assert_eq!((ended.count(Kind::Cut, "between"), ended.count(Kind::Exit, "catcher")), (1000, 3000));
}

#[test]
fn exceptions_pass_through_watched_functions_and_the_catcher_goes_on_being_watched() {
    let names = ["note", "thrower", "between", "rethrower", "catcher", "outer"];
    let ended = compile("exceptions.cpp", &[]).run(&names);
    assert_eq!(ended.well().output, "1000 3500\n");
    for (name, exits) in
        [("thrower", 500), ("between", 500), ("catcher", 1000), ("outer", 1000), ("note", 3500)]
    {
        assert_eq!(ended.count(Kind::Exit, name), exits, "{name}");
        assert_eq!(
            ended.count(Kind::Exit, name) + ended.count(Kind::Cut, name),
            ended.count(Kind::Enter, name)
        );
    }
    let landed = ended.all().filter(|record| record.kind() == Some(Kind::Cut) && record.detail == 1).count();
    assert!(
        landed >= 500,
        "{landed}: where no destructor is watched, they were left when the exception landed"
    );
}

#[test]
fn exceptions_pass_where_the_unwinder_is_part_of_the_program() {
    let names = ["note", "thrower", "between", "rethrower", "catcher", "outer"];
    let ended = compile("exceptions.cpp", &["-static-libgcc", "-static-libstdc++"]).run(&names);
    assert_eq!(ended.well().output, "1000 3500\n");
    assert_eq!(ended.count(Kind::Exit, "catcher"), 1000);
}

#[test]
fn threads_that_exit_or_are_cancelled_clean_up_and_leave_their_slots() {
    let ended = compile("threads.cpp", &[]).run(&["work", "leave", "waits", "worker"]);
    assert_eq!(ended.well().output, "40\n");
    assert_eq!(ended.taken.threads.len(), 40);
    assert_eq!(ended.count(Kind::Exit, "work"), 40_000);
    assert_eq!((ended.count(Kind::Enter, "worker"), ended.count(Kind::Exit, "worker")), (40, 20));
    assert_eq!(ended.count(Kind::Cut, "worker"), 20);
    assert!(
        ended.all().filter(|record| record.kind() == Some(Kind::Cut)).all(|cut| cut.detail == 1),
        "they were left when their thread ended"
    );
}

#[test]
fn signals_interrupt_anywhere_also_on_a_stack_of_their_own_and_jump_out() {
    let ended = compile("signals.c", &[]).run(&["leaf", "stem", "handler_part", "handler"]);
    assert_eq!(ended.well().output, "1 1\n");
    assert!(ended.count(Kind::Exit, "handler_part") > 100);
    assert!(ended.count(Kind::Cut, "handler") > 10);
}

#[test]
fn each_call_is_told_or_counted_as_lost_where_a_signal_comes_after_every_instruction() {
    let running = compile("stepped.c", &[]).start(&["leaf", "handler_part"], Mode::Timing, |_, _| {});
    let shared = Shared::open(running.rings()).unwrap();
    shared.header().heartbeat.store(1 << 62, Ordering::Release); // however long it takes, somebody listens
    let ended = running.unread();
    let calls: u64 = ended.well().output.trim().parse().unwrap();
    let met_the_agent = shared.header().unrecorded.load(Ordering::Relaxed);
    assert_eq!(shared.header().unplaced.load(Ordering::Relaxed), 0, "no other thread's records are in doubt");
    let told = ended.all().filter(|record| matches!(record.kind(), Some(Kind::Enter | Kind::Exit))).count();
    assert!(met_the_agent > 5_000 && ended.taken.lost > 0, "{met_the_agent} {}", ended.taken.lost);
    // Where the handler came upon the agent itself, its call has neither an entry nor an exit.
    assert_eq!(told as u64 + ended.taken.lost, 2 * (calls - met_the_agent));
    assert_eq!(ended.taken.threads.len(), 48);
}

#[test]
fn each_call_is_counted_or_unrecorded_where_a_signal_comes_after_every_instruction() {
    // A profile counts by probes on entries alone.
    let entry_only = |_: &str, probe: &mut Probe| probe.entry_only = true;
    let running = compile("stepped.c", &[]).start(&["leaf", "handler_part"], Mode::Counting, entry_only);
    let shared = Shared::open(running.rings()).unwrap();
    shared.header().heartbeat.store(1 << 62, Ordering::Release); // however long it takes, somebody listens
    let ended = running.unread();
    let calls: u64 = ended.well().output.trim().parse().unwrap();
    let unrecorded = shared.header().unrecorded.load(Ordering::Relaxed);
    assert!(unrecorded > 1_000, "{unrecorded}");
    assert_eq!(ended.calls.values().sum::<u64>(), calls - unrecorded);
    assert_eq!(
        shared.header().unplaced.load(Ordering::Relaxed),
        0,
        "no record is lost where none is written"
    );
    assert_eq!(ended.all().count(), 0);
}

#[test]
fn forked_children_return_through_their_parents_frames_and_write_to_rings_of_their_own() {
    let ended = compile("forks.c", &[]).run(&["leaf", "forker"]);
    assert!(ended.status.success(), "{:?}", ended.status);
    assert_eq!(ended.output, "0\n");
    assert_eq!(ended.taken.threads.len(), 21);
    let parent = &ended.taken.threads[0];
    let exits = |thread: &tare_profile::backend::ThreadRecords| {
        thread.records.iter().filter(|record| record.kind() == Some(Kind::Exit)).count()
    };
    // One more of leaf in the child of vfork, which is the parent's thread as far as memory goes.
    assert_eq!(exits(parent), 20 * 21 + 1);
    for child in ended.taken.threads.iter().filter(|thread| thread.pid != parent.pid) {
        assert_eq!(exits(child), 21 + 100, "11 frames of forker, 10 calls of leaf in them, 100 after");
    }
}

#[test]
fn recursion_deeper_than_the_frames_kept_goes_on_unwatched_and_says_so() {
    let ended = compile("deep.c", &[]).run(&["down"]);
    assert_eq!(ended.well().output, "20000 10\n");
    assert_eq!(ended.count(Kind::Exit, "down"), 4096 + 11);
    let lost: u32 = ended.all().filter(|r| r.kind() == Some(Kind::Lost)).map(|r| r.detail).sum();
    assert_eq!(lost, 20_001 - 4096);
}

#[test]
fn registers_that_a_caller_counts_on_are_as_before() {
    let ended = compile("registers.c", &[]).run(&["quiet", "arguments"]);
    assert_eq!(ended.well().output, "45\n");
    assert_eq!(ended.count(Kind::Exit, "quiet"), 10_000);
}

#[test]
fn coroutines_on_stacks_of_their_own_go_on() {
    let ended = compile("contexts.c", &[]).run(&["change", "step"]);
    assert!(ended.status.success(), "{:?}", ended.status);
    assert_eq!(ended.output, "2000\n");
}

const ENTRIES: [&str; 14] = [
    "relative",
    "branches",
    "calls",
    "calls_first",
    "calls_pointer",
    "jumps",
    "tiny",
    "nothing",
    "crowded",
    "neighbour",
    "looping",
    "entered",
    "marked",
    "helper",
];

#[test]
fn entries_of_all_kinds_work_patched_or_are_refused_with_a_reason() {
    let watched = compile("entries.c", &[]).run(&ENTRIES);
    let expected = "42 2 1 102 0 102 103 7 8 9 3 4 6\n";
    assert_eq!(watched.well().output, expected);
    let mut refused: Vec<(&str, &str)> =
        watched.refused.iter().map(|(name, why)| (name.as_str(), why.as_str())).collect();
    refused.sort_unstable();
    assert_eq!(
        refused,
        [
            ("crowded", "it is shorter than the 5 bytes of a jump"),
            ("entered", "something jumps into its first bytes"),
            (
                "looping",
                "it jumps back to its own first instruction, so that each turn would look like a call"
            ),
        ]
    );
    for name in [
        "relative",
        "calls",
        "calls_first",
        "calls_pointer",
        "jumps",
        "tiny",
        "nothing",
        "neighbour",
        "marked",
    ] {
        assert_eq!((watched.count(Kind::Enter, name), watched.count(Kind::Exit, name)), (1, 1), "{name}");
    }
    // Patched and switched off.
    let program = compile("entries.c", &[]);
    let mut running = program.start(&ENTRIES, Mode::Timing, |_, _| {});
    let targets = running.targets();
    running.agent_set(&targets[..0]);
    let ended = running.end();
    assert_eq!(ended.well().output, expected);
    assert_eq!(ended.all().count(), 0);
}
