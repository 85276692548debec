//! The rows of standard workloads, made as fast as a disk or a DBMS can take them.
//!
//! Each module is one workload: its tuples as its authors define them, one after the other in constant memory.

pub mod wisconsin;
