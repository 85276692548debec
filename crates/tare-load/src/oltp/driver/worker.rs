//! A thread with a connection of its own: takes an arrival, sleeps until it is due, sends it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::attempt::attempt;
use super::cell::Current;
use super::clock::{self, SECOND};
use super::control::{Control, Halt, locked};
use super::mix::Mix;
use super::open::Arrival;
use super::stage::Stage;
use super::streams::{ARRIVALS, CLOSED, PAUSES};
use super::stretch::Stretch;
use super::think;
use crate::oltp::database::Problem;
use crate::oltp::{Connection, Failure, Random, Transaction, Workload};

/// Between two tries to connect: at first, and at most.
const FIRST_PAUSE: i64 = SECOND / 50;
const LONGEST_PAUSE: i64 = SECOND;

/// Opens one more.
pub(super) type Connector = dyn Fn() -> Result<Box<dyn Connection>, Failure> + Send + Sync;

/// What all workers of a run have in common.
pub(super) struct Shared {
    pub(super) workload: Arc<dyn Workload>,
    pub(super) mix: Mix,
    pub(super) connect: Box<Connector>,
    pub(super) seed: u64,
    pub(super) tries: u8,
    pub(super) think: f64,
    pub(super) stage: Stage,
    pub(super) control: Arc<Control>,
    pub(super) reconnects: AtomicU64,
}

impl Shared {
    /// What an open loop's arrival draws from, and the type that it drew.
    pub(super) fn arrival(&self, stretch: &Stretch, arrival: Arrival) -> (Random, usize) {
        let mut random = Random::at(self.seed, &[stretch.stream, &[ARRIVALS, arrival.number]].concat());
        let kind = self.mix.choose(&mut random);
        (random, kind)
    }
}

/// Numbered from 0.
pub(super) struct Worker {
    number: u32,
    connection: Option<Box<dyn Connection>>,
    /// When it was opened, ns of CLOCK_MONOTONIC.
    opened: i64,
    pauses: Random,
    shared: Arc<Shared>,
}

impl Worker {
    pub(super) fn new(number: u32, connection: Box<dyn Connection>, shared: Arc<Shared>) -> Self {
        let pauses = Random::at(shared.seed, &[PAUSES, u64::from(number)]);
        Self { number, connection: Some(connection), opened: clock::now(), pauses, shared }
    }

    /// Stretch after stretch. A panic ends the run, in words.
    pub(super) fn work(mut self) {
        clock::sleep_precisely();
        let shared = Arc::clone(&self.shared);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.play_all())) {
            let what = format!("the driver failed in connection {}: {}", self.number, words(&*panic));
            shared.control.halt(Halt::Broken(Problem::new(
                what,
                "this is a fault of Tare's: report it with these words",
            )));
        }
    }

    fn play_all(&mut self) {
        let mut number = 0;
        while let Some((next, stretch)) = self.shared.stage.after(number) {
            let _inside = Inside::new(&stretch);
            match stretch.untaken {
                Some(_) => self.open_loop(&stretch),
                None => self.closed_loop(&stretch),
            }
            number = next;
        }
    }

    fn open_loop(&mut self, stretch: &Stretch) {
        while self.is_connected(stretch) {
            let arrival = match stretch.take() {
                Ok(Some(arrival)) => arrival,
                Ok(None) => return,
                Err(why) => return self.shared.control.halt(Halt::Short(why)),
            };
            let (mut random, kind) = self.shared.arrival(stretch, arrival);
            let transaction = self.shared.workload.draw(kind, &mut random, None);
            if !stretch.gate.wait_until(arrival.due) && arrival.due >= stretch.gate.cut_at() {
                return; // it is not due before the run is cut short, nor is any after it
            }
            let now = clock::now();
            match stretch.gate.refuses(arrival.due, now) {
                Some(end) => stretch.leave_out(arrival, kind, end),
                None => self.send(stretch, &*transaction, kind, arrival, now),
            }
        }
    }

    fn closed_loop(&mut self, stretch: &Stretch) {
        let home = u64::from(self.number);
        stretch.gate.wait_until(stretch.zero);
        for number in 0.. {
            if !self.is_connected(stretch) {
                return;
            }
            let mut random =
                Random::at(self.shared.seed, &[stretch.stream, &[CLOSED, home, number]].concat());
            let kind = self.shared.mix.choose(&mut random);
            let transaction = self.shared.workload.draw(kind, &mut random, Some(home));
            let of = &self.shared.workload.kinds()[kind];
            let (keying, thinking) = think::times(of, self.shared.think, &mut random);
            if !stretch.gate.wait_until(clock::now() + keying) {
                return;
            }
            let due = clock::now();
            self.send(stretch, &*transaction, kind, Arrival { number, due }, due);
            if !stretch.gate.wait_until(clock::now() + thinking) {
                return;
            }
        }
    }

    fn send(&mut self, stretch: &Stretch, what: &dyn Transaction, kind: usize, arrival: Arrival, now: i64) {
        let Some(on) = &mut self.connection else { return };
        stretch.begin(Current {
            kind: kind as u16,
            connection: self.number,
            arrival: arrival.number,
            intended: arrival.due,
            started: now,
            seen: false,
        });
        let writes = self.shared.workload.kinds()[kind].writes;
        let done = attempt(&mut **on, what, writes, self.shared.tries, &stretch.gate, &mut self.pauses);
        let ended = clock::now();
        stretch.end(self.number, |current| current.ended(done.end, done.tries, done.retried, ended));
        if let Some(text) = &done.text {
            stretch.note(text);
        }
        if !done.alive {
            self.connection = None;
            locked(&stretch.breaks).lost(self.opened, ended, stretch.cells.len() as u64);
        }
    }

    /// Connects anew if it must, for as long as it takes. False: the stretch is over.
    fn is_connected(&mut self, stretch: &Stretch) -> bool {
        if self.connection.is_some() {
            return true;
        }
        let outside = Outside::new(stretch);
        self.connect(stretch);
        drop(outside);
        self.connection.is_some()
    }

    fn connect(&mut self, stretch: &Stretch) {
        let mut longest = FIRST_PAUSE;
        while stretch.gate.wait_until(clock::now() + self.pauses.between(longest / 2, longest)) {
            match (self.shared.connect)() {
                Ok(connection) => {
                    self.connection = Some(connection);
                    self.opened = clock::now();
                    locked(&stretch.breaks).back(self.opened);
                    self.shared.reconnects.fetch_add(1, Ordering::Relaxed);
                    return stretch.note("connections that were lost are being made again");
                }
                Err(failure) => stretch.note(&failure.text),
            }
            longest = (2 * longest).min(LONGEST_PAUSE);
        }
    }
}

/// Leaves a stretch however its worker does.
struct Inside<'a>(&'a Stretch);

impl<'a> Inside<'a> {
    fn new(stretch: &'a Stretch) -> Self {
        stretch.enter();
        Self(stretch)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Comes back in, however it ends.
struct Outside<'a>(&'a Stretch);

impl<'a> Outside<'a> {
    fn new(stretch: &'a Stretch) -> Self {
        stretch.leave();
        Self(stretch)
    }
}

impl Drop for Outside<'_> {
    fn drop(&mut self) {
        self.0.enter();
    }
}

/// What a panic said.
pub(super) fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without words".to_owned())
}
