//! Which pages of files are in the page cache, and asking the kernel to drop them.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use crate::error::{ProbeError, Result};

/// cachestat(2), since Linux 6.5; one number on every architecture.
const SYS_CACHESTAT: libc::c_long = 451;

/// What of one file is in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Residency {
    /// As it was asked for.
    pub path: String,
    /// The file's length.
    pub size_bytes: u64,
    /// The page's length.
    pub page_bytes: u64,
    /// Pages that the file spans.
    pub pages: u64,
    /// Those in the page cache.
    pub resident: u64,
    /// Those not yet on disk; `None` where only mincore works.
    pub dirty: Option<u64>,
    /// `cachestat` or `mincore`.
    pub how: &'static str,
}

/// Looks one file up in the page cache, without reading it.
pub fn residency(path: &str) -> Result<Residency> {
    let (file, size_bytes) = open(path)?;
    let failed = |e: io::Error| ProbeError::os(format!("cannot tell what of {path} is cached"), &e, "");
    let page_bytes = page_bytes();
    let mut found = Residency {
        path: path.to_owned(),
        size_bytes,
        page_bytes,
        pages: size_bytes.div_ceil(page_bytes),
        resident: 0,
        dirty: Some(0),
        how: "cachestat",
    };
    match cachestat(&file) {
        Ok((resident, dirty)) => (found.resident, found.dirty) = (resident, Some(dirty)),
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENOSYS | libc::EOPNOTSUPP | libc::EPERM)) => {
            found.resident = mincore(&file, size_bytes, page_bytes).map_err(failed)?;
            (found.dirty, found.how) = (None, "mincore");
        }
        Err(e) => return Err(failed(e)),
    }
    // Large folios may reach beyond the end of a file that was cut.
    found.resident = found.resident.min(found.pages);
    Ok(found)
}

/// Asks the kernel to drop a file's clean pages; dirty, mapped and locked ones stay.
pub fn evict(path: &str) -> Result<()> {
    let (file, _) = open(path)?;
    // SAFETY: a live descriptor.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        code => Err(ProbeError::os(
            format!("cannot drop {path} from the page cache"),
            &io::Error::from_raw_os_error(code),
            "",
        )),
    }
}

fn open(path: &str) -> Result<(File, u64)> {
    let failed = |e: io::Error| {
        let next = match e.kind() {
            io::ErrorKind::NotFound => "check the path; the server may have removed the file meanwhile",
            io::ErrorKind::PermissionDenied => "run as the file's owner or as root",
            _ => "",
        };
        ProbeError::os(format!("cannot open {path}"), &e, next)
    };
    // Looked at before it is opened, for opening a FIFO would wait and opening a device may act.
    let kind = std::fs::metadata(path).map_err(failed)?;
    if !kind.is_file() {
        let mut error =
            ProbeError::new(format!("{path} is no regular file"), "name the files in it one by one");
        error.errno = if kind.is_dir() { libc::EISDIR } else { libc::EINVAL };
        return Err(error);
    }
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    Ok((file, size))
}

fn page_bytes() -> u64 {
    // SAFETY: sysconf has no preconditions.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096).max(1)
}

/// Resident pages (those under write-back too) and dirty ones.
fn cachestat(file: &File) -> io::Result<(u64, u64)> {
    #[repr(C)]
    struct Range {
        offset: u64,
        length: u64,
    }
    #[repr(C)]
    #[derive(Default)]
    struct Counts {
        cached: u64,
        dirty: u64,
        writeback: u64,
        evicted: u64,
        recently_evicted: u64,
    }
    // A length of 0 reaches to the end of the file.
    let range = Range { offset: 0, length: 0 };
    let mut counts = Counts::default();
    // SAFETY: both structs have the kernel's layout and live through the call.
    let done = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut counts, 0 as libc::c_uint)
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((counts.cached, counts.dirty + counts.writeback))
}

fn mincore(file: &File, size: u64, page: u64) -> io::Result<u64> {
    if size == 0 {
        return Ok(0);
    }
    let length = usize::try_from(size).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
    let mut pages = vec![0u8; size.div_ceil(page) as usize];
    // SAFETY: a fresh mapping that is never touched, and a vector with a byte for each of its pages.
    let done = unsafe {
        let map =
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0);
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let done = libc::mincore(map, length, pages.as_mut_ptr());
        let result = if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
        libc::munmap(map, length);
        result
    };
    done.map(|()| pages.iter().filter(|&&p| p & 1 != 0).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: usize) -> (std::path::PathBuf, String) {
        let name = format!("tare-page-cache-{}-{bytes}", std::process::id());
        let path = std::env::temp_dir().join(name);
        File::create(&path).unwrap().write_all(&vec![1; bytes]).unwrap();
        let text = path.to_str().unwrap().to_owned();
        (path, text)
    }

    #[test]
    fn both_ways_agree_on_a_file_that_was_just_written() {
        let (path, text) = file(10_001);
        let open = File::open(&path).unwrap();
        let by_mincore = mincore(&open, 10_001, page_bytes()).unwrap();
        let found = residency(&text).unwrap();
        std::fs::remove_file(path).unwrap();
        assert_eq!(found.pages, 10_001u64.div_ceil(page_bytes()));
        assert_eq!((found.resident, by_mincore), (found.pages, found.pages));
    }

    #[test]
    fn an_empty_file_has_no_pages() {
        let (path, text) = file(0);
        let found = residency(&text).unwrap();
        std::fs::remove_file(path).unwrap();
        assert_eq!((found.pages, found.resident), (0, 0));
    }

    #[test]
    fn a_folder_and_a_missing_file_are_named_in_the_error() {
        assert!(residency("/proc").unwrap_err().what.contains("/proc is no regular file"));
        let error = evict("/nowhere/at/all").unwrap_err();
        assert!(error.what.contains("/nowhere/at/all") && error.errno == libc::ENOENT);
    }
}
