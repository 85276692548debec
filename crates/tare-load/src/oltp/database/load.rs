//! Loading: tables, rows, keys and indexes, statistics. A load that was interrupted is continued; one that fails leaves
//! nothing, unless a later one may continue it.

use std::collections::HashMap;
use std::time::Instant;

use super::fill::{Broken, complete, fill};
use super::own::Before;
use super::parts::Finished;
use super::progress::Progress;
use super::{Connect, Emit, Problem, marker, parts, tables};
use crate::oltp::events::{Event, LoadMarker, TableRows};
use crate::oltp::request::{Action, Request};
use crate::oltp::{Connection, Dialect, Failure, Trouble, Workload, ddl};

type Connections = Vec<Box<dyn Connection>>;

/// Makes and fills the workload's tables, and emits `LoadProgress` and `LoadDone`. Refuses to touch what is there, except
/// what an interrupted load left: it continues that if it was one of the same workload, scale, seed and options. The
/// request's action is `Load`.
pub fn load(
    request: &Request,
    workload: &dyn Workload,
    connect: &Connect<'_>,
    emit: &Emit<'_>,
) -> Result<(), Problem> {
    let Action::Load { connections, replace } = request.action else {
        return Err(Problem::usage("the request is not to load", "ask for a load"));
    };
    let before = Before::now();
    let mut connections = open(connections, connect)?;
    let mut loaded = LoadMarker {
        workload: workload.name().to_owned(),
        scale: workload.scale(),
        seed: request.seed,
        options: marker::written(&request.options),
        complete: false,
    };
    let earlier = clear(connections[0].as_mut(), workload, &loaded, replace)?;
    let start = Instant::now();
    match make(workload, &mut connections, &loaded, earlier.as_deref(), emit, start) {
        Ok((tables, rows_ns)) => {
            loaded.complete = true;
            let continued_rows = earlier.iter().flatten().map(|part| part.rows).sum();
            let (all_ns, own) = (nanoseconds(start), before.own());
            emit(Event::LoadDone { loaded, tables, continued_rows, rows_ns, all_ns, own });
            Ok(())
        }
        Err(Broke { problem, stays: true }) => Err(problem),
        Err(Broke { problem, .. }) => Err(undone(problem, workload, connections, connect)),
    }
}

/// Why a load ended.
struct Broke {
    problem: Problem,
    /// Nothing is wrong with what was loaded, and a later load continues it.
    stays: bool,
}

impl Broke {
    fn of(doing: &str, failure: &Failure) -> Self {
        let mut problem = Problem::of(doing, failure);
        let stays = failure.trouble.passes() || matches!(failure.trouble, Trouble::Lost | Trouble::Full);
        if stays {
            problem.what.push_str("; what is loaded stays");
            problem.next.push_str("; then load again with the same options, which continues");
        }
        Self { problem, stays }
    }
}

/// SQLite has one writer.
fn open(wanted: usize, connect: &Connect<'_>) -> Result<Connections, Problem> {
    let opened = |_| connect().map_err(|failure| Problem::of("connecting", &failure));
    let first = opened(0)?;
    let more = if first.dialect() == Dialect::Sqlite { 1 } else { wanted.max(1) };
    let rest = (1..more).map(opened);
    std::iter::once(Ok(first)).chain(rest).collect()
}

