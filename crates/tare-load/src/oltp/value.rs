//! What goes to a DBMS and what comes back.

use crate::oltp::Failure;

/// A parameter or a field.
///
/// Money and rates are exact: `unscaled` over ten to the `scale`. SQLite has no such type, so its columns hold
/// `unscaled` as an integer (a scale belongs to a column, never to a value).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// SQL's.
    Null,
    /// Of any width; a connection narrows it to what the statement asks for.
    Int(i64),
    /// Double precision.
    Float(f64),
    /// Exact: `unscaled / 10^scale`.
    Decimal {
        /// All digits.
        unscaled: i64,
        /// How many of them stand behind the point.
        scale: u8,
    },
    /// Characters; a `Type::Char` comes back without its padding.
    Text(String),
    /// Microseconds since 1970, UTC.
    Time(i64),
}

impl Value {
    /// Hundredths of the currency.
    pub fn cents(unscaled: i64) -> Self {
        Self::Decimal { unscaled, scale: 2 }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Self::Int(number.into())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// One of an answer, by position. What is not as asked for is a `Failure`: the tables are not the workload's.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub Vec<Value>);

impl Row {
    /// A whole number. A decimal without a fraction is one too: sums of integers are.
    pub fn int(&self, place: usize) -> Result<i64, Failure> {
        match self.0.get(place) {
            Some(Value::Int(number)) => Ok(*number),
            Some(Value::Decimal { unscaled, scale: 0 }) => Ok(*unscaled),
            other => Err(unlike(place, "an integer", other)),
        }
    }

    /// The digits of an exact number at `scale`. SQLite's integers are taken to be at it already.
    pub fn decimal(&self, place: usize, scale: u8) -> Result<i64, Failure> {
        match self.0.get(place) {
            Some(Value::Decimal { unscaled, scale: found }) if *found <= scale => {
                Ok(unscaled * 10_i64.pow(u32::from(scale - found)))
            }
            Some(Value::Int(unscaled)) => Ok(*unscaled),
            other => Err(unlike(place, "an exact number", other)),
        }
    }

    /// Double precision.
    pub fn float(&self, place: usize) -> Result<f64, Failure> {
        match self.0.get(place) {
            Some(Value::Float(number)) => Ok(*number),
            other => Err(unlike(place, "a floating-point number", other)),
        }
    }

    /// Characters.
    pub fn text(&self, place: usize) -> Result<&str, Failure> {
        match self.0.get(place) {
            Some(Value::Text(text)) => Ok(text),
            other => Err(unlike(place, "a text", other)),
        }
    }

    /// Microseconds since 1970, UTC. SQLite holds them as integers.
    pub fn time(&self, place: usize) -> Result<i64, Failure> {
        match self.0.get(place) {
            Some(Value::Time(micros) | Value::Int(micros)) => Ok(*micros),
            other => Err(unlike(place, "an instant", other)),
        }
    }

    /// Whether SQL's NULL stands there.
    pub fn is_null(&self, place: usize) -> bool {
        self.0.get(place) == Some(&Value::Null)
    }
}

fn unlike(place: usize, wanted: &str, found: Option<&Value>) -> Failure {
    Failure::foreign(format!("column {place} of an answer is {found:?}, where the workload expects {wanted}"))
}
