//! The socket, and what goes over it: requests gathered and sent at once, answers until the server is ready again.

use std::io::{self, Read};
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

const READ: usize = 1 << 14;
/// A host that vanished is noticed after about a minute.
const KEEPALIVE: Duration = Duration::from_secs(15);

pub(super) struct Wire {
    socket: Socket,
    /// Requests that are not sent yet.
    pub out: BytesMut,
    input: BytesMut,
    /// As ReadyForQuery said last.
    status: u8,
    /// While connecting.
    deadline: Option<Instant>,
    lost: Option<String>,
}

impl Wire {
    /// Connected, and nothing said yet. `timeout` holds until `established`.
    pub fn connect(address: &Address, timeout: Duration) -> Result<Self, Failure> {
        let deadline = Instant::now() + timeout;
        let socket = match &address.place {
            Place::Directory(directory) => local(&socket_file(directory, address.port), timeout),
            Place::Host(host) => remote(host, address.port, deadline),
        };
        let socket = socket.map_err(|error| unreachable(address, &error))?;
        Ok(Self {
            socket,
            out: BytesMut::with_capacity(READ),
            input: BytesMut::with_capacity(READ),
            status: 0,
            deadline: Some(deadline),
            lost: None,
        })
    }

    /// From here on the server may take its time.
    pub fn established(&mut self) -> Result<(), Failure> {
        self.deadline = None;
        let unlimited = self.socket.set_read_timeout(None).and_then(|()| self.socket.set_write_timeout(None));
        unlimited.map_err(|error| self.lose(&error.to_string()))
    }

    /// Fails once the connection is lost.
    pub fn usable(&self) -> Result<(), Failure> {
        self.lost.as_ref().map_or(Ok(()), |text| Err(Failure::new(Trouble::Lost, text.clone())))
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
        Err(Failure::new(trouble, refused.failure.text.clone()))
    }

    /// Sends what was requested. May not wait for a server that waits for us: see `UNREAD`.
    pub fn send(&mut self) -> Result<(), Failure> {
        self.usable()?;
        let mut sent = 0;
        while sent < self.out.len() {
            self.limit(Socket::set_write_timeout)?;
            match self.socket.send_with_flags(&self.out[sent..], libc::MSG_NOSIGNAL) {
                Ok(bytes) => sent += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.last_words(&error)),
            }
        }
        self.out.clear();
        Ok(())
    }

    /// Whether the server has said something that is not read yet.
    pub fn has_news(&self) -> bool {
        let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
        !self.input.is_empty() || self.socket.recv_with_flags(&mut [MaybeUninit::uninit()], flags).is_ok()
    }

    fn read(&mut self) -> Result<(), Failure> {
        self.limit(Socket::set_read_timeout)?;
        let mut block = [0; READ];
        loop {
            return match self.socket.read(&mut block) {
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
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        set(&self.socket, Some(left)).map_err(|error| self.lose(&error.to_string()))
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
    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.connect_timeout(&address.into(), left)?;
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
