//! The table of functions, made before the server starts, and how the server finds it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use tare_rings::layout::Ticks;
use tare_rings::{Plan, Refusal, Shared, shared};

use super::{Agent, Tier, program};
use crate::backend::{FunctionId, Target};
use crate::{ProbeError, Result};

/// Threads with a ring at one time, records in each (1 MiB; pages are used as they are needed), texts kept
/// between two looks of the profiler.
const SLOTS: u32 = 512;
const RING: u32 = 65_536;
const TEXTS: u32 = 4_096;

impl Agent {
    /// Makes the table in `folder` (made if it is not there; best on a tmpfs such as /dev/shm, where nothing is written to a
    /// disk), before `program` starts. `targets` are all functions that may ever be watched, of the program and of
    /// libraries that it is linked with. `owner`: user and group that the server will run as, if not the caller's own.
    ///
    /// `triggers`: functions that each process which is to be watched calls again and again, such as the one that marks its
    /// transactions. With them a process of one thread patches what is watched when it comes to one, and nothing else;
    /// without them, or with threads, all targets are patched from the start. A function patched and switched off costs
    /// under 1 ns a call where code is in the cache, more where it is not: with all of PostgreSQL's 9,546 a select-only
    /// transaction took 10% more CPU time, with the 3,156 of at least 200 bytes no more than noise.
    pub fn create(
        folder: &Path,
        tier: Tier,
        program: &Path,
        targets: &[Target],
        triggers: &[FunctionId],
        owner: Option<(u32, u32)>,
    ) -> Result<()> {
        let program = program::checked(program)?;
        let mut objects = vec![(program.clone(), program::identity(&program)?)];
        let mut number: HashMap<PathBuf, u32> = HashMap::from([(program, 0)]);
        let mut functions: Vec<(u64, u32, u32)> = Vec::with_capacity(targets.len());
        let mut paths = program::Paths::default();
        for target in targets {
            let object = paths.real(&target.object);
            let place = match number.get(&object) {
                Some(place) => *place,
                None => {
                    objects.push((object.clone(), program::identity(&object)?));
                    number.insert(object, objects.len() as u32 - 1);
                    objects.len() as u32 - 1
                }
            };
            functions.push((target.address, u32::try_from(target.size).unwrap_or(u32::MAX), place));
        }
        // Names of one address are one function.
        functions
            .sort_unstable_by_key(|(address, size, object)| (*object, *address, std::cmp::Reverse(*size)));
        functions.dedup_by_key(|(address, _, object)| (*object, *address));
        let plan = Plan {
            objects: objects.len() as u32,
            functions: functions.len() as u32,
            slots: SLOTS,
            ring: RING,
            texts: TEXTS,
        };
        let failed = |error: &std::io::Error| {
            ProbeError::os(
                format!("cannot make the profiler's table in {}", folder.display()),
                error,
                "name a folder that you may write to, and with an owner other than yourself be root",
            )
        };
        program::make_folder(folder, owner).map_err(|error| failed(&error))?;
        let ticks = if program::tsc_is_steady() { Ticks::Tsc } else { Ticks::Monotonic };
        let shared = Shared::create(folder, tier, ticks, plan, owner, &objects, &functions)
            .map_err(|error| failed(&error))?;
        let place: HashMap<(u32, u64), usize> = functions
            .iter()
            .enumerate()
            .map(|(place, (address, _, object))| ((*object, *address), place))
            .collect();
        for target in targets {
            let object = paths.real(&target.object);
            let Some(place) = number.get(&object).and_then(|object| place.get(&(*object, target.address)))
            else {
                continue;
            };
            let function = &shared.functions()[*place];
            if program::is_special(&target.name) {
                function.status.store(Refusal::Special as u32, Ordering::Relaxed);
            }
            if triggers.contains(&target.id) {
                function.trigger.store(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// What to add to the server's environment: LD_PRELOAD (before what is there already) and the folder.
    pub fn environment(folder: &Path, library: &Path) -> Result<[(String, String); 2]> {
        let library = fs::canonicalize(library).map_err(|error| {
            ProbeError::os(
                format!("no agent library at {}", library.display()),
                &error,
                "install the package again: it is built for x86-64 Linux only",
            )
        })?;
        let text = library.display().to_string();
        if text.contains([' ', ':']) {
            return Err(ProbeError::new(
                format!(
                    "the dynamic linker cannot preload {text}: it takes spaces and colons for separators"
                ),
                "install Tare in a folder without them",
            ));
        }
        let before = std::env::var("LD_PRELOAD").unwrap_or_default();
        let preload = if before.is_empty() { text } else { format!("{text}:{before}") };
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        Ok([("LD_PRELOAD".into(), preload), (shared::VARIABLE.into(), folder.display().to_string())])
    }
}
