//! The backend in the server's own process: a preloaded library (`tare-agent`) patches functions that a table names, and
//! threads write records to memory that the profiler reads.
//!
//! `Agent::create` makes the table, the server is then started with `Agent::environment`, and `Agent::open` listens. The
//! table has all functions that may ever be wanted; which are watched is a byte for each, which reaches forked processes
//! too, so that refinement needs no restart. The same memory serves XRay's sleds and programs that mark
//! their transactions themselves (`Tier`).

mod liveness;
mod modes;
mod program;
mod slots;
mod table;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tare_rings::layout::{Ticks, state};
use tare_rings::{Kind, Record, Refusal, Shared};

use self::liveness::{Process, Threads};
use crate::backend::{Backend, Detail, FunctionId, Mode, Probe, Refused, Taken, Target, ThreadRecords, Way};
use crate::{ProbeError, Result};

pub use tare_rings::layout::Tier;

/// How often slots whose thread may have ended without a word are looked at.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How long a profiler that ends waits for processes to take their detours out.
const LET_GO: Duration = Duration::from_millis(200);
/// A profiler that has looked so shortly ago is there.
const ANOTHER_NS: u64 = 2_000_000_000;
const NOBODY: FunctionId = FunctionId::MAX;

/// The library's name beside the Python package.
pub const LIBRARY: &str = "libtare_agent.so";

/// Whether this process has the agent in it. A uprobe on a function that the agent has patched crashes the process: the kernel
/// runs the instruction that the file has there, and goes on in the midst of the agent's jump. Whoever attaches asks first.
pub fn is_in(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains(LIBRARY))
}

/// What the agent did to the functions of the table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patched {
    /// Functions in the table.
    pub functions: usize,
    /// Of them, patched.
    pub patched: usize,
    /// Of them, refused: why in words, and how many; most first.
    pub refused: Vec<(String, usize)>,
}

/// Listens to a server that runs with the agent.
#[derive(Debug)]
pub struct Agent {
    shared: Shared,
    tier: Tier,
    /// Where a function is in the table, by object and address.
    places: HashMap<(PathBuf, u64), usize>,
    /// Its number in the recording, by its place in the table.
    ids: Vec<FunctionId>,
    /// What the switches should be, in case the agent turned them off.
    switches: Vec<u8>,
    /// Where the triggers are in the table, and the value of their switches while only others are watched.
    triggers: Vec<usize>,
    untold: u8,
    listens: bool,
    /// Functions whose entries and exits are recorded.
    timed: usize,
    threads: Threads,
    /// Counts of slots that are free again, and those at the time the probes were set.
    counted: Vec<u64>,
    counted_before: Vec<u64>,
    /// Hashes of texts handed over already, and how many had been kept when they were looked at.
    told: HashSet<u32>,
    kept: Option<u32>,
    unplaced: u64,
    unrecorded: u64,
    looked: Instant,
}

