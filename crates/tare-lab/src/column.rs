//! One column of a batch while it is filled.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Int32Builder, Int64Builder, StringBuilder, UInt8Builder};
use arrow_schema::DataType;
use rusqlite::types::ValueRef;

/// What a column holds, NULL aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of 32 bits.
    Int32,
    /// Whole numbers of 64 bits.
    Int64,
    /// 0 and 1.
    Boolean,
    /// UTF-8.
    Text,
    /// One of these words, as its place among them; the likely ones first. At most 255.
    Word(Vec<String>),
}

impl Kind {
    pub(crate) fn arrow(&self) -> DataType {
        match self {
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Boolean => DataType::Boolean,
            Self::Text => DataType::Utf8,
            Self::Word(_) => DataType::UInt8,
        }
    }
}

/// The value is not of its column's kind.
pub(crate) struct Misfit;

pub(crate) enum Filling {
    Int32(Int32Builder),
    Int64(Int64Builder),
    Boolean(BooleanBuilder),
    Text(StringBuilder),
    Word(Vec<String>, UInt8Builder),
}

impl Filling {
    pub(crate) fn new(kind: &Kind, rows: usize) -> Self {
        match kind {
            Kind::Int32 => Self::Int32(Int32Builder::with_capacity(rows)),
            Kind::Int64 => Self::Int64(Int64Builder::with_capacity(rows)),
            Kind::Boolean => Self::Boolean(BooleanBuilder::with_capacity(rows)),
            Kind::Text => Self::Text(StringBuilder::with_capacity(rows, 16 * rows)),
            Kind::Word(words) => Self::Word(words.clone(), UInt8Builder::with_capacity(rows)),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, value: ValueRef<'_>) -> Result<(), Misfit> {
        match (self, value) {
            (Self::Int64(to), ValueRef::Integer(number)) => to.append_value(number),
            (Self::Int64(to), ValueRef::Null) => to.append_null(),
            (Self::Int32(to), ValueRef::Integer(number)) => {
                to.append_value(i32::try_from(number).map_err(|_| Misfit)?);
            }
            (Self::Int32(to), ValueRef::Null) => to.append_null(),
            (Self::Word(words, to), ValueRef::Text(text)) => {
                let place = words.iter().position(|word| word.as_bytes() == text).ok_or(Misfit)?;
                to.append_value(place as u8);
            }
            (Self::Word(_, to), ValueRef::Null) => to.append_null(),
            (Self::Boolean(to), ValueRef::Integer(number @ 0..=1)) => to.append_value(number == 1),
            (Self::Boolean(to), ValueRef::Null) => to.append_null(),
            (Self::Text(to), ValueRef::Text(text)) => {
                to.append_value(str::from_utf8(text).map_err(|_| Misfit)?);
            }
            (Self::Text(to), ValueRef::Null) => to.append_null(),
            _ => return Err(Misfit),
        }
        Ok(())
    }

    /// What was added since the last time.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Int32(filled) => Arc::new(filled.finish()),
            Self::Int64(filled) => Arc::new(filled.finish()),
            Self::Boolean(filled) => Arc::new(filled.finish()),
            Self::Text(filled) => Arc::new(filled.finish()),
            Self::Word(_, filled) => Arc::new(filled.finish()),
        }
    }
}
