//! Which places in which files probes come to, from what is asked for.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use tare_probe::{ProbeError, Result};

use super::bodies::{Bodies, Body};
use super::cookie::{cookie, exit_cookie, objection};
use super::object::{Object, Objects};
use super::tier::{Purpose, Spot};
use crate::backend::{Detail, FunctionId, Mode, Probe, Refused, Target};
use crate::image::entry::Entry;
use crate::image::exits::Exit;
use crate::maps;

/// `MAX_COUNTED` of attach_maps.h.
const MOST_COUNTED: usize = 65_536;

/// Files that probes came to, and what was read of their functions. Kept from plan to plan.
#[derive(Debug, Default)]
pub(super) struct Sources {
    files: Objects,
    bodies: Bodies,
}

/// What to put where.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub batches: HashMap<(maps::File, Purpose), Vec<Placed>>,
    /// The files of the batches, held open until the probes are set.
    pub objects: HashMap<maps::File, Arc<Object>>,
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
    /// Whether it is where the function leaves.
    pub leaves: bool,
    /// Whether the kernel steps over an instruction where the function is entered.
    pub steps_in: bool,
    /// The same at one of the places where it leaves.
    pub steps_out: bool,
}

impl Plan {
    /// `goroutines`: whether the processes have them. `known`: why a place of a file was refused before.
    pub(super) fn make(
        targets: &[Target],
        probes: &[Probe],
        mode: Mode,
        pids: &[i32],
        goroutines: bool,
        sources: &mut Sources,
        known: impl Fn(maps::File, u64) -> Option<String>,
    ) -> Self {
        let Sources { files, bodies } = sources;
        let targets: HashMap<_, _> = targets.iter().map(|target| (target.id, target)).collect();
        let mut plan = Self::default();
        let mut objects: HashMap<&Path, Result<Arc<Object>>> = HashMap::new();
        let mut taken: HashMap<(maps::File, u64), FunctionId> = HashMap::new();
        for probe in probes {
            let mut place = || -> std::result::Result<(maps::File, Placed, Vec<Spot>), String> {
                let target = targets.get(&probe.function).ok_or("nothing says where it is")?;
                if let Some(why) = objection(probe) {
                    return Err(why);
                }
                if goroutines && probe.detail != Detail::Site {
                    return Err("arguments of functions in Go are not where those of C are".to_owned());
                }
                let path = target.object.as_path();
                let object = objects.entry(path).or_insert_with(|| files.find(path, pids));
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
                let first = offset(target, object, "its address", target.address)?;
                // Without exits the body only tells where an entry is cheap.
                let body = match bodies.of(target, object, goroutines) {
                    Ok(body) => Some(body),
                    Err(why) if probe.records_exits(mode) => return Err(why.to_owned()),
                    Err(_) => None,
                };
                let (spot, entry) = spot(target, probe, object, first, body, goroutines)?;
                if let Some(why) = known(object.id(), spot.offset) {
                    return Err(why);
                }
                let other = taken.entry((object.id(), spot.offset)).or_insert(probe.function);
                if *other != probe.function {
                    let name = targets.get(other).map_or("another", |target| target.name.as_str());
                    return Err(format!("{name} is at the same address, and has a probe"));
                }
                let mut exits = Vec::new();
                let left = body.filter(|_| probe.records_exits(mode));
                for exit in left.iter().flat_map(|body| &body.exits) {
                    let spot = exit_spot(target, probe, object, exit, goroutines)?;
                    if let Some(why) = known(object.id(), spot.offset) {
                        return Err(why);
                    }
                    exits.push(spot);
                }
                let cookie = cookie(probe, entry.distance, goroutines);
                let spot = Spot { cookie, ..spot };
                let steps_out = left.is_some_and(|body| body.exits.iter().any(|exit| !exit.emulated));
                let steps_in = !entry.emulated;
                let placed = Placed { function: probe.function, spot, leaves: false, steps_in, steps_out };
                Ok((object.id(), placed, exits))
            };
            match place() {
                Ok((file, placed, exits)) => plan.add(file, placed, probe, mode, &exits),
                Err(why) => plan.refuse(probe.function, why),
            }
        }
        plan.objects = objects.into_values().flatten().map(|object| (object.id(), object)).collect();
        plan
    }

    /// `exits`: places at which it leaves; none where nobody asks.
    fn add(&mut self, file: maps::File, mut placed: Placed, probe: &Probe, mode: Mode, exits: &[Spot]) {
        let purpose = match mode {
            Mode::Counting if !probe.marks() => Purpose::Count,
            _ => Purpose::Call,
        };
        if purpose == Purpose::Count {
            if self.counted.len() == MOST_COUNTED {
                return self.refuse(probe.function, format!("{MOST_COUNTED} are counted already"));
            }
            placed.spot.cookie = self.counted.len() as u64;
            self.counted.push(probe.function);
        }
        // Of two probes on one instruction the kernel runs that which was set last first: so an entry at a place where its
        // function may leave is told before the exit.
        let exits = exits.iter().map(|spot| Placed { spot: *spot, leaves: true, ..placed });
        self.batches.entry((file, purpose)).or_default().extend(exits.chain([placed]));
    }

    pub(super) fn refuse(&mut self, function: FunctionId, why: impl Into<String>) {
        self.refused.push(Refused { function, why: why.into() });
    }
}

/// Where to put the probe on its entry. `first`: the offset of its first byte.
fn spot(
    target: &Target,
    probe: &Probe,
    object: &Object,
    first: u64,
    body: Option<&Body>,
    goroutines: bool,
) -> std::result::Result<(Spot, Entry), String> {
    let semaphore = match target.semaphore {
        0 => 0,
        address => offset(target, object, "its semaphore's address", address)?,
    };
    let joined = body.map(|body| &body.joined);
    let entry = object.place(first, probe.detail != Detail::Site, joined, goroutines);
    Ok((Spot { offset: first + entry.offset, semaphore, cookie: 0 }, entry))
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
    let offset = offset(target, object, "its way out at", exit.address)?;
    Ok(Spot { offset, semaphore: 0, cookie })
}

/// Where an address of its file is in the file.
fn offset(target: &Target, object: &Object, what: &str, address: u64) -> std::result::Result<u64, String> {
    let offset = object.segments.offset_of(address);
    offset.ok_or_else(|| format!("no part of {} has {what} {address:#x}", target.object.display()))
}
