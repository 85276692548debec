//! A connection by its URL.

use std::time::Duration;

use crate::oltp::{Connection, Failure, Isolation, Protocol, Trouble, mariadb, postgresql, sqlite};

/// To the DBMS that the URL's scheme names, ready within `timeout`.
pub fn connect(url: &str, isolation: Isolation, timeout: Duration) -> Result<Box<dyn Connection>, Failure> {
    connect_over(url, isolation, Protocol::default(), timeout)
}

/// The same, with statements sent over a protocol that the DBMS has (`Protocol::check`).
pub fn connect_over(
    url: &str,
    isolation: Isolation,
    protocol: Protocol,
    timeout: Duration,
) -> Result<Box<dyn Connection>, Failure> {
    match url.split_once("://").map_or("", |(scheme, _)| scheme) {
        "postgresql" | "postgres" => postgresql::connect(url, isolation, protocol, timeout),
        "mariadb" | "mysql" => mariadb::connect(url, isolation, protocol, timeout),
        "sqlite" => sqlite::connect(url, isolation, timeout),
        // not the URL itself: without a scheme any part of it may be the password
        _ => Err(Failure::new(
            Trouble::Error,
            "the URL begins with none of postgresql://, mariadb://, mysql:// and sqlite:///",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_of_no_dbms_is_refused_without_repeating_what_may_be_a_password() {
        let failure = connect("oracle://joe:secret@host/db", Isolation::Serializable, Duration::from_secs(1));
        let text = failure.err().unwrap().text;
        assert!(text.contains("postgresql://") && !text.contains("secret"), "{text}");
    }
}
