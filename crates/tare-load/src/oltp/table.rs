//! A workload's tables as data; each DBMS writes its own DDL from them.

/// A column's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// 32 bits.
    Int,
    /// 64 bits.
    BigInt,
    /// Exact: digits in all, and behind the point. SQLite: an integer, the digits behind the point in it.
    Decimal(u8, u8),
    /// Double precision.
    Float,
    /// Padded with blanks where the DBMS does.
    Char(u16),
    /// Up to so many characters.
    Varchar(u16),
    /// To the microsecond. SQLite: an integer, microseconds since 1970.
    Time,
}

/// NOT NULL unless it says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// In lower case.
    pub name: &'static str,
    /// What it holds.
    pub kind: Type,
    /// Whether NULL may stand there.
    pub nullable: bool,
}

impl Column {
    /// That is never NULL.
    pub const fn new(name: &'static str, kind: Type) -> Self {
        Self { name, kind, nullable: false }
    }

    /// That may be NULL.
    pub const fn nullable(name: &'static str, kind: Type) -> Self {
        Self { name, kind, nullable: true }
    }
}

/// Made after the rows are in.
#[derive(Clone, Copy, Debug)]
pub struct Index {
    /// In lower case.
    pub name: &'static str,
    /// In their order.
    pub columns: &'static [&'static str],
    /// Whether two rows may be alike in them.
    pub unique: bool,
}

/// Without foreign keys: no workload here needs the DBMS to watch over them, and the checks do.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// In lower case, and no keyword of any DBMS.
    pub name: &'static str,
    /// In their order.
    pub columns: &'static [Column],
    /// Empty: it has none.
    pub primary_key: &'static [&'static str],
    /// Beside the primary key's own.
    pub indexes: &'static [Index],
}
