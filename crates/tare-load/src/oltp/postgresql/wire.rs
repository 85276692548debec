//! The socket, and what goes over it: requests gathered and sent at once, answers until the server is ready again.

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use socket2::{Domain, SockAddr, Socket, TcpKeepalive, Type};

use crate::oltp::{Failure, Trouble};

use super::address::{Address, Place, socket_file};
use super::refused::Refused;
use super::tls::{Attempt, Secured, Shown};

const READ: usize = 1 << 14;
/// A host that vanished is noticed after about a minute.
const KEEPALIVE: Duration = Duration::from_secs(15);

pub(super) struct Wire {
    channel: Channel,
    /// Requests that are not sent yet.
    pub out: BytesMut,
    input: BytesMut,
    /// As ReadyForQuery said last.
    status: u8,
    /// While connecting.
    deadline: Option<Instant>,
    lost: Option<String>,
    round_trips: u64,
}

enum Channel {
    Plain(Socket),
    Secured(Box<Secured>),
}

impl Channel {
    fn socket(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Secured(secured) => secured.get_ref(),
        }
    }
}

impl Wire {
    /// Connected, and nothing said yet. `timeout` holds until `established`.
    pub fn connect(address: &Address, attempt: Attempt, timeout: Duration) -> Result<Self, Failure> {
        let deadline = Instant::now() + timeout;
        let socket = match &address.place {
            Place::Directory(directory) => local(&socket_file(directory, address.port), timeout),
            Place::Host(host) => remote(host, address.port, deadline),
        };
        let socket = socket.map_err(|error| unreachable(address, &error))?;
        let channel = match (&address.place, attempt) {
            (Place::Host(host), Attempt::Offered | Attempt::Encrypted) => {
                encrypted(socket, address, host, attempt, deadline).map_err(|failure| {
                    let text = format!("cannot connect to {address}: {failure}");
                    failure.reworded(text)
                })?
            }
            _ => Channel::Plain(socket),
        };
        Ok(Self {
            channel,
            out: BytesMut::with_capacity(READ),
            input: BytesMut::with_capacity(READ),
            status: 0,
            deadline: Some(deadline),
            lost: None,
            round_trips: 0,
        })
    }

    /// From here on the server may take its time.
    pub fn established(&mut self) -> Result<(), Failure> {
        self.deadline = None;
        let socket = self.channel.socket();
        let unlimited = socket.set_read_timeout(None).and_then(|()| socket.set_write_timeout(None));
        unlimited.map_err(|error| self.lose(&error.to_string()))
    }

    /// Fails once the connection is lost.
    pub fn usable(&self) -> Result<(), Failure> {
        self.lost.as_ref().map_or(Ok(()), |text| Err(Failure::new(Trouble::Lost, text.clone())))
    }

    /// Protocol and cipher. None: the session is not encrypted.
    pub fn encryption(&self) -> Option<String> {
        match &self.channel {
            Channel::Plain(_) => None,
            Channel::Secured(secured) => Some(Shown(&secured.conn).to_string()),
        }
    }

    /// Requests whose answers were waited for.
    pub fn round_trips(&self) -> u64 {
        self.round_trips
    }

    pub fn status(&self) -> u8 {
        self.status
    }

    /// Bytes that are gathered and not sent.
    pub fn requested(&self) -> usize {
        self.out.len()
    }

    /// Sends what was requested, as one piece of work, and reads all of its answer.
    pub fn exchange(&mut self, each: impl FnMut(Message) -> Result<(), Failure>) -> Result<(), Failure> {
        frontend::sync(&mut self.out);
        self.send()?;
        self.answer(each)
    }

    /// Reads until the server is ready for the next. The first failure counts, be it the server's or `each`'s.
    pub fn answer(&mut self, mut each: impl FnMut(Message) -> Result<(), Failure>) -> Result<(), Failure> {
        self.round_trips += 1;
        let mut outcome = Ok(());
        loop {
            match self.next()? {
                Message::ReadyForQuery(ready) => {
                    self.status = ready.status();
                    return outcome;
                }
                Message::ErrorResponse(body) => {
                    let failure = self.refused(&Refused::read(&body))?;
                    outcome = outcome.and(Err(failure));
                }
                Message::CopyInResponse(_) => self.decline_copy()?,
                message if outcome.is_ok() => outcome = each(message),
                _ => {}
            }
        }
    }

    /// What the server says next, but for its asides.
    pub fn next(&mut self) -> Result<Message, Failure> {
        loop {
            match self.receive()? {
                Message::NoticeResponse(_)
                | Message::ParameterStatus(_)
                | Message::NotificationResponse(_) => {}
                message => return Ok(message),
            }
        }
    }

    /// What the server says next.
    pub fn receive(&mut self) -> Result<Message, Failure> {
        self.usable()?;
        loop {
            match Message::parse(&mut self.input) {
                Ok(Some(message)) => return Ok(message),
                Ok(None) => self.read()?,
                Err(error) => {
                    return Err(self.lose(&format!("it does not speak PostgreSQL's protocol: {error}")));
                }
            }
        }
    }

    /// An error that leaves the session usable; Err if it does not.
    pub fn refused(&mut self, refused: &Refused) -> Result<Failure, Failure> {
        if !refused.fatal {
            return Ok(refused.failure.clone());
        }
        self.lost = Some(refused.failure.text.clone());
        let connecting = self.deadline.is_some();
        let trouble = if connecting { refused.failure.trouble } else { Trouble::Lost };
        Err(Failure { trouble, ..refused.failure.clone() })
    }

