//! A URL as libpq reads it, what it leaves out taken from the environment, as far as a plain socket goes.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::oltp::percent::decoded;
use crate::oltp::{Failure, Trouble};

use super::password_file::{self, Environment, Login};
use super::tls::{Attempt, Mode, Roots, Tls};

/// Where, who, and which database.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub place: Place,
    pub port: u16,
    pub user: String,
    pub password: Option<String>,
    pub database: String,
    /// `-c name=value …`, for the session.
    pub options: Option<String>,
    pub tls: Tls,
}

/// By what kind of socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The directory of a Unix socket.
    Directory(PathBuf),
    /// A name or an address.
    Host(String),
}

/// What libpq takes, too, and what makes no difference here.
const WITHOUT_EFFECT: &[&str] = &[
    "application_name",
    "channel_binding",
    "client_encoding",
    "connect_timeout",
    "fallback_application_name",
    "gssencmode",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "tcp_user_timeout",
];
const DIRECTORIES: &[&str] = &["/var/run/postgresql", "/tmp"];

impl Address {
    /// Of a URL. What is wrong with it is said without repeating it: it may hold a password.
    pub fn read(url: &str, environment: &Environment<'_>) -> Result<Self, Failure> {
        let mut given = Given::default();
        given.url(url)?;
        let set = |name: &str| environment(name).filter(|value| !value.is_empty());
        let or = |value: Option<String>, name: &str| value.or_else(|| set(name));
        let tls = Tls {
            mode: mode(or(given.sslmode, "PGSSLMODE").as_deref())?,
            roots: roots(or(given.sslrootcert, "PGSSLROOTCERT"), environment),
            identity: identity(or(given.sslcert, "PGSSLCERT"), or(given.sslkey, "PGSSLKEY"), environment),
        };
        let port = match or(given.port, "PGPORT").as_deref() {
            None => 5432,
            Some(text) => text.parse().map_err(|_| refused("has a port that is no number"))?,
        };
        let place = place(or(given.host, "PGHOST"), port)?;
        let user = or(given.user, "PGUSER")
            .or_else(|| set("USER"))
            .or_else(|| set("LOGNAME"))
            .ok_or_else(|| refused("names no user: write it as postgresql://user@host/database"))?;
        let database = or(given.database, "PGDATABASE").unwrap_or_else(|| user.clone());
        let options = or(given.options, "PGOPTIONS");
        let mut address = Self { place, port, user, password: None, database, options, tls };
        address.password = or(given.password, "PGPASSWORD").or_else(|| address.password_of_file(environment));
        Ok(address)
    }

    /// Ways to connect, in order. A Unix socket is never encrypted.
    pub fn attempts(&self) -> &'static [Attempt] {
        match self.place {
            Place::Directory(_) => &[Attempt::Plain],
            Place::Host(_) => self.tls.attempts(),
        }
    }

    fn password_of_file(&self, environment: &Environment<'_>) -> Option<String> {
        let is_host = |host: &str| match &self.place {
            Place::Host(name) => host == *name,
            Place::Directory(directory) => host == "localhost" || Path::new(host) == directory,
        };
        let login = Login { is_host: &is_host, port: self.port, database: &self.database, user: &self.user };
        password_file::find(&login, environment)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { port, user, database, .. } = self;
        match &self.place {
            Place::Directory(directory) => {
                write!(out, "database {database} as {user} at {}", socket_file(directory, *port).display())
            }
            Place::Host(host) => write!(out, "database {database} as {user} at {host}, port {port}"),
        }
    }
}

/// In a server's directory.
pub(super) fn socket_file(directory: &Path, port: u16) -> PathBuf {
    directory.join(format!(".s.PGSQL.{port}"))
}

fn mode(word: Option<&str>) -> Result<Mode, Failure> {
    let unknown = || {
        refused("has an sslmode that is none of disable, allow, prefer, require, verify-ca and verify-full")
    };
    word.map_or(Ok(Mode::default()), |word| Mode::of(word).ok_or_else(unknown))
}

