//! What MariaDB's errors are to the tally.

use mysql::{DriverError, Error};

use crate::oltp::{Failure, Trouble};

/// With the server's words and number. What the network or the protocol breaks ends the connection.
pub fn failed(error: &Error) -> Failure {
    match error {
        Error::MySqlError(said) => {
            Failure::new(trouble(said.code), format!("{} [{}]", said.message, said.code))
        }
        Error::IoError(_) | Error::CodecError(_) => {
            Failure::new(Trouble::Lost, format!("connection lost: {error}"))
        }
        Error::DriverError(DriverError::ConnectTimeout | DriverError::CouldNotConnect(_)) => {
            Failure::new(Trouble::Lost, error.to_string())
        }
        Error::DriverError(_) => Failure::foreign(error.to_string()),
        _ => Failure::foreign("an answer that the protocol does not allow"),
    }
}

fn trouble(number: u16) -> Trouble {
    match number {
        1213 => Trouble::Deadlock,
        1020 => Trouble::Serialization, // innodb_snapshot_isolation: the row has changed since it was read
        1205 | 3572 => Trouble::LockTimeout,
        1062 | 1586 => Trouble::Duplicate,
        1040 | 1203 | 1226 => Trouble::Full,
        // shutdown and its end, the network, a killed connection, and the client library's own numbers
        1053 | 1077 | 1079 | 1158..=1161 | 1927 | 2006 | 2013 | 2055 => Trouble::Lost,
        _ => Trouble::Error,
    }
}
