//! What a DBMS owes the driver, held against real servers: every connection, the same suite.
//!
//! `TARE_LOAD_URLS` names the servers, commas between them; tables `conn_…` are made in them.

mod failures;
mod loading;
mod servers;
mod transactions;
mod values;
