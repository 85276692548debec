//! Which tables are there.

use crate::oltp::{Connection, Dialect, Failure};

/// Those of `names` that stand where this session would make them.
pub fn there(on: &mut dyn Connection, names: &[&str]) -> Result<Vec<String>, Failure> {
    let quoted: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    let all = match on.dialect() {
        Dialect::PostgreSql => {
            "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        }
        Dialect::MariaDb => {
            "SELECT table_name FROM information_schema.tables WHERE table_schema = database()"
        }
        Dialect::Sqlite => "SELECT name AS table_name FROM sqlite_schema WHERE type IN ('table', 'view')",
    };
    let name = if on.dialect() == Dialect::Sqlite { "name" } else { "table_name" };
    let (_, rows) = on.ask(&format!("{all} AND {name} IN ({}) ORDER BY {name}", quoted.join(",")))?;
    rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
}

/// Whether they are there or not.
pub fn drop(on: &mut dyn Connection, names: &[&str]) -> Result<(), Failure> {
    names.iter().try_for_each(|name| on.script(&format!("DROP TABLE IF EXISTS {name}")))
}
