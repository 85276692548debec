//! Probes that the kernel sets on running processes, without a restart: uprobes with BPF programs.
//!
//! A probe is a breakpoint in the file's text. The kernel sets it in every process that maps the file; processes that
//! are not watched pay for the trap (about 1 µs) and are not recorded. One process without its children is the
//! exception: there, with session links, the kernel leaves all others alone. Where other processes of the same file
//! must not be slowed, start the server to be watched from a copy of its programs.
//!
//! Exits are seen at the places where a function leaves (`image::exits`). The kernel's return probes, which replace the
//! return address on the stack, are not used: no reading of a binary can tell that nothing finds that address there. A
//! handler throws through a function that only returns, `dlsym` and `setjmp` read where they return to, a library that is
//! loaded later throws, a program changes stacks by its own assembly.
//!
//! An exit belongs to the entry with the same function and the same place on the stack (`frames`). Frames left by longjmp
//! or an exception are `Cut`; the time is exact where the C++ library's catch, or the thread's end, was seen. A process
//! forked inside a watched function that returns from it in the child too shows an exit there without its entry.
//!
//! An entry and its exit cost some 2 µs of CPU time in an idle loop where the kernel emulates the instructions there, and
//! 12 to 23 µs where it has to step over one (on virtual machines with Linux 6.18, which differ in what a trap costs).

mod areas;
mod batch;
mod bodies;
mod cookie;
mod event;
mod frames;
mod goroutines;
mod memory;
mod message;
mod moves;
mod object;
mod plan;
mod readback;
mod segments;
mod site;
mod slots;
mod stream;
#[cfg(test)]
mod tests;
mod tier;
mod watch;

use std::collections::HashSet;

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, num_possible_cpus};
use tare_probe::bpf::load::{Plain, attach, from_bytes, map, refusal};
use tare_probe::clock::monotonic_ns;
use tare_probe::{ProbeError, Result};
use tare_rings::{Kind, Record};

use self::batch::Prober;
use self::goroutines::Goroutines;
use self::moves::Moves;
use self::plan::{Placed, Plan, Sources};
use self::readback::Readback;
use self::slots::Slots;
use self::stream::{Stream, Threads};
use self::tier::{Spot, Tier};
use self::watch::{Roots, Watched};
use crate::backend::{Backend, Detail, FunctionId, Mode, Probe, Refused, Stepped, Taken, Target, Way};
use crate::maps;

/// Events that the rings between kernel and profiler have room for in all: 84 MB.
const EVENTS: u32 = 1 << 21;

/// Why a place is refused that is not as the file has it, or in which no probe is found afterwards.
const OWN_TEXT: &str = "the process has text of its own in its place";

/// What would do where the kernel refuses.
const PRIVILEGE: &str =
    "run as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE and kernel lockdown off";

/// Whether this error number tells of too little privilege.
fn refused(errno: i32) -> bool {
    errno == libc::EPERM || errno == libc::EACCES
}

/// Probes on running processes. Dropping it takes them off; so does the kernel if this process is killed.
pub struct Attach {
    /// First, so that they are off before anything else goes.
    probes: Vec<Link>,
    moves: Moves,
    lives: Vec<Link>,
    /// Runs as soon as a probe asks for CPU time.
    switches: Option<Link>,
    prober: Prober,
    stream: Stream,
    maps: Maps,
    roots: Roots,
    watched: Watched,
    goroutines: Goroutines,
    sources: Sources,
    follow_children: bool,
    functions: usize,
    /// Of them, those whose exits are watched.
    with_exits: usize,
    /// Of them, those where the kernel steps over an instruction, at the entry or where they leave.
    stepped: usize,
    counted: Vec<Counted>,
    /// Of `Tally::Untold`, already told.
    told: u64,
    finished: bool,
}

/// A function that is counted.
#[derive(Clone, Copy)]
struct Counted {
    function: FunctionId,
    /// Which counter is its.
    number: usize,
    /// What that showed when the probes were set.
    before: u64,
}

/// Probes that were set.
#[derive(Default)]
struct Set {
    links: Vec<Link>,
    placed: Vec<(maps::File, Placed)>,
    counted: Vec<Counted>,
    refused: Vec<Refused>,
}

