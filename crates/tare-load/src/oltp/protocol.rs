//! How a workload's statements travel to the server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::oltp::Mistake;

/// PostgreSQL has all three; MariaDB and MySQL prepare under a number (`Named`) or take text (`Simple`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Text with its values in it, parsed and planned each time. Needs nothing of the session.
    Simple,
    /// Parsed each time, values apart. Needs nothing of the session.
    Unnamed,
    /// Prepared once for each connection.
    #[default]
    Named,
}

impl Protocol {
    /// Whether statements run in any backend, as behind a pooler that changes it between transactions.
    pub(crate) fn is_free_of_the_session(self) -> bool {
        self != Self::Named
    }

    /// Refuses what the DBMS of a URL does not have.
    pub fn check(self, url: &str) -> Result<(), Mistake> {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
        match (scheme, self) {
            ("sqlite", _) => Err(Mistake(
                "SQLite runs within the driver's process: no protocol carries its statements".to_owned(),
            )),
            ("mariadb" | "mysql", Self::Unnamed) => Err(Mistake(
                "the protocol of MariaDB and MySQL has no unnamed prepared statements".to_owned(),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Protocol::{Named, Simple, Unnamed};

    #[test]
    fn a_protocol_that_a_dbms_does_not_have_is_refused() {
        for protocol in [Simple, Unnamed, Named] {
            assert_eq!(protocol.check("postgresql:///d"), Ok(()));
            assert!(protocol.check("sqlite:///f.db").unwrap_err().0.contains("within the driver's process"));
        }
        assert_eq!(Simple.check("mysql://h/d"), Ok(()));
        assert!(Unnamed.check("mariadb://h/d").unwrap_err().0.contains("no unnamed prepared statements"));
    }
}
