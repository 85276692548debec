//! Transactional workloads, and a driver whose one idea is an intended schedule and what happened to it.
//!
//! `workload` is what a workload owes, `connection` what a DBMS owes; neither knows the other, nor the driver.

mod catalogue;
mod civil;
mod connect;
mod connection;
pub mod database;
pub mod ddl;
pub mod driver;
mod epinions;
mod failure;
#[cfg(test)]
mod kept;
pub mod mariadb;
mod noise;
mod options;
mod percent;
pub mod postgresql;
mod random;
pub mod request;
mod rows;
mod seats;
mod skewed;
pub mod sqlite;
mod statement;
mod table;
mod tatp;
pub mod told;
pub mod tpcc;
mod tsv;
mod value;
pub mod verdict;
mod workload;
mod ycsb;

pub use catalogue::{NAMES, find};
pub use connect::connect;
pub use connection::{Connection, Isolation, LOCK_WAIT};
pub use failure::{Failure, Trouble};
pub use options::{Mistake, Options};
pub use random::Random;
pub use rows::Rows;
pub use statement::{Dialect, Statement};
pub use table::{Column, Index, Table, Type};
pub use value::{Row, Value};
pub use workload::{Check, Ended, Kind, Part, Transaction, Workload};