struct Maps {
    losses: MapHandle,
    tallies: MapHandle,
    calls: MapHandle,
}

/// Order of the enum in attach_maps.h.
#[derive(Clone, Copy)]
enum Tally {
    Untold,
}

/// `struct loss` of attach_maps.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct Loss {
    tgid: i32,
    count: u32,
}

// SAFETY: two 32-bit numbers.
unsafe impl Plain for Loss {}

impl Attach {
    /// Watches these processes and, if asked for, all that come of them, those that run already too. No probe is set
    /// yet. Needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE.
    pub fn open(pids: &[i32], follow_children: bool) -> Result<Self> {
        Self::with(pids, follow_children, EVENTS, &Tier::ALL)
    }

    /// The same in the first of these ways that works, with room for so many events, a part of it for each CPU.
    fn with(pids: &[i32], follow_children: bool, events: u32, tiers: &[Tier]) -> Result<Self> {
        if !cfg!(target_arch = "x86_64") {
            return Err(ProbeError::new(
                "probes on running processes know x86-64's registers only",
                "profile by annotations on this machine",
            ));
        }
        let roots = Roots::open(pids)?;
        let cpus = num_possible_cpus().map_err(|e| refusal(&e))?;
        let plan = slots::Plan::new(cpus as u32, events);
        let sizes = [("ends", plan.cpus), ("slots", plan.slots())];
        let mut prober = prober(&roots.pids, follow_children, &sizes, tiers)?;
        let maps = Maps {
            losses: map(&prober.programs, "losses")?,
            tallies: map(&prober.programs, "tallies")?,
            calls: map(&prober.programs, "calls")?,
        };
        let slots = Slots::open(&map(&prober.programs, "ends")?, &map(&prober.programs, "slots")?, plan)?;
        let stream = Stream::open(slots, &map(&prober.programs, "messages")?)?;
        let watched = Watched::open(&map(&prober.programs, "watched")?)?;
        let followed: &[&str] = if follow_children { &["on_fork"] } else { &[] };
        let lives = ["on_exec", "on_end"].iter().chain(followed);
        let lives = lives.map(|name| attach(&mut prober.programs, name)).collect::<Result<_>>()?;
        watched.enlist(&roots.pids, follow_children);
        Ok(Self {
            probes: Vec::new(),
            moves: Moves::default(),
            lives,
            switches: None,
            prober,
            stream,
            maps,
            roots,
            watched,
            goroutines: Goroutines::default(),
            sources: Sources::default(),
            follow_children,
            functions: 0,
            with_exits: 0,
            stepped: 0,
            counted: Vec::new(),
            told: 0,
            finished: false,
        })
    }

    /// Processes that are watched now, those named first: they outlive the others, which may end at any time.
    fn watched_pids(&self) -> Vec<i32> {
        let others = self.watched.list().into_iter().filter(|pid| !self.roots.pids.contains(pid));
        self.roots.pids.iter().copied().chain(others).collect()
    }

    fn tally(&self, which: Tally) -> u64 {
        let value = self.maps.tallies.lookup(&(which as u32).to_ne_bytes(), MapFlags::ANY).ok().flatten();
        value.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
    }

    /// What a counter shows, over all CPUs.
    fn count(&self, number: usize) -> Result<u64> {
        let key = (number as u32).to_ne_bytes();
        let values = self.maps.calls.lookup_percpu(&key, MapFlags::ANY).map_err(|e| refusal(&e))?;
        let each = values.into_iter().flatten().filter_map(|value| value.try_into().ok());
        Ok(each.map(u64::from_ne_bytes).sum())
    }

