//! A /proc file kept open and read again with pread.
//!
//! A kept descriptor also pins an identity: once its process is gone it answers ESRCH, even when the
//! id has been given to another process.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

/// Descriptors that may still be kept: half of what this process may open is left to its owner.
fn budget() -> &'static AtomicI64 {
    static BUDGET: OnceLock<AtomicI64> = OnceLock::new();
    BUDGET.get_or_init(|| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is a valid rlimit that the call fills in.
        unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
        AtomicI64::new(i64::try_from(limit.rlim_cur / 2).unwrap_or(i64::MAX))
    })
}

/// Reads a whole /proc file at once, growing `buffer` until it fits.
pub(crate) fn read_whole<'b>(fd: &OwnedFd, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
    if buffer.len() < 4096 {
        buffer.resize(4096, 0);
    }
    loop {
        // SAFETY: the pointer and length are those of a live buffer.
        let n = unsafe { libc::pread(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        let Ok(n) = usize::try_from(n) else {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(error);
        };
        // The kernel fills as much as it can, so a full buffer may mean a cut file.
        if n < buffer.len() {
            return Ok(&buffer[..n]);
        }
        buffer.resize(buffer.len() * 2, 0);
    }
}

/// Opens a file for reading, close-on-exec.
pub(crate) fn open(path: &CString) -> io::Result<OwnedFd> {
    // SAFETY: `path` is NUL-terminated; a non-negative result is a descriptor that we own.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
    }
}

/// One file, opened at first use and kept while the descriptor budget lasts.
#[derive(Debug)]
pub(crate) struct Kept {
    path: CString,
    fd: Option<OwnedFd>,
    denied: bool,
}

impl Kept {
    /// `path` must hold no NUL (paths of /proc never do).
    pub(crate) fn new(path: String) -> Self {
        Self { path: CString::new(path).unwrap_or_default(), fd: None, denied: false }
    }

    /// The file's content now. ESRCH or ENOENT mean that its process is gone.
    pub(crate) fn read<'b>(&mut self, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
        if let Some(fd) = &self.fd {
            return read_whole(fd, buffer);
        }
        let fd = open(&self.path)?;
        if budget().fetch_sub(1, Ordering::Relaxed) <= 0 {
            budget().fetch_add(1, Ordering::Relaxed);
            return read_whole(&fd, buffer);
        }
        read_whole(self.fd.insert(fd), buffer)
    }

    /// As `read`, for a file that this user may not be allowed to see: `Ok(None)` then, and for good.
    pub(crate) fn read_if_allowed<'b>(&mut self, buffer: &'b mut Vec<u8>) -> io::Result<Option<&'b [u8]>> {
        if self.denied {
            return Ok(None);
        }
        match self.read(buffer).map(<[u8]>::len) {
            Ok(n) => Ok(Some(&buffer[..n])),
            Err(e) if matches!(e.raw_os_error(), Some(libc::EACCES | libc::EPERM)) => {
                self.denied = true;
                self.close();
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// Gives the descriptor back.
    pub(crate) fn close(&mut self) {
        if self.fd.take().is_some() {
            budget().fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.close();
    }
}
