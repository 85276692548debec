//! The load that benchmarks put on a DBMS: rows made as fast as a disk or a DBMS can take them, and transactions
//! sent when a schedule says so.

pub mod oltp;
pub mod wisconsin;
