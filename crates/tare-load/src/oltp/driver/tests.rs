//! Runs against the planned server: what happened to every arrival, and when it counts.

use std::io::{self, BufReader, Cursor, Write};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

use super::clock::{self, SECOND};
use super::command::serve;
use super::planned::{Heard, Planned, Server, asked, closed, failure, ran, request};
use super::record::RECORD_BYTES;
use super::seconds::ended;
use crate::oltp::request::{Action, Arrivals, Phase, Request, Run};
use crate::oltp::told::{Counts, Distribution, Told};
use crate::oltp::verdict::Invalid;
use crate::oltp::{Ended, Trouble};

const MS: u64 = 1_000_000;

fn at_once() -> Arc<Server> {
    Server::answering(|_| Ok(Ended::Commit))
}

/// How many values are in buckets above.
fn above(distribution: &Distribution, ns: u64) -> u64 {
    distribution.histogram.iter().filter(|(highest, _)| *highest > ns).map(|(_, values)| values).sum()
}

/// What holds of every run: each arrival ends in exactly one way, types and seconds sum up to the whole.
fn adds_up(heard: &Heard) -> Counts {
    let outcome = heard.outcome();
    let all = outcome.all.counts;
    assert_eq!(ended(&all), all.offered);
    assert_eq!(all.started, all.offered - all.shed - all.unstarted);
    let sum = |of: fn(&Counts) -> u64| outcome.types.iter().map(|part| of(&part.counts)).sum::<u64>();
    let seconds = heard.seconds();
    let over = |of: fn(&Counts) -> u64| {
        seconds.iter().filter(|second| second.number >= 0).map(|second| of(&second.counts)).sum::<u64>()
    };
    for of in [
        (|c: &Counts| c.offered) as fn(&Counts) -> u64,
        |c| c.started,
        |c| c.committed,
        |c| c.rolled_back,
        |c| c.errors + c.lost,
        |c| c.shed,
        |c| c.unstarted,
        |c| c.deadlocks,
        |c| c.retried_deadlock,
    ] {
        assert_eq!((sum(of), over(of)), (of(&all), of(&all)), "{seconds:#?}");
    }
    let last = seconds.last().expect("at least one second");
    assert_eq!((last.backlog, last.running), (0, 0));
    all
}

#[test]
fn every_arrival_is_sent_once_when_it_is_due() {
    let heard = ran(&at_once(), asked(500.0, 8, 2.0));
    let counts = adds_up(&heard);
    let outcome = heard.outcome();
    assert_eq!((counts.offered, counts.committed), (1000, 1000));
    assert!(outcome.invalid.is_empty(), "{:?}", outcome.invalid);
    assert_eq!(outcome.intended_rate, Some(500.0));
    assert_eq!((outcome.all.response.count, outcome.all.lag.count), (1000, 1000));
    let numbers: Vec<i64> = heard.seconds().iter().map(|second| second.number).collect();
    assert_eq!(numbers[..2], [0, 1]);
    assert!(heard.seconds()[..2].iter().all(|second| second.counts.offered == 500));
    assert!((750..850).contains(&outcome.types[0].counts.offered));
}

#[test]
fn a_stall_shows_in_full_in_response_times_and_not_in_the_service_times_of_those_that_waited() {
    let began = AtomicI64::new(0);
    let server = Server::answering(move |_| {
        let now = clock::now();
        let _ = began.compare_exchange(0, now, Ordering::SeqCst, Ordering::SeqCst);
        let stalls = began.load(Ordering::SeqCst) + SECOND;
        if (stalls..stalls + 2 * SECOND).contains(&now) {
            clock::sleep_until(stalls + 2 * SECOND);
        }
        Ok(Ended::Commit)
    });
    let heard = ran(&server, asked(200.0, 4, 5.0));
    adds_up(&heard);
    let all = &heard.outcome().all;
    assert!(all.response.max >= 1_990 * MS, "{}", all.response.max);
    // due during the stall's first 1.8 s: each waited 0.2 s or more
    assert!((355..=375).contains(&above(&all.response, 200 * MS)), "{}", above(&all.response, 200 * MS));
    assert!((351..=371).contains(&above(&all.lag, 200 * MS)));
    assert_eq!(above(&all.service, 200 * MS), 4);
    let backlog: Vec<u64> = heard.seconds().iter().map(|second| second.backlog).collect();
    assert!(backlog[1] > 180 && backlog[2] > 380 && backlog[3] == 0, "{backlog:?}");
    assert_eq!(heard.seconds()[2].running, 4);
    assert!(heard.outcome().invalid.is_empty(), "{:?}", heard.outcome().invalid);
    let [freeze] = heard.outcome().freezes[..] else { panic!("{:?}", heard.outcome().freezes) };
    assert!(freeze.length_ns >= 1_980 * MS as i64, "{freeze:?}");
    assert!(freeze.waiting > 300, "{freeze:?}");
}

