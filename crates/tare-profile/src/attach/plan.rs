//! Which places in which files probes come to, from what is asked for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tare_probe::{ProbeError, Result};

use super::cookie::{cookie, exit_cookie, objection};
use super::object::{self, Object};
use super::policy::spares_returning;
use super::tier::{Purpose, Spot};
use crate::backend::{Detail, FunctionId, Hazard, Mode, Probe, Refused, Target};
use crate::image::exits::{self, Exit, Unreadable};

/// `MAX_COUNTED` of attach_maps.h.
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
        let goroutines = hazards.contains(&Hazard::Go);
        let spared = hazards.iter().all(|hazard| spares_returning(*hazard));
        for probe in probes {
            let mut place = || -> std::result::Result<(PathBuf, Placed, Vec<Spot>), String> {
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
                if goroutines && !object.is_go(target.address) {
                    return Err(
                        "it is not compiled by Go, and which goroutine calls it is not known: watch the \
                                function of Go that calls it"
                            .to_owned(),
                    );
                }
                let (spot, mut emulated) = spot(target, probe, object, goroutines)?;
                if let Some(why) = known(&object.path, spot.offset) {
                    return Err(why);
                }
                let other = taken.entry((object.path.clone(), spot.offset)).or_insert(probe.function);
                if *other != probe.function {
                    let name = targets.get(other).map_or("another", |target| target.name.as_str());
                    return Err(format!("{name} is at the same address, and has a probe"));
                }
                let mut exits = Vec::new();
                let by_return = hazards.is_empty() || spared && target.only_returns;
                if !by_return && probe.records_exits(mode) {
                    for exit in ways_out(target, object)? {
                        emulated &= exit.emulated;
                        exits.push(exit_spot(target, probe, object, &exit, goroutines)?);
                    }
                }
                let placed = Placed { function: probe.function, spot, stepped: !emulated };
                Ok((object.path.clone(), placed, exits))
            };
            match place() {
                Ok((path, mut placed, exits)) => {
                    placed.spot.cookie = cookie(probe, goroutines);
                    plan.add(path, placed, probe, mode, &exits);
                }
                Err(why) => plan.refuse(probe.function, why),
            }
        }
        plan
    }

    /// `exits`: places at which it leaves; none where the return address tells, or nobody asks.
    fn add(&mut self, path: PathBuf, mut placed: Placed, probe: &Probe, mode: Mode, exits: &[Spot]) {
        let purpose = match mode {
            Mode::Counting if !probe.marks() => Purpose::Count,
            _ if probe.entry_only || !exits.is_empty() => Purpose::Entry,
            _ => Purpose::Call,
        };
        if purpose == Purpose::Count {
            if self.counted.len() == MOST_COUNTED {
                return self.refuse(probe.function, format!("{MOST_COUNTED} are counted already"));
            }
            placed.spot.cookie = self.counted.len() as u64;
            self.counted.push(probe.function);
        }
        if !exits.is_empty() {
            let leaves = exits.iter().map(|spot| Placed { spot: *spot, ..placed });
            self.batches.entry((path.clone(), Purpose::Exit)).or_default().extend(leaves);
        }
        self.batches.entry((path, purpose)).or_default().push(placed);
    }

    pub(super) fn refuse(&mut self, function: FunctionId, why: impl Into<String>) {
        self.refused.push(Refused { function, why: why.into() });
    }
}

/// Where to put a probe on it, and whether the kernel emulates the instruction there.
fn spot(
    target: &Target,
    probe: &Probe,
    object: &Object,
    goroutines: bool,
) -> std::result::Result<(Spot, bool), String> {
    let semaphore = match target.semaphore {
        0 => 0,
        address => offset(target, object, "its semaphore's address", address)?,
    };
    let first = offset(target, object, "its address", target.address)?;
    let (offset, emulated) = object.place(first, probe.detail != Detail::Site, goroutines);
    if object.is_mistaken(offset) {
        return Err(
            "its first instruction is one of vectors, which the kernel would take for another".to_owned()
        );
    }
    Ok((Spot { offset, semaphore, cookie: 0 }, emulated))
}

/// Where to put a probe on one of its ways out.
fn exit_spot(
    target: &Target,
    probe: &Probe,
    object: &Object,
    exit: &Exit,
    goroutines: bool,
) -> std::result::Result<Spot, String> {
    let cookie = exit_cookie(probe, exit, goroutines);
    let cookie = cookie.ok_or("one of its ways out is too far from its frame")?;
    let first = offset(target, object, "its address", target.address)?;
    Ok(Spot { offset: first + exit.offset, semaphore: 0, cookie })
}

/// Where an address of its file is in the file.
fn offset(target: &Target, object: &Object, what: &str, address: u64) -> std::result::Result<u64, String> {
    let offset = object.segments.offset_of(address);
    offset.ok_or_else(|| format!("no part of {} has {what} {address:#x}", target.object.display()))
}

/// Each place at which it leaves.
fn ways_out(target: &Target, object: &Object) -> std::result::Result<Vec<Exit>, String> {
    if target.size == 0 || target.size > LONGEST {
        return Err("where it leaves is not known, and its return address may not be replaced".to_owned());
    }
    let first = offset(target, object, "its address", target.address)?;
    exits::read(&object.code(first, target.size)).map_err(|why| {
        match why {
            Unreadable::Code => "its code is not understood, so that its ways out are not known",
            Unreadable::NoExit => "it has no way out",
        }
        .to_owned()
    })
}
