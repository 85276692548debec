//! A statement that the server has prepared: what it asks for, and how its answer is read.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{DataRowBody, Message};
use postgres_protocol::message::frontend::{self, BindError};
use postgres_protocol::{IsNull, Oid};

use crate::oltp::{Failure, Row, Value};

use super::refused::malformed;
use super::types;
use super::wire::Wire;

const TEXT: i16 = 0;
const BINARY: i16 = 1;

pub(super) struct Prepared {
    name: String,
    sql: String,
    parameters: Vec<Oid>,
    columns: Vec<Oid>,
}

impl Prepared {
    /// The server infers the types. One round trip. Without a name it is parsed again with each request.
    pub fn new(wire: &mut Wire, name: String, sql: &str) -> Result<Self, Failure> {
        frontend::parse(&name, sql, [], &mut wire.out).map_err(malformed)?;
        frontend::describe(b'S', &name, &mut wire.out).map_err(malformed)?;
        let mut prepared = Self { name, sql: sql.to_owned(), parameters: Vec::new(), columns: Vec::new() };
        let told = wire.exchange(|message| {
            match message {
                Message::ParameterDescription(body) => {
                    prepared.parameters = body.parameters().collect().map_err(malformed)?;
                }
                Message::RowDescription(body) => {
                    prepared.columns =
                        body.fields().map(|field| Ok(field.type_oid())).collect().map_err(malformed)?;
                }
                _ => {}
            }
            Ok(())
        });
        told.map_err(|failure| {
            let text = format!("{failure}, preparing {sql}");
            failure.reworded(text)
        })?;
        Ok(prepared)
    }

    /// To be sent with what is there already. After a failure `out` is not usable.
    pub fn request(&self, parameters: &[Value], out: &mut BytesMut) -> Result<(), Failure> {
        if parameters.len() != self.parameters.len() {
            let (given, wanted) = (parameters.len(), self.parameters.len());
            return Err(Failure::foreign(format!("{given} parameters, where {wanted} belong: {}", self.sql)));
        }
        if self.name.is_empty() {
            frontend::parse("", &self.sql, self.parameters.iter().copied(), out).map_err(malformed)?;
        }
        let values = || parameters.iter().zip(&self.parameters);
        let bound = frontend::bind(
            "",
            &self.name,
            parameters.iter().map(|value| if types::goes_as_text(value) { TEXT } else { BINARY }),
            values(),
            |(value, oid), out| match value {
                Value::Null => Ok(IsNull::Yes),
                value => Ok(types::write(value, *oid, out).map(|()| IsNull::No)?),
            },
            self.columns.iter().map(|oid| if types::comes_as_text(*oid) { TEXT } else { BINARY }),
            out,
        );
        bound.map_err(|error| self.unsendable(error))?;
        frontend::execute("", 0, out).map_err(malformed)
    }

    /// One of its answer.
    pub fn row(&self, body: &DataRowBody) -> Result<Row, Failure> {
        let mut fields = Vec::with_capacity(self.columns.len());
        let mut places = body.ranges();
        let mut columns = self.columns.iter();
        while let (Some(place), Some(oid)) = (places.next().map_err(malformed)?, columns.next()) {
            fields.push(match place {
                None => Value::Null,
                Some(place) => types::read(&body.buffer()[place], *oid)?,
            });
        }
        Ok(Row(fields))
    }

    fn unsendable(&self, error: BindError) -> Failure {
        let what = match error {
            BindError::Conversion(error) => error.to_string(),
            BindError::Serialization(error) => error.to_string(),
        };
        Failure::foreign(format!("{what}: {}", self.sql))
    }
}
