//! The answer to a query as a stream of record batches, stepped through by a thread of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use rusqlite::{Connection, OpenFlags};

use crate::Kind;
use crate::column::Filling;

const BATCH_ROWS: usize = 16_384;
const AHEAD: usize = 2; // batches that may wait to be taken
const PATIENCE: Duration = Duration::from_secs(30); // for whoever holds the lab

/// A file, and how it may be opened.
#[derive(Clone, Debug)]
pub struct Place {
    /// The lab.
    pub path: PathBuf,
    /// Whether this user may write beside it: the last to close a lab takes its -wal and -shm files away. Who may not
    /// reads it as it stands.
    pub writable: bool,
}

/// Of the answer, in its order.
#[derive(Clone, Debug)]
pub struct Column {
    /// As the stream shall name it.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// The stream. Dropped before its end, it ends the reading: when it is gone, so is the connection.
pub struct Rows {
    schema: SchemaRef,
    batches: Option<Receiver<Result<RecordBatch, ArrowError>>>,
    misfit: Arc<AtomicBool>,
    reading: Option<JoinHandle<()>>,
}

impl Rows {
    /// Becomes true if a value was not of its column's kind: the stream then ended with an error.
    pub fn misfit(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.misfit)
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.as_ref()?.recv().ok()
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.batches = None; // the reader's next batch finds nobody
        if let Some(reading) = self.reading.take() {
            let _ = reading.join();
        }
    }
}

impl RecordBatchReader for Rows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The answer to `sql`, a query of just these columns. What SQLite refuses comes as the stream's error.
pub fn open(place: Place, sql: String, columns: Vec<Column>) -> Rows {
    let fields: Vec<Field> =
        columns.iter().map(|one| Field::new(&one.name, one.kind.arrow(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let misfit = Arc::new(AtomicBool::new(false));
    let (to, batches) = sync_channel(AHEAD);
    let work = Reading { place, sql, columns, schema: Arc::clone(&schema), misfit: Arc::clone(&misfit) };
    let reading = thread::spawn(move || {
        if let Err(error) = work.run(&to) {
            let _ = to.send(Err(error)); // nobody listens: nobody wants to know
        }
    });
    Rows { schema, batches: Some(batches), misfit, reading: Some(reading) }
}

struct Reading {
    place: Place,
    sql: String,
    columns: Vec<Column>,
    schema: SchemaRef,
    misfit: Arc<AtomicBool>,
}

impl Reading {
    fn run(&self, to: &SyncSender<Result<RecordBatch, ArrowError>>) -> Result<(), ArrowError> {
        let connection = self.connect().map_err(said)?;
        let mut statement = connection.prepare(&self.sql).map_err(said)?;
        let mut rows = statement.query([]).map_err(said)?;
        let mut filling: Vec<Filling> =
            self.columns.iter().map(|one| Filling::new(&one.kind, BATCH_ROWS)).collect();
        let mut filled = 0;
        while let Some(row) = rows.next().map_err(said)? {
            for (place, column) in filling.iter_mut().enumerate() {
                let value = row.get_ref(place).map_err(said)?;
                column.add(value).map_err(|_| self.misfit(place))?;
            }
            filled += 1;
            if filled == BATCH_ROWS {
                filled = 0;
                if to.send(self.batch(&mut filling)).is_err() {
                    return Ok(());
                }
            }
        }
        if filled > 0 {
            let _ = to.send(self.batch(&mut filling));
        }
        Ok(())
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let path = escaped(&self.place.path);
        let (mode, flags) = if self.place.writable {
            ("rw", OpenFlags::SQLITE_OPEN_READ_WRITE)
        } else {
            ("ro&immutable=1", OpenFlags::SQLITE_OPEN_READ_ONLY)
        };
        let flags = flags | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(format!("file:{path}?mode={mode}"), flags)?;
        connection.busy_timeout(PATIENCE)?;
        Ok(connection)
    }

    fn batch(&self, filling: &mut [Filling]) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::clone(&self.schema), filling.iter_mut().map(Filling::finish).collect())
    }

    fn misfit(&self, place: usize) -> ArrowError {
        self.misfit.store(true, Ordering::Release);
        ArrowError::CastError(format!("a value of {} is not of its kind", self.columns[place].name))
    }
}

/// A path as SQLite's URI form wants it.
fn escaped(path: &std::path::Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str()
        .as_bytes()
        .iter()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                char::from(*byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

fn said(error: rusqlite::Error) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}
