//! With triggers: a process of one thread patches what is watched, when it comes to one, and nothing else.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod watched;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use tare_profile::backend::{Backend, Detail, Mode, Probe, Target};
use tare_rings::Kind;
use watched::{Running, comes_to_be, compile};

/// The first byte of a jump.
const JUMP: u8 = 0xe9;

/// What the program's code has at a function's entry by now.
fn patched(pid: u32, target: &Target) -> bool {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let first = maps.lines().find(|line| line.ends_with("/program")).expect("the program is mapped");
    let base = u64::from_str_radix(first.split('-').next().unwrap(), 16).unwrap();
    let mut byte = [0];
    File::open(format!("/proc/{pid}/mem")).unwrap().read_exact_at(&mut byte, base + target.address).unwrap();
    byte[0] == JUMP
}

/// kB of the program's code that are the process's own and no longer the file's.
fn own_code(pid: u32) -> u64 {
    let smaps = fs::read_to_string(format!("/proc/{pid}/smaps")).unwrap();
    let mut lines = smaps.lines().skip_while(|line| !(line.contains(" r-xp ") && line.ends_with("/program")));
    let anonymous = lines.find(|line| line.starts_with("Anonymous:")).expect("code of the program");
    anonymous.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn set(running: &mut Running, names: &[&str], mode: Mode) -> Vec<Target> {
    let targets: Vec<Target> =
        running.targets().into_iter().filter(|target| names.contains(&target.name.as_str())).collect();
    let plain =
        |target: &Target| Probe { function: target.id, detail: Detail::Site, cpu: false, entry_only: false };
    running.agent.set(&targets, &targets.iter().map(plain).collect::<Vec<_>>(), mode).unwrap();
    targets
}

const ALL: [&str; 3] = ["rest", "turn", "work"];

#[test]
fn a_process_patches_what_is_watched_and_gives_back_what_is_not_any_more() {
    let mut running = compile("later.c", &[]).start_with(&ALL, &["turn"], Mode::Timing, |_, _| {});
    let [turn, work, rest] = ["turn", "work", "rest"]
        .map(|name| running.targets().into_iter().find(|one| one.name == name).unwrap());
    let pid = running.child.id();
    set(&mut running, &[], Mode::Timing);
    assert!(patched(pid, &turn), "a trigger is, from the start");
    assert!(!patched(pid, &work) && !patched(pid, &rest), "and nothing else");
    let at_first = own_code(pid);
    running.go_on();
    set(&mut running, &["work"], Mode::Timing);
    running.until_entered("work");
    assert!(patched(pid, &work) && !patched(pid, &rest));
    set(&mut running, &["rest"], Mode::Timing);
    running.until_entered("rest");
    assert!(patched(pid, &rest) && !patched(pid, &work), "and work is as it was");
    set(&mut running, &["turn"], Mode::Timing);
    comes_to_be("rest is as it was", || !patched(pid, &rest));
    assert_eq!(own_code(pid), at_first, "pages without a jump are the file's again");
    set(&mut running, &["work"], Mode::Timing);
    running.until_entered("work");
    assert!(patched(pid, &work), "again");
    running.agent.finish().unwrap();
    assert!(!patched(pid, &work), "nor does a profile that has ended leave a trace");
    let ended = running.end();
    assert_eq!(ended.well().output, "right\n");
    for name in ALL {
        assert!(ended.count(Kind::Enter, name) > 0, "{name}");
    }
}

#[test]
fn a_trigger_that_is_not_watched_makes_no_records_and_has_no_count() {
    let mut running = compile("later.c", &[]).start_with(&ALL, &["turn"], Mode::Timing, |_, _| {});
    let work = set(&mut running, &["work"], Mode::Counting).remove(0);
    running.go_on();
    comes_to_be("calls of work are counted", || running.agent.calls().unwrap()[0].1 > 10);
    assert_eq!(running.agent.calls().unwrap().iter().map(|one| one.0).collect::<Vec<_>>(), [work.id]);
    let ended = running.end();
    assert_eq!(ended.well().all().count(), 0);
}

#[test]
fn a_forked_child_patches_its_own_copy_of_the_code() {
    let program = compile("later.c", &[]);
    let mut running = program.start_with_argument("fork", &ALL, &["turn"]);
    let work = running.targets().into_iter().find(|one| one.name == "work").unwrap();
    running.go_on();
    let parent = running.child.id();
    let children = format!("/proc/{parent}/task/{parent}/children");
    let mut child = 0;
    comes_to_be("it forks", || {
        child = fs::read_to_string(&children).unwrap().trim().parse().unwrap_or(0);
        child != 0
    });
    running.until_entered("work");
    assert!(patched(child, &work), "the child has what was wanted");
    assert!(patched(parent, &work), "its parent too, before it forked: all its children share the pages");
    set(&mut running, &["rest"], Mode::Timing);
    comes_to_be("the child changes", || !patched(child, &work));
    assert!(patched(parent, &work), "its parent comes to no trigger and forks no more");
    let ended = running.end();
    assert_eq!(ended.output, "right\n");
    assert!(ended.taken.threads.iter().all(|thread| thread.pid as u32 == child));
}

#[test]
fn a_process_that_is_about_to_have_a_second_thread_patches_everything_before() {
    let names = ["work", "leave", "worker"];
    let ended = compile("threads.cpp", &[]).start_with(&names, &["leave"], Mode::Timing, |_, _| {}).end();
    assert_eq!(ended.well().output, "40\n");
    assert_eq!(ended.count(Kind::Enter, "worker"), 40);
    assert_eq!(ended.count(Kind::Enter, "work"), 40_000);
}

#[test]
fn threads_that_were_started_unseen_keep_their_code_and_the_profiler_is_told() {
    let mut running =
        compile("unseen.c", &[]).start_with(&["turn", "work"], &["turn"], Mode::Timing, |_, _| {});
    let pid = running.child.id();
    let work = running.targets().into_iter().find(|one| one.name == "work").unwrap();
    running.go_on();
    let plain = Probe { function: work.id, detail: Detail::Site, cpu: false, entry_only: false };
    let mut said = String::new();
    comes_to_be("the next setting is refused", || {
        let set = running.agent.set(std::slice::from_ref(&work), &[plain], Mode::Timing);
        said = set.err().map(|error| error.to_string()).unwrap_or_default();
        !said.is_empty()
    });
    assert!(said.contains(&format!("process {pid} has threads")) && said.contains("attach"), "{said}");
    assert!(!patched(pid, &work));
    let ended = running.end();
    assert_eq!(ended.output, "right\n");
}
