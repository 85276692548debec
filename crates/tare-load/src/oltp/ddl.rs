//! Tables in each DBMS's own words.
//!
//! Texts compare by their bytes everywhere, so that an order, a range or a join is the same whatever locale a
//! database was made with: PostgreSQL's collation `C`, MariaDB's `utf8mb4_bin`, SQLite's own. utf8mb4, since any text
//! is to be held; texts of ASCII take no more room in it than in latin1.
//!
//! A primary key that orders the rows themselves (InnoDB, SQLite) is there from the start, for the rows come in its
//! order. All else is built from the finished table, by a sort.

use crate::oltp::{Column, Dialect, Index, Table, Type};

/// SQLite's own advice: a table is kept in its primary key's B-tree if its rows are well below a twentieth of a
/// page of 4 kB; wider ones make that tree deep.
const NARROW: u32 = 200;

/// Before the rows.
pub fn create(table: &Table, dialect: Dialect) -> String {
    let key_first = dialect != Dialect::PostgreSql && !table.primary_key.is_empty();
    let columns = table.columns.iter().map(|column| format!("  {}", defined(column, dialect)));
    let key = key_first.then(|| format!("  PRIMARY KEY ({})", table.primary_key.join(", ")));
    let lines: Vec<_> = columns.chain(key).collect();
    format!("CREATE TABLE {} (\n{}\n){}", table.name, lines.join(",\n"), manner(table, dialect))
}

/// A statement that is executed after the rows.
pub struct Step {
    /// Its text.
    pub sql: String,
    /// Name of the index that is there once it has been executed. None: it may be repeated.
    pub makes: Option<String>,
}

/// After the rows, each by itself and outside a transaction: keys, indexes, and what the optimizer is to know of them.
pub fn complete(table: &Table, dialect: Dialect) -> Vec<String> {
    steps(table, dialect).into_iter().map(|step| step.sql).collect()
}

/// The same, with what each makes.
pub fn steps(table: &Table, dialect: Dialect) -> Vec<Step> {
    let name = table.name;
    let key = (dialect == Dialect::PostgreSql && !table.primary_key.is_empty()).then(|| {
        let (key, columns) = (format!("{name}_pkey"), table.primary_key.join(", "));
        let sql = format!("ALTER TABLE {name} ADD CONSTRAINT {key} PRIMARY KEY ({columns})");
        Step { sql, makes: Some(key) }
    });
    let statistics = match dialect {
        Dialect::PostgreSql => format!("VACUUM (ANALYZE) {name}"),
        Dialect::MariaDb => format!("ANALYZE TABLE {name}"),
        Dialect::Sqlite => format!("ANALYZE {name}"),
    };
    let statistics = Step { sql: statistics, makes: None };
    key.into_iter().chain(indexes(table, dialect)).chain([statistics]).collect()
}

/// Whether it is there or not.
pub fn drop(table: &Table) -> String {
    format!("DROP TABLE IF EXISTS {}", table.name)
}

fn defined(column: &Column, dialect: Dialect) -> String {
    let null = if column.nullable { "" } else { " NOT NULL" };
    let kind = match dialect {
        Dialect::PostgreSql => postgresql(column.kind),
        Dialect::MariaDb => mariadb(column.kind),
        Dialect::Sqlite => sqlite(column.kind).to_owned(),
    };
    format!("{} {kind}{null}", column.name)
}

fn postgresql(kind: Type) -> String {
    match kind {
        Type::Int => "integer".to_owned(),
        Type::BigInt => "bigint".to_owned(),
        Type::Decimal(digits, scale) => format!("numeric({digits}, {scale})"),
        Type::Float => "double precision".to_owned(),
        Type::Char(length) => format!("char({length}) COLLATE \"C\""),
        Type::Varchar(length) => format!("varchar({length}) COLLATE \"C\""),
        Type::Time => "timestamp".to_owned(),
    }
}

/// `datetime`, not `timestamp`: that one ends in 2038 and depends on the session's time zone.
fn mariadb(kind: Type) -> String {
    match kind {
        Type::Int => "int".to_owned(),
        Type::BigInt => "bigint".to_owned(),
        Type::Decimal(digits, scale) => format!("decimal({digits}, {scale})"),
        Type::Float => "double".to_owned(),
        Type::Char(length) => format!("char({length})"),
        Type::Varchar(length) => format!("varchar({length})"),
        Type::Time => "datetime(6)".to_owned(),
    }
}

fn sqlite(kind: Type) -> &'static str {
    match kind {
        Type::Int | Type::BigInt | Type::Decimal(..) | Type::Time => "INTEGER",
        Type::Float => "REAL",
        Type::Char(_) | Type::Varchar(_) => "TEXT",
    }
}

fn manner(table: &Table, dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::PostgreSql => "",
        Dialect::MariaDb => " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
        Dialect::Sqlite if in_its_key(table) => " WITHOUT ROWID",
        Dialect::Sqlite => "",
    }
}

/// A key of one integer is the row's number in any case.
fn in_its_key(table: &Table) -> bool {
    let is_number = |name: &str| {
        table.columns.iter().any(|column| column.name == name && sqlite(column.kind) == "INTEGER")
    };
    match table.primary_key {
        [] => false,
        [one] if is_number(one) => false,
        _ => table.columns.iter().map(|column| width(column.kind)).sum::<u32>() <= NARROW,
    }
}

/// About, in bytes: SQLite's integers are as short as their value, and a text is half as long as it may be.
fn width(kind: Type) -> u32 {
    match kind {
        Type::Int | Type::Decimal(..) => 4,
        Type::BigInt | Type::Float | Type::Time => 8,
        Type::Char(length) => length.into(),
        Type::Varchar(length) => u32::from(length) / 2,
    }
}

/// InnoDB reads the table once for all that stand in one ALTER TABLE.
fn indexes(table: &Table, dialect: Dialect) -> Vec<Step> {
    let kind = |index: &Index| if index.unique { "UNIQUE INDEX" } else { "INDEX" };
    if dialect == Dialect::MariaDb {
        let added = table.indexes.iter();
        let added: Vec<_> = added
            .map(|index| format!("ADD {} {} ({})", kind(index), index.name, index.columns.join(", ")))
            .collect();
        let first = table.indexes.first().map(|index| index.name.to_owned());
        let sql = format!("ALTER TABLE {} {}", table.name, added.join(", "));
        return if added.is_empty() { Vec::new() } else { vec![Step { sql, makes: first }] };
    }
    let made = |index: &Index| {
        let (kind, columns) = (kind(index), index.columns.join(", "));
        let sql = format!("CREATE {kind} {} ON {} ({columns})", index.name, table.name);
        Step { sql, makes: Some(index.name.to_owned()) }
    };
    table.indexes.iter().map(made).collect()
}

#[cfg(test)]
mod tests;
