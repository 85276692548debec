//! An SQLite database, the servers of `TARE_LOAD_URLS`, and tables of a test's own in them.

use std::env;
use std::fs::{File, remove_file};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tare_load::oltp::{Column, Connection, Dialect, Isolation, Statement, Table, Type, Value, connect, ddl};

/// Longer than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// One to run a test against.
#[derive(Clone)]
pub struct Server {
    pub url: String,
}

impl Server {
    pub fn open(&self) -> Box<dyn Connection> {
        self.open_at(Isolation::ReadCommitted)
    }

    pub fn open_at(&self, isolation: Isolation) -> Box<dyn Connection> {
        connect(&self.url, isolation, PATIENCE).unwrap_or_else(|failure| panic!("{failure}"))
    }
}

/// Runs a test on SQLite, in a file of its own, and on each server; says loudly that there is none.
pub fn each(test: impl Fn(&Server)) {
    let urls = env::var("TARE_LOAD_URLS").unwrap_or_default();
    let urls: Vec<_> = urls.split(',').filter(|url| !url.is_empty()).collect();
    if urls.is_empty() {
        eprintln!("SKIPPED: TARE_LOAD_URLS names no server");
    }
    let file = Temporary::new();
    test(&Server { url: format!("sqlite:///{}", file.0) });
    urls.into_iter().for_each(|url| test(&Server { url: url.to_owned() }));
}

/// An empty database, gone at the end.
struct Temporary(String);

impl Temporary {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("tare-load-{}-{number}.db", process::id()));
        File::create_new(&path).unwrap();
        Self(path.to_str().unwrap().to_owned())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let _ = remove_file(format!("{}{end}", self.0));
        }
    }
}

/// A number and a text.
pub const PAIR: &[Column] = &[Column::new("k", Type::Int), Column::nullable("v", Type::Varchar(2000))];

/// Keyed by the first of `PAIR`.
pub const fn pairs(name: &'static str) -> Table {
    Table { name, columns: PAIR, primary_key: &["k"], indexes: &[] }
}

/// Made anew, and empty.
pub fn made(on: &mut dyn Connection, table: &Table) {
    on.script(&ddl::drop(table)).unwrap();
    on.script(&ddl::create(table, on.dialect())).unwrap();
    for sql in ddl::complete(table, on.dialect()) {
        on.script(&sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    }
}

/// In a transaction of its own.
pub fn committed(on: &mut dyn Connection, statement: &'static Statement, parameters: &[Value]) -> u64 {
    on.begin(true).unwrap();
    let changed = on.run(statement, parameters).unwrap();
    on.commit().unwrap();
    changed
}

/// The first field of an answer to a query.
pub fn answer(on: &mut dyn Connection, sql: &str) -> String {
    let (_, rows) = on.ask(sql).unwrap();
    match &rows[0].0[0] {
        Value::Text(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        other => panic!("{sql}: {other:?}"),
    }
}

/// Whether its transactions can run beside each other.
pub fn has_row_locks(on: &dyn Connection) -> bool {
    on.dialect() != Dialect::Sqlite
}
