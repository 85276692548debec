//! Several INSERTs of one kind in a message, where the server can take them so.

use std::collections::HashMap;
use std::mem::discriminant;

use mysql::Conn;
use mysql::prelude::Queryable;

use super::failure::failed;
use super::prepared::{Prepared, ready};
use crate::oltp::{Failure, Statement, Value};

type Work = (&'static Statement, Vec<Value>);

/// One after the other but for INSERTs: for those alone it is known how many rows each has changed, since the server
/// counts a message's rows together.
pub fn batch(
    known: &mut HashMap<usize, Prepared>,
    on: &mut Conn,
    work: &[Work],
) -> Result<Vec<u64>, Failure> {
    let mut changed = Vec::with_capacity(work.len());
    for alike in work.chunk_by(alike) {
        let (statement, first) = &alike[0];
        let prepared = ready(known, on, statement, first)?;
        if prepared.inserts && alike.len() > 1 {
            changed.extend(together(prepared, on, alike)?);
        } else {
            for (_, parameters) in alike {
                changed.push(prepared.execute(on, parameters)?.affected_rows());
            }
        }
    }
    Ok(changed)
}

/// The message has one type for each parameter.
fn alike(one: &Work, next: &Work) -> bool {
    let same = |(a, b): (&Value, &Value)| match (a, b) {
        (Value::Decimal { scale, .. }, Value::Decimal { scale: other, .. }) => scale == other,
        _ => discriminant(a) == discriminant(b),
    };
    std::ptr::eq(one.0, next.0) && one.1.len() == next.1.len() && one.1.iter().zip(&next.1).all(same)
}

fn together(prepared: &Prepared, on: &mut Conn, work: &[Work]) -> Result<Vec<u64>, Failure> {
    let rows: Vec<_> = work.iter().map(|(_, parameters)| prepared.values(parameters)).collect();
    on.exec_batch(&prepared.statement, rows).map_err(|error| failed(&error))?;
    Ok(vec![1; work.len()])
}
