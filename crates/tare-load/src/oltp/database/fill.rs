//! Work shared by several connections, each in a thread of its own: the largest piece first, so that all end at about
//! the same time. The first failure stops all.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use super::progress::{Counted, Progress};
use crate::oltp::told::TableLoaded;
use crate::oltp::{Connection, Failure, Workload, ddl};

/// What went wrong, and with which table.
pub struct Broken {
    pub table: &'static str,
    pub failure: Failure,
}

type Connections = [Box<dyn Connection>];

/// All parts of all tables; how many rows each table has.
pub fn fill(
    workload: &dyn Workload,
    connections: &mut Connections,
    progress: &Progress<'_>,
) -> Result<Vec<TableLoaded>, Broken> {
    let mut parts = workload.parts();
    parts.sort_by_key(|part| std::cmp::Reverse(part.rows));
    let counts: Vec<_> = workload.tables().iter().map(|_| AtomicU64::new(0)).collect();
    share(connections, progress, &parts, |on, part| {
        let table = &workload.tables()[part.table];
        let loaded = on.load(table, &mut |rows| {
            let mut counted = Counted::new(rows, progress, table.name);
            workload.fill(*part, &mut counted)?;
            counted.finish()
        });
        let rows = loaded.map_err(|failure| Broken { table: table.name, failure })?;
        counts[part.table].fetch_add(rows, Ordering::Relaxed);
        Ok(())
    })?;
    let named = workload.tables().iter().zip(counts);
    Ok(named
        .map(|(table, rows)| TableLoaded { table: table.name.to_owned(), rows: rows.into_inner() })
        .collect())
}

/// Keys, indexes and statistics of all tables.
pub fn complete(
    workload: &dyn Workload,
    connections: &mut Connections,
    progress: &Progress<'_>,
    loaded: &[TableLoaded],
) -> Result<(), Broken> {
    let mut places: Vec<_> = (0..loaded.len()).collect();
    places.sort_by_key(|place| std::cmp::Reverse(loaded[*place].rows));
    share(connections, progress, &places, |on, place| {
        let table = &workload.tables()[*place];
        let mut statements = ddl::complete(table, on.dialect()).into_iter();
        statements
            .try_for_each(|sql| on.script(&sql))
            .map_err(|failure| Broken { table: table.name, failure })
    })
}

fn share<T: Sync>(
    connections: &mut Connections,
    progress: &Progress<'_>,
    pieces: &[T],
    work: impl Fn(&mut dyn Connection, &T) -> Result<(), Broken> + Sync,
) -> Result<(), Broken> {
    let next = AtomicUsize::new(0);
    let first: Mutex<Option<Broken>> = Mutex::new(None);
    let worker = |on: &mut dyn Connection| {
        while !progress.is_stopped() {
            let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            if let Err(broken) = work(on, piece) {
                progress.stop();
                first.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(broken);
            }
        }
    };
    thread::scope(|scope| {
        for on in connections.iter_mut() {
            scope.spawn(|| worker(on.as_mut()));
        }
    });
    first.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).map_or(Ok(()), Err)
}
