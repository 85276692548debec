//! SQL for a whole record, and for each of its fields.

use crate::oltp::Random;
use crate::oltp::ycsb::schema::FIELDS;
use crate::oltp::ycsb::settings::Fields;
use crate::oltp::ycsb::text;
use crate::oltp::{Statement, Value};

/// The same words around the name of each field.
macro_rules! of_each_field {
    ($before:literal, $after:literal) => {
        [
            Statement::new(concat!($before, "field1", $after)),
            Statement::new(concat!($before, "field2", $after)),
            Statement::new(concat!($before, "field3", $after)),
            Statement::new(concat!($before, "field4", $after)),
            Statement::new(concat!($before, "field5", $after)),
            Statement::new(concat!($before, "field6", $after)),
            Statement::new(concat!($before, "field7", $after)),
            Statement::new(concat!($before, "field8", $after)),
            Statement::new(concat!($before, "field9", $after)),
            Statement::new(concat!($before, "field10", $after)),
        ]
    };
}

/// The same words around the names of all.
macro_rules! of_all_fields {
    ($before:literal, $after:literal) => {
        Statement::new(concat!(
            $before,
            "field1, field2, field3, field4, field5, field6, field7, field8, field9, field10",
            $after
        ))
    };
}

/// A statement in two forms: for one field, and for the whole record.
#[derive(Debug)]
pub struct Forms {
    one: [Statement; FIELDS],
    all: Statement,
}

/// $1: the key.
pub static READ: Forms = Forms {
    one: of_each_field!("SELECT ", " FROM usertable WHERE ycsb_key = $1"),
    all: of_all_fields!("SELECT ", " FROM usertable WHERE ycsb_key = $1"),
};

/// $1: the key.
pub static READ_TO_WRITE: Forms = Forms {
    one: of_each_field!("SELECT ", " FROM usertable WHERE ycsb_key = $1 FOR UPDATE"),
    all: of_all_fields!("SELECT ", " FROM usertable WHERE ycsb_key = $1 FOR UPDATE"),
};

/// $1: the first key; $2: how many records at most.
pub static SCAN: Forms = Forms {
    one: of_each_field!(
        "SELECT ycsb_key, ",
        " FROM usertable WHERE ycsb_key >= $1 ORDER BY ycsb_key LIMIT $2"
    ),
    all: of_all_fields!(
        "SELECT ycsb_key, ",
        " FROM usertable WHERE ycsb_key >= $1 ORDER BY ycsb_key LIMIT $2"
    ),
};

/// $1: the key; from $2 on: what is written.
pub static UPDATE: Forms = Forms {
    one: of_each_field!("UPDATE usertable SET ", " = $2 WHERE ycsb_key = $1"),
    all: Statement::new(
        "UPDATE usertable SET field1 = $2, field2 = $3, field3 = $4, field4 = $5, field5 = $6, field6 = $7, \
         field7 = $8, field8 = $9, field9 = $10, field10 = $11 WHERE ycsb_key = $1",
    ),
};

/// $1: the key; from $2 on: its fields.
pub static INSERT: Statement = of_all_fields!(
    "INSERT INTO usertable (ycsb_key, ",
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
);

/// $1: the key.
pub static DELETE: Statement = Statement::new("DELETE FROM usertable WHERE ycsb_key = $1");

impl Forms {
    /// For the whole record, or for a field drawn now.
    pub fn draw(&'static self, fields: Fields, random: &mut Random) -> &'static Statement {
        match fields {
            Fields::One => random.one_of(&self.one),
            Fields::All => &self.all,
        }
    }
}

/// A key and new fields after it: parameters of `INSERT` and `UPDATE`.
pub fn record(key: u64, fields: Fields, random: &mut Random) -> Vec<Value> {
    let count = match fields {
        Fields::One => 1,
        Fields::All => FIELDS,
    };
    let texts = (0..count).map(|_| Value::Text(text::drawn(random)));
    std::iter::once(Value::Int(key as i64)).chain(texts).collect()
}
