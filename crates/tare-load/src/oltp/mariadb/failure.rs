//! What MariaDB's errors are to the tally.

use mysql::{DriverError, Error};

use crate::oltp::{Failure, Trouble};

/// With the server's words and number. What the network or the protocol breaks ends the connection.
pub fn failed(error: &Error) -> Failure {
    match error {
        Error::MySqlError(said) => {
            Failure::new(trouble(said.code), format!("{} [{}]", said.message, said.code))
                .with_next(next_step(said.code))
        }
        _ if is_of_certificate(error) => Failure::new(Trouble::Error, error.to_string()).with_next(Some(
            "see that ssl-ca has signed the server's certificate, which is none of an authority itself",
        )),
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

fn is_of_certificate(error: &Error) -> bool {
    let is_its = |error: &(dyn std::error::Error + 'static)| {
        matches!(error.downcast_ref(), Some(rustls::Error::InvalidCertificate(_)))
    };
    let mut next: Option<&(dyn std::error::Error + 'static)> = match error {
        Error::CodecError(error) => Some(error),
        Error::IoError(error) => Some(error),
        _ => None,
    };
    while let Some(error) = next {
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if is_its(error) || inner.is_some_and(|inner| is_its(inner)) {
            return true;
        }
        next = error.source();
    }
    false
}

/// None: the number tells no more than the trouble does.
fn next_step(number: u16) -> Option<&'static str> {
    Some(match number {
        1045 => {
            "check user and password in the URL, and for which hosts the user was created; a user that must encrypt \
             is refused with ?ssl-mode=disabled"
        }
        1044 => "grant the user a right to this database (GRANT … ON database.* TO …), or name another",
        1049 => "check the database's name; SHOW DATABASES lists them",
        1142 | 1143 | 1227 => "grant the user the right to make, fill, read and drop tables here",
        3159 | 4151 => "let the connection be encrypted: ?ssl-mode=required",
        1021 | 1114 => "free disk space of the server",
        _ => return None,
    })
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
