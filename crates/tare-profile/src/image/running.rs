//! Whether a process runs the file that was read: probes go to the file that is on disk now.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::file;
use super::{Image, Inode};
use crate::{ProbeError, Result};

const DELETED: &str = " (deleted)"; // as /proc has it

impl Image {
    /// What a process runs. An error too where its file was replaced or deleted since it started.
    pub fn of_process(pid: i32) -> Result<Self> {
        let runs = PathBuf::from(format!("/proc/{pid}/exe"));
        let path = fs::read_link(&runs).map_err(|error| unreadable(pid, &error))?;
        let running = inode(&runs).map_err(|error| unreadable(pid, &error))?;
        // A process in a container sees its file under a path of its own.
        let seen_there = PathBuf::from(format!("/proc/{pid}/root{}", path.display()));
        match [&path, &seen_there].into_iter().find(|path| inode(path).is_ok_and(|found| found == running)) {
            Some(path) => Self::open(path),
            None => Err(replaced(pid, &path, &build_id(&runs))),
        }
    }

    /// An error unless this process has this very file in its memory.
    pub fn check(&self, pid: i32) -> Result<()> {
        if inode(Path::new(&format!("/proc/{pid}/exe"))).is_ok_and(|found| found == self.inode) {
            return Ok(());
        }
        let maps =
            fs::read_to_string(format!("/proc/{pid}/maps")).map_err(|error| unreadable(pid, &error))?;
        let own = self.path.to_string_lossy();
        let mut same_path = maps.lines().filter_map(|line| {
            let mut fields = line.splitn(6, ' ').map(str::trim);
            let inode: u64 = fields.nth(4)?.parse().ok()?;
            let path = fields.next()?;
            (path.strip_suffix(DELETED).unwrap_or(path) == own).then_some((inode, path.ends_with(DELETED)))
        });
        match same_path.next() {
            Some((inode, false)) if inode == self.inode.number => Ok(()),
            Some(_) => Err(replaced(pid, &self.path, "")),
            None => Err(ProbeError::new(
                format!("process {pid} does not use {own}"),
                "name a file that it runs or has loaded (/proc/PID/maps lists them)",
            )),
        }
    }
}

pub(super) fn inode(path: &Path) -> io::Result<Inode> {
    fs::metadata(path).map(|file| Inode { device: file.dev(), number: file.ino() })
}

/// Of a file that may not be there any more.
fn build_id(path: &Path) -> String {
    let read = || {
        let cache = file::Cache::new(file::open(path)?);
        Ok::<_, ProbeError>(file::build_id(&file::parse(path, &cache)?))
    };
    read().unwrap_or_default()
}

fn replaced(pid: i32, path: &Path, running: &str) -> ProbeError {
    let path = path.to_string_lossy();
    let path = path.strip_suffix(DELETED).unwrap_or(&path);
    let on_disk = build_id(Path::new(path));
    let builds = if running.is_empty() || on_disk.is_empty() || running == on_disk {
        String::new()
    } else {
        format!(" (build {running} runs, build {on_disk} is there now)")
    };
    let happened = if Path::new(path).exists() { "was replaced" } else { "was deleted" };
    ProbeError::new(
        format!("the file {path} {happened} after process {pid} had started from it{builds}"),
        "restart the server, so that it runs what is on disk, and profile it again",
    )
}

fn unreadable(pid: i32, error: &io::Error) -> ProbeError {
    let next = match error.kind() {
        io::ErrorKind::NotFound => "it has ended: start the server, and give its process id",
        _ => "run as the server's user, or as root",
    };
    ProbeError::os(format!("what process {pid} runs cannot be read"), error, next)
}
