//! Following threads through a BPF scheduler trace that is summed in the kernel.

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object};

use super::load::{Plain, attach, from_bytes, iterate, load, load_some, map, object, refusal};
use crate::clock::monotonic_ns;
use crate::error::{ProbeError, Result};
use crate::procfs::task::TaskFiles;
use crate::timeline::{Follow, State, Timeline};

const STATES: [State; 5] = [State::OnCpu, State::RunQueue, State::Sleep, State::BlockIo, State::OtherWait];
const ENDED: u64 = 5;
const UNKNOWN: u64 = 6;
const LOOKED: u64 = 8;
const PROGRAMS: [&str; 6] =
    ["on_switch", "on_wakeup", "on_irq", "on_irq_end", "on_softirq", "on_softirq_end"];
/// Mends what `on_switch` missed, from Linux 6.17 on.
const MENDING: &str = "on_arrival";
/// `MAX_THREADS` of follow.bpf.c.
const MOST: usize = 1024;
/// How often a reading that an event came between is tried again.
const TRIES: usize = 100;
/// How often two counts that disagree are read again; then an event was lost, and more tries find it no more.
const RECOUNTS: usize = 3;

/// `struct line` of follow.bpf.c.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Line {
    done: u64,
    spent: [u64; 5],
    since: u64,
    followed: u64,
    switch_ins: u64,
    slices_before: u64,
    slices_end: u64,
    state: u64,
    look_since: u64,
    look_slices: u64,
    stolen: u64,
    steal_at: u64,
    interrupted: u64,
    begun: u64,
}

// SAFETY: 64-bit numbers only.
unsafe impl Plain for Line {}

struct Thread {
    tid: i32,
    files: TaskFiles,
}

/// Follows threads until it is dropped; the programs are attached that long.
pub(crate) struct Trace {
    threads: Vec<Thread>,
    lines: MapHandle,
    _links: Vec<Link>,
    _object: Object,
}

impl Trace {
    pub(crate) fn start(tids: &[i32]) -> Result<Self> {
        if tids.len() > MOST {
            return Err(ProbeError::new(
                format!("{} threads are too many to follow", tids.len()),
                format!("follow at most {MOST}"),
            ));
        }
        let mended = load(object!("follow"));
        let mends = mended.is_ok();
        let mut object = mended.or_else(|_| load_some(object!("follow"), |program| program != MENDING))?;
        let lines = map(&object, "lines")?;
        let programs = PROGRAMS.into_iter().chain(mends.then_some(MENDING));
        let links = programs.map(|program| attach(&mut object, program)).collect::<Result<Vec<_>>>()?;
        let look = attach(&mut object, "first_look")?;
        let mut trace = Self { threads: Vec::new(), lines, _links: links, _object: object };
        for &tid in tids {
            trace.threads.push(Thread { tid, files: TaskFiles::process(tid) });
            trace.enlist(tid)?;
        }
        iterate(&look, &mut Vec::new())?;
        for &tid in tids {
            if trace.line(tid)?.state == UNKNOWN {
                let what = format!("thread {tid} cannot be followed: there is none");
                return Err(ProbeError {
                    errno: libc::ESRCH,
                    ..ProbeError::new(what, "name threads that are alive")
                });
            }
        }
        Ok(trace)
    }

    fn enlist(&self, tid: i32) -> Result<()> {
        let mut line = [0u8; size_of::<Line>()];
        let at = std::mem::offset_of!(Line, state);
        line[at..at + 8].copy_from_slice(&UNKNOWN.to_ne_bytes());
        self.lines.update(&tid.to_ne_bytes(), &line, MapFlags::ANY).map_err(|e| refusal(&e))
    }

    /// A whole line: no writer was at it while it was copied.
    fn line(&self, tid: i32) -> Result<Line> {
        for _ in 0..TRIES {
            let bytes = self.lines.lookup(&tid.to_ne_bytes(), MapFlags::ANY).map_err(|e| refusal(&e))?;
            if let Some(line) = bytes.as_deref().and_then(from_bytes::<Line>)
                && line.done == line.begun
            {
                return Ok(line.begin());
            }
        }
        Err(ProbeError::new(
            format!("the timeline of thread {tid} changes too fast to be read"),
            "read it again",
        ))
    }
}

impl Line {
    /// Takes over what the first look found, if no event has done so.
    fn begin(mut self) -> Self {
        if self.state & LOOKED != 0 {
            self.state &= !LOOKED;
            (self.followed, self.since, self.slices_before) =
                (self.look_since, self.look_since, self.look_slices);
        }
        self
    }

    fn until(&self, tid: i32, now: u64, counted: Option<u64>) -> Timeline {
        let ended = self.state == ENDED;
        let as_of_ns = if ended { self.since } else { now };
        let state = STATES.get(self.state as usize).copied().unwrap_or(State::OtherWait);
        let mut spent_ns = self.spent;
        spent_ns[state as usize] += as_of_ns - self.since;
        let counted = if ended { Some(self.slices_end) } else { counted };
        let slices = counted.unwrap_or(0).saturating_sub(self.slices_before);
        Timeline {
            tid,
            followed_ns: self.followed,
            as_of_ns,
            spent_ns,
            stolen_ns: self.stolen,
            interrupted_ns: self.interrupted,
            since_ns: self.since,
            switch_ins: self.switch_ins,
            slices,
            alive: counted.is_some() && !ended,
            trusted: counted.is_some() && slices == self.switch_ins,
            state,
        }
    }
}

impl Thread {
    fn slices(&mut self) -> Option<u64> {
        self.files.read_sched(&mut Vec::new()).ok().flatten().map(|sched| sched.slices)
    }
}

impl Follow for Trace {
    fn read(&mut self) -> Result<Vec<Timeline>> {
        let mut threads = std::mem::take(&mut self.threads);
        let lines = threads.iter_mut().map(|thread| self.thread(thread)).collect();
        self.threads = threads;
        lines
    }
}

impl Trace {
    /// The clock is read before the line, so an event between shows as one in the clock's future.
    fn thread(&self, thread: &mut Thread) -> Result<Timeline> {
        let mut recounts = 0;
        for _ in 0..TRIES {
            let now = monotonic_ns();
            let line = self.line(thread.tid)?;
            if line.since > now && line.state != ENDED {
                continue;
            }
            let timeline = line.until(thread.tid, now, thread.slices());
            // The thread may have been switched in between the two counts.
            if timeline.trusted || recounts == RECOUNTS {
                return Ok(timeline);
            }
            recounts += 1;
        }
        let what = format!("the timeline of thread {} changes too fast to be read", thread.tid);
        Err(ProbeError::new(what, "read it again"))
    }
}
