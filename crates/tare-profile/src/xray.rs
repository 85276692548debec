//! The backend of programs that clang built with -fxray-instrument: the compiler left room at every function's entry and
//! exits ("sleds"), which the agent's library patches and unpatches while the program runs. The memory that both sides
//! share, and the library to preload, are the agent's (`crate::agent`); what differs is that only functions that are
//! wanted are changed, so that all others cost what a jump over a few bytes does.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tare_rings::Shared;

use crate::agent::{Agent, Tier};
use crate::backend::{Backend, FunctionId, Mode, Probe, Refused, Taken, Target, Way};
use crate::{ProbeError, Result};

/// The section that lists all sleds of an executable.
const SECTION: &[u8] = b"\0xray_instr_map\0";
/// How long the program may take to patch what is wanted. 10,000 functions take a tenth of it.
const PATCHED_WITHIN: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_micros(200);

/// Listens to a program that runs with the agent's library and has sleds.
#[derive(Debug)]
pub struct Xray {
    inner: Agent,
    /// The same memory: its generation is what the program waits on.
    shared: Shared,
}

impl Xray {
    /// As `Agent::create`, for a program that has sleds.
    pub fn create(
        folder: &Path,
        program: &Path,
        targets: &[Target],
        owner: Option<(u32, u32)>,
    ) -> Result<()> {
        let bytes = fs::read(program).map_err(|error| {
            ProbeError::os(
                format!("cannot read {}", program.display()),
                &error,
                "name the server's executable file",
            )
        })?;
        if !bytes.windows(SECTION.len()).any(|window| window == SECTION) {
            return Err(ProbeError::new(
                format!("{} has no XRay sleds", program.display()),
                "build and link it with clang -fxray-instrument -fxray-instruction-threshold=1 (docs/profile-xray.md), or use \
                 the agent, which needs no special build",
            ));
        }
        Agent::create(folder, Tier::Sleds, program, targets, &[], owner)
    }

    /// As `Agent::open`.
    pub fn open(folder: &Path) -> Result<Self> {
        let inner = Agent::open(folder)?;
        let shared = Shared::open(folder).map_err(|error| {
            ProbeError::os(
                format!("cannot open the profiler's table in {}", folder.display()),
                &error,
                "start the program again",
            )
        })?;
        Ok(Self { inner, shared })
    }

    /// Wakes the program's threads that patch, and waits until the process that was started has. Processes forked from it
    /// are awake by then too, but not waited for.
    fn patched(&self) {
        let header = self.shared.header();
        let generation = header.generation.load(Ordering::Acquire);
        // SAFETY: the word is mapped; waking nobody does nothing.
        unsafe { libc::syscall(libc::SYS_futex, header.generation.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
        let begin = Instant::now();
        while header.applied.load(Ordering::Acquire) != generation
            && begin.elapsed() < PATCHED_WITHIN
            && self.inner.alive()
        {
            std::thread::sleep(LOOK);
        }
    }
}

impl Backend for Xray {
    fn name(&self) -> &'static str {
        "xray"
    }

    fn says(&self) -> String {
        self.inner.says()
    }

    fn set(&mut self, targets: &[Target], probes: &[Probe], mode: Mode) -> Result<Vec<Refused>> {
        let refused = self.inner.set(targets, probes, mode)?;
        self.patched();
        Ok(refused)
    }

    fn watching(&self) -> Vec<(Way, usize)> {
        self.inner.watching()
    }

    fn take(&mut self) -> Result<Taken> {
        self.inner.take()
    }

    fn calls(&mut self) -> Result<Vec<(FunctionId, u64)>> {
        self.inner.calls()
    }

    fn clock(&self) -> (u64, u64) {
        self.inner.clock()
    }

    fn alive(&self) -> bool {
        self.inner.alive()
    }

    fn finish(&mut self) -> Result<()> {
        self.inner.finish()?;
        self.patched();
        Ok(())
    }
}
