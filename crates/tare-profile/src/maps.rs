//! What a process has mapped: /proc/PID/maps.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::{fs, io};

/// A file by its device (major and minor number) and inode.
pub(crate) type File = ((u32, u32), u64);

/// A part of a process's memory that a file backs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    pub start: u64,
    pub end: u64,
    pub executable: bool,
    /// In the file.
    pub offset: u64,
    pub device: (u32, u32),
    pub inode: u64,
    /// As the process sees it, perhaps below another root.
    pub path: PathBuf,
    /// Another file may be at that path by now.
    pub deleted: bool,
}

/// Those of a process, in the order of their addresses.
pub(super) fn read(pid: i32) -> io::Result<Vec<Mapping>> {
    let text = fs::read(format!("/proc/{pid}/maps"))?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(Mapping::parse).collect())
}

/// What these processes have mapped of each executable file, once for each: one mapping of it, and whose it is.
pub(crate) fn executable_files(pids: &[i32]) -> Vec<(i32, Mapping)> {
    let mut seen = HashSet::new();
    let mut files = Vec::new();
    for &pid in pids {
        // One that has just ended maps nothing.
        let mappings = read(pid).unwrap_or_default().into_iter();
        let new = mappings.filter(|mapping| mapping.executable && seen.insert(mapping.file()));
        files.extend(new.map(|mapping| (pid, mapping)));
    }
    files
}

/// All memory of a process, in the order of addresses.
pub(crate) fn areas(pid: i32) -> io::Result<Vec<(u64, u64)>> {
    let text = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let area = |line: &str| {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        Some((hexadecimal(start)?, hexadecimal(end)?))
    };
    Ok(text.lines().filter_map(area).collect())
}

impl Mapping {
    /// `start-end rwxp offset major:minor inode   path`; `None` where no file is behind it.
    fn parse(line: &[u8]) -> Option<Self> {
        let mut rest = line;
        let mut word = || {
            let length = rest.iter().position(|byte| *byte == b' ')?;
            let (word, tail) = rest.split_at(length);
            rest = tail.trim_ascii_start();
            std::str::from_utf8(word).ok()
        };
        let (start, end) = word()?.split_once('-')?;
        let access = word()?;
        let offset = hexadecimal(word()?)?;
        let (major, minor) = word()?.split_once(':')?;
        let device = (hexadecimal(major)? as u32, hexadecimal(minor)? as u32);
        let inode = word()?.parse().ok().filter(|inode| *inode != 0)?;
        let path = rest.strip_suffix(b" (deleted)");
        Some(Self {
            start: hexadecimal(start)?,
            end: hexadecimal(end)?,
            executable: access.as_bytes().get(2) == Some(&b'x'),
            offset,
            device,
            inode,
            path: OsStr::from_bytes(path.unwrap_or(rest)).into(),
            deleted: path.is_some(),
        })
    }

    /// Which file it is, by device and inode.
    pub(crate) fn file(&self) -> File {
        (self.device, self.inode)
    }

    /// A link to the very file, whatever became of its path. It is there as long as the process has the file mapped.
    pub(crate) fn link(&self, pid: i32) -> PathBuf {
        format!("/proc/{pid}/map_files/{:x}-{:x}", self.start, self.end).into()
    }

    /// Opens the file that this process has mapped: by the link, or where that cannot be followed (without
    /// `CAP_CHECKPOINT_RESTORE`) by its path as the process sees it. Fails where the process has ended.
    #[cfg_attr(not(feature = "bpf"), allow(dead_code))]
    pub(crate) fn open(&self, pid: i32) -> io::Result<fs::File> {
        let inside = || format!("/proc/{pid}/root{}", self.path.display());
        fs::File::open(self.link(pid)).or_else(|_| fs::File::open(inside()))
    }

    /// Whether it is the file with this `st_dev` and `st_ino`.
    pub(super) fn is(&self, device: u64, inode: u64) -> bool {
        self.inode == inode && self.device == (libc::major(device), libc::minor(device))
    }
}

fn hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_is_mapped_where() {
        let line = b"55d0a000-55d0b000 r-xp 00001000 fd:01 1234                       /usr/bin/a b (deleted)";
        let mapping = Mapping::parse(line).unwrap();
        assert_eq!((mapping.start, mapping.end, mapping.offset), (0x55d0_a000, 0x55d0_b000, 0x1000));
        assert_eq!((mapping.device, mapping.inode), ((0xfd, 1), 1234));
        assert_eq!(mapping.path, PathBuf::from("/usr/bin/a b"));
        assert!(mapping.executable && mapping.deleted);
        assert_eq!(mapping.link(7), PathBuf::from("/proc/7/map_files/55d0a000-55d0b000"));
    }

    #[test]
    fn memory_without_a_file_is_passed_over() {
        assert_eq!(Mapping::parse(b"7ffd1000-7ffd2000 r-xp 00000000 00:00 0                  [vdso]"), None);
        assert_eq!(Mapping::parse(b"7ffd1000-7ffd2000 rw-p 00000000 00:00 0 "), None);
        assert_eq!(Mapping::parse(b""), None);
    }

    #[test]
    fn this_very_program_is_mapped() {
        let program = fs::read_link("/proc/self/exe").unwrap();
        let mappings = read(std::process::id().cast_signed()).unwrap();
        assert!(mappings.iter().any(|m| m.executable && m.path == program), "{mappings:?}");
    }
}
