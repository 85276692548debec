//! Which places in which files probes come to, from what is asked for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tare_probe::{ProbeError, Result};

use super::cookie::{cookie, objection};
use super::object::{self, Object};
use super::tier::{Purpose, Spot};
use crate::backend::{Detail, FunctionId, Mode, Probe, Refused, Target};

/// `MAX_COUNTED` of attach.bpf.c.
const MOST_COUNTED: usize = 65_536;

/// What to put where.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub batches: HashMap<(PathBuf, Purpose), Vec<Placed>>,
    /// Functions that are counted, by the number that their counter has.
    pub counted: Vec<FunctionId>,
    pub refused: Vec<Refused>,
    /// Why the last file could not be read.
    pub unreadable: Option<ProbeError>,
}

/// A probe and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub function: FunctionId,
    pub spot: Spot,
    /// Whether its first instruction is not emulated.
    pub stepped: bool,
}

impl Plan {
    /// `known`: why a place of a file was refused before.
    pub(super) fn make(
        targets: &[Target],
        probes: &[Probe],
        mode: Mode,
        pids: &[i32],
        known: impl Fn(&Path, u64) -> Option<String>,
    ) -> Self {
        let targets: HashMap<_, _> = targets.iter().map(|target| (target.id, target)).collect();
        let mut plan = Self::default();
        let mut objects: HashMap<&Path, Result<Object>> = HashMap::new();
        let mut taken: HashMap<(PathBuf, u64), FunctionId> = HashMap::new();
        for probe in probes {
            let mut place = || -> std::result::Result<(PathBuf, Spot, bool), String> {
                let target = targets.get(&probe.function).ok_or("nothing says where it is")?;
                if let Some(why) = objection(probe) {
                    return Err(why);
                }
                let path = target.object.as_path();
                let object = objects.entry(path).or_insert_with(|| object::find(path, pids));
                let object = object.as_ref().map_err(|e| {
                    plan.unreadable = Some(e.clone());
                    e.what.clone()
                })?;
                let (spot, emulated) = spot(target, probe, object)?;
                if let Some(why) = known(&object.path, spot.offset) {
                    return Err(why);
                }
                let other = taken.entry((object.path.clone(), spot.offset)).or_insert(probe.function);
                if *other != probe.function {
                    let name = targets.get(other).map_or("another", |target| target.name.as_str());
                    return Err(format!("{name} is at the same address, and has a probe"));
                }
                Ok((object.path.clone(), spot, !emulated))
            };
            match place() {
                Ok((path, spot, stepped)) => {
                    plan.add(path, Placed { function: probe.function, spot, stepped }, probe, mode);
                }
                Err(why) => plan.refuse(probe.function, why),
            }
        }
        plan
    }

    fn add(&mut self, path: PathBuf, mut placed: Placed, probe: &Probe, mode: Mode) {
        let (purpose, cookie) = match mode {
            Mode::Counting if !probe.marks() => (Purpose::Count, self.counted.len() as u64),
            _ if probe.entry_only => (Purpose::Entry, cookie(probe)),
            _ => (Purpose::Call, cookie(probe)),
        };
        if purpose == Purpose::Count {
            if self.counted.len() == MOST_COUNTED {
                return self.refuse(probe.function, format!("{MOST_COUNTED} are counted already"));
            }
            self.counted.push(probe.function);
        }
        placed.spot.cookie = cookie;
        self.batches.entry((path, purpose)).or_default().push(placed);
    }

    pub(super) fn refuse(&mut self, function: FunctionId, why: impl Into<String>) {
        self.refused.push(Refused { function, why: why.into() });
    }
}

/// Where to put a probe on it, and whether the kernel emulates the instruction there.
fn spot(target: &Target, probe: &Probe, object: &Object) -> std::result::Result<(Spot, bool), String> {
    let offset = |what: &str, address: u64| {
        let offset = object.segments.offset_of(address);
        offset.ok_or_else(|| format!("no part of {} has {what} {address:#x}", target.object.display()))
    };
    let semaphore = match target.semaphore {
        0 => 0,
        address => offset("its semaphore's address", address)?,
    };
    let (offset, emulated) =
        object.place(offset("its address", target.address)?, probe.detail != Detail::Site);
    Ok((Spot { offset, semaphore, cookie: 0 }, emulated))
}
