//! One of eleven transactions panics three calls deep. Variant `inside`: the transaction catches it; variant `above`: the
//! panic leaves the transaction too. Arguments and output as in survivor.h.

use std::io::Write;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const NAMES: [&str; 5] = ["transaction", "parse", "execute", "bind", "fetch"];
const TRANSACTION: usize = 0;
const PARSE: usize = 1;
const EXECUTE: usize = 2;
const BIND: usize = 3;
const FETCH: usize = 4;
const EVERY: Duration = Duration::from_millis(20);
const LONG_US: [u64; 10] = [0, 1400, 200, 400, 0, 2000, 400, 200, 800, 600];
const SHORT_US: [u64; 7] = [0, 600, 200, 0, 400, 100, 200];
const SIGTERM: i32 = 15;
const PR_SET_TIMERSLACK: i32 = 29;
const CLOCK_MONOTONIC: i32 = 1;

static STOPPING: AtomicBool = AtomicBool::new(false);

extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn prctl(option: i32, value: usize) -> i32;
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

extern "C" fn stop(_: i32) {
    STOPPING.store(true, Ordering::Relaxed);
}

#[derive(Clone, Copy, Default)]
struct Sums {
    calls: u64,
    ns: f64,
    squares: f64,
    products: f64,
}

pub struct Txn {
    number: usize,
    culprit: usize,
    inside: bool,
    open: [Option<Instant>; 5],
    calls: [u64; 5],
    ns: [f64; 5],
}

impl Txn {
    /// Times a call. A panic leaves it open.
    fn call(&mut self, function: usize, body: fn(&mut Txn)) {
        self.calls[function] += 1;
        self.open[function] = Some(Instant::now());
        body(self);
        self.leave(function);
    }

    fn leave(&mut self, function: usize) {
        if let Some(began) = self.open[function].take() {
            self.ns[function] += began.elapsed().as_nanos() as f64;
        }
    }

    fn land(&mut self) {
        for function in PARSE..NAMES.len() {
            self.leave(function);
        }
    }
}

/// Some 10 µs of CPU time; and of the culprit a wait, with a little of one in the function numbered before it.
#[inline(always)]
fn work(t: &Txn, function: usize) {
    let mut sum = t.number as u64;
    for _ in 0..10000 {
        sum = std::hint::black_box(sum.wrapping_mul(3));
    }
    let other = if t.culprit > 1 { t.culprit - 1 } else { NAMES.len() - 1 };
    let us = match function {
        _ if function == t.culprit => LONG_US[t.number % LONG_US.len()],
        _ if function == other => SHORT_US[t.number % SHORT_US.len()],
        _ => 0,
    };
    if us > 0 {
        std::thread::sleep(Duration::from_micros(us));
    }
}

#[inline(never)]
#[no_mangle]
pub fn parse(t: &mut Txn) {
    work(t, PARSE);
}

#[inline(never)]
#[no_mangle]
pub fn fetch(t: &mut Txn) {
    let row = vec![t.number as u8; 16]; // dropped as the panic passes
    work(t, FETCH);
    if t.number % 11 == 0 {
        panic!("no such row");
    }
    std::hint::black_box(&row);
}

#[inline(never)]
#[no_mangle]
pub fn bind(t: &mut Txn) {
    work(t, BIND);
    t.call(FETCH, fetch);
    std::hint::black_box(&t.number);
}

#[inline(never)]
#[no_mangle]
pub fn execute(t: &mut Txn) {
    work(t, EXECUTE);
    t.call(BIND, bind);
    std::hint::black_box(&t.number);
}

#[inline(never)]
#[no_mangle]
pub fn transaction(t: &mut Txn) {
    t.call(PARSE, parse);
    if !t.inside {
        t.call(EXECUTE, execute);
    } else if catch_unwind(AssertUnwindSafe(|| t.call(EXECUTE, execute))).is_err() {
        t.land();
    }
    std::hint::black_box(&t.number);
}

/// CLOCK_MONOTONIC, which `Instant` does not tell.
fn now_ns() -> i64 {
    let mut time = [0; 2];
    // SAFETY: two 64-bit numbers, as struct timespec has them.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &mut time) };
    time[0] * 1_000_000_000 + time[1]
}

fn print(sums: &[Sums; 5], ended: bool) {
    let functions: Vec<String> = NAMES
        .iter()
        .zip(sums)
        .map(|(name, s)| format!("\"{name}\": [{}, {}, {}, {}]", s.calls, s.ns, s.squares, s.products))
        .collect();
    let line = format!(
        "{{\"transactions\": {}, \"at_ns\": {}, \"ended\": {ended}, \"functions\": {{{}}}}}\n",
        sums[TRANSACTION].calls,
        now_ns(),
        functions.join(", ")
    );
    std::io::stdout().write_all(line.as_bytes()).expect("standard output is open");
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let culprit = words.get(3).and_then(|word| NAMES.iter().position(|name| name == word));
    let (4, Some(culprit)) = (words.len(), culprit) else {
        eprintln!("usage: {} SECONDS VARIANT CULPRIT", words[0]);
        std::process::exit(2);
    };
    let seconds: f64 = words[1].parse().expect("SECONDS is a number");
    let inside = words[2] == "inside";
    std::panic::set_hook(Box::new(|_| ()));
    // SAFETY: the handler only stores to an atomic; prctl takes no pointer.
    unsafe {
        signal(SIGTERM, stop);
        prctl(PR_SET_TIMERSLACK, 1);
    }
    let (origin, mut printed, mut sums) = (Instant::now(), Instant::now(), [Sums::default(); 5]);
    let mut number = 0;
    while !STOPPING.load(Ordering::Relaxed) && (seconds == 0.0 || origin.elapsed().as_secs_f64() < seconds) {
        let mut t = Txn { number, culprit, inside, open: [None; 5], calls: [0; 5], ns: [0.0; 5] };
        let _ = catch_unwind(AssertUnwindSafe(|| t.call(TRANSACTION, transaction)));
        t.leave(TRANSACTION);
        t.land();
        for (s, (ns, calls)) in sums.iter_mut().zip(t.ns.iter().zip(t.calls)) {
            s.calls += calls;
            s.ns += ns;
            s.squares += ns * ns;
            s.products += ns * t.ns[TRANSACTION];
        }
        number += 1;
        if printed.elapsed() >= EVERY {
            printed = Instant::now();
            print(&sums, false);
        }
    }
    print(&sums, true);
}
