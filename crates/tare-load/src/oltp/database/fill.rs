//! Work shared by several connections, each in a thread of its own: the largest piece first, so that all end at about
//! the same time. The first failure stops all.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::progress::{Counted, Progress};
use super::{parts, tables};
use crate::oltp::events::TableRows;
use crate::oltp::{Connection, Failure, Part, Table, Workload, ddl};

/// What went wrong, and with which table.
pub struct Broken {
    pub table: &'static str,
    pub failure: Failure,
}

type Connections = [Box<dyn Connection>];

/// The parts that are missing.
pub fn fill(
    workload: &dyn Workload,
    mut parts: Vec<Part>,
    connections: &mut Connections,
    progress: &Progress<'_>,
) -> Result<(), Broken> {
    parts.sort_by_key(|part| std::cmp::Reverse(part.rows));
    share(connections, progress, &parts, |on, part| {
        let table = &workload.tables()[part.table];
        let loaded = parts::load(on, table, *part, &mut |rows| {
            let mut counted = Counted::new(rows, progress, table.name);
            workload.fill(*part, &mut counted)?;
            counted.finish()
        });
        loaded.map_err(|failure| Broken { table: table.name, failure })
    })
}

/// Keys, indexes and statistics of all tables, as far as they are missing.
pub fn complete(
    workload: &dyn Workload,
    connections: &mut Connections,
    progress: &Progress<'_>,
    loaded: &[TableRows],
) -> Result<(), Broken> {
    let mut places: Vec<_> = (0..loaded.len()).collect();
    places.sort_by_key(|place| std::cmp::Reverse(loaded[*place].rows));
    share(connections, progress, &places, |on, place| {
        let table = &workload.tables()[*place];
        complete_table(on, table).map_err(|failure| Broken { table: table.name, failure })
    })
}

/// A server may still build an index for a client that was killed: the index is then there when ours is refused.
fn complete_table(on: &mut dyn Connection, table: &Table) -> Result<(), Failure> {
    let there = tables::indexes(on, table.name)?;
    for step in ddl::steps(table, on.dialect()) {
        let Some(index) = &step.makes else {
            on.script(&step.sql)?;
            continue;
        };
        if there.contains(index) {
            continue;
        }
        if let Err(failure) = on.script(&step.sql) {
            match tables::indexes(on, table.name) {
                Ok(now) if now.contains(index) => {}
                _ => return Err(failure),
            }
        }
    }
    Ok(())
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
