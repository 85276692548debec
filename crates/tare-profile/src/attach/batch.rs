//! Many probes at once: the kernel sets all of a batch or none, so those it refuses are found by halving.

use std::collections::HashMap;
use std::io;

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle};
use tare_probe::bpf::load::{map, refusal};
use tare_probe::{ProbeError, Result};

use super::cookie::{EPOCHS, in_epoch};
use super::object::Object;
use super::tier::{Purpose, Spot, Tier};
use super::{PRIVILEGE, refused};
use crate::maps;

/// The kernel's own, of no published header: it cannot do this with this instruction.
const ENOTSUPP: i32 = 524;

/// Puts probes into files, and remembers which places were refused.
pub(super) struct Prober {
    pub programs: libbpf_rs::Object,
    pub tier: Tier,
    /// As `Tier::put` takes it.
    pub pid: i32,
    /// The programs heed probes on functions that were set in this epoch. A link that is closed here stays as long as a
    /// process that is starting has it, too, between its fork and its exec.
    epoch: u32,
    epochs: MapHandle,
    /// By file and offset in it.
    refused: HashMap<(maps::File, u64), String>,
}

impl Prober {
    pub(super) fn new(programs: libbpf_rs::Object, tier: Tier, pid: i32) -> Result<Self> {
        let epochs = map(&programs, "epoch")?;
        Ok(Self { programs, tier, pid, epoch: 0, epochs, refused: HashMap::new() })
    }

    /// What was set on functions before is not heeded any more.
    pub(super) fn begin_epoch(&mut self) -> Result<()> {
        self.epoch = (self.epoch + 1) % EPOCHS;
        let value = self.epoch.to_ne_bytes();
        self.epochs.update(&0_u32.to_ne_bytes(), &value, MapFlags::ANY).map_err(|e| refusal(&e))
    }

    /// From now on this place is refused.
    pub(super) fn refuse(&mut self, file: maps::File, offset: u64, why: &str) {
        self.refused.entry((file, offset)).or_insert_with(|| why.to_owned());
    }

    /// Why a place was refused before.
    pub(super) fn refused(&self, file: maps::File, offset: u64) -> Option<&str> {
        self.refused.get(&(file, offset)).map(String::as_str)
    }

    /// Probes on all of these places but those that the kernel refuses, which `refused` knows afterwards.
    pub(super) fn put(&mut self, purpose: Purpose, object: &Object, spots: &[Spot]) -> Result<Vec<Link>> {
        let epoch = if purpose == Purpose::Move { 0 } else { self.epoch };
        let now = |spot: &Spot| Spot { cookie: in_epoch(spot.cookie, epoch), ..*spot };
        let mut spots: Vec<Spot> = spots.iter().map(now).collect();
        while !spots.is_empty() {
            match self.tier.put(&mut self.programs, purpose, self.pid, &object.path(), &spots) {
                Ok(links) => return Ok(links),
                Err(e) => self.search(purpose, object, &spots, e)?,
            }
            let before = spots.len();
            spots.retain(|spot| self.refused(object.id(), spot.offset).is_none());
            if spots.len() == before {
                return Err(ProbeError::new(
                    format!("probes on {} are refused together, and set one by one", object.name.display()),
                    "try again; or watch fewer functions",
                ));
            }
        }
        Ok(Vec::new())
    }

    /// Finds those places of a batch that make it fail with `error`.
    fn search(&mut self, purpose: Purpose, object: &Object, spots: &[Spot], error: io::Error) -> Result<()> {
        if !about_the_place(&error) {
            let what = format!("the kernel refused {} probes on {}", spots.len(), object.name.display());
            return Err(ProbeError::os(what, &error, next_step(&error)));
        }
        if let [spot] = spots {
            self.refused.insert((object.id(), spot.offset), words(&error));
            return Ok(());
        }
        let (left, right) = spots.split_at(spots.len() / 2);
        for half in [left, right] {
            if let Err(e) = self.tier.put(&mut self.programs, purpose, self.pid, &object.path(), half) {
                self.search(purpose, object, half, e)?;
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
