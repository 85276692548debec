//! One table: a key and ten fields.

use crate::oltp::{Column, Table, Type};

/// Of a record.
pub const FIELDS: usize = 10;
/// Characters of a field.
pub const LENGTH: usize = 100;

const fn field(name: &'static str) -> Column {
    Column::new(name, Type::Varchar(LENGTH as u16))
}

/// In the order they are made.
pub static TABLES: &[Table] = &[Table {
    name: "usertable",
    columns: &[
        Column::new("ycsb_key", Type::BigInt),
        field("field1"),
        field("field2"),
        field("field3"),
        field("field4"),
        field("field5"),
        field("field6"),
        field("field7"),
        field("field8"),
        field("field9"),
        field("field10"),
    ],
    primary_key: &["ycsb_key"],
    indexes: &[],
}];