impl Agent {
    /// Listens to the server whose table is in `folder`; what was recorded before does not count.
    pub fn open(folder: &Path) -> Result<Self> {
        let shared = Shared::open(folder).map_err(|error| {
            ProbeError::os(
                format!("cannot open the profiler's table in {}", folder.display()),
                &error,
                "start the server under the agent first, and be its user or root",
            )
        })?;
        let tier = Tier::from_number(shared.header().tier).ok_or_else(|| {
            ProbeError::new(format!("the table in {} is damaged", folder.display()), "start the server again")
        })?;
        let objects: Vec<PathBuf> = shared.objects().iter().map(|object| object.path()).collect();
        let places = shared
            .functions()
            .iter()
            .enumerate()
            .filter_map(|(place, function)| {
                Some(((objects.get(function.object as usize)?.clone(), function.address), place))
            })
            .collect();
        let functions = shared.plan().functions as usize;
        let trigger = |place: &usize| shared.functions()[*place].trigger.load(Ordering::Relaxed) != 0;
        let triggers: Vec<usize> = (0..functions).filter(trigger).collect();
        let untold = if triggers.is_empty() { 0 } else { modes::unwatched_trigger(shared.header())? };
        let beat = shared.header().heartbeat.load(Ordering::Acquire);
        if beat != 0 && program::monotonic_ns().saturating_sub(beat) < ANOTHER_NS {
            return Err(ProbeError::new(
                format!("another profiler listens to the server of {}", folder.display()),
                "let it end; if it was killed, wait two seconds",
            ));
        }
        for slot in shared.slots() {
            slot.tail.store(slot.head.load(Ordering::Acquire), Ordering::Release);
        }
        let mut agent = Self {
            tier,
            places,
            ids: vec![NOBODY; functions],
            switches: vec![0; functions],
            triggers,
            untold,
            listens: true,
            timed: 0,
            threads: Threads::new(&shared),
            counted: vec![0; functions],
            counted_before: vec![0; functions],
            told: HashSet::new(),
            kept: None,
            unplaced: shared.header().unplaced.load(Ordering::Relaxed),
            unrecorded: shared.header().unrecorded.load(Ordering::Relaxed),
            looked: Instant::now(),
            shared,
        };
        agent.switch_off(0);
        agent.beat();
        Ok(agent)
    }

    /// What became of the table's functions in the server.
    pub fn patched(&self) -> Patched {
        let mut patched = Patched { functions: self.ids.len(), ..Patched::default() };
        let mut refused: HashMap<String, usize> = HashMap::new();
        for place in 0..self.ids.len() {
            match self.status(place) {
                None => patched.patched += 1,
                Some(why) => *refused.entry(why).or_default() += 1,
            }
        }
        patched.refused = refused.into_iter().collect();
        patched.refused.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        patched
    }

    /// `None` if the function can be watched, else why not.
    fn status(&self, place: usize) -> Option<String> {
        match self.shared.functions()[place].status.load(Ordering::Acquire) {
            1 => None,
            0 => Some("no process has loaded the agent".into()),
            number => Some(Refusal::from_number(number).map_or("not known", Refusal::words).into()),
        }
    }

    /// An error if the agent is in no process, or does nothing there.
    fn check_loaded(&self) -> Result<()> {
        let header = self.shared.header();
        if header.loads.load(Ordering::Acquire) == 0 {
            let program = self.shared.objects().first().map(|object| object.path()).unwrap_or_default();
            return Err(ProbeError::new(
                format!("no process of {} has loaded the agent", program.display()),
                "start that program with the environment that was given (LD_PRELOAD, TARE_AGENT), not a script that clears it; \
                 a statically linked, set-user-id or other program ignores LD_PRELOAD: use attach",
            ));
        }
        let threaded = header.threaded.load(Ordering::Relaxed);
        if threaded != 0 {
            return Err(ProbeError::new(
                format!(
                    "process {threaded} has threads that it started unseen: its functions cannot be patched any more"
                ),
                "use attach, which needs no agent",
            ));
        }
        match Refusal::from_number(header.refusal.load(Ordering::Acquire)) {
            None => Ok(()),
            Some(why) => Err(ProbeError::new(
                format!(
                    "the agent leaves process {} alone: {}",
                    header.process.load(Ordering::Relaxed),
                    why.words()
                ),
                "use attach, which needs no agent",
            )),
        }
    }

    fn beat(&self) {
        self.shared.header().heartbeat.store(program::monotonic_ns(), Ordering::Release);
    }

    /// Processes that come to a trigger soon have their code as it was; in others the detours stay, switched off.
    fn let_go(&mut self) {
        if !self.triggers.is_empty() && self.alive() {
            self.switch_off(self.untold);
            sleep(LET_GO);
        }
        self.switch_off(0);
    }

