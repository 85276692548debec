//! Real databases for a workload's tests: SQLite in a directory of its own, always, and each server that
//! `TARE_LOAD_URLS` names (separated by commas). Tables of the workload's names are replaced there.

// Each test binary uses its own part of this.
#![allow(dead_code)]

mod heard;
mod rows;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tare_load::oltp::{
    Check, Connection, Ended, Failure, Isolation, Options, Random, Value, Workload, ddl, find, mariadb,
    postgresql, sqlite,
};

pub use heard::heard;
pub use rows::filled;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Servers have one database for all tests of a binary.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Of one test.
pub struct Bed {
    pub url: String,
    directory: Option<PathBuf>,
    _alone: Option<MutexGuard<'static, ()>>,
}

/// How a kind's transactions ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    pub committed: u32,
    pub rolled_back: u32,
}

/// At a scale, over data of seed 1.
pub fn workload(name: &str, scale: f64, options: &[(&str, &str)]) -> Box<dyn Workload> {
    let given = options.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    find(name, scale, 1, Options::new(given)).unwrap()
}

/// The test on each database, one after the other.
pub fn on_each(test: impl Fn(&Bed)) {
    test(&Bed::sqlite());
    for url in std::env::var("TARE_LOAD_URLS").unwrap_or_default().split(',').filter(|url| !url.is_empty()) {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        test(&Bed { url: url.to_owned(), directory: None, _alone: Some(alone) });
    }
}

impl Bed {
    pub fn sqlite() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("tare-load-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory).unwrap();
        let url = format!("sqlite:///{}/bed.db", directory.display());
        std::fs::File::create_new(directory.join("bed.db")).unwrap();
        Self { url, directory: Some(directory), _alone: None }
    }

    pub fn connect(&self) -> Box<dyn Connection> {
        let open = match self.url.split(':').next() {
            Some("sqlite") => sqlite::connect,
            Some("postgresql") => postgresql::connect,
            _ => mariadb::connect,
        };
        let mut on = open(&self.url, Isolation::ReadCommitted, TIMEOUT).unwrap();
        if self.directory.is_some() {
            // Nothing here is to outlive the machine.
            on.script("PRAGMA synchronous = off").unwrap();
        }
        on
    }

    /// In place of what is there.
    pub fn load(&self, workload: &dyn Workload) {
        let mut on = self.connect();
        let dialect = on.dialect();
        for table in workload.tables() {
            on.script(&ddl::drop(table)).unwrap();
            on.script(&ddl::create(table, dialect)).unwrap();
        }
        for part in workload.parts() {
            let table = &workload.tables()[part.table];
            on.load(table, &mut |rows| workload.fill(part, rows)).unwrap();
        }
        for sql in workload.tables().iter().flat_map(|table| ddl::complete(table, dialect)) {
            on.script(&sql).unwrap();
        }
    }

    /// So many of the workload's own mix, from several threads. What may be tried again is, ten times.
    pub fn run(
        &self,
        workload: &dyn Workload,
        seed: u64,
        threads: u64,
        each: u64,
    ) -> BTreeMap<&'static str, Ends> {
        workload.meet(&mut *self.connect()).unwrap();
        let ends = thread::scope(|scope| {
            let running: Vec<_> = (0..threads)
                .map(|thread| scope.spawn(move || self.sent(workload, seed, thread, each)))
                .collect();
            running.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let mut counts = BTreeMap::<_, Ends>::new();
        for (kind, ended) in ends {
            let of_kind = counts.entry(workload.kinds()[kind].name).or_default();
            match ended {
                Ended::Commit => of_kind.committed += 1,
                Ended::RollBack => of_kind.rolled_back += 1,
            }
        }
        counts
    }

    fn sent(&self, workload: &dyn Workload, seed: u64, thread: u64, count: u64) -> Vec<(usize, Ended)> {
        let mut on = self.connect();
        (0..count)
            .map(|number| {
                let mut random = Random::at(seed, &[thread, number]);
                let kind = drawn(workload, &mut random);
                let transaction = workload.draw(kind, &mut random, None);
                let writes = workload.kinds()[kind].writes;
                let mut tried = (0..10).map(|_| whole(&mut *on, writes, |on| transaction.run(on)));
                let ended =
                    tried.find(|ended| !ended.as_ref().is_err_and(|failure| failure.trouble.passes()));
                (kind, ended.expect("one of ten tries").unwrap())
            })
            .collect()
    }

    /// Of so many, the part that would commit; nothing of it stays.
    pub fn success(&self, workload: &dyn Workload, kind: &str, count: u64) -> f64 {
        let mut on = self.connect();
        let number = workload.kinds().iter().position(|known| known.name == kind).unwrap();
        let committed = (0..count).filter(|arrival| {
            let transaction = workload.draw(number, &mut Random::at(11, &[number as u64, *arrival]), None);
            on.begin(workload.kinds()[number].writes).unwrap();
            let ended = transaction.run(&mut *on).unwrap();
            on.rollback().unwrap();
            ended == Ended::Commit
        });
        committed.count() as f64 / count as f64
    }

    /// The rows that a condition names, as text.
    pub fn failing(&self, check: &Check) -> Vec<Vec<String>> {
        let mut on = self.connect();
        let sql = check.failing.text(on.dialect());
        let (_, rows) = on.ask(&sql).unwrap();
        rows.iter().map(|row| row.0.iter().map(plain).collect()).collect()
    }

    /// All conditions hold.
    pub fn assert_whole(&self, workload: &dyn Workload) {
        for check in workload.checks() {
            assert_eq!(self.failing(check), Vec::<Vec<String>>::new(), "{} on {}", check.name, self.url);
        }
    }

    /// The condition of that name finds what `sql` does to the tables, in a row of these first fields.
    pub fn assert_found(&self, workload: &dyn Workload, name: &str, sql: &str, row: &[&str]) {
        self.connect().script(sql).unwrap();
        let check = workload.checks().iter().find(|check| check.name == name).unwrap();
        let failing = self.failing(check);
        let named = failing
            .iter()
            .any(|found| found.iter().zip(row).filter(|(is, due)| is == due).count() == row.len());
        assert!(named, "{name} on {}: {failing:?}", self.url);
    }

    /// The answer to a query of one number. PostgreSQL writes out what was not prepared.
    pub fn number(&self, sql: &str) -> i64 {
        plain(&self.connect().ask(sql).unwrap().1[0].0[0]).parse().unwrap()
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        if let Some(directory) = &self.directory {
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}

/// Ended as it says; rolled back after a failure.
pub fn whole(
    on: &mut dyn Connection,
    writes: bool,
    work: impl Fn(&mut dyn Connection) -> Result<Ended, Failure>,
) -> Result<Ended, Failure> {
    let ended = on.begin(writes).and_then(|()| work(on)).and_then(|ended| {
        match ended {
            Ended::Commit => on.commit(),
            Ended::RollBack => on.rollback(),
        }?;
        Ok(ended)
    });
    if ended.is_err() {
        on.rollback().unwrap();
    }
    ended
}

fn drawn(workload: &dyn Workload, random: &mut Random) -> usize {
    let mut left = random.unit() * 100.0;
    let kinds = workload.kinds();
    kinds.iter().position(|kind| (left < kind.share, left -= kind.share).0).unwrap_or(kinds.len() - 1)
}

fn plain(value: &Value) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::Decimal { unscaled, scale: 0 } => unscaled.to_string(),
        Value::Text(text) => text.clone(),
        other => format!("{other:?}"),
    }
}