    /// Sets what is planned, all or nothing. `None`: a place was refused, which is known from now on.
    fn put(&mut self, mut plan: Plan) -> Result<Option<Set>> {
        if plan.batches.is_empty()
            && let Some(refused) = plan.refused.first()
        {
            return Err(plan.unreadable.unwrap_or_else(|| {
                ProbeError::new(
                    format!("none of {} probes can be set: {}", plan.refused.len(), refused.why),
                    "choose other functions",
                )
            }));
        }
        let mut set = Set { refused: plan.refused, ..Set::default() };
        for (number, &function) in plan.counted.iter().enumerate() {
            set.counted.push(Counted { function, number, before: self.count(number)? });
        }
        let readback = Readback::of(self.roots.pids[0]);
        let mut refused = Vec::new();
        for ((file, purpose), placed) in std::mem::take(&mut plan.batches) {
            let object = &plan.objects[&file];
            let spots: Vec<Spot> = placed.iter().map(|placed| placed.spot).collect();
            refused.extend(
                spots
                    .iter()
                    .filter(|spot| !readback.is_the_files(object, spot.offset))
                    .map(|spot| (file, spot.offset)),
            );
            if refused.is_empty() {
                set.links.extend(self.prober.put(purpose, object, &spots)?);
            }
            set.placed.extend(placed.into_iter().map(|placed| (file, placed)));
        }
        let places = || set.placed.iter().map(|(file, placed)| (*file, placed.spot.offset));
        if refused.is_empty() {
            refused.extend(places().filter(|(file, offset)| !readback.holds(*file, *offset)));
        }
        for (file, offset) in refused {
            self.prober.refuse(file, offset, OWN_TEXT);
        }
        let all_there = places().all(|(file, offset)| self.prober.refused(file, offset).is_none());
        Ok(all_there.then_some(set))
    }

    fn keep(&mut self, set: Set, mode: Mode, pids: &[i32]) -> Result<Vec<Refused>> {
        let placed = || set.placed.iter().map(|(_, placed)| placed);
        let with_exits: HashSet<FunctionId> =
            placed().filter(|placed| placed.leaves).map(|placed| placed.function).collect();
        let entries = || placed().filter(|placed| !placed.leaves);
        (self.functions, self.with_exits) = (entries().count(), with_exits.len());
        self.stepped = entries().filter(|placed| placed.steps_in || placed.steps_out).count();
        if mode == Mode::Timing && self.functions > 0 {
            self.moves.watch(&mut self.prober, pids)?;
        } else {
            self.moves.leave();
        }
        (self.counted, self.probes) = (set.counted, set.links);
        Ok(set.refused)
    }

    /// Losses of threads that made no record since. Only when nothing is watched any more: they touch them too.
    fn last_losses(&self, threads: &mut Threads) {
        let now = monotonic_ns();
        for tid in self.maps.losses.keys().collect::<Vec<_>>() {
            let loss = self.maps.losses.lookup(&tid, MapFlags::ANY).ok().flatten();
            // What is told once is not there a second time.
            let gone = self.maps.losses.delete(&tid).is_ok();
            if let (true, Some(loss), Ok(tid)) =
                (gone, loss.as_deref().and_then(from_bytes::<Loss>), tid.try_into())
            {
                let records = threads.of(loss.tgid, i32::from_ne_bytes(tid));
                records.push(Record::new(now, Kind::Lost, 0, loss.count));
            }
        }
    }
}

/// Loads the programs in the best way that a trial shows to work; none where a probe would end a process.
fn prober(pids: &[i32], follow_children: bool, sizes: &[(&str, u32)], tiers: &[Tier]) -> Result<Prober> {
    // Any place in the program's text does for a trial that reaches no process.
    let program = std::path::PathBuf::from(format!("/proc/{}/exe", pids[0]));
    let object = object::find(&program, pids).map_err(|mut e| {
        if refused(e.errno) {
            PRIVILEGE.clone_into(&mut e.next_step);
        }
        e
    })?;
    let offset = object.segments.offset_of(object.segments.entry).ok_or_else(|| {
        ProbeError::new(format!("process {} runs a file without text", pids[0]), "name another process")
    })?;
    let trial = Spot { offset, semaphore: 0, cookie: 0 };
    let mut first = None;
    for &tier in tiers {
        match tier.load(sizes, &object.path(), trial) {
            Ok(programs) => return Prober::new(programs, tier, tier.only(pids, follow_children)),
            Err(e) => first = first.or(Some(e)),
        }
    }
    Err(first.unwrap_or_else(|| ProbeError::new("there is no way to set probes", "")))
}