/// In libpq's folder, where a parameter names no file.
fn usual(name: &str, environment: &Environment<'_>) -> Option<PathBuf> {
    let file = Path::new(&environment("HOME")?).join(".postgresql").join(name);
    file.exists().then_some(file)
}

fn roots(named: Option<String>, environment: &Environment<'_>) -> Option<Roots> {
    match named {
        Some(word) if word == "system" => Some(Roots::Public),
        Some(file) => Some(Roots::File(file.into())),
        None => usual("root.crt", environment).map(Roots::File),
    }
}

fn identity(
    certificate: Option<String>,
    key: Option<String>,
    environment: &Environment<'_>,
) -> Option<(PathBuf, PathBuf)> {
    let certificate = certificate.map(PathBuf::from).or_else(|| usual("postgresql.crt", environment))?;
    let key = key.map(PathBuf::from).or_else(|| usual("postgresql.key", environment))?;
    Some((certificate, key))
}

fn place(host: Option<String>, port: u16) -> Result<Place, Failure> {
    match host {
        Some(several) if several.contains(',') => Err(refused("names several hosts; give one")),
        Some(directory) if directory.starts_with('/') => Ok(Place::Directory(directory.into())),
        Some(host) if !host.is_empty() => Ok(Place::Host(host)),
        _ => {
            let directory = DIRECTORIES.iter().map(Path::new).find(|place| socket_file(place, port).exists());
            Ok(directory.map_or(Place::Host("localhost".to_owned()), |found| Place::Directory(found.into())))
        }
    }
}

#[derive(Default)]
struct Given {
    host: Option<String>,
    port: Option<String>,
    user: Option<String>,
    password: Option<String>,
    database: Option<String>,
    options: Option<String>,
    sslmode: Option<String>,
    sslrootcert: Option<String>,
    sslcert: Option<String>,
    sslkey: Option<String>,
}

