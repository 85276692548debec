//! Several INSERTs of one kind in a message, where the server can take them so.

use std::collections::HashMap;
use std::mem::discriminant;

use mysql::Conn;
use mysql::prelude::Queryable;

use super::failure::failed;
use super::prepared::{Prepared, ready};
use crate::oltp::{Failure, Statement, Value};

type Work = (&'static Statement, Vec<Value>);

/// How many rows each changed: one. None, and nothing is done, unless all are INSERTs of one kind: for those alone it is
/// known, since the server counts a message's rows together.
pub fn inserts(
    known: &mut HashMap<usize, Prepared>,
    on: &mut Conn,
    work: &[Work],
) -> Result<Option<Vec<u64>>, Failure> {
    let [(statement, first), _, ..] = work else { return Ok(None) };
    if !work.windows(2).all(|pair| is_alike(&pair[0], &pair[1])) {
        return Ok(None);
    }
    let prepared = ready(known, on, statement, first)?;
    if !prepared.inserts {
        return Ok(None);
    }
    let rows: Vec<_> = work.iter().map(|(_, parameters)| prepared.values(parameters)).collect();
    on.exec_batch(&prepared.statement, rows).map_err(|error| failed(&error))?;
    Ok(Some(vec![1; work.len()]))
}

/// The message has one type for each parameter.
fn is_alike(work: &Work, next: &Work) -> bool {
    let same = |(a, b): (&Value, &Value)| match (a, b) {
        (Value::Decimal { scale, .. }, Value::Decimal { scale: other, .. }) => scale == other,
        _ => discriminant(a) == discriminant(b),
    };
    std::ptr::eq(work.0, next.0) && work.1.len() == next.1.len() && work.1.iter().zip(&next.1).all(same)
}