/// Drops what is ours, and with `replace` what stands in the way. Some: nothing is dropped, for these parts of the same
/// load are finished.
fn clear(
    on: &mut dyn Connection,
    workload: &dyn Workload,
    wanted: &LoadMarker,
    replace: bool,
) -> Result<Option<Vec<Finished>>, Problem> {
    let failed = |failure: Failure| Problem::of("looking at the database", &failure);
    let marker = marker::read(on).map_err(failed)?;
    if let Some(LoadMarker { workload, scale, complete: true, .. }) =
        marker.as_ref().map(|marker| &marker.loaded)
        && !replace
    {
        let what = format!("{workload} is loaded in this database already, at scale {scale}");
        return Err(Problem::usage(what, "give --replace to drop it and load anew, or use another database"));
    }
    if let Some(marker) = marker.as_ref().filter(|marker| !marker.loaded.complete && !replace)
        && let Some(finished) = parts::read(on).map_err(failed)?
    {
        return if marker.loaded == *wanted {
            Ok(Some(finished))
        } else {
            Err(other(&marker.loaded, wanted))
        };
    }
    let ours = marker.as_ref().map(marker::Marker::tables).unwrap_or_default();
    let there = tables::there(on, &names(workload)).map_err(failed)?;
    let foreign: Vec<_> = there.iter().map(String::as_str).filter(|name| !ours.contains(name)).collect();
    if !foreign.is_empty() && !replace {
        let what = format!(
            "this database has tables of the workload's names that it did not make: {}",
            foreign.join(", ")
        );
        return Err(Problem::usage(what, "use another database, or give --replace to drop them"));
    }
    let discarded = if marker.is_some() { marker::discard(on) } else { Ok(()) };
    let dropped = discarded
        .and_then(|()| tables::drop(on, &ours))
        .and_then(|()| tables::drop(on, &foreign))
        .and_then(|()| marker::remove(on));
    dropped.map_err(|failure| Problem::of("dropping what was there", &failure))?;
    Ok(None)
}

/// The first thing in which two loads differ.
fn other(stopped: &LoadMarker, wanted: &LoadMarker) -> Problem {
    let shown: fn(&LoadMarker) -> [(&str, String); 4] = |load| {
        [
            ("workload", load.workload.clone()),
            ("scale", load.scale.to_string()),
            ("seed", load.seed.to_string()),
            ("options", load.options.clone()),
        ]
    };
    let (there, here) = (shown(stopped), shown(wanted));
    let pairs = there.iter().zip(&here);
    let differing: Vec<_> = pairs
        .filter(|(there, here)| there != here)
        .map(|((name, there), (_, here))| format!("{name} {there}, not {here}"))
        .collect();
    Problem::usage(
        format!("an interrupted load stands in this database, and it is of {}", differing.join("; ")),
        "give its workload, --scale, --seed and --option to continue it, or --replace to drop it and load anew",
    )
}

/// How many rows each table has, and how long they alone took. `earlier`: parts that are finished.
fn make(
    workload: &dyn Workload,
    connections: &mut Connections,
    loaded: &LoadMarker,
    earlier: Option<&[Finished]>,
    emit: &Emit<'_>,
    start: Instant,
) -> Result<(Vec<TableRows>, u64), Broke> {
    let on = connections[0].as_mut();
    let created = match earlier {
        None => create(on, workload, loaded),
        Some(earlier) => create_missing(on, workload, earlier)?,
    };
    created.map_err(|failure| Broke::of("making the tables", &failure))?;
    let finished = by_table(earlier.unwrap_or_default());
    let is_missing = |part: &crate::oltp::Part| {
        let of_table = finished.get(workload.tables()[part.table].name);
        !of_table.is_some_and(|parts| parts.contains_key(&part.number))
    };
    let before = finished.values().flat_map(HashMap::values).sum();
    let progress = Progress::new(before, workload.parts().iter().map(|part| part.rows).sum(), emit);
    let missing = workload.parts().into_iter().filter(is_missing).collect();
    fill(workload, missing, connections, &progress).map_err(|broken| of("loading", &broken))?;
    let rows_ns = nanoseconds(start);
    let counting = |failure: Failure| Broke::of("counting what is loaded", &failure);
    let rows = rows_of(connections[0].as_mut(), workload).map_err(counting)?;
    complete(workload, connections, &progress, &rows)
        .map_err(|broken| of("making keys and indexes of", &broken))?;
    if earlier.is_some() {
        prove(connections[0].as_mut(), &rows).map_err(counting)?;
    }
    finish(connections[0].as_mut()).map_err(|failure| Broke::of("finishing the load", &failure))?;
    Ok((rows, rows_ns))
}