#[test]
fn a_rate_that_cannot_be_held_makes_the_run_invalid_and_says_how_far_it_fell_short() {
    let slow = Server::steady(Duration::from_millis(20));
    let heard = ran(&slow, Run { drain_s: 0.5, ..asked(200.0, 2, 2.0) });
    let counts = adds_up(&heard);
    assert_eq!(counts.offered, 400);
    assert!(counts.unstarted > 100);
    let [
        Invalid::RateMissed { intended_rate: 200.0, rate },
        Invalid::BacklogGrew { .. },
        Invalid::Unstarted { count, offered: 400, drain_ns: Some(500_000_000) },
    ] = heard.outcome().invalid[..]
    else {
        panic!("{:?}", heard.outcome().invalid)
    };
    assert_eq!(count, counts.unstarted);
    assert!(rate < 120.0, "two connections and 20 ms for each transaction");
}

#[test]
fn what_is_too_late_is_shed_if_asked_and_counted() {
    let slow = Server::steady(Duration::from_millis(20));
    let heard = ran(&slow, Run { shed_after_s: Some(0.1), ..asked(200.0, 2, 1.5) });
    let counts = adds_up(&heard);
    assert!(counts.shed > 50 && counts.unstarted == 0, "{counts:?}");
    assert!(heard.outcome().all.lag.max < 150 * MS);
    let shed = Invalid::Shed { count: counts.shed, offered: 300, late_ns: 100 * MS as i64 };
    assert!(heard.outcome().invalid.contains(&shed), "{:?}", heard.outcome().invalid);
}

#[test]
fn a_deadlock_is_tried_again_and_the_transaction_keeps_its_birth() {
    let tries = Mutex::new(std::collections::HashMap::new());
    let server = Server::answering(move |call| {
        let mut tries = tries.lock().unwrap();
        let tried = tries.entry(call.drew).or_insert(0);
        *tried += 1;
        if *tried < 3 { Err(failure(Trouble::Deadlock)) } else { Ok(Ended::Commit) }
    });
    let twice = adds_up(&ran(&server, asked(100.0, 4, 0.5)));
    assert_eq!((twice.committed, twice.retried_deadlock, twice.deadlocks), (50, 100, 0));
}

#[test]
fn the_last_tries_trouble_is_what_a_transaction_gave_up_by() {
    for (trouble, of, again) in [
        (Trouble::Deadlock, (|c| c.deadlocks) as fn(&Counts) -> u64, 2),
        (Trouble::Serialization, |c| c.serialization_failures, 2),
        (Trouble::LockTimeout, |c| c.lock_timeouts, 2),
        (Trouble::Error, |c| c.errors, 0),
        (Trouble::Duplicate, |c| c.errors, 0),
    ] {
        let heard = ran(&Server::answering(move |_| Err(failure(trouble))), asked(100.0, 4, 0.2));
        let counts = adds_up(&heard);
        let retried = counts.retried_deadlock + counts.retried_serialization + counts.retried_lock_timeout;
        assert_eq!((of(&counts), retried), (20, 20 * again), "{trouble:?}");
        assert_eq!(heard.outcome().all.response.count, 0);
        assert_eq!(heard.outcome().sustained_rate, 0.0);
        assert!(matches!(heard.outcome().invalid[..], [Invalid::Unsuccessful { offered: 20, .. }]));
        assert_eq!(heard.troubles().is_empty(), trouble.passes());
    }
}

#[test]
fn what_the_specification_rolls_back_is_counted_so_and_timed() {
    let server =
        Server::answering(|call| Ok(if call.number % 10 == 0 { Ended::RollBack } else { Ended::Commit }));
    let heard = ran(&server, asked(200.0, 4, 0.5));
    let counts = adds_up(&heard);
    assert_eq!((counts.committed, counts.rolled_back), (90, 10));
    assert_eq!(heard.outcome().sustained_rate, heard.outcome().rate);
    assert_eq!(heard.outcome().all.response.count, 100);
}

