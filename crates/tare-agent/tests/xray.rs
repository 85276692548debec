//! Sleds of clang, patched and unpatched in a program that runs.
//!
//! Needs a clang with XRay's run-time library (Debian: clang-19 and libclang-rt-19-dev); skips loudly without.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

#[path = "xray/build.rs"]
mod build;
#[path = "xray/watched.rs"]
mod watched;

use tare_profile::backend::{Backend, Detail, Mode, Probe};
use tare_profile::xray::Xray;
use tare_rings::Kind;
use tare_rings::record::text_hash;

use self::watched::{Watched, on};

macro_rules! watched {
    () => {
        match Watched::start() {
            Some(watched) => watched,
            None => return,
        }
    };
}

#[test]
fn entries_and_exits_nest_with_tail_calls_and_recursion() {
    let mut watched = watched!();
    watched.set(&[on("outer"), on("inner"), on("tail"), on("recursive")], Mode::Timing);
    watched.tell("calls 2");
    let told = watched.names();
    let recursion = ["+recursive", "+recursive", "+recursive", "-recursive", "-recursive", "-recursive"];
    // a tail call leaves its function first
    let once =
        [&["+outer", "+inner", "-inner", "+tail", "-tail", "+inner", "-inner"][..], &recursion, &["-outer"]]
            .concat();
    assert_eq!(told, [once.clone(), once].concat());
}

#[test]
fn an_entry_tells_where_it_was_called_from() {
    let mut watched = watched!();
    watched.set(&[on("inner"), on("outer")], Mode::Timing);
    watched.tell("calls 1");
    let (outer, end) = watched.extent("outer");
    let inner = watched.id("inner");
    let first = watched.records().into_iter().find(|one| one.subject() == inner).unwrap();
    assert_eq!(first.kind(), Some(Kind::Enter));
    assert!((outer..end).contains(&u64::from(first.detail)), "{:#x} in {outer:#x}..{end:#x}", first.detail);
}

/// A sled that is not patched: over the 9 bytes behind.
const JUMP: [u8; 2] = [0xeb, 9];

/// Code without what an unpatched sled jumps over (XRay leaves that as it was patched), up to a return.
fn executed(code: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < code.len() && kept.last() != Some(&0xc3) {
        kept.push(code[at]);
        at += if kept.ends_with(&JUMP) { 10 } else { 1 };
    }
    kept
}

#[test]
fn what_is_wanted_changes_while_the_program_runs_and_then_it_runs_as_before() {
    let mut watched = watched!();
    let before = executed(&watched.code("inner"));
    assert_eq!(before[..2], JUMP);
    watched.set(&[on("inner")], Mode::Timing);
    assert_ne!(executed(&watched.code("inner")), before, "the sled is patched");
    watched.tell("calls 1");
    assert_eq!(watched.names(), ["+inner", "-inner", "+inner", "-inner"]);
    watched.set(&[on("tail")], Mode::Timing);
    assert_eq!(executed(&watched.code("inner")), before, "no longer wanted");
    watched.tell("calls 1");
    assert_eq!(watched.names(), ["+tail", "-tail"]);
    watched.backend().finish().unwrap();
    watched.tell("calls 1");
    assert_eq!(watched.names(), [""; 0]);
    for name in ["inner", "tail", "outer"] {
        assert_eq!(executed(&watched.code(name)), executed(&watched.code_in_file(name)), "{name}");
    }
}

#[test]
fn counting_makes_no_records_and_counts_each_entry() {
    let mut watched = watched!();
    watched.set(&[on("inner"), on("recursive")], Mode::Counting);
    watched.tell("calls 10");
    assert_eq!(watched.names(), [""; 0]);
    let calls = watched.backend().calls().unwrap();
    let of = |id: u32| calls.iter().find(|one| one.0 == id).map(|one| one.1);
    assert_eq!(of(watched.id("inner")), Some(20));
    assert_eq!(of(watched.id("recursive")), Some(30));
}

#[test]
fn arguments_and_texts_reach_the_record() {
    let mut watched = watched!();
    let text = Detail::WordAndText { word: 0, text: 1 };
    watched.set(&[Probe { detail: text, entry_only: true, ..on("named") }], Mode::Timing);
    watched.tell("say SELECT one");
    let (records, texts) = watched.taken();
    let hash = text_hash(b"SELECT one");
    assert_eq!(records.iter().map(|one| one.detail).collect::<Vec<_>>(), [3 | hash << 4]);
    assert_eq!(texts, [(hash, "SELECT one".to_owned())]);
    watched.set(&[Probe { detail: Detail::Word(0), cpu: true, ..on("named") }], Mode::Counting);
    watched.tell("say x");
    let kinds: Vec<_> = watched.records().iter().map(|one| one.kind().unwrap()).collect();
    assert_eq!(
        kinds,
        [Kind::Enter, Kind::Cpu, Kind::Exit, Kind::Cpu],
        "a mark makes records while others count"
    );
}

#[test]
fn the_program_s_own_marks_stand_among_its_calls() {
    let mut watched = watched!();
    watched.set(&[on("inner")], Mode::Timing);
    watched.tell("mark 77");
    let (records, texts) = watched.taken();
    let kinds: Vec<_> = records.iter().map(|one| one.kind().unwrap()).collect();
    let expected =
        [Kind::Begin, Kind::Label, Kind::Suspend, Kind::Resume, Kind::Enter, Kind::Exit, Kind::End];
    assert_eq!(kinds, expected);
    assert_eq!(records[0].id(), 77);
    assert_eq!(texts, [(text_hash(b"kind"), "kind".to_owned())]);
}

#[test]
fn a_child_forked_before_is_watched_when_it_is_wanted() {
    let mut watched = watched!();
    watched.send("fork 3");
    watched.await_line("forked");
    watched.set(&[on("tail")], Mode::Timing);
    watched.await_child("tail");
    watched.send("go");
    watched.await_line("done");
    let threads = watched.threads();
    assert_eq!(threads.len(), 1, "{threads:?}");
    assert_ne!(threads[0].pid, watched.pid());
    assert_eq!(threads[0].records.len(), 6);
}

#[test]
fn a_function_without_a_sled_is_refused_by_name_and_a_program_without_any_as_a_whole() {
    let mut watched = watched!();
    let refused = watched.try_set(&[on("inner"), on("unsledded")], Mode::Timing).unwrap();
    assert_eq!(refused.len(), 1);
    assert!(refused[0].why.contains("sled"), "{}", refused[0].why);
    let plain = build::without_sleds();
    let error = Xray::create(&watched.folder().join("plain"), &plain, &[], None).unwrap_err();
    assert!(error.what.contains("no XRay sleds") && error.next_step.contains("-fxray-instrument"), "{error}");
}
