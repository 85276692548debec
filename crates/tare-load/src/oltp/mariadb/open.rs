//! A session as the driver needs it, and what it says of itself.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use mysql::prelude::Queryable;
use mysql::{Conn, Opts};

use super::failure::failed;
use crate::oltp::{Failure, Isolation, LOCK_WAIT, Trouble};

/// What standard SQL means, the same on every server: what does not fit is an error, `||` joins texts, a backslash is
/// one character.
const MODE: &str = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES";

/// A server that takes the connection and then says nothing is given up at `timeout`, too: its thread is left behind.
pub fn open(options: Opts, isolation: Isolation, timeout: Duration) -> Result<Conn, Failure> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || sender.send(opened(options, isolation)));
    match receiver.recv_timeout(timeout) {
        Ok(opened) => opened,
        Err(RecvTimeoutError::Timeout) => Err(Failure::new(
            Trouble::Lost,
            format!("the server was not ready in {} s", timeout.as_secs_f64()),
        )),
        Err(RecvTimeoutError::Disconnected) => Err(Failure::new(
            Trouble::Error,
            "the client broke off while it logged in: the user's authentication plugin is perhaps one that the driver \
             does not speak; it speaks mysql_native_password, caching_sha2_password and ed25519",
        )),
    }
}

/// For tables that are to be dropped, in seconds: by default a day, and the DROP of a client that was killed would
/// come as late. Long enough for the roll-back of what a killed load had under way.
const TABLE_WAIT: u64 = 60;

const UNKNOWN_VARIABLE: u16 = 1193;
const TIMED_OUT: u16 = 1969;
const ATTEMPTS: u32 = 20;

fn opened(options: Opts, isolation: Isolation) -> Result<Conn, Failure> {
    let at = match options.get_socket() {
        Some(socket) => socket.to_owned(),
        None => format!("{}:{}", options.get_ip_or_hostname(), options.get_tcp_port()),
    };
    let mut session = Conn::new(options).map_err(|error| {
        let said = failed(&error);
        let text = format!("cannot connect to {at}: {said}");
        said.reworded(text)
    })?;
    lift_limit(&mut session)?;
    let (level, wait) = (level(isolation), LOCK_WAIT.as_secs());
    let settings = [
        "SET NAMES utf8mb4".to_owned(),
        format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"),
        format!(
            "SET SESSION autocommit = 0, time_zone = '+00:00', sql_mode = '{MODE}', \
             innodb_lock_wait_timeout = {wait}, lock_wait_timeout = {TABLE_WAIT}"
        ),
    ];
    for setting in settings {
        session.query_drop(setting).map_err(|error| failed(&error))?;
    }
    Ok(session)
}

/// A user's limit is not meant for building an index, nor for a condition that reads all data. On a busy machine it
/// ends the statement that lifts it, too: that one is sent again.
fn lift_limit(session: &mut Conn) -> Result<(), Failure> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match session.query_drop("SET SESSION max_statement_time = 0") {
            Ok(()) => return Ok(()),
            Err(mysql::Error::MySqlError(error)) if error.code == UNKNOWN_VARIABLE => return Ok(()), // MySQL
            Err(mysql::Error::MySqlError(error)) if error.code == TIMED_OUT && attempts < ATTEMPTS => {}
            Err(error) => return Err(failed(&error)),
        }
    }
}

fn level(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}

/// Protocol and cipher of the session. None: it is not encrypted.
pub fn encryption(session: &mut Conn) -> Option<String> {
    let query = "SHOW SESSION STATUS WHERE variable_name IN ('Ssl_cipher', 'Ssl_version')";
    let shown: Vec<(String, String)> = session.query(query).ok()?;
    let value = |name: &str| shown.iter().find(|(shown, _)| shown == name).map_or("", |(_, value)| value);
    let (version, cipher) = (value("Ssl_version"), value("Ssl_cipher"));
    (!cipher.is_empty()).then(|| format!("{} {cipher}", version.replace("TLSv", "TLS ")))
}

/// Server, and isolation level at work. Whether a repeatable read refuses to write what another has changed since
/// is a setting of its own.
pub fn described(session: &mut Conn) -> Result<(String, String), Failure> {
    let version: Option<String> = session.query_first("SELECT VERSION()").map_err(|error| failed(&error))?;
    let version = version.unwrap_or_default();
    let found: Vec<(String, String)> = session
        .query(
            "SHOW SESSION VARIABLES WHERE variable_name IN \
             ('tx_isolation', 'transaction_isolation', 'innodb_snapshot_isolation')",
        )
        .map_err(|error| failed(&error))?;
    let of =
        |name: &str| found.iter().find(|(found, _)| found.contains(name)).map(|(_, value)| value.as_str());
    let level = found.iter().find(|(name, _)| name.starts_with('t')).map_or("", |(_, value)| value);
    let snapshot =
        of("snapshot").map(|value| format!(", innodb_snapshot_isolation = {value}")).unwrap_or_default();
    let server = if version.contains("MariaDB") { "MariaDB" } else { "MySQL" };
    Ok((format!("{server} {version}"), format!("{level}{snapshot}")))
}
