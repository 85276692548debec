//! The rows of a SQLite lab as Arrow record batches, read as fast as SQLite steps.
//!
//! A general driver looks at each value anew to learn its type. A lab's columns are known, so what arrives is written
//! into arrays of their types at once, and what is not of its column's type ends the stream.

mod column;
mod rows;

pub use column::Kind;
pub use rows::{Column, Place, Rows, open};
