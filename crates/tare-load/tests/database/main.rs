//! Loading, checking and dropping, on SQLite and the servers of `TARE_LOAD_URLS`; tables `db_…` and `tare_oltp` are
//! made in them.

mod actions;
#[expect(dead_code, reason = "the connections' suite uses more of it")]
#[path = "../connections/servers.rs"]
mod servers;
mod shop;
