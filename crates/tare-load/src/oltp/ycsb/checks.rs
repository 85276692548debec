//! What holds of the table, loaded or run against.

use crate::oltp::{Check, Statement};

/// The shape of each record. How many there are depends on what was inserted and deleted.
pub static CHECKS: &[Check] = &[
    Check {
        name: "keys",
        says: "keys are counted from 0",
        failing: Statement::new("SELECT ycsb_key FROM usertable WHERE ycsb_key < 0"),
    },
    Check {
        name: "fields",
        says: "each field has 100 characters",
        failing: Statement::new(
            "SELECT ycsb_key, length(field1) AS field1, length(field2) AS field2, length(field3) AS field3, \
             length(field4) AS field4, length(field5) AS field5, length(field6) AS field6, \
             length(field7) AS field7, length(field8) AS field8, length(field9) AS field9, \
             length(field10) AS field10 FROM usertable \
             WHERE length(field1) <> 100 OR length(field2) <> 100 OR length(field3) <> 100 \
             OR length(field4) <> 100 OR length(field5) <> 100 OR length(field6) <> 100 \
             OR length(field7) <> 100 OR length(field8) <> 100 OR length(field9) <> 100 \
             OR length(field10) <> 100",
        ),
    },
];
