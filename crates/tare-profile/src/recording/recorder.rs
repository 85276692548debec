//! Records on their way from a backend to a file, by a thread of the profiler's own.

use super::frame::{FrameKind, Last, WindowBegin, WindowEnd};
use super::pace::Pace;
use super::writer::Writer;
use crate::backend::{Backend, Detail, FunctionId, Mode, Probe, Refused, Stepped, Target, Way};
use crate::{ProbeError, Result};
use std::mem;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// Records what a backend's probes see, window by window, until it is stopped or dropped. Either takes the probes off.
pub struct Recorder {
    shared: Arc<Shared>,
    polling: Option<JoinHandle<()>>,
    name: &'static str,
    says: String,
}

struct Shared {
    work: Mutex<Work>,
    wake: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Work {
    backend: Box<dyn Backend>,
    writer: Writer,
    window: Option<Open>,
    windows: u32,
    pace: Pace,
    taken: u64, // ticks before the last take
    own_cpu_ns: u64,
    /// Of the window so far.
    unrecorded: u64,
    records: u64,
    stopping: bool,
    finished: bool,
    failure: Option<ProbeError>,
}

struct Open {
    number: u32,
    mode: Mode,
    cpu_before: u64,
}

impl Recorder {
    /// Begins a recording in a new file. No probe is on yet.
    pub fn start(path: &Path, backend: Box<dyn Backend>) -> Result<Self> {
        Self::with(Writer::create(path)?, backend)
    }

    pub(super) fn with(writer: Writer, backend: Box<dyn Backend>) -> Result<Self> {
        let (name, says, taken) = (backend.name(), backend.says(), backend.clock().0);
        let mut work = Work {
            backend,
            writer,
            window: None,
            windows: 0,
            pace: Pace::new(),
            taken,
            own_cpu_ns: 0,
            unrecorded: 0,
            records: 0,
            stopping: false,
            finished: false,
            failure: None,
        };
        work.read_clock().and_then(|_| work.writer.flush())?;
        let shared = Arc::new(Shared { work: Mutex::new(work), wake: Condvar::new() });
        let polled = Arc::clone(&shared);
        let polling = thread::Builder::new().name("tare-recorder".into()).spawn(move || poll(&polled));
        let polling = polling.map_err(|error| {
            ProbeError::os("a thread to record with", &error, "end some processes, or raise ulimit -u")
        })?;
        Ok(Self { shared, polling: Some(polling), name, says })
    }

    /// The backend's.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The backend's, as it was at the beginning.
    pub fn says(&self) -> &str {
        &self.says
    }

    /// Ends the window and begins one in which exactly these probes are on. Returns those that cannot be. After an
    /// error no window is open, and others may be tried.
    pub fn set(
        &self,
        targets: &[Target],
        probes: &[Probe],
        mode: Mode,
        purpose: &str,
        round: u32,
    ) -> Result<Vec<Refused>> {
        let set = self.shared.lock().guarded(|work| {
            work.end_window()?;
            let refused = match work.backend.set(targets, probes, mode) {
                Ok(refused) => refused,
                Err(error) => return Ok(Err(error)),
            };
            work.poll()?; // what came while they were set is in no window
            work.begin_window(probes, &refused, mode, purpose, round)?;
            work.pace.changed();
            Ok(Ok(refused))
        })?;
        self.shared.wake.notify_all(); // it may wait for longer than is wise now
        set
    }

    /// `Backend::stepped`.
    pub fn stepped(&self, targets: &[Target]) -> Vec<Stepped> {
        self.shared.lock().backend.stepped(targets)
    }

    /// How the functions of this window are watched.
    pub fn watching(&self) -> Vec<(Way, usize)> {
        self.shared.lock().backend.watching()
    }

    /// Entries by function in this window so far, in counting mode.
    pub fn calls(&self) -> Result<Vec<(FunctionId, u64)>> {
        let mut work = self.shared.lock();
        work.running()?;
        work.backend.calls()
    }

    /// Whether it records, and what it watches still runs.
    pub fn alive(&self) -> bool {
        let work = self.shared.lock();
        !work.finished && work.backend.alive()
    }

    /// Takes the probes off and closes the file. Tells, the first time, what kept it from recording.
    pub fn stop(&mut self) -> Result<()> {
        self.shared.lock().stopping = true;
        self.shared.wake.notify_all();
        if let Some(polling) = self.polling.take() {
            let _ = polling.join(); // a panic of the backend's: what it left is closed all the same
        }
        let mut work = self.shared.lock();
        if !work.finished {
            let closed = work.close();
            if let Err(error) = closed {
                work.fail(error);
            }
        }
        work.failure.take().map_or(Ok(()), Err)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.stop(); // who wants to know calls it
    }
}

/// The calling thread no longer interrupts what runs on its CPU when it wakes up, which may be what it watches, but waits for
/// that to pause or to have had its turn. It gets no less time by it, and nobody needs a privilege for it.
fn give_way() {
    // SAFETY: plain numbers, read during the call; where it is refused, the thread goes on as it was.
    unsafe {
        let batch = libc::sched_param { sched_priority: 0 };
        libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const batch);
    }
}

