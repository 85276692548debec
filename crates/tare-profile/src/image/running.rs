//! The file that a process runs: probes go to that file, whatever is at its path by now.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Image, Inode};
use crate::maps::{self, Mapping};
use crate::{ProbeError, Result};

pub(super) const DELETED: &str = " (deleted)"; // as /proc has it

impl Image {
    /// The file that a process runs. Where its path names another one by now, or none (a file that was replaced or
    /// deleted, a memfd), the image's path is the kernel's link to the file that runs.
    pub fn of_process(pid: i32) -> Result<Self> {
        let runs = PathBuf::from(format!("/proc/{pid}/exe"));
        let path = fs::read_link(&runs).map_err(|error| unreadable(pid, &error))?;
        let running = inode(&runs).map_err(|error| unreadable(pid, &error))?;
        // A process in a container sees its file under a path of its own.
        let seen_there = PathBuf::from(format!("/proc/{pid}/root{}", path.display()));
        match [&path, &seen_there].into_iter().find(|path| inode(path).is_ok_and(|found| found == running)) {
            Some(path) => Self::open(path),
            None => Self::open(runs),
        }
    }

    /// An error unless this process has this very file in its memory.
    pub fn check(&self, pid: i32) -> Result<()> {
        if inode(Path::new(&format!("/proc/{pid}/exe"))).is_ok_and(|found| found == self.inode) {
            return Ok(());
        }
        let mappings = maps::read(pid).map_err(|error| unreadable(pid, &error))?;
        if mappings.iter().any(|mapping| self.is_mapped_by(mapping)) {
            return Ok(());
        }
        if mappings.iter().any(|mapping| mapping.path == self.path) {
            return Err(replaced(pid, &self.path));
        }
        Err(ProbeError::new(
            format!("process {pid} does not use {}", self.path.display()),
            "name a file that it runs or has loaded (/proc/PID/maps lists them)",
        ))
    }

    /// What to add to the file's addresses for those of a process; it may wrap. `None`: the process has not mapped it.
    pub(super) fn bias(&self, pid: i32) -> Result<Option<u64>> {
        let mappings = maps::read(pid).map_err(|error| unreadable(pid, &error))?;
        let first = mappings.iter().find(|mapping| self.is_mapped_by(mapping));
        let (offset, address) = self.first_load;
        let bias = |mapping: &Mapping| {
            mapping.start.wrapping_sub(mapping.offset).wrapping_add(offset).wrapping_sub(address)
        };
        Ok(first.map(bias))
    }

    /// Some file systems (btrfs) report another device in maps than by stat; then the path and inode have to do.
    fn is_mapped_by(&self, mapping: &Mapping) -> bool {
        let Inode { device, number } = self.inode;
        mapping.is(device, number) || mapping.inode == number && !mapping.deleted && mapping.path == self.path
    }
}

pub(super) fn inode(path: &Path) -> io::Result<Inode> {
    fs::metadata(path).map(|file| Inode { device: file.dev(), number: file.ino() })
}

fn replaced(pid: i32, path: &Path) -> ProbeError {
    let shown = path.display();
    let happened = if path.exists() { "was replaced" } else { "was deleted" };
    ProbeError::new(
        format!("the file {shown} {happened} after process {pid} had loaded it"),
        format!("read the one that it uses by its link: /proc/{pid}/exe, or one of /proc/{pid}/map_files"),
    )
}

fn unreadable(pid: i32, error: &io::Error) -> ProbeError {
    let next = match error.kind() {
        io::ErrorKind::NotFound => "it has ended: start the server, and give its process id",
        _ => "run as the server's user, or as root",
    };
    ProbeError::os(format!("what process {pid} runs cannot be read"), error, next)
}
