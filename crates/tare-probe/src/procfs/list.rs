//! The numeric entries of a /proc directory, read through one kept descriptor.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// A directory whose numeric names are process or thread ids.
#[derive(Debug)]
pub(crate) struct Ids {
    fd: OwnedFd,
}

impl Ids {
    pub(crate) fn open(path: &str) -> io::Result<Self> {
        Ok(Self { fd: super::kept::open(&CString::new(path)?)? })
    }

    /// Lists the ids into `ids`, replacing what it held.
    pub(crate) fn read(&self, ids: &mut Vec<i32>, buffer: &mut Vec<u8>) -> io::Result<()> {
        ids.clear();
        buffer.resize(buffer.len().max(32 * 1024), 0);
        // SAFETY: lseek on a descriptor that we own.
        if unsafe { libc::lseek(self.fd.as_raw_fd(), 0, libc::SEEK_SET) } < 0 {
            return Err(io::Error::last_os_error());
        }
        loop {
            // SAFETY: the pointer and length are those of a live buffer.
            let n = unsafe {
                libc::syscall(libc::SYS_getdents64, self.fd.as_raw_fd(), buffer.as_mut_ptr(), buffer.len())
            };
            let n = usize::try_from(n).map_err(|_| io::Error::last_os_error())?;
            if n == 0 {
                return Ok(());
            }
            entries(&buffer[..n], ids);
        }
    }
}

/// linux_dirent64: inode (8), offset (8), record length (2), type (1), name up to a NUL.
fn entries(mut records: &[u8], ids: &mut Vec<i32>) {
    const NAME: usize = 19;
    while records.len() > NAME {
        let length = usize::from(u16::from_ne_bytes([records[16], records[17]]));
        if length <= NAME || length > records.len() {
            return;
        }
        let name = records[NAME..length].split(|&b| b == 0).next().unwrap_or_default();
        if let Some(id) = super::unsigned(name).and_then(|id| i32::try_from(id).ok()) {
            ids.push(id);
        }
        records = &records[length..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_id_is_among_the_processes_and_only_numbers_are_listed() {
        let mut ids = Vec::new();
        Ids::open("/proc").unwrap().read(&mut ids, &mut Vec::new()).unwrap();
        assert!(ids.contains(&(std::process::id() as i32)));
        assert!(ids.iter().all(|&id| id > 0));
    }

    #[test]
    fn a_broken_record_ends_the_list() {
        let mut ids = Vec::new();
        entries(&[0; 40], &mut ids);
        assert!(ids.is_empty());
    }
}
