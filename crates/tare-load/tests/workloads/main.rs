//! Every workload, generated and run: on SQLite, or on the servers that `TARE_LOAD_URLS` names (URLs, commas between
//! them), where what an earlier test loaded is replaced.

mod epinions;
mod harness;
mod seats;
#[expect(dead_code, reason = "the connections' suite uses more of it")]
#[path = "../servers/mod.rs"]
mod servers;
mod tatp;
mod tpcc;
mod ycsb;
