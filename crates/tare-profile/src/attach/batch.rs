//! Many probes at once: the kernel sets all of a batch or none, so those it refuses are found by halving.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object};
use tare_probe::bpf::load::{map, refusal};
use tare_probe::{ProbeError, Result};

use super::cookie::{EPOCHS, in_epoch};
use super::tier::{Purpose, Spot, Tier};
use super::{PRIVILEGE, refused};

/// The kernel's own, of no published header: it cannot do this with this instruction.
const ENOTSUPP: i32 = 524;

/// Puts probes into files, and remembers which places were refused.
pub(super) struct Prober {
    pub object: Object,
    pub tier: Tier,
    /// As `Tier::put` takes it.
    pub pid: i32,
    /// The programs heed probes of this epoch only. A link that is closed here may stay for a while: a process that is
    /// forked meanwhile has it too until it executes its program.
    epoch: u32,
    epochs: MapHandle,
    refused: HashMap<(PathBuf, u64), String>,
}

impl Prober {
    pub(super) fn new(object: Object, tier: Tier, pid: i32) -> Result<Self> {
        let epochs = map(&object, "epoch")?;
        Ok(Self { object, tier, pid, epoch: 0, epochs, refused: HashMap::new() })
    }

    /// From now on probes that were put before are no longer heeded.
    pub(super) fn begin_epoch(&mut self) -> Result<()> {
        self.epoch = (self.epoch + 1) % EPOCHS;
        let value = self.epoch.to_ne_bytes();
        self.epochs.update(&0_u32.to_ne_bytes(), &value, MapFlags::ANY).map_err(|e| refusal(&e))
    }

    /// Why a place was refused before.
    pub(super) fn refused(&self, path: &Path, offset: u64) -> Option<&str> {
        self.refused.get(&(path.to_owned(), offset)).map(String::as_str)
    }

    /// Probes on all of these places but those that the kernel refuses, which `refused` knows afterwards.
    pub(super) fn put(&mut self, purpose: Purpose, path: &Path, spots: &[Spot]) -> Result<Vec<Link>> {
        let now = |spot: &Spot| Spot { cookie: in_epoch(spot.cookie, self.epoch), ..*spot };
        let mut spots: Vec<Spot> = spots.iter().map(now).collect();
        while !spots.is_empty() {
            match self.tier.put(&mut self.object, purpose, self.pid, path, &spots) {
                Ok(links) => return Ok(links),
                Err(e) => self.search(purpose, path, &spots, e)?,
            }
            let before = spots.len();
            spots.retain(|spot| self.refused(path, spot.offset).is_none());
            if spots.len() == before {
                return Err(ProbeError::new(
                    format!("probes on {} are refused together, and set one by one", path.display()),
                    "try again; or watch fewer functions",
                ));
            }
        }
        Ok(Vec::new())
    }

    /// Finds those places of a batch that make it fail with `error`.
    fn search(&mut self, purpose: Purpose, path: &Path, spots: &[Spot], error: io::Error) -> Result<()> {
        if !about_the_place(&error) {
            let what = format!("the kernel refused {} probes on {}", spots.len(), path.display());
            return Err(ProbeError::os(what, &error, next_step(&error)));
        }
        if let [spot] = spots {
            self.refused.insert((path.to_owned(), spot.offset), words(&error));
            return Ok(());
        }
        let (left, right) = spots.split_at(spots.len() / 2);
        for half in [left, right] {
            if let Err(e) = self.tier.put(&mut self.object, purpose, self.pid, path, half) {
                self.search(purpose, path, half, e)?;
            }
        }
        Ok(())
    }
}

/// Whether fewer places may do better.
fn about_the_place(error: &io::Error) -> bool {
    let elsewhere = [
        libc::EPERM,
        libc::EACCES,
        libc::ENOENT,
        libc::ESRCH,
        libc::ENOMEM,
        libc::EMFILE,
        libc::ENFILE,
        libc::EINTR,
    ];
    error.raw_os_error().is_some_and(|number| !elsewhere.contains(&number))
}

fn next_step(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(errno) if refused(errno) => PRIVILEGE,
        Some(libc::EMFILE | libc::ENFILE) => {
            "raise the limit of open files (ulimit -n), or watch fewer functions"
        }
        Some(libc::ENOMEM) => "watch fewer functions",
        _ => "see that the process still runs, and try again",
    }
}

fn words(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(ENOTSUPP) => "the kernel cannot step over its first instruction".to_owned(),
        Some(libc::ENOEXEC | libc::EILSEQ) => "the kernel finds no instruction at its address".to_owned(),
        _ => format!("the kernel refused it: {error}"),
    }
}
