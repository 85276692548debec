//! The workload's conditions, held against the data by the DBMS itself.

use std::time::Instant;

use super::{Connect, Emit, Problem, fit, found, tables};
use crate::oltp::civil::Civil;
use crate::oltp::events::{CheckResult, Event};
use crate::oltp::request::{Action, Request};
use crate::oltp::tsv::{digits, instant};
use crate::oltp::{Check, Connection, Failure, Row, Value, Workload};

/// Emits a `CheckResult` for each and `ChecksDone`; a condition that does not hold is a finding, no problem. The request's
/// action is `Check`.
pub fn check(
    request: &Request,
    workload: &dyn Workload,
    connect: &Connect<'_>,
    emit: &Emit<'_>,
) -> Result<(), Problem> {
    let Action::Check { rows } = request.action else {
        return Err(Problem::usage("the request is not to check", "ask for a check"));
    };
    let mut on = connect().map_err(|failure| Problem::of("connecting", &failure))?;
    let loaded = found(on.as_mut()).map_err(|failure| Problem::of("looking at the database", &failure))?;
    fit(request, loaded.as_ref())?;
    let start = Instant::now();
    for one in workload.checks() {
        let checked = held(on.as_mut(), one, rows).map_err(|failure| {
            Problem::of(&format!("checking {} {}", workload.name(), one.name), &failure)
        })?;
        emit(Event::CheckResult(checked));
    }
    emit(Event::ChecksDone { took_ns: start.elapsed().as_nanos() as u64 });
    Ok(())
}

/// Counted by the DBMS, so that data of which nothing holds does not come here row by row.
fn held(on: &mut dyn Connection, check: &Check, first: usize) -> Result<CheckResult, Failure> {
    let sql = check.failing.text(on.dialect());
    let start = Instant::now();
    let failing = tables::count(on, &format!("({sql}) AS failing"))?;
    let took_ns = start.elapsed().as_nanos() as u64;
    let (columns, rows) = if failing > 0 && first > 0 {
        on.ask(&format!("SELECT * FROM ({sql}) AS failing LIMIT {first}"))?
    } else {
        (Vec::new(), Vec::new())
    };
    let rows = rows.iter().map(|Row(fields)| fields.iter().map(shown).collect()).collect();
    Ok(CheckResult {
        name: check.name.to_owned(),
        says: check.says.to_owned(),
        failing,
        columns,
        rows,
        took_ns,
    })
}

/// As the DBMS would print it. SQLite's exact numbers and instants are the integers that it holds.
fn shown(value: &Value) -> String {
    let mut text = Vec::new();
    match value {
        Value::Null => return "NULL".to_owned(),
        Value::Float(number) => return number.to_string(),
        Value::Text(text) => return text.clone(),
        Value::Int(number) => digits(&mut text, *number, 0),
        Value::Decimal { unscaled, scale } => digits(&mut text, *unscaled, (*scale).into()),
        Value::Time(micros) => instant(&mut text, Civil::at(*micros)),
    }
    String::from_utf8_lossy(&text).into_owned()
}
