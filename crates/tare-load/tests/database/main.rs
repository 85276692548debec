//! Loading, checking and dropping, on SQLite or the servers of `TARE_LOAD_URLS`; tables `db_…` and `tare_oltp` are
//! made in them.

mod actions;
#[path = "../servers/mod.rs"]
mod servers;
mod shop;
