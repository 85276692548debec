//! A statement's text with its values in it, for protocols that carry text alone.

use crate::oltp::placeholders::questioned;
use crate::oltp::{Failure, Value};

/// Pieces of text, and the parameter that stands between each two.
pub(crate) struct Template {
    pieces: Vec<String>,
    order: Vec<usize>,
}

impl Template {
    /// Of a text with `$n`.
    pub fn new(sql: &str) -> Self {
        let (text, order) = questioned(sql, |_| MARK.to_string());
        Self { pieces: text.split(MARK).map(str::to_owned).collect(), order }
    }

    /// Appends the text. `literal` writes a value as the DBMS reads it.
    pub fn write(
        &self,
        values: &[Value],
        out: &mut Vec<u8>,
        literal: impl Fn(&Value, &mut Vec<u8>),
    ) -> Result<(), Failure> {
        let wanted = self.order.iter().max().map_or(0, |place| place + 1);
        if values.len() != wanted {
            let sql = self.pieces.join("?");
            return Err(Failure::foreign(format!(
                "{} parameters, where {wanted} belong: {sql}",
                values.len()
            )));
        }
        for (piece, place) in self.pieces.iter().zip(&self.order) {
            out.extend_from_slice(piece.as_bytes());
            literal(&values[*place], out);
        }
        out.extend_from_slice(self.pieces.last().map_or(b"".as_slice(), String::as_bytes));
        Ok(())
    }
}

/// No SQL holds it.
const MARK: char = '\0';

/// A text between quotes, each quote in it doubled: how both DBMSes read it where a backslash is a character.
pub(crate) fn quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'\'');
    for byte in text.bytes() {
        if byte == b'\'' {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(sql: &str, values: &[Value]) -> Result<String, Failure> {
        let mut out = Vec::new();
        Template::new(sql).write(values, &mut out, |value, out| match value {
            Value::Text(text) => quoted(text, out),
            other => out.extend_from_slice(format!("{other:?}").as_bytes()),
        })?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_stand_where_their_parameters_stood() {
        let found = written("a = $2 AND b = $1 OR '$1' = $2", &["it's".into(), "x".into()]).unwrap();
        assert_eq!(found, "a = 'x' AND b = 'it''s' OR '$1' = 'x'");
        assert_eq!(written("SELECT 1", &[]).unwrap(), "SELECT 1");
    }

    #[test]
    fn too_few_and_too_many_values_are_refused() {
        assert!(written("a = $1", &[]).unwrap_err().text.contains("0 parameters, where 1 belong"));
        assert!(written("a = $1", &["a".into(), "b".into()]).is_err());
    }
}
