//! Where a server is: `mariadb://user:password@host:port/database`, or `…@localhost/database?socket=/path`.

use std::path::Path;
use std::time::Duration;

use mysql::consts::CapabilityFlags;
use mysql::{Opts, OptsBuilder};

use crate::oltp::{Failure, percent};

/// Where Debian's packages, and most others, put it.
const USUAL_SOCKET: &str = "/run/mysqld/mysqld.sock";
const PORT: u16 = 3306;

/// Errors never show the URL: it may hold a password.
pub fn options(url: &str, timeout: Duration) -> Result<Opts, Failure> {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, at) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) =
        user.split_once(':').map_or((user, None), |(user, password)| (user, Some(password)));
    let (host, port) = host(at)?;
    let socket = match socket(query)? {
        None if port.is_none()
            && matches!(host.as_str(), "" | "localhost")
            && Path::new(USUAL_SOCKET).exists() =>
        {
            Some(USUAL_SOCKET.to_owned())
        }
        named => named,
    };
    Ok(OptsBuilder::new()
        .user(Some(if user.is_empty() { own_name() } else { plain(user)? }))
        .pass(password.map(plain).transpose()?)
        .db_name(Some(plain(database)?).filter(|name| !name.is_empty()))
        .ip_or_hostname(Some(if matches!(host.as_str(), "" | "localhost") {
            "127.0.0.1".to_owned()
        } else {
            host
        }))
        .tcp_port(port.unwrap_or(PORT))
        .socket(socket)
        .prefer_socket(false)
        .tcp_nodelay(true)
        .tcp_connect_timeout(Some(timeout))
        .stmt_cache_size(0)
        // An UPDATE tells how many rows it found, as on the other DBMSes, not how many it left different.
        .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
        .into())
}

fn host(at: &str) -> Result<(String, Option<u16>), Failure> {
    let (host, port) = match at.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, after)) => (address, after.strip_prefix(':')),
        None => at.split_once(':').map_or((at, None), |(host, port)| (host, Some(port))),
    };
    let port = port.map(|port| port.parse().map_err(|_| unreadable("its port is no number"))).transpose()?;
    Ok((plain(host)?, port))
}

fn socket(query: &str) -> Result<Option<String>, Failure> {
    let mut found = None;
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        if !matches!(name, "socket" | "unix_socket") {
            return Err(unreadable(&format!("only socket=/path is known, not {name}")));
        }
        found = Some(plain(value)?);
    }
    Ok(found)
}

fn plain(part: &str) -> Result<String, Failure> {
    percent::decoded(part).ok_or_else(|| unreadable("write %25 for %, %40 for @, %3A for : and %2F for /"))
}

fn unreadable(why: &str) -> Failure {
    Failure::foreign(format!("cannot read the database URL: {why}"))
}

/// As the client library has it: whoever runs the program.
fn own_name() -> String {
    std::env::var("USER").unwrap_or_else(|_| "root".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Opts {
        options(url, Duration::from_secs(1)).unwrap()
    }

    #[test]
    fn every_part_is_read_and_decoded() {
        let opts = of("mysql://a%40b:p%2Fw@db.example:3307/my%20base");
        assert_eq!((opts.get_user(), opts.get_pass()), (Some("a@b"), Some("p/w")));
        assert_eq!((opts.get_ip_or_hostname().as_ref(), opts.get_tcp_port()), ("db.example", 3307));
        assert_eq!((opts.get_db_name(), opts.get_socket()), (Some("my base"), None));
    }

    #[test]
    fn a_socket_is_a_parameter() {
        let opts = of("mariadb://root@localhost/tare?socket=/tmp/a%20b/m.sock");
        assert_eq!(opts.get_socket(), Some("/tmp/a b/m.sock"));
    }

    #[test]
    fn an_address_of_version_6_stands_in_brackets() {
        assert_eq!(of("mariadb://u@[::1]:3310/d").get_tcp_port(), 3310);
        assert_eq!(of("mariadb://u@[::1]:3310/d").get_ip_or_hostname(), "::1");
    }

    #[test]
    fn what_cannot_be_read_is_told_without_the_password() {
        for url in
            ["mariadb://u:secret%zz@h/d", "mariadb://u:secret@h:port/d", "mariadb://u:secret@h/d?charset=x"]
        {
            let text = options(url, Duration::from_secs(1)).unwrap_err().text;
            assert!(text.contains("cannot read") && !text.contains("secret"), "{text}");
        }
    }
}
