//! The servers of `TARE_LOAD_URLS` (URLs, commas between them); if there are none, an SQLite database of a test's own.

use std::env;
use std::fs::{File, create_dir, remove_dir_all};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tare_load::oltp::{Connection, Isolation, Protocol, Value, connect_over};

/// Longer than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// One to run a test against.
pub struct Server {
    pub url: String,
    /// None: as the DBMS has it by default.
    pub protocol: Option<Protocol>,
    /// SQLite's, gone at the end.
    pub folder: Option<PathBuf>,
}

impl Server {
    pub fn sqlite() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("tare-load-{}-{number}", process::id()));
        create_dir(&folder).unwrap();
        let file = folder.join("test.db");
        File::create_new(&file).unwrap();
        Self { url: format!("sqlite:///{}", file.display()), protocol: None, folder: Some(folder) }
    }

    pub fn open(&self) -> Box<dyn Connection> {
        self.open_at(Isolation::ReadCommitted)
    }

    pub fn open_at(&self, isolation: Isolation) -> Box<dyn Connection> {
        let mut on = connect_over(&self.url, isolation, self.protocol.unwrap_or_default(), PATIENCE)
            .unwrap_or_else(|failure| panic!("{failure}"));
        if self.folder.is_some() {
            // Nothing here is to outlive the machine.
            on.script("PRAGMA synchronous = off").unwrap();
        }
        on
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = remove_dir_all(folder);
        }
    }
}

/// Runs a test on each server, else on SQLite.
pub fn each(test: impl Fn(&Server)) {
    let urls = env::var("TARE_LOAD_URLS").unwrap_or_default();
    let mut urls = urls.split(',').filter(|url| !url.is_empty()).peekable();
    if urls.peek().is_none() {
        test(&Server::sqlite());
    }
    urls.for_each(|url| test(&Server { url: url.to_owned(), protocol: None, folder: None }));
}

/// The same, for tests that share tables: no two use servers at the same time.
pub fn each_alone(test: impl Fn(&Server)) {
    static ALONE: Mutex<()> = Mutex::new(());
    each(|server| {
        let _alone = server.folder.is_none().then(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner));
        test(server);
    });
}

/// The first field of an answer to a query.
pub fn answer(on: &mut dyn Connection, sql: &str) -> String {
    let (_, rows) = on.ask(sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    shown(&rows[0].0[0])
}

/// Numbers as they are written; PostgreSQL writes out what was not prepared.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::Decimal { unscaled, scale: 0 } => unscaled.to_string(),
        other => format!("{other:?}"),
    }
}