#[test]
fn a_server_that_goes_away_and_comes_back_costs_what_was_running_and_the_run_goes_on() {
    let (down, up) = (Arc::new(AtomicI64::new(0)), SECOND / 2);
    let at_door = Arc::clone(&down);
    let gone = move || {
        let down = at_door.load(Ordering::SeqCst);
        down > 0 && clock::now() < down + up
    };
    let inside = gone.clone();
    let server = Server::behind(
        move |_| if gone() { Err(failure(Trouble::Lost)) } else { Ok(()) },
        move |call| {
            if call.number == 100 {
                down.store(clock::now(), Ordering::SeqCst);
            }
            if inside() { Err(failure(Trouble::Lost)) } else { Ok(Ended::Commit) }
        },
    );
    let heard = ran(&server, asked(200.0, 4, 2.0));
    let counts = adds_up(&heard);
    let outcome = heard.outcome();
    assert_eq!((counts.lost, counts.committed, outcome.reconnects), (4, 396, 4));
    assert!(outcome.all.response.max > 450 * MS);
    let [Invalid::ConnectionsBroke { at_ns, broken: 4, connections: 4, back_ns: Some(back_ns) }, ..] =
        outcome.invalid[..]
    else {
        panic!("{:?}", outcome.invalid)
    };
    assert!(at_ns >= up && back_ns - at_ns >= up - 100 * MS as i64, "{at_ns} {back_ns}");
    assert!(heard.troubles().contains(&"planned: Lost"));
    assert!(heard.troubles().contains(&"connections that were lost are being made again"));
    let opened = server.opened.load(Ordering::SeqCst);
    assert!(opened < 8 + 4 * 10, "{opened} tries to connect within half a second");
}

#[test]
fn a_server_that_never_comes_back_leaves_the_rest_unstarted_and_the_run_ends() {
    let server = Server::behind(
        |number| if number < 2 { Ok(()) } else { Err(failure(Trouble::Lost)) },
        |call| if call.number < 20 { Ok(Ended::Commit) } else { Err(failure(Trouble::Lost)) },
    );
    let counts = adds_up(&ran(&server, Run { drain_s: 0.3, ..asked(100.0, 2, 1.0) }));
    assert_eq!((counts.committed, counts.lost, counts.unstarted), (20, 2, 78));
}

#[test]
fn a_full_server_is_said_with_how_many_it_took() {
    let server =
        Server::behind(|n| if n < 5 { Ok(()) } else { Err(failure(Trouble::Full)) }, |_| Ok(Ended::Commit));
    let problem = ran(&server, asked(100.0, 8, 1.0)).ended.unwrap_err();
    assert_eq!(problem.what, "of 8 connections 5 were opened: planned: Full");
    assert!(problem.next.contains("5 or fewer") && !problem.usage);
}

#[test]
fn a_panic_ends_the_run_with_its_words() {
    let server =
        Server::answering(|call| if call.number == 30 { panic!("on purpose") } else { Ok(Ended::Commit) });
    let began = clock::now();
    let problem = ran(&server, asked(100.0, 4, 60.0)).ended.unwrap_err();
    assert!(problem.what.contains("on purpose"), "{problem}");
    assert!(clock::now() - began < 5 * SECOND);
}

#[test]
fn in_a_closed_loop_each_connection_sends_when_its_last_has_ended() {
    let server = Server::steady(Duration::from_millis(10));
    let heard = ran(&server, closed(3, 1.0));
    let counts = adds_up(&heard);
    let outcome = heard.outcome();
    assert!((150..=300).contains(&counts.committed), "{counts:?}");
    assert_eq!((outcome.intended_rate, outcome.all.lag.count, counts.unstarted), (None, 0, 0));
    assert!(outcome.invalid.is_empty());
    let homes = server.homes.lock().unwrap();
    assert!((0..3).all(|home| homes.iter().any(|(_, of)| *of == Some(home))));
}

#[test]
fn keying_and_thinking_slow_a_closed_loop_down() {
    let heard = ran(&at_once(), Run { think: 1.0, ..closed(2, 1.0) });
    let counts = adds_up(&heard);
    assert!((20..=90).contains(&counts.committed), "{counts:?}"); // 40 ms each
}

