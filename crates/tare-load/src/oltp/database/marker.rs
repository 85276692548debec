//! What was loaded, said by the database itself: a table `tare_oltp` of one row.
//!
//! It is written before the first table is made and says so until the load is over: what an interrupted load leaves
//! behind is known to be ours.

use std::collections::BTreeMap;

use super::{parts, tables};
use crate::oltp::connection::in_transaction;
use crate::oltp::events::LoadMarker;
use crate::oltp::{Column, Connection, Failure, Statement, Table, Type, Value, ddl};

static MARKER: Table = Table {
    name: "tare_oltp",
    columns: &[
        Column::new("workload", Type::Varchar(100)),
        Column::new("scale", Type::Float),
        Column::new("seed", Type::BigInt),
        Column::new("options", Type::Varchar(2000)),
        Column::new("table_names", Type::Varchar(2000)),
        Column::new("complete", Type::Int),
    ],
    primary_key: &[],
    indexes: &[],
};

static READ: Statement =
    Statement::new("SELECT workload, scale, seed, options, table_names, complete FROM tare_oltp");
static WRITE: Statement = Statement::new(
    "INSERT INTO tare_oltp (workload, scale, seed, options, table_names, complete) VALUES ($1, $2, $3, $4, $5, 0)",
);
static DISCARD: Statement = Statement::new("UPDATE tare_oltp SET complete = 0");
static COMPLETE: Statement = Statement::new("UPDATE tare_oltp SET complete = 1");

/// With the names of the tables that are ours.
pub struct Marker {
    pub loaded: LoadMarker,
    tables: String,
}

impl Marker {
    pub fn tables(&self) -> Vec<&str> {
        self.tables.split(' ').filter(|name| !name.is_empty()).collect()
    }
}

/// What was loaded into the database. None: nothing.
pub fn found(on: &mut dyn Connection) -> Result<Option<LoadMarker>, Failure> {
    Ok(read(on)?.map(|marker| marker.loaded))
}

/// The options that it was loaded with.
pub fn options(loaded: &LoadMarker) -> Result<BTreeMap<String, String>, Failure> {
    serde_json::from_str(&loaded.options)
        .map_err(|error| Failure::foreign(format!("the options in {} cannot be read: {error}", MARKER.name)))
}

/// Options as the marker holds them.
pub fn written(options: &BTreeMap<String, String>) -> String {
    serde_json::json!(options).to_string()
}

pub fn read(on: &mut dyn Connection) -> Result<Option<Marker>, Failure> {
    if tables::there(on, &[MARKER.name])?.is_empty() {
        return Ok(None);
    }
    let Some(row) = in_transaction(on, false, |on| on.row(&READ, &[]))? else { return Ok(None) };
    let loaded = LoadMarker {
        workload: row.text(0)?.to_owned(),
        scale: row.float(1)?,
        seed: row.int(2)?.cast_unsigned(),
        options: row.text(3)?.to_owned(),
        complete: row.int(5)? == 1,
    };
    Ok(Some(Marker { loaded, tables: row.text(4)?.to_owned() }))
}

/// The load of these tables begins.
pub fn begin(on: &mut dyn Connection, loaded: &LoadMarker, tables: &[&str]) -> Result<(), Failure> {
    parts::make(on)?;
    on.script(&ddl::create(&MARKER, on.dialect()))?;
    let seed = loaded.seed.cast_signed();
    let values: [Value; 5] = [
        loaded.workload.as_str().into(),
        loaded.scale.into(),
        seed.into(),
        loaded.options.as_str().into(),
        tables.join(" ").into(),
    ];
    in_transaction(on, true, |on| on.run(&WRITE, &values)).map(drop)
}

/// The load has come to its end.
pub fn complete(on: &mut dyn Connection) -> Result<(), Failure> {
    in_transaction(on, true, |on| on.run(&COMPLETE, &[]))?;
    parts::remove(on)
}

/// What stands there is going to be dropped: it is neither whole nor to be continued.
pub fn discard(on: &mut dyn Connection) -> Result<(), Failure> {
    parts::remove(on)?;
    in_transaction(on, true, |on| on.run(&DISCARD, &[])).map(drop)
}

/// The last trace of a load.
pub fn remove(on: &mut dyn Connection) -> Result<(), Failure> {
    parts::remove(on)?;
    tables::drop(on, &[MARKER.name])
}