fn create(on: &mut dyn Connection, workload: &dyn Workload, loaded: &LoadMarker) -> Result<(), Failure> {
    marker::begin(on, loaded, &names(workload))?;
    workload.tables().iter().try_for_each(|table| on.script(&ddl::create(table, on.dialect())))
}

/// A load may have been interrupted while it made them.
fn create_missing(
    on: &mut dyn Connection,
    workload: &dyn Workload,
    earlier: &[Finished],
) -> Result<Result<(), Failure>, Broke> {
    let there =
        tables::there(on, &names(workload)).map_err(|failure| Broke::of("looking for tables", &failure))?;
    let missing = || workload.tables().iter().filter(|table| !there.iter().any(|name| name == table.name));
    if let Some(part) = earlier.iter().find(|part| missing().any(|table| table.name == part.table)) {
        let what = format!("the interrupted load had begun to fill {}, which is gone", part.table);
        let problem = Problem::usage(what, "give --replace to load anew");
        return Err(Broke { problem, stays: true });
    }
    Ok(missing().try_for_each(|table| on.script(&ddl::create(table, on.dialect()))))
}

/// Rows of each part, by table and number.
fn by_table(finished: &[Finished]) -> HashMap<&str, HashMap<u64, u64>> {
    let mut found: HashMap<&str, HashMap<u64, u64>> = HashMap::new();
    for part in finished {
        found.entry(&part.table).or_default().insert(part.number, part.rows);
    }
    found
}

/// As the finished parts say it: each of the workload's is there.
fn rows_of(on: &mut dyn Connection, workload: &dyn Workload) -> Result<Vec<TableRows>, Failure> {
    let finished = parts::read(on)?.unwrap_or_default();
    let finished = by_table(&finished);
    let rows_of = |(place, table): (usize, &crate::oltp::Table)| {
        let parts = finished.get(table.name);
        let wanted = workload.parts().iter().filter(|part| part.table == place).count();
        let there = parts.map_or(0, HashMap::len);
        if there != wanted {
            return Err(Failure::foreign(format!("{} has {there} of {wanted} parts", table.name)));
        }
        Ok(TableRows {
            table: table.name.to_owned(),
            rows: parts.into_iter().flat_map(HashMap::values).sum(),
        })
    };
    workload.tables().iter().enumerate().map(rows_of).collect()
}

/// Whether the DBMS counts as many rows as were loaded, before the interruption and after it.
fn prove(on: &mut dyn Connection, loaded: &[TableRows]) -> Result<(), Failure> {
    loaded.iter().try_for_each(|TableRows { table, rows }| {
        let counted = tables::count(on, table)?;
        if counted == *rows {
            return Ok(());
        }
        Err(Failure::foreign(format!("{table} has {counted} rows, where {rows} were loaded")))
    })
}

/// SQLite: what was loaded stands in the database itself, not in the log before it that a run would have to clear.
fn finish(on: &mut dyn Connection) -> Result<(), Failure> {
    if on.dialect() == Dialect::Sqlite {
        on.ask("PRAGMA wal_checkpoint(TRUNCATE)")?;
    }
    marker::complete(on)
}

/// Over a connection of its own: those of the load may be lost.
fn undone(
    problem: Problem,
    workload: &dyn Workload,
    connections: Connections,
    connect: &Connect<'_>,
) -> Problem {
    drop(connections);
    let dropped = connect().and_then(|mut on| {
        tables::drop(on.as_mut(), &names(workload)).and_then(|()| marker::remove(on.as_mut()))
    });
    let left = match dropped {
        Ok(()) => "what was made was dropped again".to_owned(),
        Err(failure) => format!("what was made could not be dropped ({failure}); the next load continues it"),
    };
    Problem { what: format!("{}; {left}", problem.what), ..problem }
}

fn names(workload: &dyn Workload) -> Vec<&'static str> {
    workload.tables().iter().map(|table| table.name).collect()
}

fn of(doing: &str, broken: &Broken) -> Broke {
    Broke::of(&format!("{doing} {}", broken.table), &broken.failure)
}

fn nanoseconds(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}
