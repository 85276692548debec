//! The way of generated rows into a DBMS: field by field, in the order of the table's columns.

use crate::oltp::Failure;

/// A generator calls one of these per column, then `end`.
pub trait Rows {
    /// Of any width.
    fn int(&mut self, number: i64);
    /// Double precision.
    fn float(&mut self, number: f64);
    /// `unscaled / 10^scale`, the scale of the column.
    fn decimal(&mut self, unscaled: i64, scale: u8);
    /// Characters.
    fn text(&mut self, text: &str);
    /// Microseconds since 1970, UTC.
    fn time(&mut self, micros: i64);
    /// SQL's NULL.
    fn null(&mut self);
    /// The row is whole. Fails where the DBMS does.
    fn end(&mut self) -> Result<(), Failure>;
}
