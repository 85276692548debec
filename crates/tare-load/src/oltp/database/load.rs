//! Loading: tables, rows, keys and indexes, statistics; all of it, or nothing is left.

use std::time::Instant;

use super::fill::{Broken, complete, fill};
use super::own::Before;
use super::progress::Progress;
use super::{Connect, Problem, Tell, marker, tables};
use crate::oltp::request::{Action, Request};
use crate::oltp::told::{Loaded, TableLoaded, Told};
use crate::oltp::{Connection, Dialect, Failure, Workload, ddl};

type Connections = Vec<Box<dyn Connection>>;

/// Makes and fills the workload's tables, and tells `Loading` and `LoadDone`. Refuses to touch what is there, but for
/// what an interrupted load left. The request's action is `Load`.
pub fn load(
    request: &Request,
    workload: &dyn Workload,
    connect: &Connect<'_>,
    tell: &Tell<'_>,
) -> Result<(), Problem> {
    let Action::Load { connections, replace } = request.action else {
        return Err(Problem::usage("the request is not to load", "ask for a load"));
    };
    let before = Before::now();
    let mut connections = open(connections, connect)?;
    clear(connections[0].as_mut(), workload, replace)?;
    let mut loaded = Loaded {
        workload: workload.name().to_owned(),
        scale: workload.scale(),
        seed: request.seed,
        options: marker::written(&request.options),
        complete: false,
    };
    let start = Instant::now();
    match make(workload, &mut connections, &loaded, tell, start) {
        Ok((tables, rows_ns)) => {
            loaded.complete = true;
            tell(Told::LoadDone { loaded, tables, rows_ns, all_ns: nanoseconds(start), own: before.own() });
            Ok(())
        }
        Err(problem) => Err(undone(problem, workload, connections, connect)),
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

/// Drops what is ours, and with `replace` what stands in the way.
fn clear(on: &mut dyn Connection, workload: &dyn Workload, replace: bool) -> Result<(), Problem> {
    let failed = |failure: Failure| Problem::of("looking at the database", &failure);
    let marker = marker::read(on).map_err(failed)?;
    if let Some(Loaded { workload, scale, complete: true, .. }) = marker.as_ref().map(|marker| &marker.loaded)
        && !replace
    {
        let what = format!("{workload} is loaded in this database already, at scale {scale}");
        return Err(Problem::usage(what, "give --replace to drop it and load anew, or use another database"));
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
    let dropped =
        tables::drop(on, &ours).and_then(|()| tables::drop(on, &foreign)).and_then(|()| marker::remove(on));
    dropped.map_err(|failure| Problem::of("dropping what was there", &failure))
}

/// How many rows each table has, and how long they alone took.
fn make(
    workload: &dyn Workload,
    connections: &mut Connections,
    loaded: &Loaded,
    tell: &Tell<'_>,
    start: Instant,
) -> Result<(Vec<TableLoaded>, u64), Problem> {
    let on = connections[0].as_mut();
    let create = |on: &mut dyn Connection| -> Result<(), Failure> {
        marker::begin(on, loaded, &names(workload))?;
        workload.tables().iter().try_for_each(|table| on.script(&ddl::create(table, on.dialect())))
    };
    create(on).map_err(|failure| Problem::of("making the tables", &failure))?;
    let progress = Progress::new(workload.parts().iter().map(|part| part.rows).sum(), tell);
    let filled = fill(workload, connections, &progress).map_err(|broken| of("loading", &broken))?;
    let rows_ns = nanoseconds(start);
    complete(workload, connections, &progress, &filled)
        .map_err(|broken| of("making keys and indexes of", &broken))?;
    finish(connections[0].as_mut()).map_err(|failure| Problem::of("finishing the load", &failure))?;
    Ok((filled, rows_ns))
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
        Err(failure) => format!("what was made could not be dropped ({failure}); the next load does"),
    };
    Problem { what: format!("{}; {left}", problem.what), ..problem }
}

fn names(workload: &dyn Workload) -> Vec<&'static str> {
    workload.tables().iter().map(|table| table.name).collect()
}

fn of(doing: &str, broken: &Broken) -> Problem {
    Problem::of(&format!("{doing} {}", broken.table), &broken.failure)
}

fn nanoseconds(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}
