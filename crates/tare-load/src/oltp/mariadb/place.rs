//! Where a server is: `mariadb://user:password@host:port/database`, or `…@localhost/database?socket=/path`.
//!
//! `ssl-mode` (`disabled`, `required`, `verify-ca`), `ssl-ca`, `ssl-cert` and `ssl-key` are the parameters of TLS. Without
//! `ssl-mode` a session that is refused is tried encrypted, as a user may be required to be.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mysql::consts::CapabilityFlags;
use mysql::{ClientIdentity, Opts, OptsBuilder, SslOpts};

use crate::oltp::{Failure, percent};

/// Where Debian's packages, and most others, put it.
const USUAL_SOCKET: &str = "/run/mysqld/mysqld.sock";
const PORT: u16 = 3306;

/// Ways to connect, in order. Errors never show the URL: it may hold a password.
pub fn options(url: &str, timeout: Duration) -> Result<Vec<Opts>, Failure> {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, at) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) =
        user.split_once(':').map_or((user, None), |(user, password)| (user, Some(password)));
    let (host, port) = host(at)?;
    let parameters = Parameters::read(query)?;
    let socket = match parameters.socket.clone() {
        None if port.is_none()
            && matches!(host.as_str(), "" | "localhost")
            && Path::new(USUAL_SOCKET).exists() =>
        {
            Some(USUAL_SOCKET.to_owned())
        }
        named => named,
    };
    let by_socket = socket.is_some();
    let builder = OptsBuilder::new()
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
        .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS);
    let modes = if by_socket { vec![Mode::Disabled] } else { parameters.modes() };
    modes.into_iter().map(|mode| Ok(builder.clone().ssl_opts(parameters.tls(mode)?).into())).collect()
}

fn host(at: &str) -> Result<(String, Option<u16>), Failure> {
    let (host, port) = match at.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, after)) => (address, after.strip_prefix(':')),
        None => at.split_once(':').map_or((at, None), |(host, port)| (host, Some(port))),
    };
    let port = port.map(|port| port.parse().map_err(|_| unreadable("its port is no number"))).transpose()?;
    Ok((plain(host)?, port))
}

/// Whether a session is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Disabled,
    Required,
    VerifyCa,
}

/// What stands behind the `?`.
#[derive(Default)]
struct Parameters {
    socket: Option<String>,
    mode: Option<Mode>,
    authority: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl Parameters {
    fn read(query: &str) -> Result<Self, Failure> {
        let mut found = Self::default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let value = plain(value)?;
            match name {
                "socket" | "unix_socket" => found.socket = Some(value),
                "ssl-mode" => found.mode = Some(mode(&value)?),
                "ssl-ca" => found.authority = Some(file(value)?),
                "ssl-cert" => found.certificate = Some(file(value)?),
                "ssl-key" => found.key = Some(file(value)?),
                _ => {
                    return Err(unreadable(&format!(
                        "{name} is not known; known are socket, ssl-mode, ssl-ca, ssl-cert and ssl-key"
                    )));
                }
            }
        }
        Ok(found)
    }

    /// Modes to try, in order, where a server is not spoken to by a Unix socket, which is never encrypted.
    fn modes(&self) -> Vec<Mode> {
        self.mode.map_or(vec![Mode::Disabled, Mode::Required], |mode| vec![mode])
    }

    /// None: not encrypted. The host's name is not compared with the certificate's.
    fn tls(&self, mode: Mode) -> Result<Option<SslOpts>, Failure> {
        if mode == Mode::Disabled {
            return Ok(None);
        }
        let identity = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => Some(ClientIdentity::new(certificate.clone(), key.clone())),
            (None, None) => None,
            _ => return Err(unreadable("ssl-cert and ssl-key belong together")),
        };
        Ok(Some(
            SslOpts::default()
                .with_root_cert_path(self.authority.clone())
                .with_client_identity(identity)
                .with_danger_accept_invalid_certs(mode == Mode::Required)
                .with_danger_skip_domain_validation(true),
        ))
    }
}

fn mode(word: &str) -> Result<Mode, Failure> {
    match word.to_ascii_lowercase().as_str() {
        "disabled" => Ok(Mode::Disabled),
        "required" => Ok(Mode::Required),
        "verify-ca" => Ok(Mode::VerifyCa),
        _ => Err(unreadable("ssl-mode is none of disabled, required and verify-ca")),
    }
}

fn file(name: String) -> Result<PathBuf, Failure> {
    let file = PathBuf::from(name);
    let missing = || unreadable(&format!("there is no file {}", file.display()));
    if file.exists() { Ok(file) } else { Err(missing()) }
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
        options(url, Duration::from_secs(1)).unwrap().remove(0)
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
    fn tls_is_what_ssl_mode_requests() {
        assert!(of("mariadb://u@h/d?ssl-mode=disabled").get_ssl_opts().is_none());
        let any = of("mariadb://u@h/d?ssl-mode=required");
        assert!(any.get_ssl_opts().is_some_and(|tls| tls.accept_invalid_certs()));
        let file = tempfile::NamedTempFile::new().unwrap();
        let checked = of(&format!("mariadb://u@h/d?ssl-mode=verify-ca&ssl-ca={}", file.path().display()));
        let tls = checked.get_ssl_opts().unwrap();
        assert!(!tls.accept_invalid_certs());
        assert_eq!(tls.root_cert_path(), Some(file.path()));
        let either = options("mariadb://u@h/d", Duration::from_secs(1)).unwrap();
        assert_eq!(either.iter().map(|one| one.get_ssl_opts().is_some()).collect::<Vec<_>>(), [false, true]);
        assert!(of("mariadb://u@localhost/d?socket=/tmp/m.sock&ssl-mode=required").get_ssl_opts().is_none());
    }

    #[test]
    fn an_address_of_version_6_stands_in_brackets() {
        assert_eq!(of("mariadb://u@[::1]:3310/d").get_tcp_port(), 3310);
        assert_eq!(of("mariadb://u@[::1]:3310/d").get_ip_or_hostname(), "::1");
    }

    #[test]
    fn what_cannot_be_read_is_told_without_the_password() {
        for url in [
            "mariadb://u:secret%zz@h/d",
            "mariadb://u:secret@h:port/d",
            "mariadb://u:secret@h/d?charset=x",
            "mariadb://u:secret@h/d?ssl-mode=perhaps",
            "mariadb://u:secret@h/d?ssl-ca=/nowhere/ca.pem",
        ] {
            let text = options(url, Duration::from_secs(1)).unwrap_err().text;
            assert!(text.contains("cannot read") && !text.contains("secret"), "{text}");
        }
    }
}
