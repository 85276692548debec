//! After the probes: nothing is left of them, however they went.

use std::time::{Duration, Instant};

use super::*;
use crate::attach::segments::Segments;

const LEAF: &str = r"
FUNCTION long leaf(long n) { return n * 3; }
static long work(void)
{
	struct timespec from, to;
	long n = 1;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < 100000; i++) n = leaf(n);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (to.tv_sec - from.tv_sec) * 1000000000L + to.tv_nsec - from.tv_nsec;
}";

/// In the file.
fn text(program: &Program, name: &str) -> Vec<u8> {
    let file = std::fs::File::open(&program.path).unwrap();
    let offset =
        Segments::read(&file, &program.path).unwrap().offset_of(program.symbols[name].0).unwrap() as usize;
    std::fs::read(&program.path).unwrap()[offset..offset + 16].to_vec()
}

fn until(program: &Program, done: impl Fn(&Program) -> bool) {
    let begun = Instant::now();
    while !done(program) {
        assert!(begun.elapsed() < Duration::from_secs(20), "it does not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn taken_off_they_leave_the_text_and_the_speed_as_they_were() {
    let mut program = Program::start("off", LEAF);
    let Some(mut attach) = watch(&[program.pid()], true) else { return };
    let fastest = |program: &mut Program| (0..5).map(|_| program.work()).min().unwrap();
    let before = fastest(&mut program);
    for finish in [true, false] {
        time(&mut attach, &program, &["leaf"]);
        assert_ne!(program.text("leaf")[..], text(&program, "leaf"));
        let during = program.work();
        assert!(during > 10 * before, "{during} ns with probes, {before} without");
        if finish {
            attach.finish().unwrap();
            assert!(attach.set(&[], &[], Mode::Timing).is_err());
        }
        attach = watch(&[program.pid()], true).unwrap();
        // Between fork and exec a process that another test starts has our probes, too.
        until(&program, |program| program.text("leaf")[..] == text(program, "leaf"));
        let after = fastest(&mut program);
        assert!(after < 2 * before + 100_000, "{after} ns afterwards, {before} before");
    }
}

/// A thread that is inside a watched function as the probes go returns as if they had never been.
#[test]
fn a_call_in_progress_outlives_them() {
    let mut program = Program::start(
        "inside",
        r"
FUNCTION long slow(void) { usleep(200000); return 41; }
static long work(void) { return slow() + 1; }",
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    time(&mut attach, &program, &["slow"]);
    let off = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(60));
        attach.finish().unwrap();
        attach
    });
    assert_eq!(program.work(), 42);
    let mut attach = off.join().unwrap();
    assert_eq!(signs(&only(attach.take().unwrap())), "+1");
    assert_eq!(program.work(), 42);
    until(&program, |program| program.text("slow")[..] == text(program, "slow"));
}

const VICTIM: &str = "TARE_ATTACH_VICTIM";

/// Not a test of its own: the profiler that the next one kills.
#[test]
#[ignore = "is run by the next test"]
fn a_profiler_that_waits_to_be_killed() {
    let Ok(place) = std::env::var(VICTIM) else { return };
    let words: Vec<&str> = place.split(' ').collect();
    let mut attach = Attach::open(&[words[0].parse().unwrap()], true).unwrap();
    let target = Target {
        id: 1,
        name: "leaf".into(),
        object: words[1].into(),
        address: words[2].parse().unwrap(),
        size: words[3].parse().unwrap(),
        semaphore: 0,
        parts: Vec::new(),
    };
    attach.set(&[target], &[Probe { function: 1, ..PLAIN }], Mode::Timing).unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_profiler_that_is_killed_takes_them_with_it() {
    let mut program = Program::start("killed", LEAF);
    if watch(&[program.pid()], true).is_none() {
        return;
    }
    let clean = text(&program, "leaf");
    let (address, size) = program.symbols["leaf"];
    let place = format!("{} {} {address} {size}", program.pid(), program.path.display());
    let mut profiler = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "a_profiler_that_waits_to_be_killed"])
        .env(VICTIM, place)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until(&program, |program| program.text("leaf")[..] != clean);
    program.work();
    profiler.kill().unwrap();
    profiler.wait().unwrap();
    until(&program, |program| program.text("leaf")[..] == clean);
    assert!(program.work() > 0, "it runs on");
}