    /// Nothing is watched any more; `triggers`: what their switches are then.
    fn switch_off(&mut self, triggers: u8) {
        for switch in self.shared.switches() {
            switch.store(0, Ordering::Relaxed);
        }
        for place in &self.triggers {
            self.shared.switches()[*place].store(triggers, Ordering::Relaxed);
        }
        self.switches.fill(0);
        self.shared.header().marks.store(0, Ordering::Relaxed);
        self.shared.header().generation.fetch_add(1, Ordering::Release);
    }

    fn process(&self) -> Process {
        Process::new(self.shared.header())
    }
}

impl Backend for Agent {
    fn name(&self) -> &'static str {
        match self.tier {
            Tier::Trampolines => "agent",
            Tier::Sleds => "xray",
            Tier::Marks => "annotation",
        }
    }

    fn says(&self) -> String {
        let patched = self.patched();
        let how = match self.tier {
            Tier::Trampolines => format!(
                "agent: {} of {} functions can be watched; {} until the server ends no uprobes may be set on this program",
                patched.patched,
                patched.functions,
                if self.triggers.is_empty() {
                    "all are patched, and one that is switched off costs about 1 ns a call;"
                } else {
                    "a process patches those that are watched, and all before it starts a thread;"
                }
            ),
            Tier::Sleds => format!("xray: {} of {} functions have sleds", patched.patched, patched.functions),
            Tier::Marks => {
                "annotation only: the program marks its transactions, no function is watched".into()
            }
        };
        let clock = if self.shared.header().ticks == Ticks::Tsc as u32 {
            "time-stamp counter"
        } else {
            "CLOCK_MONOTONIC, as this processor's time-stamp counter is not constant"
        };
        let elsewhere = if self.process().is_elsewhere() {
            "; the server is in another name space of processes: whether it lives cannot be seen from here"
        } else {
            ""
        };
        format!("{how}; clock: {clock}{elsewhere}")
    }

    fn set(&mut self, targets: &[Target], probes: &[Probe], mode: Mode) -> Result<Vec<Refused>> {
        self.check_loaded()?;
        let known: HashMap<FunctionId, &Target> = targets.iter().map(|target| (target.id, target)).collect();
        let mut refused = Vec::new();
        let mut switches = vec![0u8; self.ids.len()];
        let mut paths = program::Paths::default();
        // A program gives its marks to the agent by itself: no probe is needed for them.
        for probe in probes.iter().filter(|probe| probe.detail != Detail::Mark) {
            let target = known.get(&probe.function).ok_or_else(|| {
                ProbeError::new(
                    format!("a probe on function {}, which is not among the targets", probe.function),
                    "",
                )
            })?;
            let object = paths.real(&target.object);
            let why = match self.places.get(&(object, target.address)) {
                None => Some(
                    "it was not in the table when the server started: name it then (--functions)".to_owned(),
                ),
                Some(place) => match self.status(*place) {
                    Some(why) => Some(why),
                    None => {
                        switches[*place] =
                            modes::switch(self.shared.header(), probe, mode, self.triggers.contains(place))?;
                        self.ids[*place] = probe.function;
                        None
                    }
                },
            };
            refused.extend(why.map(|why| Refused { function: probe.function, why }));
        }
        if !probes.is_empty() && refused.len() == probes.len() {
            return Err(ProbeError::new(
                format!("none of {} functions can be watched by the agent: {}", probes.len(), refused[0].why),
                "name others, or use attach",
            ));
        }
        if !probes.is_empty() {
            for place in &self.triggers {
                if switches[*place] == 0 {
                    switches[*place] = self.untold;
                }
            }
        }
        self.beat();
        let header = self.shared.header();
        header.stopped.store(0, Ordering::Relaxed);
        for (switch, wanted) in self.shared.switches().iter().zip(&switches) {
            // A store where nothing changes would take the cache line from every processor.
            if switch.load(Ordering::Relaxed) != *wanted {
                switch.store(*wanted, Ordering::Release);
            }
        }
        header.marks.store(1, Ordering::Relaxed);
        header.generation.fetch_add(1, Ordering::Release);
        self.switches = switches;
        self.listens = true;
        let refuses = |probe: &Probe| refused.iter().any(|refused| refused.function == probe.function);
        self.timed = probes.iter().filter(|probe| probe.records_exits(mode) && !refuses(probe)).count();
        if mode == Mode::Counting {
            self.counted_before = self.sums();
        }
        Ok(refused)
    }

    fn watching(&self) -> Vec<(Way, usize)> {
        let way = if self.tier == Tier::Sleds { Way::Sled } else { Way::Trampoline };
        if self.timed > 0 { vec![(way, self.timed)] } else { Vec::new() }
    }

    fn take(&mut self) -> Result<Taken> {
        self.beat();
        let mut taken = Taken::default();
        let header = self.shared.header();
        let unplaced = header.unplaced.load(Ordering::Relaxed);
        taken.lost += unplaced.saturating_sub(self.unplaced);
        self.unplaced = unplaced;
        let unrecorded = header.unrecorded.load(Ordering::Relaxed);
        taken.unrecorded = unrecorded.saturating_sub(self.unrecorded);
        self.unrecorded = unrecorded;
        // Nobody had listened for seconds, and the agent had switched everything off: on again, and say so.
        let stopped = self.listens && header.stopped.swap(0, Ordering::AcqRel) != 0;
        if stopped {
            for (switch, wanted) in self.shared.switches().iter().zip(&self.switches) {
                switch.store(*wanted, Ordering::Release);
            }
            self.shared.header().marks.store(1, Ordering::Relaxed);
            self.shared.header().generation.fetch_add(1, Ordering::Release);
        }
        let look = self.looked.elapsed() >= LOOK_AGAIN;
        if look {
            self.looked = Instant::now();
            self.threads.forget();
        }
        for slot in 0..self.used() {
            let about = &self.shared.slots()[slot];
            // First the state, then the records: of a thread that has left, all are there.
            let state = about.state.load(Ordering::Acquire);
            if state == state::FREE {
                continue;
            }
            let (pid, tid) =
                (about.pid.load(Ordering::Relaxed) as i32, about.tid.load(Ordering::Relaxed) as i32);
            let gone = state == state::LEFT || look && !self.threads.alive(&self.shared, slot);
            if state != state::CLAIMING {
                let mut records = Vec::new();
                self.shared.drain(slot, &mut records);
                taken.fullest = taken.fullest.max(records.len() as f64 / f64::from(self.shared.plan().ring));
                self.translate(&mut records);
                if stopped {
                    records.push(Record::new(self.clock().0, Kind::Lost, 0, 1));
                }
                if !records.is_empty() {
                    taken.threads.push(ThreadRecords { pid, tid, records });
                }
            }
            if gone {
                taken.lost += self.free(slot);
            }
        }
        taken.texts = self.new_texts();
        Ok(taken)
    }

    fn calls(&mut self) -> Result<Vec<(FunctionId, u64)>> {
        let sums = self.sums();
        Ok((0..sums.len())
            .filter(|place| self.switches[*place] != 0 && self.switches[*place] != self.untold)
            .map(|place| (self.ids[place], sums[place].saturating_sub(self.counted_before[place])))
            .collect())
    }

    fn clock(&self) -> (u64, u64) {
        if self.shared.header().ticks == Ticks::Tsc as u32 {
            program::tsc_and_ns()
        } else {
            let now = program::monotonic_ns();
            (now, now)
        }
    }

    fn alive(&self) -> bool {
        let process = self.process();
        process.is_elsewhere() || process.alive() || self.threads.any_process_alive(&self.shared, self.used())
    }

    fn finish(&mut self) -> Result<()> {
        if self.listens {
            self.let_go();
        }
        self.listens = false;
        self.shared.header().heartbeat.store(0, Ordering::Release);
        Ok(())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if self.listens {
            self.switch_off(0);
            self.shared.header().heartbeat.store(0, Ordering::Release);
        }
    }
}
