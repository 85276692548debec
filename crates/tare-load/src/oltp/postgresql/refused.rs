//! What a server's ErrorResponse is counted as, and its words in one line.

use std::io;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::ErrorResponseBody;

use crate::oltp::{Failure, Trouble};

/// Of a detail, which may hold whole rows.
const LONGEST_DETAIL: usize = 200;

/// An error, and whether the server has closed the session over it.
pub(super) struct Refused {
    pub failure: Failure,
    pub fatal: bool,
}

impl Refused {
    pub fn read(body: &ErrorResponseBody) -> Self {
        let mut said = Said::default();
        let mut fields = body.fields();
        while let Ok(Some(field)) = fields.next() {
            let text = String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                b'V' => said.severity = text,
                b'C' => said.code = text,
                b'M' => said.message = text,
                b'D' => said.detail = text,
                b'W' if text.starts_with("COPY ") => said.detail = text, // the line
                _ => {}
            }
        }
        let fatal = said.severity == "FATAL" || said.severity == "PANIC";
        let failure = Failure::new(trouble(&said.code), said.line()).with_next(next_step(&said.code));
        Self { failure, fatal }
    }
}

/// Of a message that breaks the protocol's limits, or cannot be read.
pub(super) fn malformed(error: io::Error) -> Failure {
    Failure::foreign(format!("not as PostgreSQL's protocol has it: {error}"))
}

#[derive(Default)]
struct Said {
    severity: String,
    code: String,
    message: String,
    detail: String,
}

impl Said {
    fn line(&self) -> String {
        let Self { severity, code, message, detail } = self;
        let detail = detail.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut characters = detail.chars();
        let short: String = characters.by_ref().take(LONGEST_DETAIL).collect();
        let rest = if characters.next().is_some() { "…" } else { "" };
        match short.is_empty() {
            true => format!("{severity} {code}: {message}"),
            false => format!("{severity} {code}: {message} ({short}{rest})"),
        }
    }
}

/// By SQLSTATE.
fn trouble(code: &str) -> Trouble {
    match code {
        "40P01" => Trouble::Deadlock,
        "40001" => Trouble::Serialization,
        "55P03" => Trouble::LockTimeout,
        "23505" => Trouble::Duplicate,
        "53300" => Trouble::Full,
        "57P01" | "57P02" | "57P03" | "57P05" => Trouble::Lost,
        broken if broken.starts_with("08") => Trouble::Lost,
        _ => Trouble::Error,
    }
}

/// By SQLSTATE. None: it tells no more than the trouble does.
fn next_step(code: &str) -> Option<&'static str> {
    Some(match code {
        // a prepared statement's name is taken, or not known
        "42P05" | "26000" => {
            "a pooler gave the session another backend: give --protocol unnamed or --protocol simple, or connect to \
             PostgreSQL itself"
        }
        "28P01" => "check user and password (in the URL, PGPASSWORD or ~/.pgpass)",
        "28000" => {
            "let this user and address in, in the server's pg_hba.conf; if it takes encrypted connections only, give \
             ?sslmode=require"
        }
        "3D000" => "check the database's name; `psql -l` lists the databases",
        "42501" => {
            "grant the role the right that is missing: to connect, GRANT CONNECT ON DATABASE … TO …; to make tables, \
             GRANT CREATE ON SCHEMA … TO …"
        }
        "57014" => "see who cancelled it: another session, or a pooled role's statement_timeout",
        "53100" => "free disk space of the server",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_another_session_took_or_that_is_gone_is_a_poolers_doing() {
        for code in ["42P05", "26000"] {
            assert!(next_step(code).unwrap().contains("--protocol unnamed"));
        }
    }

    #[test]
    fn a_cancelled_statement_is_no_lost_connection() {
        assert_eq!(trouble("57014"), Trouble::Error);
        assert_eq!(trouble("57P01"), Trouble::Lost);
        assert_eq!(trouble("08006"), Trouble::Lost);
    }

    #[test]
    fn a_long_detail_is_cut_and_stands_on_one_line() {
        let said = Said {
            severity: "ERROR".to_owned(),
            code: "23505".to_owned(),
            message: "duplicate key".to_owned(),
            detail: "Key\n\tis ".to_owned() + &"ü".repeat(1000),
        };
        let line = said.line();
        assert!(
            line.starts_with("ERROR 23505: duplicate key (Key is üüü") && line.ends_with("ü…)"),
            "{line}"
        );
        assert!(line.chars().count() < 250 && !line.contains('\n'));
    }
}
