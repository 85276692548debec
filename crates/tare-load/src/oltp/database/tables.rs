//! Which tables are there.

use crate::oltp::{Connection, Dialect, Failure, Value};

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

/// Names of a table's indexes, its key's among them.
pub fn indexes(on: &mut dyn Connection, name: &str) -> Result<Vec<String>, Failure> {
    let sql = match on.dialect() {
        Dialect::PostgreSql => format!(
            "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = '{name}'"
        ),
        Dialect::MariaDb => format!(
            "SELECT DISTINCT index_name AS name FROM information_schema.statistics \
             WHERE table_schema = database() AND table_name = '{name}'"
        ),
        Dialect::Sqlite => {
            format!("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = '{name}'")
        }
    };
    let (_, rows) = on.ask(&sql)?;
    rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
}

/// Number of rows, counted by the DBMS.
pub fn count(on: &mut dyn Connection, name: &str) -> Result<u64, Failure> {
    let (_, rows) = on.ask(&format!("SELECT count(*) FROM {name}"))?;
    let counted = rows.first().and_then(|row| match row.0.first()? {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    });
    counted.ok_or_else(|| Failure::foreign(format!("the DBMS does not count the rows of {name}")))
}

/// Whether they are there or not.
pub fn drop(on: &mut dyn Connection, names: &[&str]) -> Result<(), Failure> {
    names.iter().try_for_each(|name| on.script(&format!("DROP TABLE IF EXISTS {name}")))
}
