//! Values in the binary form of the type the server asks for, and back.

use bytes::{BufMut, BytesMut};
use postgres_protocol::Oid;

use crate::oltp::civil::Civil;
use crate::oltp::{Failure, Value};

use super::numeric;

const BOOL: Oid = 16;
const CHAR: Oid = 18;
const NAME: Oid = 19;
const INT8: Oid = 20;
const INT2: Oid = 21;
const INT4: Oid = 23;
const TEXT: Oid = 25;
const FLOAT4: Oid = 700;
const FLOAT8: Oid = 701;
const UNKNOWN: Oid = 705;
const BPCHAR: Oid = 1042;
const VARCHAR: Oid = 1043;
const DATE: Oid = 1082;
const TIMESTAMP: Oid = 1114;
const TIMESTAMPTZ: Oid = 1184;
const NUMERIC: Oid = 1700;

/// The server's instants begin with 2000.
const EPOCH: i64 = 946_684_800_000_000;
const DAY: i64 = 86_400_000_000;

/// Characters may stand for any type, as in a literal; the server reads them.
pub(super) fn goes_as_text(value: &Value) -> bool {
    matches!(value, Value::Text(_))
}

/// What has no `Value` of its own comes as the server would print it.
pub(super) fn comes_as_text(oid: Oid) -> bool {
    !matches!(
        oid,
        BOOL | INT2 | INT4 | INT8 | FLOAT4 | FLOAT8 | BPCHAR | DATE | TIMESTAMP | TIMESTAMPTZ | NUMERIC
    )
}

/// Exactly, or not at all. `value` is not NULL.
pub(super) fn write(value: &Value, oid: Oid, out: &mut BytesMut) -> Result<(), Failure> {
    match (value, oid) {
        (Value::Text(text), _) => out.put_slice(text.as_bytes()),
        (Value::Int(number), INT2) => out.put_i16(narrowed(*number, "smallint")?),
        (Value::Int(number), INT4) => out.put_i32(narrowed(*number, "integer")?),
        (Value::Int(number), INT8) => out.put_i64(*number),
        (Value::Int(number), NUMERIC) => numeric::write(*number, 0, out),
        (Value::Int(number), FLOAT8) => out.put_f64(*number as f64),
        (Value::Int(number @ 0..=1), BOOL) => out.put_u8(*number as u8),
        (Value::Float(number), FLOAT8) => out.put_f64(*number),
        (Value::Float(number), FLOAT4) => out.put_f32(*number as f32),
        (Value::Decimal { unscaled, scale }, NUMERIC) => numeric::write(*unscaled, *scale, out),
        (Value::Decimal { unscaled, scale }, FLOAT8) => {
            out.put_f64(*unscaled as f64 / 10_f64.powi(i32::from(*scale)));
        }
        (Value::Time(micros), TIMESTAMP | TIMESTAMPTZ) => out.put_i64(micros - EPOCH),
        _ => return Err(Failure::foreign(format!("{value:?} cannot be sent as {}", name(oid)))),
    }
    Ok(())
}

/// Of a field that is not NULL.
pub(super) fn read(field: &[u8], oid: Oid) -> Result<Value, Failure> {
    Ok(match oid {
        BOOL => Value::Int(i64::from(u8::from_be_bytes(bytes(field)?))),
        INT2 => Value::Int(i16::from_be_bytes(bytes(field)?).into()),
        INT4 => Value::Int(i32::from_be_bytes(bytes(field)?).into()),
        INT8 => Value::Int(i64::from_be_bytes(bytes(field)?)),
        FLOAT4 => Value::Float(f32::from_be_bytes(bytes(field)?).into()),
        FLOAT8 => Value::Float(f64::from_be_bytes(bytes(field)?)),
        NUMERIC => numeric::read(field)?,
        BPCHAR => Value::Text(text(field)?.trim_end_matches(' ').to_owned()),
        DATE => Value::Time(instant(i64::from(i32::from_be_bytes(bytes(field)?)).checked_mul(DAY))?),
        TIMESTAMP | TIMESTAMPTZ => Value::Time(instant(Some(i64::from_be_bytes(bytes(field)?)))?),
        _ => Value::Text(text(field)?.to_owned()),
    })
}

/// Of a field that is not NULL, as the server prints it.
pub(super) fn read_text(field: &[u8], oid: Oid) -> Result<Value, Failure> {
    let shown = text(field)?;
    let value = match oid {
        BOOL => Some(Value::Int(i64::from(shown == "t"))),
        INT2 | INT4 | INT8 => shown.parse().ok().map(Value::Int),
        FLOAT4 | FLOAT8 => shown.parse().ok().map(Value::Float),
        NUMERIC => return numeric::parse(shown),
        BPCHAR => Some(Value::Text(shown.trim_end_matches(' ').to_owned())),
        DATE => Civil::parse(&format!("{shown} 00:00:00")).map(|at| Value::Time(at.micros())),
        TIMESTAMP => Civil::parse(shown).map(|at| Value::Time(at.micros())),
        TIMESTAMPTZ => Civil::parse(shown.trim_end_matches("+00")).map(|at| Value::Time(at.micros())),
        _ => Some(Value::Text(shown.to_owned())),
    };
    value.ok_or_else(|| Failure::foreign(format!("{shown} of the database is no {}", name(oid))))
}

fn narrowed<T: TryFrom<i64>>(number: i64, name: &str) -> Result<T, Failure> {
    T::try_from(number).map_err(|_| Failure::foreign(format!("{number} is no {name}: it is out of range")))
}

fn bytes<const N: usize>(field: &[u8]) -> Result<[u8; N], Failure> {
    field.try_into().map_err(|_| Failure::foreign(format!("a field has {} bytes, not {N}", field.len())))
}

fn text(field: &[u8]) -> Result<&str, Failure> {
    str::from_utf8(field).map_err(|_| Failure::foreign("a text of the database is not UTF-8"))
}

/// The ends of the range stand for infinity.
fn instant(micros: Option<i64>) -> Result<i64, Failure> {
    micros
        .filter(|micros| *micros != i64::MIN)
        .and_then(|micros| micros.checked_add(EPOCH))
        .ok_or_else(|| Failure::foreign("an instant of the database is infinite"))
}

fn name(oid: Oid) -> String {
    let known = match oid {
        BOOL => "boolean",
        CHAR => "\"char\"",
        NAME => "name",
        INT2 => "smallint",
        INT4 => "integer",
        INT8 => "bigint",
        FLOAT4 => "real",
        FLOAT8 => "double precision",
        TEXT | VARCHAR | BPCHAR | UNKNOWN => "characters",
        DATE => "date",
        TIMESTAMP | TIMESTAMPTZ => "timestamp",
        NUMERIC => "numeric",
        other => return format!("the type with OID {other}"),
    };
    known.to_owned()
}
