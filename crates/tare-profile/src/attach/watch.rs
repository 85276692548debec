//! Which processes are watched: those named and, if asked for, those that come of them.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};

use libbpf_rs::MapHandle;
use memmap2::MmapRaw;
use tare_probe::{ProbeError, Result};

use super::memory::mapped;

/// The kernel's first namespace of process numbers (PROC_PID_INIT_INO): BPF programs see numbers of that one.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// The named processes.
pub(super) struct Roots {
    pub pids: Vec<i32>,
    /// They tell an end even where the number is another process's by then.
    descriptors: Vec<OwnedFd>,
}

impl Roots {
    pub(super) fn open(pids: &[i32]) -> Result<Self> {
        if pids.is_empty() {
            return Err(ProbeError::new("there is no process to watch", "name one by its number"));
        }
        match std::fs::read_link("/proc/self/ns/pid") {
            Ok(namespace) if namespace.as_os_str() != FIRST_NAMESPACE => {
                return Err(ProbeError::new(
                    "processes have other numbers in here than the kernel's programs see",
                    "run in the machine's own PID namespace (docker: --pid=host)",
                ));
            }
            _ => {}
        }
        let descriptors = pids.iter().map(|pid| descriptor(*pid)).collect::<Result<_>>()?;
        Ok(Self { pids: pids.to_vec(), descriptors })
    }

    /// Whether any of them still runs.
    pub(super) fn alive(&self) -> bool {
        self.descriptors.iter().any(|descriptor| {
            let mut ended = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one pollfd.
            unsafe { libc::poll(&raw mut ended, 1, 0) == 0 }
        })
    }
}

fn descriptor(pid: i32) -> Result<OwnedFd> {
    // SAFETY: numbers only.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        let error = io::Error::last_os_error();
        let next = match error.raw_os_error() {
            Some(libc::EINVAL) => "name the process, not one of its threads",
            _ => "name a process that runs",
        };
        return Err(ProbeError::os(format!("process {pid} cannot be watched"), &error, next));
    }
    // SAFETY: a non-negative result is a descriptor that we own.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// The list that the kernel's programs heed: a byte for each number that a process may have.
pub(super) struct Watched(MmapRaw);

impl Watched {
    /// From the map `watched`.
    pub(super) fn open(map: &MapHandle) -> Result<Self> {
        Ok(Self(mapped::<[u8; 64]>(map)?))
    }

    fn marks(&self) -> &[AtomicU8] {
        // SAFETY: the whole mapping; bytes may be written from elsewhere.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len()) }
    }

    /// Enters processes. With `follow_children` also those that came of them before; later ones the kernel's own
    /// programs enter.
    pub(super) fn enlist(&self, pids: &[i32], follow_children: bool) {
        let mut known: Vec<i32> = Vec::new();
        let mut new = pids.to_vec();
        while !new.is_empty() {
            for pid in &new {
                self.marks()[*pid as usize].store(1, Ordering::Relaxed);
            }
            known.append(&mut new);
            if follow_children {
                // A child born since its parent was entered is in the list by the kernel's doing, one born before is
                // in /proc by now.
                new = parents()
                    .into_iter()
                    .filter(|(pid, parent)| known.contains(parent) && !known.contains(pid))
                    .map(|(pid, _)| pid)
                    .collect();
            }
        }
    }

    /// Those in the list now.
    pub(super) fn list(&self) -> Vec<i32> {
        let marked = |mark: &AtomicU8| mark.load(Ordering::Relaxed) != 0;
        self.marks().iter().zip(0..).filter(|(mark, _)| marked(mark)).map(|(_, pid)| pid).collect()
    }
}

/// Each process and its parent.
fn parents() -> Vec<(i32, i32)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let parent = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may hold any character.
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_not_there_cannot_be_watched() {
        let error = Roots::open(&[i32::MAX]).err().unwrap();
        assert!(error.what.contains(&i32::MAX.to_string()), "{error}");
        assert!(Roots::open(&[]).is_err());
    }

    #[test]
    fn one_that_ends_is_no_longer_alive() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let roots = Roots::open(&[child.id().cast_signed()]).unwrap();
        assert!(roots.alive());
        assert!(parents().contains(&(child.id().cast_signed(), std::process::id().cast_signed())));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!roots.alive());
    }
}
