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
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(Failure::new(
            Trouble::Lost,
            format!("the server was not ready in {} s", timeout.as_secs_f64()),
        )),
    }
}

/// For tables that are to be dropped, in seconds: by default a day, and the DROP of a client that was killed would
/// come as late. Long enough for the roll-back of what a killed load had under way.
const TABLE_WAIT: u64 = 60;

fn opened(options: Opts, isolation: Isolation) -> Result<Conn, Failure> {
    let at = match options.get_socket() {
        Some(socket) => socket.to_owned(),
        None => format!("{}:{}", options.get_ip_or_hostname(), options.get_tcp_port()),
    };
    let mut session = Conn::new(options).map_err(|error| {
        let said = failed(&error);
        Failure::new(said.trouble, format!("cannot connect to {at}: {said}"))
    })?;
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

fn level(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
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
