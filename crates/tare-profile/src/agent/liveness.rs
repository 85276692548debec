//! Whether the threads behind the slots still run. A thread that ends in an orderly way says so; one that is killed, or whose
//! program starts another, is found out here.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;

use tare_rings::layout::{Header, state};
use tare_rings::{Header as Head, Shared};

/// When a thread started (clock ticks since boot), if it runs: neither gone nor a zombie. 0 where that may not be read: a
/// thread that is taken for dead by mistake would share its ring with another.
fn started(pid: u32, tid: u32) -> Option<u64> {
    let stat = match fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")) {
        Ok(stat) => stat,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return None,
        Err(_) => return Some(0),
    };
    let mut after = stat.rsplit_once(')')?.1.split_whitespace();
    if matches!(after.next()?, "Z" | "X" | "x") {
        return None;
    }
    after.nth(18)?.parse().ok()
}

/// Whether the process numbers in the file are not ours.
fn elsewhere(header: &Head) -> bool {
    let theirs = header.pid_namespace.load(Ordering::Relaxed);
    theirs != 0 && fs::metadata("/proc/self/ns/pid").is_ok_and(|about| about.ino() != theirs)
}

/// The process that loaded the agent.
pub(super) struct Process {
    pid: u32,
    elsewhere: bool,
}

impl Process {
    pub(super) fn new(header: &Header) -> Self {
        Self { pid: header.process.load(Ordering::Acquire), elsewhere: elsewhere(header) }
    }

    /// Whether it lives cannot be told, as its number is of another name space.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.elsewhere
    }

    pub(super) fn alive(&self) -> bool {
        self.pid != 0 && started(self.pid, self.pid).is_some()
    }
}

/// Who was seen in each slot: which claim, and when its thread had started.
#[derive(Debug)]
pub(super) struct Threads {
    seen: Vec<Option<(u32, u64)>>,
    /// The newest claim of each thread: a program started by exec keeps its thread's number and takes another slot.
    newest: HashMap<u32, u32>,
}

impl Threads {
    pub(super) fn new(shared: &Shared) -> Self {
        Self { seen: vec![None; shared.plan().slots as usize], newest: HashMap::new() }
    }

    /// To be called before a round of `alive`.
    pub(super) fn forget(&mut self) {
        self.newest.clear();
    }

    /// Whether the slot's thread runs and the slot is its latest.
    pub(super) fn alive(&mut self, shared: &Shared, slot: usize) -> bool {
        if elsewhere(shared.header()) {
            return true;
        }
        if self.newest.is_empty() {
            for slot in shared.slots() {
                if slot.state.load(Ordering::Acquire) == state::OWNED {
                    let number = slot.number.load(Ordering::Relaxed);
                    let newest = self.newest.entry(slot.tid.load(Ordering::Relaxed)).or_insert(number);
                    *newest = (*newest).max(number);
                }
            }
        }
        let about = &shared.slots()[slot];
        let (pid, tid) = (about.pid.load(Ordering::Relaxed), about.tid.load(Ordering::Relaxed));
        let number = about.number.load(Ordering::Relaxed);
        if pid == 0 {
            return true; // its owner has not said yet who it is
        }
        let Some(start) = started(pid, tid) else { return false };
        match self.seen[slot] {
            Some((claim, before)) if claim == number && before != start && start != 0 => return false,
            Some((claim, _)) if claim == number => {}
            _ => self.seen[slot] = Some((number, start)),
        }
        about.state.load(Ordering::Acquire) != state::OWNED
            || self.newest.get(&tid).is_none_or(|newest| *newest <= number)
    }

    /// Whether any process with a slot runs.
    pub(super) fn any_process_alive(&self, shared: &Shared, used: usize) -> bool {
        shared.slots()[..used].iter().any(|slot| {
            let pid = slot.pid.load(Ordering::Relaxed);
            slot.state.load(Ordering::Acquire) == state::OWNED && pid != 0 && started(pid, pid).is_some()
        })
    }
}
