//! What records say beside entry and exit: arguments, texts, call sites, CPU time, markers; and counts in their stead.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod watched;

use std::collections::HashMap;

use tare_profile::backend::{Backend, Detail, Mode, Probe};
use tare_rings::record::text_hash;
use tare_rings::{Kind, Record};
use watched::{Running, comes_to_be, compile, symbols};

const STATE: Detail = Detail::State { word: 0, text: 1, until: 4 };

#[test]
fn arguments_texts_sites_and_cpu_time_are_as_they_were() {
    let program = compile("details.c", &[]);
    let all = symbols(&program.path);
    let main = all.iter().find(|target| target.name == "main").unwrap().clone();
    let ended = program
        .start(&["state", "site", "spin"], Mode::Timing, |name, probe| match name {
            "state" => {
                probe.detail = Detail::WordAndText { word: 0, text: 1 };
                probe.entry_only = true;
            }
            "site" => probe.detail = Detail::Word(1),
            _ => probe.cpu = true,
        })
        .end();
    let records: Vec<Record> = ended.well().all().copied().collect();
    let (select, commit) = (text_hash(b"SELECT 1"), text_hash(b"COMMIT"));
    let states: Vec<u32> = records.iter().take(5).map(|record| record.detail).collect();
    assert_eq!(states[..4], [3 | select << 4, 2, 1 | select << 4, 4 | commit << 4]);
    assert_eq!(states[4] & 15, 5, "a pointer that is none does no harm");
    for (hash, text) in [(select, "SELECT 1"), (commit, "COMMIT")] {
        assert!(ended.taken.texts.contains(&(hash, text.to_owned())), "{:?}", ended.taken.texts);
    }
    let rest: Vec<(Option<Kind>, u32)> =
        records[5..].iter().map(|record| (record.kind(), record.detail)).collect();
    assert_eq!(rest[0], (Some(Kind::Enter), 0x2345_6789));
    assert_eq!(rest[1].0, Some(Kind::Exit));
    let site = u64::from(rest[2].1);
    assert!((main.address..main.address + main.size).contains(&site), "{site:x} is the call in {main:?}");
    let kinds: Vec<Kind> = rest[2..].iter().filter_map(|record| record.0).collect();
    assert_eq!(
        kinds,
        [Kind::Enter, Kind::Cpu, Kind::Exit, Kind::Cpu, Kind::Begin, Kind::End, Kind::Label],
        "an unknown marker is none"
    );
    let cpu = records[10].id() - records[8].id();
    assert!((1_000_000..10_000_000_000).contains(&cpu), "{cpu} ns for 20,000,000 additions");
    assert_eq!((records[11].id(), records[13].detail), (0x0123_4567_89ab_cdef, text_hash(b"order")));
    assert!(ended.taken.texts.iter().any(|(_, text)| text == "order"));
}

#[test]
fn cpu_time_is_told_when_work_begins_and_when_it_is_through_and_not_in_its_midst() {
    let ended = compile("details.c", &["-DNO_TEXT=0"])
        .start(&["state"], Mode::Timing, |_, probe| {
            *probe = Probe { detail: STATE, cpu: true, entry_only: true, ..*probe };
        })
        .end();
    let kinds: Vec<Kind> = ended.well().all().filter_map(|record| record.kind()).take(8).collect();
    let (entered, read) = (Kind::Enter, Kind::Cpu);
    assert_eq!(
        kinds,
        [entered, read, entered, entered, entered, read, entered, read],
        "states 3 2 1 4, and 5 anew"
    );
    assert!(ended.taken.texts.iter().any(|(_, text)| text == "COMMIT"), "texts are told of each");
}

#[test]
fn a_text_is_read_to_its_end_and_no_page_further() {
    for detail in [STATE, Detail::WordAndText { word: 0, text: 1 }] {
        let ended = compile("texts.c", &[])
            .start(&["state"], Mode::Timing, |_, probe| *probe = Probe { detail, entry_only: true, ..*probe })
            .end();
        let told: Vec<u32> = ended.well().all().map(|record| record.detail >> 4).collect();
        let text =
            |length: usize| (0..length).map(|place| (1 + (length + place) % 255) as u8).collect::<Vec<_>>();
        let expected: Vec<u32> = (0..=140).flat_map(|length| [text_hash(&text(length)); 2]).collect();
        assert_eq!(told, expected);
    }
}