#[test]
fn what_is_drawn_depends_on_the_seed_and_not_on_who_sends_it_or_on_the_warm_up() {
    let drawn = |connections, warmup_s| {
        let server = at_once();
        adds_up(&ran(&server, Run { warmup_s, ..asked(200.0, connections, 0.5) }));
        let drew = server.drew.lock().unwrap();
        drew.iter().copied().collect::<std::collections::BTreeSet<i64>>()
    };
    let (one, many) = (drawn(1, 0.0), drawn(7, 0.3));
    assert_eq!((one.len(), many.len()), (100, 160));
    assert!(one.is_subset(&many));
}

#[test]
fn a_warm_ups_backlog_is_gone_before_the_clock_starts() {
    let slow_at_first = Server::answering(|call| {
        sleep(Duration::from_millis(if call.number < 40 { 25 } else { 0 }));
        Ok(Ended::Commit)
    });
    let heard = ran(&slow_at_first, Run { warmup_s: 0.4, ..asked(100.0, 1, 1.0) });
    adds_up(&heard);
    let outcome = heard.outcome();
    assert_eq!((outcome.warmup.committed, outcome.all.counts.committed), (40, 100));
    assert!(outcome.warmup_ns >= 950 * MS);
    assert!(outcome.all.lag.quantile(0.5).unwrap() < 20 * MS);
    let warm = heard.seconds()[0];
    assert_eq!((warm.number, warm.counts.committed), (-1, 40));
    let lines: Vec<usize> =
        (0..heard.told.len()).filter(|n| matches!(heard.told[*n], Told::Started { .. })).collect();
    assert!(matches!(heard.told[lines[0] - 1], Told::Second(_)));
}

#[test]
fn phases_follow_one_another_and_each_second_knows_its_own() {
    let phases =
        [(100.0, 1.0), (300.0, 1.0)].map(|(rate, duration_s)| Phase { rate: Some(rate), duration_s });
    let heard = ran(&at_once(), Run { phases: phases.to_vec(), ..asked(1.0, 8, 1.0) });
    adds_up(&heard);
    let seen: Vec<(usize, u64)> =
        heard.seconds().iter().map(|second| (second.phase, second.counts.offered)).collect();
    assert_eq!(seen[..2], [(0, 100), (1, 300)]);
}

#[test]
fn samples_hold_every_arrival_also_those_that_were_never_sent() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let slow = Server::steady(Duration::from_millis(20));
    let asked = Run { drain_s: 0.2, samples: Some(file.path().into()), ..asked(200.0, 2, 1.0) };
    let heard = ran(&slow, asked);
    let counts = adds_up(&heard);
    let bytes = std::fs::read(file.path()).unwrap();
    assert_eq!((bytes.len() / RECORD_BYTES, heard.outcome().samples), (200, 200));
    let records: Vec<&[u8]> = bytes.chunks(RECORD_BYTES).collect();
    let number = |record: &[u8], at: usize| i64::from_le_bytes(record[at..at + 8].try_into().unwrap());
    let unsent: Vec<_> = records.iter().filter(|record| record[2] == 8).collect();
    assert_eq!(unsent.len() as u64, counts.unstarted);
    assert!(unsent.iter().all(|record| number(record, 24) == 0 && number(record, 32) == 0));
    let mut arrivals: Vec<i64> = records.iter().map(|record| number(record, 8)).collect();
    arrivals.sort_unstable();
    assert!(arrivals.iter().copied().eq(0..200));
    let zero = heard.outcome().started_ns;
    assert!(
        records.iter().all(|record| number(record, 16) == zero + 2_500_000 + number(record, 8) * 5_000_000)
    );
}

#[test]
fn a_full_disk_cuts_the_run_short_and_what_was_tallied_is_told() {
    let heard = ran(&at_once(), Run { samples: Some("/dev/full".into()), ..asked(4000.0, 4, 30.0) });
    let outcome = heard.outcome();
    adds_up(&heard);
    let [Invalid::CutShort { failure: Some(failure), .. }, ..] = &outcome.invalid[..] else {
        panic!("{:?}", outcome.invalid)
    };
    assert!(failure.contains("/dev/full cannot be written: No space left"), "{failure}");
    assert!(outcome.all.counts.committed > 1000 && outcome.took_ns < 10 * SECOND as u64);
}

