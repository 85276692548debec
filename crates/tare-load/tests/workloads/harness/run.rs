//! Transactions sent as a driver sends them.

use std::collections::BTreeMap;
use std::thread;

use tare_load::oltp::{Connection, Ended, Failure, Isolation, Random, Transaction, Workload};

use crate::servers::Server;

const TRIES: usize = 50;

/// How many transactions, and which.
#[derive(Clone, Copy)]
pub struct Sending {
    seed: u64,
    threads: u64,
    /// Of each thread.
    each: u64,
    isolation: Isolation,
    alike: bool,
}

impl Sending {
    /// Of the workload's own mix.
    pub fn new(seed: u64, threads: u64, each: u64) -> Self {
        Self { seed, threads, each, isolation: Isolation::ReadCommitted, alike: false }
    }

    pub fn at(self, isolation: Isolation) -> Self {
        Self { isolation, ..self }
    }

    /// Every thread sends the same ones, at about the same time.
    pub fn alike(self) -> Self {
        Self { alike: true, ..self }
    }
}

/// How often each kind of transaction ended how.
#[derive(Default, Debug)]
pub struct Tally(BTreeMap<&'static str, [u64; 2]>);

impl Tally {
    pub fn committed(&self, kind: &str) -> u64 {
        self.0.get(kind).map_or(0, |ends| ends[0])
    }

    pub fn rolled_back(&self, kind: &str) -> u64 {
        self.0.get(kind).map_or(0, |ends| ends[1])
    }

    /// Of all kinds, committed and rolled back.
    pub fn sums(&self) -> [u64; 2] {
        [0, 1].map(|end| self.0.values().map(|ends| ends[end]).sum())
    }

    fn add(&mut self, kind: &'static str, ended: [u64; 2]) {
        self.0.entry(kind).or_default().iter_mut().zip(ended).for_each(|(sum, more)| *sum += more);
    }
}

impl Server {
    /// Each thread is a user.
    pub fn run(&self, workload: &dyn Workload, sending: Sending) -> Tally {
        workload.meet(self.open().as_mut()).unwrap();
        let mut all = Tally::default();
        thread::scope(|scope| {
            let send = |thread| scope.spawn(move || self.send(workload, sending, thread));
            let started: Vec<_> = (0..sending.threads).map(send).collect();
            for tally in started.into_iter().map(|thread| thread.join().expect("a thread of the run")) {
                tally.0.into_iter().for_each(|(kind, ended)| all.add(kind, ended));
            }
        });
        all
    }

    fn send(&self, workload: &dyn Workload, sending: Sending, thread: u64) -> Tally {
        let mut on = self.open_at(sending.isolation);
        let mut tally = Tally::default();
        for number in 0..sending.each {
            let arrival = if sending.alike { number } else { number * sending.threads + thread };
            let mut random = Random::at(sending.seed, &[arrival]);
            let kind = drawn(workload, &mut random);
            let transaction = workload.draw(kind, &mut random, Some(thread));
            let kind = &workload.kinds()[kind];
            let ended = sent(on.as_mut(), kind.writes, transaction.as_ref());
            tally.add(kind.name, [Ended::Commit, Ended::RollBack].map(|end| u64::from(ended == end)));
        }
        tally
    }

    /// Of so many, the part that would commit; nothing of it stays.
    pub fn success(&self, workload: &dyn Workload, kind: &str, count: u64) -> f64 {
        let mut on = self.open();
        let number = workload.kinds().iter().position(|known| known.name == kind).unwrap();
        let committed = (0..count).filter(|arrival| {
            let transaction = workload.draw(number, &mut Random::at(11, &[number as u64, *arrival]), None);
            on.begin(workload.kinds()[number].writes).unwrap();
            let ended = transaction.run(on.as_mut()).unwrap();
            on.rollback().unwrap();
            ended == Ended::Commit
        });
        committed.count() as f64 / count as f64
    }
}

/// To its end: what may be tried again is.
pub fn sent(on: &mut dyn Connection, writes: bool, transaction: &dyn Transaction) -> Ended {
    for _ in 0..TRIES {
        match once(on, writes, transaction) {
            Ok(ended) => return ended,
            Err(failure) if failure.trouble.passes() => on.rollback().unwrap(),
            Err(failure) => panic!("{failure}"),
        }
    }
    panic!("{TRIES} tries were not enough")
}

fn once(on: &mut dyn Connection, writes: bool, transaction: &dyn Transaction) -> Result<Ended, Failure> {
    on.begin(writes)?;
    let ended = transaction.run(on)?;
    match ended {
        Ended::Commit => on.commit()?,
        Ended::RollBack => on.rollback()?,
    }
    Ok(ended)
}

fn drawn(workload: &dyn Workload, random: &mut Random) -> usize {
    let point = random.unit() * 100.0;
    let mut sum = 0.0;
    let reached = workload.kinds().iter().position(|kind| {
        sum += kind.share;
        point < sum
    });
    reached.expect("shares of 100 in all")
}
