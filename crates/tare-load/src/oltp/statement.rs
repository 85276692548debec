//! SQL of a workload: written once, where it is used, and otherwise only where a DBMS needs other words.

/// Whose SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// 12 and later.
    PostgreSql,
    /// MySQL is spoken to in the same words.
    MariaDb,
    /// 3.35 and later.
    Sqlite,
}

/// A prepared statement-to-be. A `static`: connections know it by its address and prepare it when it is first used.
///
/// Parameters are `$1`, `$2`, …, in any order, each as often as needed. `FOR UPDATE` is left out for SQLite,
/// where a transaction that writes has the whole database.
#[derive(Debug)]
pub struct Statement {
    common: &'static str,
    mariadb: Option<&'static str>,
    sqlite: Option<&'static str>,
}

impl Statement {
    /// The same for all.
    pub const fn new(common: &'static str) -> Self {
        Self { common, mariadb: None, sqlite: None }
    }

    /// But for MariaDB.
    pub const fn mariadb(self, text: &'static str) -> Self {
        Self { mariadb: Some(text), ..self }
    }

    /// But for SQLite.
    pub const fn sqlite(self, text: &'static str) -> Self {
        Self { sqlite: Some(text), ..self }
    }

    /// Its text for a DBMS, parameters still `$n`.
    pub fn text(&self, dialect: Dialect) -> String {
        match dialect {
            Dialect::PostgreSql => self.common.to_owned(),
            Dialect::MariaDb => self.mariadb.unwrap_or(self.common).to_owned(),
            Dialect::Sqlite => self.sqlite.unwrap_or(self.common).replace(" FOR UPDATE", ""),
        }
    }
}