fn poll(shared: &Shared) {
    give_way();
    let mut work = shared.lock();
    loop {
        let pause = work.pace.pause();
        let (woken, over) = shared.wake.wait_timeout(work, pause).unwrap_or_else(PoisonError::into_inner);
        work = woken;
        if work.stopping || work.finished {
            return;
        }
        if over.timed_out() {
            let _ = work.guarded(Work::poll); // kept for the next call of the owner's
        }
    }
}

impl Work {
    /// Unless it ended; an error ends it.
    fn guarded<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.running()?;
        let before = thread_cpu_ns();
        let done = act(self);
        self.own_cpu_ns += thread_cpu_ns().saturating_sub(before);
        done.inspect_err(|error| self.fail(error.clone()))
    }

    fn running(&self) -> Result<()> {
        match &self.failure {
            Some(error) => Err(error.clone()),
            None if self.finished => {
                Err(ProbeError::new("the recording was stopped", "start another; what it has can be read"))
            }
            None => Ok(()),
        }
    }

    /// The probes off, whatever else went wrong.
    fn fail(&mut self, mut error: ProbeError) {
        self.finished = true;
        if let Err(left) = self.backend.finish() {
            error.what = format!("{}; and taking the probes off: {left}", error.what);
        }
        self.failure = Some(error);
    }

    fn read_clock(&mut self) -> Result<u64> {
        let (ticks, ns) = self.backend.clock();
        self.writer.numbers(FrameKind::Clock, &[ticks, ns])?;
        Ok(ticks)
    }

    /// What came since the last time, into the file. A reading of the clock comes before any record, so that also the
    /// first ones of a recording that is cut off lie behind two.
    fn poll(&mut self) -> Result<()> {
        let begun = self.backend.clock().0;
        let taken = self.backend.take()?;
        self.pace.looked(taken.fullest);
        self.unrecorded += taken.unrecorded;
        if !taken.texts.is_empty() {
            self.writer.json(FrameKind::Texts, &taken.texts)?;
        }
        let any = taken.lost > 0 || !taken.threads.is_empty();
        if any {
            let now = self.read_clock()?;
            if taken.lost > 0 {
                self.writer.numbers(FrameKind::Lost, &[taken.lost, self.taken, now])?;
            }
        }
        for thread in &taken.threads {
            self.records += thread.records.len() as u64;
            self.writer.records(thread)?;
        }
        self.taken = begun;
        if any || !taken.texts.is_empty() { self.writer.flush() } else { Ok(()) }
    }

    fn begin_window(
        &mut self,
        probes: &[Probe],
        refused: &[Refused],
        mode: Mode,
        purpose: &str,
        round: u32,
    ) -> Result<()> {
        let on = |probe: &&Probe| refused.iter().all(|refused| refused.function != probe.function);
        let on: Vec<&Probe> = probes.iter().filter(on).collect();
        let told = on.iter().filter(|probe| probe.detail != Detail::Site);
        let begin = WindowBegin {
            number: self.windows,
            ticks: self.read_clock()?,
            mode,
            purpose: purpose.to_owned(),
            round,
            functions: on.iter().map(|probe| probe.function).collect(),
            entry_only: on.iter().filter(|probe| probe.entry_only).map(|probe| probe.function).collect(),
            details: told.map(|probe| (probe.function, probe.detail.to_string())).collect(),
        };
        self.window = Some(Open { number: begin.number, mode, cpu_before: self.own_cpu_ns });
        self.windows += 1;
        self.writer.json(FrameKind::Begin, &begin)?;
        self.writer.flush()
    }

    /// All that happened before its last tick is in the file when it ends.
    fn end_window(&mut self) -> Result<()> {
        let ticks = self.read_clock()?;
        self.poll()?;
        let Some(window) = self.window.take() else { return Ok(()) };
        let calls = if window.mode == Mode::Counting { self.backend.calls()? } else { Vec::new() };
        let end = WindowEnd {
            number: window.number,
            ticks,
            calls,
            own_cpu_ns: self.own_cpu_ns - window.cpu_before,
            unrecorded: mem::take(&mut self.unrecorded),
        };
        self.writer.json(FrameKind::End, &end)?;
        self.writer.flush()
    }

    fn close(&mut self) -> Result<()> {
        let before = thread_cpu_ns();
        self.end_window()?;
        self.backend.finish()?;
        self.finished = true;
        self.own_cpu_ns += thread_cpu_ns().saturating_sub(before);
        self.read_clock()?;
        let last = Last { own_cpu_ns: self.own_cpu_ns, records: self.records };
        self.writer.json(FrameKind::Last, &last)?;
        self.writer.flush()
    }
}

fn thread_cpu_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec that the call fills in.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