#[test]
fn a_request_that_makes_no_sense_is_refused_before_anything_is_opened() {
    let no_rate = vec![Phase { rate: None, duration_s: 1.0 }];
    let good = || asked(100.0, 4, 1.0);
    for (wrong, what) in [
        (Run { connections: 0, ..good() }, "connections"),
        (Run { phases: Vec::new(), ..good() }, "phases"),
        (Run { phases: no_rate, ..good() }, "rate"),
        (asked(0.0, 4, 1.0), "rate"),
        (asked(100.0, 4, 0.0), "duration"),
        (Run { warmup_s: f64::NAN, ..good() }, "warm-up"),
        (Run { tries: 0, ..good() }, "tries"),
        (
            Run {
                arrivals: Arrivals::Trace { file: "/nowhere/t".into() },
                phases: closed(1, 1.0).phases,
                ..good()
            },
            "/nowhere/t",
        ),
        (Run { samples: Some("/nowhere/s".into()), ..good() }, "/nowhere/s"),
    ] {
        let server = at_once();
        let problem = ran(&server, wrong).ended.unwrap_err();
        assert!(problem.usage && problem.what.contains(what), "{problem}");
        assert_eq!(server.opened.load(Ordering::SeqCst), 0);
    }
}

// The command ------------------------------------------------------------------------------------------------------
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn last(&self) -> Told {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        serde_json::from_str(text.lines().last().unwrap()).unwrap()
    }
}

fn line(request: &Request) -> String {
    serde_json::to_string(request).unwrap() + "\n"
}

/// Its exit code and last line; the input stays open.
fn served(first: &str, later: Option<(Duration, &'static str)>) -> (i32, Told) {
    let (reader, mut writer) = io::pipe().unwrap();
    writer.write_all(first.as_bytes()).unwrap();
    let mut kept = writer.try_clone().unwrap();
    let speaker = later.map(|(when, what)| {
        thread::spawn(move || {
            sleep(when);
            kept.write_all(what.as_bytes()).unwrap();
        })
    });
    let page = Page::default();
    let actions = Arc::new(Planned(at_once()));
    let gone = || panic!("the input is open");
    let code = serve(Box::new(BufReader::new(reader)), Box::new(page.clone()), actions, gone);
    speaker.into_iter().for_each(|speaker| speaker.join().unwrap());
    drop(writer);
    (code, page.last())
}

#[test]
fn stop_ends_a_run_early_with_what_was_measured() {
    let later = Some((Duration::from_millis(1000), "stop\n"));
    let (code, told) = served(&line(&request(asked(100.0, 4, 60.0))), later);
    let Told::RunDone(outcome) = told else { panic!("{told:?}") };
    assert_eq!((code, outcome.all.counts.unstarted), (0, 0));
    assert!((60..=110).contains(&outcome.all.counts.committed));
    let [Invalid::CutShort { after_ns, length_ns, failure: None }, ..] = outcome.invalid[..] else {
        panic!("{:?}", outcome.invalid)
    };
    assert!(after_ns < length_ns && length_ns == 60 * SECOND, "{after_ns}");
    assert!((outcome.intended_rate.unwrap() - 100.0).abs() < 3.0, "{:?}", outcome.intended_rate);
}

#[test]
fn an_action_ends_with_its_last_line_and_exit_code() {
    let of = |action| served(&line(&Request { action, ..request(closed(1, 1.0)) }), None);
    assert!(matches!(of(Action::Check { rows: 1 }), (0, Told::CheckDone { .. })));
    assert!(matches!(
        of(Action::Load { connections: 1, replace: false }),
        (1, Told::Failed { usage: false, .. })
    ));
    let (code, told) = of(Action::Drop);
    let Told::Failed { what, .. } = told else { panic!("{told:?}") };
    assert_eq!((code, what.as_str()), (1, "the driver failed: planned"));
}

#[test]
fn a_request_that_cannot_be_read_is_at_fault_itself() {
    for text in ["{}\n", "drop it\n"] {
        assert!(matches!(served(text, None), (2, Told::Failed { usage: true, .. })));
    }
}

static GONE: AtomicBool = AtomicBool::new(false);

#[test]
fn when_its_input_ends_whoever_asked_is_gone() {
    let input = Cursor::new(line(&request(asked(100.0, 1, 1.0))));
    let actions = Arc::new(Planned(at_once()));
    serve(Box::new(BufReader::new(input)), Box::new(Page::default()), actions, || {
        GONE.store(true, Ordering::SeqCst);
    });
    assert!(GONE.load(Ordering::SeqCst));
}
