//! In which way this kernel lets probes be set: the best that a trial shows to work.

use std::io;
use std::path::Path;

use libbpf_rs::{Link, Object, UprobeMultiOpts, UprobeOpts};
use tare_probe::bpf::load::{load_sized, object, program};
use tare_probe::{ProbeError, Result};

use super::{PRIVILEGE, refused};

/// Ways to set probes, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    /// A link for many places, which the kernel keeps to one process where it is asked to. Kernels that do have sessions
    /// (Linux 6.13).
    Session,
    /// A link for many places, which may be kept to one thread instead (Linux 6.6).
    Multi,
    /// A link for each place (Linux 5.15, where a probe learnt to carry its number).
    Classic,
}

/// What a probe is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// Records of moves to another frame, in the run-time libraries.
    Move,
    /// Records of its entries and exits.
    Call,
    /// Its entries are counted.
    Count,
}

/// A place in a file to put a probe on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    /// In the file.
    pub offset: u64,
    /// Of the semaphore, in the file; 0: none.
    pub semaphore: u64,
    /// What the program gets to know.
    pub cookie: u64,
}

/// Any process.
const ALL: i32 = -1;
/// Programs that every tier has.
const LIVES: [&str; 4] = ["on_switch", "on_fork", "on_exec", "on_end"];

impl Tier {
    pub(super) const ALL: [Self; 3] = [Self::Session, Self::Multi, Self::Classic];

    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Session => &["on_session", "on_call", "on_move", "on_count"],
            Self::Multi => &["on_call", "on_move", "on_count"],
            Self::Classic => &["on_one_call", "on_one_move", "on_one_count"],
        }
    }

    pub(super) fn says(self) -> &'static str {
        match self {
            Self::Session => "one uprobe link for many places",
            Self::Multi => "one uprobe link for many places, in all processes (before Linux 6.13)",
            Self::Classic => "a uprobe link for each place (no multi links: before Linux 6.6)",
        }
    }

    /// Loads its programs, with maps of these sizes. Tries it at `spot` of the file at `path`, in no process but
    /// this one, which does not run that file: nobody's memory is changed.
    pub(super) fn load(self, sizes: &[(&str, u32)], path: &Path, spot: Spot) -> Result<Object> {
        let wanted = |name: &str| LIVES.contains(&name) || self.programs().contains(&name);
        let mut object = load_sized(object!("attach"), wanted, sizes)?;
        let me = std::process::id().cast_signed();
        match self.trial(&mut object, me, path, spot) {
            Ok(_) => Ok(object),
            Err(e) => {
                let what = format!("the kernel refused a probe on {} ({})", path.display(), self.says());
                let next = match e.raw_os_error() {
                    Some(errno) if refused(errno) => PRIVILEGE,
                    _ => "use a kernel with CONFIG_UPROBES and CONFIG_UPROBE_EVENTS, 5.15 or later",
                };
                Err(ProbeError::os(what, &e, next))
            }
        }
    }

    fn trial(self, object: &mut Object, pid: i32, path: &Path, spot: Spot) -> io::Result<Vec<Link>> {
        match self {
            Self::Session => Ok(vec![multi(object, "on_session", true, pid, path, &[spot])?]),
            Self::Multi | Self::Classic => self.put(object, Purpose::Count, pid, path, &[spot]),
        }
    }

    /// Puts probes on all of these places, or on none. `pid`: -1 for any process; heeded exactly by sessions only.
    pub(super) fn put(
        self,
        object: &mut Object,
        purpose: Purpose,
        pid: i32,
        path: &Path,
        spots: &[Spot],
    ) -> io::Result<Vec<Link>> {
        let [many, single] = match purpose {
            Purpose::Move => ["on_move", "on_one_move"],
            Purpose::Call => ["on_call", "on_one_call"],
            Purpose::Count => ["on_count", "on_one_count"],
        };
        match self {
            Self::Session | Self::Multi => Ok(vec![multi(object, many, false, pid, path, spots)?]),
            Self::Classic => singles(object, single, pid, path, spots),
        }
    }

    /// The process that the kernel may keep probes to. Before sessions came it kept them to one thread.
    pub(super) fn only(self, pids: &[i32], follow_children: bool) -> i32 {
        match pids {
            [pid] if self == Self::Session && !follow_children => *pid,
            _ => ALL,
        }
    }
}

fn multi(
    object: &mut Object,
    name: &str,
    session: bool,
    pid: i32,
    path: &Path,
    spots: &[Spot],
) -> io::Result<Link> {
    let semaphores = spots.iter().any(|spot| spot.semaphore != 0);
    let options = UprobeMultiOpts {
        offsets: spots.iter().map(|spot| spot.offset as usize).collect(),
        ref_ctr_offsets: spots.iter().filter(|_| semaphores).map(|spot| spot.semaphore as usize).collect(),
        cookies: spots.iter().map(|spot| spot.cookie).collect(),
        session,
        ..UprobeMultiOpts::default()
    };
    let program = program(object, name).map_err(io::Error::other)?;
    program.attach_uprobe_multi_with_opts(pid, path, "", options).map_err(|_| io::Error::last_os_error())
}

fn singles(object: &mut Object, name: &str, pid: i32, path: &Path, spots: &[Spot]) -> io::Result<Vec<Link>> {
    let program = program(object, name).map_err(io::Error::other)?;
    let single = |spot: &Spot| {
        let options = UprobeOpts {
            ref_ctr_offset: spot.semaphore as usize,
            cookie: spot.cookie,
            ..UprobeOpts::default()
        };
        program
            .attach_uprobe_with_opts(pid, path, spot.offset as usize, options)
            .map_err(|_| io::Error::last_os_error())
    };
    spots.iter().map(single).collect()
}
