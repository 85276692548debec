//! A generic-netlink socket, just enough of one for taskstats.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const NETLINK_GENERIC: i32 = 16;
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
/// nlmsghdr (16) and genlmsghdr (4).
const HEADERS: usize = 20;

/// A socket bound to the TASKSTATS family.
#[derive(Debug)]
pub(crate) struct Socket {
    fd: OwnedFd,
    family: u16,
    sequence: u32,
    request: Vec<u8>,
}

impl Socket {
    /// Connects and resolves the family; ENOENT where the kernel has no taskstats.
    pub(crate) fn open() -> io::Result<Self> {
        // SAFETY: plain system calls; a non-negative result of socket is a descriptor that we own.
        let fd = unsafe {
            let fd = libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, NETLINK_GENERIC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        // SAFETY: sockaddr_nl is plain data for which zeroes are valid.
        let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
        address.nl_family = libc::AF_NETLINK as u16;
        // SAFETY: `address` is a sockaddr_nl of the length that is given.
        let bound = unsafe {
            libc::bind(fd.as_raw_fd(), (&raw const address).cast(), size_of_val(&address) as libc::socklen_t)
        };
        if bound < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut socket = Self { fd, family: GENL_ID_CTRL, sequence: 0, request: Vec::new() };
        let mut buffer = vec![0; 8192];
        socket.send(CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0", 0)?;
        let answer = socket.answer(&mut buffer)?;
        let id = Attributes(answer).find(|&(kind, _)| kind == CTRL_ATTR_FAMILY_ID).map(|(_, value)| value);
        let id = id.and_then(|v| v.try_into().ok()).map(u16::from_ne_bytes);
        socket.family = id.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
        Ok(socket)
    }

    pub(crate) fn as_raw_fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    /// Sends a command with one attribute.
    pub(crate) fn send(&mut self, command: u8, attribute: u16, value: &[u8], flags: u16) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let length = HEADERS + 4 + value.len().next_multiple_of(4);
        let message = &mut self.request;
        message.clear();
        message.extend_from_slice(&(length as u32).to_ne_bytes());
        message.extend_from_slice(&self.family.to_ne_bytes());
        message.extend_from_slice(&(NLM_F_REQUEST | flags).to_ne_bytes());
        message.extend_from_slice(&self.sequence.to_ne_bytes());
        message.extend_from_slice(&[0; 4]);
        message.extend_from_slice(&[command, 1, 0, 0]);
        message.extend_from_slice(&((4 + value.len()) as u16).to_ne_bytes());
        message.extend_from_slice(&attribute.to_ne_bytes());
        message.extend_from_slice(value);
        message.resize(length, 0);
        // SAFETY: the pointer and length are those of a live buffer.
        let sent = unsafe { libc::send(self.fd.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Sends a command and waits for the kernel's acknowledgement.
    pub(crate) fn command(&mut self, command: u8, attribute: u16, value: &[u8]) -> io::Result<()> {
        self.send(command, attribute, value, NLM_F_ACK)?;
        let mut buffer = vec![0; 8192];
        match self.answer(&mut buffer) {
            Ok(_) => Ok(()),
            Err(e) if e.raw_os_error() == Some(0) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// The attributes of the answer to the last request; a refusal is its error number, 0 a bare acknowledgement.
    pub(crate) fn answer<'b>(&self, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
        loop {
            let n = self.receive(buffer, 0)?;
            let Some(message) = Messages(&buffer[..n]).next() else { continue };
            // An answer to an earlier request whose reader gave up.
            if message.sequence != self.sequence {
                continue;
            }
            if message.kind == NLMSG_ERROR {
                let code =
                    message.body.get(..4).and_then(|b| b.try_into().ok()).map_or(0, i32::from_ne_bytes);
                return Err(io::Error::from_raw_os_error(-code));
            }
            let (start, end) = (16 + 4, 16 + message.body.len());
            return buffer.get(start..end).ok_or_else(|| io::Error::from_raw_os_error(libc::EPROTO));
        }
    }

    /// One datagram; ENOBUFS if the kernel had to drop some before it.
    pub(crate) fn receive(&self, buffer: &mut [u8], flags: i32) -> io::Result<usize> {
        loop {
            // SAFETY: the pointer and length are those of a live buffer.
            let n =
                unsafe { libc::recv(self.fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), flags) };
            if let Ok(n) = usize::try_from(n) {
                return Ok(n);
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

/// One netlink message; `body` follows its nlmsghdr.
pub(crate) struct Message<'a> {
    pub kind: u16,
    pub sequence: u32,
    pub body: &'a [u8],
}

impl<'a> Message<'a> {
    /// The attributes behind the generic header.
    pub(crate) fn attributes(&self) -> Attributes<'a> {
        Attributes(self.body.get(4..).unwrap_or_default())
    }
}

/// The messages of one datagram; a broken one ends them.
pub(crate) struct Messages<'a>(pub &'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let head = self.0.get(..16)?;
        let length = u32::from_ne_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let body = self.0.get(16..length)?;
        let message = Message {
            kind: u16::from_ne_bytes([head[4], head[5]]),
            sequence: u32::from_ne_bytes([head[8], head[9], head[10], head[11]]),
            body,
        };
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    }
}

/// Netlink attributes as (type, value); a broken one ends them.
pub(crate) struct Attributes<'a>(pub &'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        const TYPE_MASK: u16 = 0x3fff;
        let head = self.0.get(..4)?;
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let value = self.0.get(4..length)?;
        let kind = u16::from_ne_bytes([head[2], head[3]]) & TYPE_MASK;
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn attributes_are_walked_with_their_padding() {
        let raw = [5, 0, 1, 0, 9, 0, 0, 0, 6, 0, 2, 0x80, 7, 8, 0, 0];
        let found: Vec<_> = Attributes(&raw).collect();
        assert_eq!(found, [(1, &[9][..]), (2, &[7, 8][..])]);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_spin(raw: Vec<u8>) {
            prop_assert!(Attributes(&raw).count() <= raw.len());
            prop_assert!(Messages(&raw).map(|m| m.attributes().count()).sum::<usize>() <= raw.len());
        }
    }
}
