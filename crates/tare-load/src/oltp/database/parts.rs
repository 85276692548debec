//! Parts of a load that are finished: a table `tare_oltp_parts` with a row for each.
//!
//! The row is written in the transaction that loads the part, and before its rows: whoever loads the same part waits for
//! that transaction and then finds the part finished, also where the client that sent it was killed while it committed.

use super::tables;
use crate::oltp::connection::in_transaction;
use crate::oltp::{
    Column, Connection, Failure, Part, Row, Rows, Statement, Table, Trouble, Type, Value, ddl,
};

static PARTS: Table = Table {
    name: "tare_oltp_parts",
    columns: &[
        Column::new("table_name", Type::Varchar(100)),
        Column::new("part", Type::BigInt),
        Column::new("row_count", Type::BigInt),
    ],
    primary_key: &["table_name", "part"],
    indexes: &[],
};

static READ: Statement = Statement::new("SELECT table_name, part, row_count FROM tare_oltp_parts");
static CLAIM: Statement =
    Statement::new("INSERT INTO tare_oltp_parts (table_name, part, row_count) VALUES ($1, $2, 0)");
static COUNT: Statement =
    Statement::new("UPDATE tare_oltp_parts SET row_count = $3 WHERE table_name = $1 AND part = $2");

/// Times that a session which still holds the part is waited for: a server may take long to roll back what a killed
/// client had under way.
const PATIENCE: u32 = 6;

/// A finished part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub table: String,
    pub number: u64,
    pub rows: u64,
}

/// Before the first part.
pub fn make(on: &mut dyn Connection) -> Result<(), Failure> {
    on.script(&ddl::create(&PARTS, on.dialect()))?;
    ddl::complete(&PARTS, on.dialect()).iter().try_for_each(|sql| on.script(sql))
}

/// None: no load keeps account here.
pub fn read(on: &mut dyn Connection) -> Result<Option<Vec<Finished>>, Failure> {
    if tables::there(on, &[PARTS.name])?.is_empty() {
        return Ok(None);
    }
    let rows = in_transaction(on, false, |on| on.rows(&READ, &[]))?;
    let finished = |row: &Row| {
        let (number, rows) = (row.int(1)?.cast_unsigned(), row.int(2)?.cast_unsigned());
        Ok(Finished { table: row.text(0)?.to_owned(), number, rows })
    };
    rows.iter().map(finished).collect::<Result<_, _>>().map(Some)
}

/// All of it or nothing.
pub fn load(
    on: &mut dyn Connection,
    table: &Table,
    part: Part,
    fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let key = [Value::from(table.name), Value::from(part.number.cast_signed())];
    if !claim(on, &key)? {
        return Ok(());
    }
    let [name, number] = key;
    let loaded = on.load(table, fill).and_then(|rows| {
        on.run(&COUNT, &[name, number, rows.cast_signed().into()])?;
        on.commit()
    });
    if loaded.is_err() {
        let _ = on.rollback(); // the failure reports a lost connection
    }
    loaded
}

/// No trace of parts: what is there cannot be continued.
pub fn remove(on: &mut dyn Connection) -> Result<(), Failure> {
    tables::drop(on, &[PARTS.name])
}

/// Begins the part's transaction. False, and none is begun: another session has finished it.
fn claim(on: &mut dyn Connection, key: &[Value]) -> Result<bool, Failure> {
    let mut waited = 0;
    loop {
        on.begin(true)?;
        let Err(failure) = on.run(&CLAIM, key) else { return Ok(true) };
        let _ = on.rollback(); // as above
        match failure.trouble {
            Trouble::Duplicate => return Ok(false),
            Trouble::LockTimeout if waited < PATIENCE => waited += 1,
            _ => return Err(failure),
        }
    }
}