impl Backend for Attach {
    fn name(&self) -> &'static str {
        "attach"
    }

    fn says(&self) -> String {
        let others = if self.prober.pid > 0 {
            "other processes of the same file are left alone"
        } else {
            "other processes of the same file are slowed by the probes, though not recorded: where they must not be, \
             start the server to be watched from a copy of its programs (tare server start --own-programs)"
        };
        let children = if self.follow_children { " and its children" } else { "" };
        let of = match self.functions {
            0 => String::new(), // none are set yet
            functions => format!("{functions} functions of "),
        };
        let mut says = format!(
            "the kernel's probes ({}) on {of}process {}{children}; {others}",
            self.prober.tier.says(),
            self.roots.pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        );
        if self.stepped > 0 {
            says += &format!("; another trap at an entry or exit makes {} of them dearer", self.stepped);
        }
        says
    }

    fn set(&mut self, targets: &[Target], probes: &[Probe], mode: Mode) -> Result<Vec<Refused>> {
        self.probes.clear();
        (self.functions, self.with_exits, self.stepped) = (0, 0, 0);
        self.counted.clear();
        if self.finished {
            return Err(ProbeError::new("the probes were taken off for good", "open the processes anew"));
        }
        if self.switches.is_none() && probes.iter().any(|probe| probe.cpu) {
            self.switches = Some(attach(&mut self.prober.programs, "on_switch")?);
        }
        let followed = probes.iter().filter(|probe| probe.records_exits(mode));
        self.stream.follow(followed.map(|probe| probe.function).collect());
        let pids = self.watched_pids();
        let goroutines = self.goroutines.are_in(&pids);
        loop {
            self.prober.begin_epoch()?;
            let known = |file, offset| self.prober.refused(file, offset).map(str::to_owned);
            let plan = Plan::make(targets, probes, mode, &pids, goroutines, &mut self.sources, known);
            if let Some(set) = self.put(plan)? {
                return self.keep(set, mode, &pids);
            }
        }
    }

    fn stepped(&mut self, targets: &[Target]) -> Vec<Stepped> {
        let pids = self.watched_pids();
        let goroutines = self.goroutines.are_in(&pids);
        let timed = |target: &Target| Probe {
            function: target.id,
            detail: Detail::Site,
            cpu: false,
            entry_only: false,
        };
        let probes: Vec<Probe> = targets.iter().map(timed).collect();
        let sources = &mut self.sources;
        let plan = Plan::make(targets, &probes, Mode::Timing, &pids, goroutines, sources, |_, _| None);
        let entries = plan.batches.into_values().flatten().filter(|placed| !placed.leaves);
        let stepped = entries.filter(|placed| placed.steps_in || placed.steps_out);
        let of = |placed: Placed| Stepped {
            function: placed.function,
            entered: placed.steps_in,
            left: placed.steps_out,
        };
        stepped.map(of).collect()
    }

    fn watching(&self) -> Vec<(Way, usize)> {
        if self.with_exits > 0 { vec![(Way::ExitSites, self.with_exits)] } else { Vec::new() }
    }

    fn take(&mut self) -> Result<Taken> {
        let (mut threads, texts, fullest) = self.stream.take();
        if self.finished {
            self.last_losses(&mut threads);
        }
        let untold = self.tally(Tally::Untold);
        let lost = untold - std::mem::replace(&mut self.told, untold);
        Ok(Taken { threads: threads.list, texts, lost, unrecorded: 0, fullest })
    }

    fn calls(&mut self) -> Result<Vec<(FunctionId, u64)>> {
        let since = |counted: &Counted| Ok((counted.function, self.count(counted.number)? - counted.before));
        self.counted.iter().map(since).collect()
    }

    fn clock(&self) -> (u64, u64) {
        let now = monotonic_ns();
        (now, now)
    }

    fn alive(&self) -> bool {
        self.roots.alive()
    }

    fn finish(&mut self) -> Result<()> {
        self.finished = true;
        self.probes.clear();
        self.moves.leave();
        self.lives.clear();
        self.switches = None;
        Ok(())
    }
}
