//! Tables of a test's own.

use tare_load::oltp::{Column, Connection, Dialect, Statement, Table, Type, Value, ddl};

/// A number and a text.
pub const PAIR: &[Column] = &[Column::new("k", Type::Int), Column::nullable("v", Type::Varchar(2000))];

/// Keyed by the first of `PAIR`.
pub const fn pairs(name: &'static str) -> Table {
    Table { name, columns: PAIR, primary_key: &["k"], indexes: &[] }
}

/// Made anew, and empty.
pub fn made(on: &mut dyn Connection, table: &Table) {
    on.script(&ddl::drop(table)).unwrap();
    on.script(&ddl::create(table, on.dialect())).unwrap();
    for sql in ddl::complete(table, on.dialect()) {
        on.script(&sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    }
}

/// In a transaction of its own.
pub fn committed(on: &mut dyn Connection, statement: &'static Statement, parameters: &[Value]) -> u64 {
    on.begin(true).unwrap();
    let changed = on.run(statement, parameters).unwrap();
    on.commit().unwrap();
    changed
}

/// Whether its transactions can run beside each other.
pub fn has_row_locks(on: &dyn Connection) -> bool {
    on.dialect() != Dialect::Sqlite
}
