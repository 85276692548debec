//! The Wisconsin benchmark of 1993: relations of any size to 10^8 tuples.

mod csv;
mod digest;
mod permutation;
mod tuple;

pub use csv::{Csv, HEADER};
pub use digest::digest;
pub use permutation::{LARGEST, Permutation, WrongSize};
pub use tuple::{INTEGERS, STRING_LENGTH, Tuple};
