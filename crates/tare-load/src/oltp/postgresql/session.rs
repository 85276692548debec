//! From a socket to a session that is ready: who we are, and the settings it runs with.

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use crate::oltp::{Failure, Isolation, LOCK_WAIT, Protocol, Trouble};

use super::address::Address;
use super::ask::ask;
use super::frame::{Frame, level};
use super::refused::{Refused, malformed};
use super::wire::Wire;

/// From here on a session that works or waits looks whether its client is still there.
const CHECKS_ITS_CLIENT: u32 = 14;

/// Logs in and sets the session up.
pub(super) fn open(
    wire: &mut Wire,
    address: &Address,
    isolation: Isolation,
    protocol: Protocol,
) -> Result<Frame, Failure> {
    start(wire, address)?;
    authenticate(wire, address)?;
    let version = greeting(wire)?;
    let frame = Frame::new(protocol, isolation);
    if !protocol.is_free_of_the_session() {
        frame.prepare(&mut wire.out)?;
        wire.exchange(|_| Ok(()))?;
        ask(wire, &settings(isolation))?;
        if version >= CHECKS_ITS_CLIENT {
            watch_client(wire)?;
        }
    }
    wire.established()?;
    Ok(frame)
}

/// A killed client must leave no session behind that waits for a lock. One that is idle in its transaction sees the
/// socket close at once, so that needs no time-out of its own. Servers on some systems cannot look: so be it.
fn watch_client(wire: &mut Wire) -> Result<(), Failure> {
    match ask(wire, "SET client_connection_check_interval = '1s'") {
        Err(failure) if wire.usable().is_err() => Err(failure),
        _ => Ok(()),
    }
}

/// A role's `statement_timeout` is not meant for building an index, nor for a condition that reads all data.
fn settings(isolation: Isolation) -> String {
    format!(
        "SET default_transaction_isolation = '{}'; SET lock_timeout = '{}ms'; SET statement_timeout = 0",
        level(isolation),
        LOCK_WAIT.as_millis()
    )
}

/// A pooler keeps these for each of its clients. Instants are sent as text without a time zone.
fn start(wire: &mut Wire, address: &Address) -> Result<(), Failure> {
    let options = address.options.iter().map(|options| ("options", options.as_str()));
    let parameters = [
        ("user", address.user.as_str()),
        ("database", address.database.as_str()),
        ("application_name", "tare oltp"),
        ("client_encoding", "UTF8"),
        ("standard_conforming_strings", "on"),
        ("TimeZone", "UTC"),
        ("DateStyle", "ISO, YMD"),
    ];
    frontend::startup_message(parameters.into_iter().chain(options), &mut wire.out).map_err(malformed)?;
    wire.send()
}

fn authenticate(wire: &mut Wire, address: &Address) -> Result<(), Failure> {
    let password = || {
        let missing = Failure::new(Trouble::Error, "the server asks for a password, and none is given")
            .with_next(Some("give it in the URL, PGPASSWORD or ~/.pgpass"));
        address.password.as_deref().ok_or(missing)
    };
    loop {
        match next(wire)? {
            Message::AuthenticationOk => return Ok(()),
            Message::AuthenticationCleartextPassword => say(wire, password()?.as_bytes())?,
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(address.user.as_bytes(), password()?.as_bytes(), body.salt());
                say(wire, hash.as_bytes())?;
            }
            Message::AuthenticationSasl(body) => {
                let offered = body.mechanisms().any(|name| Ok(name == SCRAM_SHA_256)).unwrap_or(false);
                if !offered {
                    return Err(unable());
                }
                scram(wire, password()?)?;
            }
            _ => return Err(unable()),
        }
    }
}

/// RFC 5802. Proves both sides: a server that does not know the password is refused, too.
fn scram(wire: &mut Wire, password: &str) -> Result<(), Failure> {
    let liar = |error: std::io::Error| Failure::new(Trouble::Error, format!("SCRAM failed: {error}"));
    let mut scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut wire.out).map_err(liar)?;
    wire.send()?;
    let Message::AuthenticationSaslContinue(challenge) = next(wire)? else { return Err(unable()) };
    scram.update(challenge.data()).map_err(liar)?;
    frontend::sasl_response(scram.message(), &mut wire.out).map_err(liar)?;
    wire.send()?;
    let Message::AuthenticationSaslFinal(proof) = next(wire)? else { return Err(unable()) };
    scram.finish(proof.data()).map_err(liar)
}

fn say(wire: &mut Wire, password: &[u8]) -> Result<(), Failure> {
    frontend::password_message(password, &mut wire.out)
        .map_err(|_| Failure::new(Trouble::Error, "the password holds a zero byte"))?;
    wire.send()
}

fn next(wire: &mut Wire) -> Result<Message, Failure> {
    match wire.next()? {
        Message::ErrorResponse(body) => Err(wire.refused(&Refused::read(&body))?),
        message => Ok(message),
    }
}

/// Until the server is ready; its major version, 0 if it does not say.
fn greeting(wire: &mut Wire) -> Result<u32, Failure> {
    let mut version = 0;
    loop {
        match wire.receive()? {
            Message::ReadyForQuery(_) => return Ok(version),
            Message::ErrorResponse(body) => return Err(wire.refused(&Refused::read(&body))?),
            Message::ParameterStatus(body) if body.name().is_ok_and(|name| name == "server_version") => {
                version = major(body.value().unwrap_or_default());
            }
            _ => {}
        }
    }
}

/// Of `18.1`, `19beta2`.
fn major(version: &str) -> u32 {
    let digits = version.find(|character: char| !character.is_ascii_digit()).unwrap_or(version.len());
    version[..digits].parse().unwrap_or(0)
}

fn unable() -> Failure {
    let what = "the server asks for an authentication that the driver does not speak; it speaks SCRAM-SHA-256, \
                md5, password, and trust or peer (see the server's pg_hba.conf)";
    Failure::new(Trouble::Error, what)
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn the_major_version_stands_before_the_first_point_or_letter() {
        assert_eq!(["18.1", "15.14 (Debian 15.14-0)", "19beta2", "next"].map(major), [18, 15, 19, 0]);
    }
}
