//! What a DBMS owes the driver, held against real ones: every connection, the same suite.
//!
//! On SQLite, or on the servers that `TARE_LOAD_URLS` names (commas between them); tables `conn_…` are made there.

mod failures;
mod loading;
mod protocols;
#[expect(dead_code, reason = "tables of a test's own need no turns")]
#[path = "../servers/mod.rs"]
mod servers;
mod tables;
mod transactions;
mod values;
