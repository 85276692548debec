//! The tiers: each is really tried at start, the best that works is used.

use std::mem::ManuallyDrop;

use crate::clock::monotonic_ns;
use crate::error::{ProbeError, Result};
use crate::exit::{Exit, Listen};
use crate::machine::{self, Machine};
use crate::procfs;
use crate::snapshot::{Body, Snapshot};
use crate::taskstats::{listen::Listener as TaskstatsListener, query::Query};
use crate::timeline::{Follow, Timeline};

/// The tiers, best first.
pub const TIERS: [&str; 3] = ["bpf", "taskstats", "procfs"];

/// One tier that was tried at start.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// One of `TIERS`.
    pub name: &'static str,
    /// Whether it works here and for this user.
    pub works: bool,
    /// What was seen when it was tried.
    pub reason: String,
    /// What would make it work; empty if it does.
    pub next_step: String,
}

enum Source {
    #[cfg(feature = "bpf")]
    Bpf(Box<crate::bpf::tasks::Reader>),
    Files(Box<procfs::reader::Reader>),
}

/// Reads the kernel through one tier.
pub struct Probe {
    /// The tier in use.
    pub tier: &'static str,
    /// All tiers, best first.
    pub attempts: Vec<Attempt>,
    source: Source,
    machine: machine::Reader,
    /// Who opened it: a netlink socket that parent and child share would give each the other's answers.
    owner: u32,
}

impl Probe {
    /// The best tier that works, or the one that is asked for.
    pub fn open(wanted: Option<&str>) -> Result<Self> {
        if let Some(name) = wanted.filter(|name| !TIERS.contains(name)) {
            return Err(ProbeError::new(
                format!("there is no tier {name:?}"),
                format!("ask for one of {}", TIERS.join(", ")),
            ));
        }
        let mut attempts = Vec::with_capacity(TIERS.len());
        let mut chosen = None;
        for name in TIERS {
            let tried = open_tier(name);
            attempts.push(match &tried {
                Ok((_, reason)) => {
                    Attempt { name, works: true, reason: (*reason).to_owned(), next_step: String::new() }
                }
                Err(e) => {
                    Attempt { name, works: false, reason: e.what.clone(), next_step: e.next_step.clone() }
                }
            });
            let fits = wanted.is_none_or(|wanted| wanted == name);
            match tried {
                Ok((source, _)) if fits && chosen.is_none() => chosen = Some((name, source)),
                Err(error) if wanted == Some(name) => {
                    return Err(ProbeError {
                        what: format!("the {name} tier does not work: {}", error.what),
                        ..error
                    });
                }
                _ => {}
            }
        }
        let (tier, source) = chosen.ok_or_else(|| {
            ProbeError::new("no tier works, not even /proc", "mount proc on /proc (mount -t proc proc /proc)")
        })?;
        Ok(Self { tier, attempts, source, machine: machine::Reader::default(), owner: std::process::id() })
    }

    /// All processes; in the /proc tiers, threads only of those in `threads_of`.
    pub fn processes(&mut self, threads_of: &[i32]) -> Result<Snapshot> {
        if self.owner != std::process::id() {
            self.source = open_tier(self.tier)?.0;
            self.owner = std::process::id();
        }
        let started_ns = monotonic_ns();
        let (body, vanished, ended_ns) = match &mut self.source {
            #[cfg(feature = "bpf")]
            Source::Bpf(reader) => {
                let (tasks, ended_ns) = reader.read()?;
                (Body::Tasks(tasks), 0, ended_ns)
            }
            Source::Files(reader) => {
                let round = reader.read(threads_of)?;
                let body = Body::Rows { processes: round.processes, threads: round.threads };
                (body, round.vanished, monotonic_ns())
            }
        };
        Ok(Snapshot { started_ns, ended_ns, tier: self.tier, vanished, body })
    }

    /// The machine's ticks and counts.
    pub fn machine(&mut self) -> Result<Machine> {
        self.machine.read()
    }

    /// Records every task that ends from now on.
    pub fn listen(&self) -> Result<ExitListener> {
        match self.tier {
            #[cfg(feature = "bpf")]
            "bpf" => Ok(ExitListener::new("bpf", Box::new(crate::bpf::exits::Listener::start()?))),
            "taskstats" => Ok(ExitListener::new("taskstats", Box::new(TaskstatsListener::start()?))),
            _ => Err(ProbeError::new(
                "exits cannot be listened to in the procfs tier",
                "run as root, so that the bpf or taskstats tier works",
            )),
        }
    }

    /// Traces these threads from now on.
    pub fn follow(&self, tids: &[i32]) -> Result<Follower> {
        match self.tier {
            #[cfg(feature = "bpf")]
            "bpf" => Ok(Follower { inner: Box::new(crate::bpf::follow::Trace::start(tids)?) }),
            _ => Err(ProbeError::new(
                format!("threads {tids:?} cannot be followed in the {} tier", self.tier),
                "use the bpf tier (see the attempts for what it lacks)",
            )),
        }
    }
}

fn open_tier(name: &str) -> Result<(Source, &'static str)> {
    match name {
        #[cfg(feature = "bpf")]
        "bpf" => {
            let reader = crate::bpf::tasks::Reader::open()?;
            Ok((Source::Bpf(Box::new(reader)), "the task iterator was loaded and read"))
        }
        #[cfg(not(feature = "bpf"))]
        "bpf" => Err(ProbeError::new(
            "this build has no BPF programs",
            "install clang and the headers of libelf and zlib (Debian: clang libelf-dev zlib1g-dev), then \
             install the package again",
        )),
        "taskstats" => {
            let reader = procfs::reader::Reader::open(Some(Query::open()?))?;
            Ok((Source::Files(Box::new(reader)), "taskstats answered for this process"))
        }
        _ => {
            let mut reader = procfs::reader::Reader::open(None)?;
            reader.read(&[])?;
            Ok((Source::Files(Box::new(reader)), "/proc was read"))
        }
    }
}

/// Records every task that ends until it is dropped.
pub struct ExitListener {
    /// `bpf` or `taskstats`.
    pub how: &'static str,
    inner: ManuallyDrop<Box<dyn Listen>>,
    /// Who started it: a forked child has a copy of it but not its thread, and must leave the parent's records be.
    owner: u32,
}

impl ExitListener {
    fn new(how: &'static str, inner: Box<dyn Listen>) -> Self {
        Self { how, inner: ManuallyDrop::new(inner), owner: std::process::id() }
    }

    /// The records so far, oldest first, each once; those of all tasks that had ended before the call are among them.
    pub fn drain(&mut self) -> Result<Vec<Exit>> {
        if self.owner != std::process::id() {
            return Err(ProbeError::new("this exit listener belongs to the parent process", "listen anew"));
        }
        self.inner.drain()
    }

    /// Records known to be lost since the start.
    pub fn lost(&self) -> u64 {
        self.inner.lost()
    }

    /// Tasks born since the start; `None` if this way does not count them.
    pub fn births(&self) -> Option<u64> {
        self.inner.births()
    }
}

impl Drop for ExitListener {
    fn drop(&mut self) {
        if self.owner == std::process::id() {
            // SAFETY: nothing uses `inner` after this.
            unsafe { ManuallyDrop::drop(&mut self.inner) };
        }
    }
}

/// Traces few threads until it is dropped.
pub struct Follower {
    inner: Box<dyn Follow>,
}

impl Follower {
    /// Where each thread's time went so far.
    pub fn read(&mut self) -> Result<Vec<Timeline>> {
        self.inner.read()
    }
}
