//! For tests of generators: a `Rows` that keeps what it is given.

use crate::oltp::{Failure, Rows, Value, Workload};

/// All rows, and the one that is being written.
#[derive(Default)]
pub struct Kept {
    /// The whole ones.
    pub rows: Vec<Vec<Value>>,
    next: Vec<Value>,
}

impl Rows for Kept {
    fn int(&mut self, number: i64) {
        self.next.push(Value::Int(number));
    }

    fn float(&mut self, number: f64) {
        self.next.push(Value::Float(number));
    }

    fn decimal(&mut self, unscaled: i64, scale: u8) {
        self.next.push(Value::Decimal { unscaled, scale });
    }

    fn text(&mut self, text: &str) {
        self.next.push(text.into());
    }

    fn time(&mut self, micros: i64) {
        self.next.push(Value::Time(micros));
    }

    fn null(&mut self) {
        self.next.push(Value::Null);
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.rows.push(std::mem::take(&mut self.next));
        Ok(())
    }
}

/// The rows of a table, all its parts.
pub fn table(workload: &dyn Workload, name: &str) -> Vec<Vec<Value>> {
    let place = workload.tables().iter().position(|table| table.name == name).expect(name);
    let mut kept = Kept::default();
    for part in workload.parts().into_iter().filter(|part| part.table == place) {
        workload.fill(part, &mut kept).unwrap();
    }
    kept.rows
}

/// One of its columns, of whole numbers or instants.
pub fn column(rows: &[Vec<Value>], place: usize) -> Vec<i64> {
    rows.iter()
        .map(|row| match row[place] {
            Value::Int(number) | Value::Time(number) => number,
            Value::Decimal { unscaled, .. } => unscaled,
            ref other => panic!("{other:?} in column {place}"),
        })
        .collect()
}

/// Whether each value has its column's type, and fits into it.
pub fn assert_fits(workload: &dyn Workload) {
    use crate::oltp::Type;
    for known in workload.tables() {
        for row in table(workload, known.name) {
            assert_eq!(row.len(), known.columns.len(), "{}", known.name);
            for (column, value) in known.columns.iter().zip(&row) {
                let fits = match (column.kind, value) {
                    (_, Value::Null) => column.nullable,
                    (Type::Int, Value::Int(number)) => i32::try_from(*number).is_ok(),
                    (Type::BigInt, Value::Int(_))
                    | (Type::Float, Value::Float(_))
                    | (Type::Time, Value::Time(_)) => true,
                    (Type::Decimal(digits, behind), Value::Decimal { unscaled, scale }) => {
                        behind == *scale && unscaled.unsigned_abs() < 10_u64.pow(u32::from(digits))
                    }
                    (Type::Char(width) | Type::Varchar(width), Value::Text(text)) => {
                        text.len() <= usize::from(width)
                    }
                    _ => false,
                };
                assert!(fits, "{}.{} = {value:?}", known.name, column.name);
            }
        }
    }
}