#[test]
fn statements_without_number_are_all_told_if_the_profiler_looks_in_between() {
    const ROUND: usize = 500;
    const ROUNDS: usize = 20;
    let mut running = compile("statements.c", &[]).start(&["state"], Mode::Timing, |_, probe| {
        *probe = Probe { detail: STATE, entry_only: true, ..*probe };
    });
    for round in 1..ROUNDS {
        running.go_on();
        comes_to_be("a round is over", || {
            running.take();
            running.taken.threads.first().is_some_and(|thread| thread.records.len() >= 2 * ROUND * round)
        });
    }
    let ended = running.end(); // with one more
    let told: HashMap<u32, String> = ended.taken.texts.iter().cloned().collect();
    assert_eq!(told.len(), ended.taken.texts.len(), "each once");
    let said: Vec<&str> =
        ended.well().all().filter_map(|record| told.get(&(record.detail >> 4))).map(String::as_str).collect();
    let expected: Vec<String> = (0..ROUNDS * ROUND).map(|number| format!("SELECT {number}")).collect();
    assert_eq!(said, expected, "what is bound and executed is told when it is bound");
}

#[test]
fn a_profiler_that_comes_later_is_told_the_texts_that_an_earlier_one_knew() {
    let state = |_: &str, probe: &mut Probe| *probe = Probe { detail: STATE, entry_only: true, ..*probe };
    let mut running = compile("repeats.c", &[]).start(&["state"], Mode::Timing, state);
    running.go_on();
    comes_to_be("the other thread has ended", || {
        running.take();
        running.taken.texts.len() == 3_001
    });
    running.changes_hands(state);
    running.until_entered("state");
    assert!(running.taken.texts.contains(&(text_hash(b"SELECT again"), "SELECT again".to_owned())));
    running.end().well();
}

#[test]
fn counting_counts_each_entry_of_each_thread_and_makes_no_records_except_for_marks() {
    let ended = compile("threads.cpp", &[])
        .start(&["work", "leave", "worker"], Mode::Counting, |name, probe| probe.cpu = name == "worker")
        .end();
    assert!(ended.status.success());
    assert_eq!((ended.calls["work"], ended.calls["leave"]), (40_000, 35));
    assert_eq!((ended.count(Kind::Enter, "work"), ended.count(Kind::Enter, "worker")), (0, 40));
}

#[test]
fn the_clock_is_the_one_that_records_are_stamped_with() {
    let mut running = compile("nesting.c", &[]).start(&["outer"], Mode::Timing, |_, _| {});
    let (before, begin) = running.agent.clock();
    running.go();
    std::thread::sleep(std::time::Duration::from_millis(50));
    let (after, end) = running.agent.clock();
    let ended = running.end();
    for record in ended.well().all() {
        assert!((before..after).contains(&record.time));
    }
    assert!((50_000_000..5_000_000_000).contains(&(end - begin)));
}

#[test]
fn probes_are_changed_while_the_program_runs() {
    let mut running = compile("steady.c", &[]).start(&["leaf", "main"], Mode::Timing, |_, _| {});
    let targets = running.targets();
    running.agent_set(&targets[..0]);
    running.go_on();
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.take();
    assert!(running.taken.threads.is_empty(), "all are off");
    running.agent_set(&targets.iter().filter(|target| target.name == "leaf").cloned().collect::<Vec<_>>());
    for _ in 0..100 {
        running.until_entered("leaf");
    }
    running.agent_set(&targets[..0]);
    running.take();
    let entries = |running: &Running| {
        let records = &running.taken.threads[0].records;
        records.iter().filter(|record| record.kind() == Some(Kind::Enter)).count()
    };
    let so_far = entries(&running);
    std::thread::sleep(std::time::Duration::from_millis(200));
    running.take();
    assert!(entries(&running) <= so_far + 1, "off again, but for a call that was being made");
    let ended = running.end();
    assert_eq!(ended.output, "1\n");
}