    /// Sends what was requested. May not wait for a server that waits for us: see `UNREAD`.
    pub fn send(&mut self) -> Result<(), Failure> {
        self.usable()?;
        let mut sent = 0;
        while sent < self.out.len() {
            self.limit(Socket::set_write_timeout)?;
            let written = match &mut self.channel {
                Channel::Plain(socket) => socket.send_with_flags(&self.out[sent..], libc::MSG_NOSIGNAL),
                Channel::Secured(secured) => secured.write(&self.out[sent..]),
            };
            match written {
                Ok(bytes) => sent += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.last_words(&error)),
            }
        }
        self.out.clear();
        if let Channel::Secured(secured) = &mut self.channel {
            secured.flush().map_err(|error| self.last_words(&error))?;
        }
        Ok(())
    }

    /// Whether the server has said something that is not read yet.
    pub fn has_news(&mut self) -> bool {
        let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
        let socket = self.channel.socket();
        let has_bytes = socket.recv_with_flags(&mut [MaybeUninit::uninit()], flags).is_ok();
        !self.input.is_empty()
            || match &mut self.channel {
                Channel::Plain(_) => has_bytes,
                // they may be the protocol's own, and say nothing
                Channel::Secured(secured) => {
                    let read = has_bytes && secured.conn.read_tls(&mut secured.sock).is_ok();
                    let state = read.then(|| secured.conn.process_new_packets());
                    state.is_some_and(|state| state.map_or(true, |state| state.plaintext_bytes_to_read() > 0))
                }
            }
    }

    fn read(&mut self) -> Result<(), Failure> {
        self.limit(Socket::set_read_timeout)?;
        let mut block = [0; READ];
        loop {
            let read = match &mut self.channel {
                Channel::Plain(socket) => socket.read(&mut block),
                Channel::Secured(secured) => secured.read(&mut block),
            };
            return match read {
                Ok(0) => Err(self.lose("the server closed the connection")),
                Ok(bytes) => {
                    self.input.extend_from_slice(&block[..bytes]);
                    Ok(())
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    Err(self.lose("no answer in time"))
                }
                Err(error) => Err(self.lose(&error.to_string())),
            };
        }
    }

    /// While connecting: what is left of its time.
    fn limit(&mut self, set: impl Fn(&Socket, Option<Duration>) -> io::Result<()>) -> Result<(), Failure> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        set(self.channel.socket(), Some(left(deadline))).map_err(|error| self.lose(&error.to_string()))
    }

    /// A server that ends a session says why before it closes the socket.
    fn last_words(&mut self, error: &io::Error) -> Failure {
        loop {
            match self.next() {
                Ok(Message::ErrorResponse(body)) => {
                    let refused = Refused { fatal: true, ..Refused::read(&body) };
                    return self.refused(&refused).unwrap_or_else(|failure| failure);
                }
                Ok(_) => {}
                Err(_) => return self.lose(&error.to_string()),
            }
        }
    }

    fn lose(&mut self, why: &str) -> Failure {
        let text = format!("the connection to the PostgreSQL server was lost: {why}");
        self.lost = Some(text.clone());
        Failure::new(Trouble::Lost, text)
    }

    fn decline_copy(&mut self) -> Result<(), Failure> {
        if frontend::copy_fail("there are no rows to send", &mut self.out).is_err() {
            self.out.clear();
        }
        self.send()
    }
}

/// Asks the server for TLS, and shakes hands with it.
fn encrypted(
    socket: Socket,
    address: &Address,
    host: &str,
    attempt: Attempt,
    deadline: Instant,
) -> Result<Channel, Failure> {
    let lost = |error: io::Error| {
        Failure::new(Trouble::Lost, format!("the server gave no answer about TLS: {error}"))
    };
    socket.set_read_timeout(Some(left(deadline))).map_err(lost)?;
    socket.set_write_timeout(Some(left(deadline))).map_err(lost)?;
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    let (mut stream, mut answer) = (&socket, [0]);
    stream.write_all(&request).and_then(|()| stream.read_exact(&mut answer)).map_err(lost)?;
    match (answer, attempt) {
        ([b'S'], _) => Ok(Channel::Secured(Box::new(address.tls.secure(host, socket)?))),
        (_, Attempt::Offered) => Ok(Channel::Plain(socket)),
        _ => Err(address.tls.not_offered()),
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// A connect to a Unix socket waits only while the server's queue is full, and then no longer than it may send.
fn local(file: &std::path::Path, timeout: Duration) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_write_timeout(Some(timeout))?;
    socket.connect(&SockAddr::unix(file)?)?;
    Ok(socket)
}

fn remote(host: &str, port: u16, deadline: Instant) -> io::Result<Socket> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match one(address, deadline) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn one(address: SocketAddr, deadline: Instant) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.connect_timeout(&address.into(), left(deadline))?;
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_keepalive(
        &TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE).with_retries(3),
    )?;
    Ok(socket)
}

fn unreachable(address: &Address, error: &io::Error) -> Failure {
    let advice = match error.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => {
            "is the server started? check host, or the socket's directory, and port"
        }
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "check host, port and firewall",
        _ => "check host and port",
    };
    Failure::new(Trouble::Lost, format!("cannot connect to {address}: {error}; {advice}"))
}
