//! A workload on a real database: loaded, run by several threads, its conditions held against what is left.
//!
//! SQLite always, in a file of its own; beside it the servers of `TARE_LOAD_URLS`, commas between them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{env, fs, process, thread};

use tare_load::oltp::{
    Connection, Ended, Failure, Isolation, Random, Value, Workload, ddl, mariadb, postgresql, sqlite,
};

const PATIENCE: Duration = Duration::from_secs(10);
const TRIES: usize = 50;

/// Tables of a workload are the only ones of their names: tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// One to run a test on; SQLite's file goes with it.
pub struct Database {
    url: String,
    file: Option<String>,
    _turn: MutexGuard<'static, ()>,
}

impl Drop for Database {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            self.file.iter().for_each(|file| drop(fs::remove_file(format!("{file}{end}"))));
        }
    }
}

/// Runs a test on each.
pub fn each(test: impl Fn(&Database)) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = env::temp_dir().join(format!("tare-load-{}-{number}.db", process::id()));
    let file = file.to_str().expect("a path in UTF-8").to_owned();
    let url = format!("sqlite:///{file}");
    sqlite::make(&url).unwrap();
    let turn = || TURN.lock().unwrap_or_else(PoisonError::into_inner);
    test(&Database { url, file: Some(file), _turn: turn() });
    let urls = env::var("TARE_LOAD_URLS").unwrap_or_default();
    for url in urls.split(',').filter(|url| !url.is_empty()) {
        test(&Database { url: url.to_owned(), file: None, _turn: turn() });
    }
}

/// How many transactions, and which.
#[derive(Clone, Copy)]
pub struct Load {
    pub seed: u64,
    pub threads: u64,
    /// Of each thread.
    pub each: u64,
    /// Every thread sends the same ones, at about the same time.
    pub alike: bool,
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

    fn add(&mut self, kind: &'static str, ended: Ended) {
        self.0.entry(kind).or_default()[usize::from(ended == Ended::RollBack)] += 1;
    }
}

impl Database {
    pub fn open(&self, isolation: Isolation) -> Box<dyn Connection> {
        let connect = match self.url.split_once("://").map(|(scheme, _)| scheme) {
            Some("postgresql" | "postgres") => postgresql::connect,
            Some("mariadb" | "mysql") => mariadb::connect,
            _ => sqlite::connect,
        };
        connect(&self.url, isolation, PATIENCE).unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// Tables of these names are replaced.
    pub fn load(&self, workload: &dyn Workload) {
        let mut on = self.open(Isolation::ReadCommitted);
        for table in workload.tables() {
            on.script(&ddl::drop(table)).unwrap();
            on.script(&ddl::create(table, on.dialect())).unwrap();
        }
        for part in workload.parts() {
            let table = &workload.tables()[part.table];
            on.load(table, &mut |rows| workload.fill(part, rows))
                .unwrap_or_else(|failure| panic!("{failure}"));
        }
        for table in workload.tables() {
            for sql in ddl::complete(table, on.dialect()) {
                on.script(&sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
            }
        }
        workload.meet(on.as_mut()).unwrap();
    }

    /// Sends them from several threads.
    pub fn run(&self, workload: &dyn Workload, isolation: Isolation, load: Load) -> Tally {
        let Load { seed, threads, each, alike } = load;
        let send = |thread: u64| {
            let mut on = self.open(isolation);
            let mut tally = Tally::default();
            for number in 0..each {
                let arrival = if alike { number } else { number * threads + thread };
                let mut random = Random::at(seed, &[arrival]);
                let kind = drawn(workload, &mut random);
                tally.add(workload.kinds()[kind].name, send(workload, kind, &mut random, on.as_mut()));
            }
            tally
        };
        let mut all = Tally::default();
        thread::scope(|scope| {
            let started: Vec<_> = (0..threads).map(|number| scope.spawn(move || send(number))).collect();
            for tally in started.into_iter().map(|thread| thread.join().expect("a thread of the run")) {
                for (kind, ends) in tally.0 {
                    let sum = all.0.entry(kind).or_default();
                    *sum = [sum[0] + ends[0], sum[1] + ends[1]];
                }
            }
        });
        all
    }

    /// The rows of a check, as text.
    pub fn failing(&self, workload: &dyn Workload, name: &str) -> Vec<Vec<String>> {
        let check = workload.checks().iter().find(|check| check.name == name).expect(name);
        let mut on = self.open(Isolation::ReadCommitted);
        let asked = on.ask(&check.failing.text(on.dialect()));
        let (columns, rows) = asked.unwrap_or_else(|failure| panic!("{name}: {failure}"));
        assert!(columns.len() > 1 || !columns[0].is_empty());
        rows.into_iter().map(|row| row.0.into_iter().map(shown).collect()).collect()
    }

    /// All checks.
    pub fn assert_holds(&self, workload: &dyn Workload) {
        for check in workload.checks() {
            let rows = self.failing(workload, check.name);
            assert!(rows.is_empty(), "{}: {} of {}: {:?}", self.url, check.name, rows.len(), rows[0]);
        }
    }

    /// Every check names what was planted for it, and nothing once that is mended. `planted`: the check, how to plant,
    /// how to mend, and the keys of the row it is to name first.
    pub fn assert_found(&self, workload: &dyn Workload, planted: &[Planted]) {
        let mut on = self.open(Isolation::ReadCommitted);
        for Planted { check, plant, mend, keys } in planted {
            let mut all = |scripts: &[String]| {
                for sql in scripts {
                    on.script(sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
                }
            };
            all(plant);
            let rows = self.failing(workload, check);
            assert!(!rows.is_empty(), "{check} finds nothing after {plant:?}");
            assert_eq!(rows[0][..keys.len()], keys[..], "{check}");
            all(mend);
            assert_eq!(self.failing(workload, check).len(), 0, "{check} after {mend:?}");
        }
        let tried: Vec<_> = planted.iter().map(|planted| planted.check).collect();
        assert_eq!(tried, workload.checks().iter().map(|check| check.name).collect::<Vec<_>>());
    }
}

/// A corruption.
pub struct Planted {
    pub check: &'static str,
    pub plant: Vec<String>,
    pub mend: Vec<String>,
    pub keys: Vec<String>,
}

/// The first row of an answer, as text.
pub fn first(on: &mut dyn Connection, sql: &str) -> Vec<String> {
    let (_, rows) = on.ask(sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    rows.into_iter().next().expect(sql).0.into_iter().map(shown).collect()
}

fn shown(value: Value) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::Text(text) => text,
        other => format!("{other:?}"),
    }
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

fn send(workload: &dyn Workload, kind: usize, random: &mut Random, on: &mut dyn Connection) -> Ended {
    let transaction = workload.draw(kind, random, None);
    let once = |on: &mut dyn Connection| -> Result<Ended, Failure> {
        on.begin(workload.kinds()[kind].writes)?;
        let ended = transaction.run(on)?;
        if ended == Ended::Commit {
            on.commit()?;
        } else {
            on.rollback()?;
        }
        Ok(ended)
    };
    for _ in 0..TRIES {
        match once(on) {
            Ok(ended) => return ended,
            Err(failure) if failure.trouble.passes() => on.rollback().unwrap(),
            Err(failure) => panic!("{}: {failure}", workload.kinds()[kind].name),
        }
    }
    panic!("{}: {TRIES} tries were not enough", workload.kinds()[kind].name)
}