impl Given {
    /// A parameter behind the `?` wins over what stands before it.
    fn url(&mut self, url: &str) -> Result<(), Failure> {
        let rest = url
            .strip_prefix("postgresql://")
            .or_else(|| url.strip_prefix("postgres://"))
            .ok_or_else(|| refused("does not begin with postgresql://"))?;
        let (before, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = before.split_once('/').unwrap_or((before, ""));
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let (host, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((version_6, port)) => (version_6, port.strip_prefix(':').unwrap_or("")),
            None => host.split_once(':').unwrap_or((host, "")),
        };
        self.host = some(host)?;
        self.port = some(port)?;
        self.user = some(user)?;
        self.password = some(password)?;
        self.database = some(database)?;
        parameters.split('&').filter(|text| !text.is_empty()).try_for_each(|text| self.parameter(text))
    }

    fn parameter(&mut self, text: &str) -> Result<(), Failure> {
        let (name, value) = text.split_once('=').ok_or_else(|| refused("has a parameter without a value"))?;
        let place = match name {
            "host" | "hostaddr" => &mut self.host,
            "port" => &mut self.port,
            "user" => &mut self.user,
            "password" => &mut self.password,
            "dbname" => &mut self.database,
            "options" => &mut self.options,
            "sslmode" => &mut self.sslmode,
            "sslrootcert" => &mut self.sslrootcert,
            "sslcert" => &mut self.sslcert,
            "sslkey" => &mut self.sslkey,
            known if WITHOUT_EFFECT.contains(&known) => return Ok(()),
            other => {
                return Err(refused(&format!("has a parameter {other}, which the driver does not know")));
            }
        };
        *place = some(value)?;
        Ok(())
    }
}

/// Decoded; None if empty.
fn some(text: &str) -> Result<Option<String>, Failure> {
    let ill =
        || refused("has a % without two hexadecimal digits behind it (write a % as %25), or is not UTF-8");
    if text.is_empty() { Ok(None) } else { decoded(text).ok_or_else(ill).map(Some) }
}

fn refused(why: &str) -> Failure {
    Failure::new(Trouble::Error, format!("the database's URL {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<Address, Failure> {
        Address::read(url, &|name| (name == "USER").then(|| "someone".to_owned()))
    }

    fn at(place: Place, port: u16, user: &str, password: Option<&str>, database: &str) -> Address {
        let password = password.map(str::to_owned);
        let (user, database) = (user.to_owned(), database.to_owned());
        Address { place, port, user, password, database, options: None, tls: Tls::default() }
    }

    fn host(name: &str) -> Place {
        Place::Host(name.to_owned())
    }

    #[test]
    fn a_url_with_everything() {
        let expected = at(host("db.example"), 6000, "a user", Some("p@ss:w%rd"), "shop");
        let found = read("postgresql://a%20user:p%40ss%3Aw%25rd@db.example:6000/shop").unwrap();
        assert!(found == expected, "{found}");
    }

    #[test]
    fn a_socket_may_be_named_behind_the_question_mark() {
        let directory = Place::Directory("/srv/a b".into());
        let expected = at(directory, 5432, "postgres", None, "shop");
        for url in [
            "postgresql:///shop?host=/srv/a%20b&user=postgres",
            "postgresql://postgres@/shop?host=%2Fsrv%2Fa%20b",
            "postgres://postgres@%2Fsrv%2Fa%20b/shop?application_name=mine",
        ] {
            let found = read(url).unwrap();
            assert!(found == expected, "{url}: {found}");
        }
    }

    #[test]
    fn user_and_database_default_as_libpqs_do() {
        assert!(read("postgresql://h").unwrap() == at(host("h"), 5432, "someone", None, "someone"));
        assert!(read("postgresql://[::1]:7/d").unwrap() == at(host("::1"), 7, "someone", None, "d"));
    }

    #[test]
    fn the_environment_fills_what_is_left_out() {
        let environment = |name: &str| match name {
            "PGHOST" => Some("/run/x".to_owned()),
            "PGPORT" => Some("5433".to_owned()),
            "PGUSER" => Some("u".to_owned()),
            "PGPASSWORD" => Some("p".to_owned()),
            "PGDATABASE" => Some("d".to_owned()),
            _ => None,
        };
        let expected = at(Place::Directory("/run/x".into()), 5433, "u", Some("p"), "d");
        assert!(Address::read("postgresql://", &environment).unwrap() == expected);
    }

    #[test]
    fn what_the_driver_cannot_do_is_refused_without_the_password() {
        for (url, why) in [
            ("postgresql://u:secret@h/d?sslmode=always", "verify-full"),
            ("postgresql://u:secret@h,i/d", "several hosts"),
            ("postgresql://u:secret@h:port/d", "port"),
            ("postgresql://u:secret%@h/d", "%25"),
            ("postgresql://u:secret@h/d?service=x", "service"),
            ("oracle://u:secret@h/d", "postgresql://"),
        ] {
            let text = read(url).err().unwrap().text;
            assert!(text.contains(why) && !text.contains("secret"), "{url}: {text}");
        }
    }

    #[test]
    fn tls_is_what_libpqs_parameters_request() {
        let url = "postgresql://u@h/d?sslmode=verify-full&sslrootcert=/ca%20s/root.pem&sslcert=/c.pem&sslkey=/k.pem";
        let tls = read(url).unwrap().tls;
        assert_eq!(tls.mode, Mode::VerifyFull);
        assert_eq!(tls.roots, Some(Roots::File("/ca s/root.pem".into())));
        assert_eq!(tls.identity, Some(("/c.pem".into(), "/k.pem".into())));
        assert_eq!(read("postgresql://u@h/d?sslrootcert=system").unwrap().tls.roots, Some(Roots::Public));
        assert_eq!(read("postgresql://u@h/d").unwrap().attempts(), [Attempt::Offered, Attempt::Plain]);
        assert_eq!(read("postgresql://u@h/d?sslmode=require").unwrap().attempts(), [Attempt::Encrypted]);
        let socket = read("postgresql://u@/d?host=/tmp&sslmode=require").unwrap();
        assert_eq!(socket.attempts(), [Attempt::Plain], "a Unix socket is never encrypted");
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let shown = read("postgresql://u:secret@h:1/d").unwrap().to_string();
        assert_eq!(shown, "database d as u at h, port 1");
    }
}
