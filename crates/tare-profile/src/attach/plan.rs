//! Which places in which files probes come to, from what is asked for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tare_probe::{ProbeError, Result};

use super::cookie::{cookie, exit_cookie, objection};
use super::object::{self, Object};
use super::policy::Hazard;
use super::tier::{Purpose, Spot};
use crate::backend::{Detail, FunctionId, Mode, Probe, Refused, Target};
use crate::image::exits::{self, Exit, Unreadable};

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
    /// Whether its first instruction, or one at which it leaves, is not emulated.
    pub stepped: bool,
    /// From the function's first byte to the place.
    pub further: u64,
}

/// Functions longer than this are not watched where each way out has to be found.
const LONGEST: u64 = 1 << 20;

impl Plan {
    /// `hazards`: what speaks against watching returns by the address on the stack. `known`: why a place of a file was
    /// refused before.
    pub(super) fn make(
        targets: &[Target],
        probes: &[Probe],
        mode: Mode,
        pids: &[i32],
        hazards: &[Hazard],
        known: impl Fn(&Path, u64) -> Option<String>,
    ) -> Self {
        let targets: HashMap<_, _> = targets.iter().map(|target| (target.id, target)).collect();
        let mut plan = Self::default();
        let mut objects: HashMap<&Path, Result<Object>> = HashMap::new();
        let mut taken: HashMap<(PathBuf, u64), FunctionId> = HashMap::new();
        for probe in probes {
            let goroutines = hazards.contains(&Hazard::Go);
            let leaves = !probe.entry_only && (mode == Mode::Timing || probe.marks());
            let mut place = || -> std::result::Result<(PathBuf, Placed, Vec<Exit>), String> {
                let target = targets.get(&probe.function).ok_or("nothing says where it is")?;
                if let Some(why) = objection(probe) {
                    return Err(why);
                }
                if goroutines && probe.detail != Detail::Site {
                    return Err("arguments of functions in Go are not where those of C are".to_owned());
                }
                let path = target.object.as_path();
                let object = objects.entry(path).or_insert_with(|| object::find(path, pids));
                let object = object.as_ref().map_err(|e| {
                    plan.unreadable = Some(e.clone());
                    e.what.clone()
                })?;
                let (spot, emulated, further) = spot(target, probe, object, goroutines)?;
                if let Some(why) = known(&object.path, spot.offset) {
                    return Err(why);
                }
                let other = taken.entry((object.path.clone(), spot.offset)).or_insert(probe.function);
                if *other != probe.function {
                    let name = targets.get(other).map_or("another", |target| target.name.as_str());
                    return Err(format!("{name} is at the same address, and has a probe"));
                }
                let exits =
                    if leaves && !hazards.is_empty() { ways_out(target, object)? } else { Vec::new() };
                let placed = Placed { function: probe.function, spot, stepped: !emulated, further };
                Ok((object.path.clone(), placed, exits))
            };
            match place() {
                Ok((path, placed, exits)) => {
                    plan.add(path, placed, probe, mode, &exits, goroutines);
                }
                Err(why) => plan.refuse(probe.function, why),
            }
        }
        plan
    }

    fn add(
        &mut self,
        path: PathBuf,
        mut placed: Placed,
        probe: &Probe,
        mode: Mode,
        exits: &[Exit],
        goroutines: bool,
    ) {
        let (purpose, cookie) = match mode {
            Mode::Counting if !probe.marks() => (Purpose::Count, self.counted.len() as u64),
            _ if probe.entry_only || !exits.is_empty() => (Purpose::Entry, cookie(probe, goroutines)),
            _ => (Purpose::Call, cookie(probe, goroutines)),
        };
        let mut leaves = Vec::new();
        for exit in exits {
            let Some(cookie) = exit_cookie(probe, exit, goroutines) else {
                return self.refuse(probe.function, "one of its ways out is too far from its frame");
            };
            let offset = placed.spot.offset - placed.further + exit.offset;
            let spot = Spot { offset, semaphore: 0, cookie };
            leaves.push(Placed { spot, further: 0, ..placed });
        }
        placed.stepped |= exits.iter().any(|exit| !exit.emulated);
        if !leaves.is_empty() {
            self.batches.entry((path.clone(), Purpose::Exit)).or_default().extend(leaves);
        }
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

/// Where to put a probe on it, whether the kernel emulates the instruction there, and how far into it that is.
fn spot(
    target: &Target,
    probe: &Probe,
    object: &Object,
    goroutines: bool,
) -> std::result::Result<(Spot, bool, u64), String> {
    let offset = |what: &str, address: u64| {
        let offset = object.segments.offset_of(address);
        offset.ok_or_else(|| format!("no part of {} has {what} {address:#x}", target.object.display()))
    };
    let semaphore = match target.semaphore {
        0 => 0,
        address => offset("its semaphore's address", address)?,
    };
    let first = offset("its address", target.address)?;
    let (offset, emulated) = object.place(first, probe.detail != Detail::Site, goroutines);
    Ok((Spot { offset, semaphore, cookie: 0 }, emulated, offset - first))
}

/// Each place at which it leaves.
fn ways_out(target: &Target, object: &Object) -> std::result::Result<Vec<Exit>, String> {
    if target.size == 0 || target.size > LONGEST {
        return Err("where it leaves is not known, and its return address may not be replaced".to_owned());
    }
    let offset = object.segments.offset_of(target.address).ok_or("it is in no part of its file")?;
    exits::read(&object.code(offset, target.size)).map_err(|why| {
        match why {
            Unreadable::Code => "its code is not understood, so that its ways out are not known",
            Unreadable::NoExit => "it has no way out",
        }
        .to_owned()
    })
}
