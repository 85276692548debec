//! A database with TPC-C's tables in it.

use std::env;
use std::fs;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tare_load::oltp::{
    Connection, Dialect, Failure, Isolation, Options, Workload, ddl, find, mariadb, postgresql, sqlite,
};

const WAREHOUSES: i64 = 2;
pub const RUN_SEED: u64 = 7;
const DATA_SEED: u64 = 42;
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Place {
    url: String,
}

/// Made anew by each run of the tests, and left there for whoever wants to look at it.
const FILE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/tpcc.db");

static PLACES: LazyLock<Mutex<Vec<Place>>> = LazyLock::new(|| {
    let sqlite = format!("sqlite:///{FILE}");
    for kept in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{FILE}{kept}"));
    }
    fs::File::create_new(FILE).unwrap();
    let servers = env::var("TARE_LOAD_URLS").unwrap_or_default();
    let servers = servers.split(',').filter(|url| !url.is_empty()).map(str::to_owned);
    let places = [sqlite].into_iter().chain(servers).map(|url| Place { url });
    Mutex::new(places.inspect(|place| place.load().unwrap_or_else(|failure| panic!("{failure}"))).collect())
});

/// On each, one test after the other.
pub fn each(test: impl Fn(&Place)) {
    let places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    places.iter().for_each(test);
}

impl Place {
    pub fn name(&self) -> &str {
        self.url.split("://").next().unwrap_or_default()
    }

    /// So many that all types come, and few enough for a disk that is synced at each.
    pub fn transactions(&self) -> u64 {
        if self.open().dialect() == Dialect::Sqlite { 1_000 } else { 4_000 }
    }

    pub fn workload(&self) -> Box<dyn Workload> {
        find("tpcc", WAREHOUSES as f64, DATA_SEED, Options::default()).unwrap()
    }

    pub fn open(&self) -> Box<dyn Connection> {
        let connect = match self.name() {
            "sqlite" => sqlite::connect,
            "mariadb" | "mysql" => mariadb::connect,
            _ => postgresql::connect,
        };
        connect(&self.url, Isolation::ReadCommitted, PATIENCE).unwrap_or_else(|failure| panic!("{failure}"))
    }

    fn load(&self) -> Result<(), Failure> {
        let start = Instant::now();
        let (tpcc, mut on) = (self.workload(), self.open());
        let dialect = on.dialect();
        for table in tpcc.tables() {
            on.script(&ddl::drop(table))?;
            on.script(&ddl::create(table, dialect))?;
        }
        let mut rows = 0;
        for part in tpcc.parts() {
            rows += on.load(&tpcc.tables()[part.table], &mut |rows| tpcc.fill(part, rows))?;
        }
        println!("{}: {rows} rows in {:?}", self.name(), start.elapsed());
        for sql in tpcc.tables().iter().flat_map(|table| ddl::complete(table, dialect)) {
            on.script(&sql)?;
        }
        println!("{}: keys and indexes after {:?}", self.name(), start.elapsed());
        Ok(())
    }
}
