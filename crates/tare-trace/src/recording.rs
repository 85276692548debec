//! A finished trace, and its reduction to the parts of an interval.

use std::collections::{BTreeMap, HashMap};

use tare_probe::timeline::State;

use crate::disk::{Disk, DiskParts};
use crate::event::{After, Event, What, Who};
use crate::processor::{CpuParts, Processors};
use crate::spans::Spans;
use crate::thread::{ThreadParts, Track};

/// What was traced between two moments, put together once and asked as often as one likes.
#[derive(Debug)]
pub struct Recording {
    /// Everything from here on was listened to; CLOCK_MONOTONIC, ns.
    pub began_ns: u64,
    /// Up to here.
    pub ended_ns: u64,
    /// How many events there are.
    pub events: u64,
    /// Events that found no room.
    pub dropped: u64,
    /// Times that the kernel passed over each program, where it tells of any.
    pub passed_over: Vec<(&'static str, u64)>,
    tracks: Vec<Track>,
    now: HashMap<i32, usize>,
    processors: Processors,
    disk: Disk,
}

/// An interval of a recording, for chosen processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighed {
    /// Their threads, each that lived in the interval.
    pub threads: Vec<ThreadParts>,
    /// Their requests.
    pub disk: DiskParts,
    /// The machine's CPUs.
    pub cpus: Vec<CpuParts>,
    /// Why the trace of the chosen processes is not to be believed; empty if nothing speaks against it.
    pub why: Vec<String>,
}

/// What was recorded, before it is put together.
#[derive(Debug, Default)]
pub struct Recorded {
    /// See `Recording`.
    pub began_ns: u64,
    /// See `Recording`.
    pub ended_ns: u64,
    /// In the order in which they happened.
    pub events: Vec<Event>,
    /// See `Recording`.
    pub dropped: u64,
    /// See `Recording`.
    pub passed_over: Vec<(&'static str, u64)>,
}

impl From<Recorded> for Recording {
    fn from(recorded: Recorded) -> Self {
        let mut recording = Self {
            began_ns: recorded.began_ns,
            ended_ns: recorded.ended_ns,
            events: recorded.events.len() as u64,
            dropped: recorded.dropped,
            passed_over: recorded.passed_over,
            tracks: Vec::new(),
            now: HashMap::new(),
            processors: Processors::new(recorded.began_ns),
            disk: Disk::default(),
        };
        for event in &recorded.events {
            recording.add(event);
        }
        recording
    }
}

impl Recording {
    fn add(&mut self, event: &Event) {
        let Event { at, cpu, what } = *event;
        match what {
            What::Switch { from, after, to, slices, stolen } => {
                self.processors.switch(at, cpu, from.tid, to.tid);
                if from.tid != 0 {
                    self.leaves(at, cpu, from, after, stolen);
                }
                if to.tid != 0 && (to.traced || self.track(to).is_some()) {
                    self.comes(at, cpu, to, u64::from(slices), stolen);
                }
            }
            What::Arrive { who, slices, stolen } => {
                self.processors.arrive(at, cpu, who.tid);
                if who.tid != 0 && (who.traced || self.track(who).is_some()) {
                    self.comes(at, cpu, who, u64::from(slices).saturating_sub(1), stolen);
                }
            }
            What::Wake(who) => {
                if let Some(track) = self.track(who) {
                    track.wake(at);
                } else if who.traced {
                    self.begin(Track::new(who.tid, who.tgid, at, cpu, After::RunQueue, 0, false));
                }
            }
            What::Fork(who) => {
                self.begin(Track::new(who.tid, who.tgid, at, cpu, After::Sleep, 0, true));
            }
            What::Look { who, state, slices } => match self.track(who) {
                Some(track) => track.look(at, state, u64::from(slices)),
                None => {
                    self.begin(Track::new(who.tid, who.tgid, at, cpu, state, u64::from(slices), false));
                }
            },
            What::Submit(request) => self.disk.submit(at, &request),
            What::Issue(request) => self.disk.issue(at, &request),
            What::Done(request) => self.disk.done(at, &request),
            What::Merge(request) => self.disk.merge(&request),
        }
    }

    fn comes(&mut self, at: u64, cpu: u32, who: Who, slices: u64, stolen: u64) {
        match self.track(who) {
            Some(track) => track.switch_in(at, cpu, slices, stolen),
            None => self.begin(Track::switched_in(who.tid, who.tgid, at, cpu, slices, stolen)),
        }
    }

    /// Threads of others are kept while they wait for I/O: that is what a CPU's iowait is made of.
    fn leaves(&mut self, at: u64, cpu: u32, who: Who, after: After, stolen: u64) {
        if let Some(track) = self.track(who) {
            track.switch_out(at, cpu, after, stolen);
        } else if who.traced || after == After::BlockIo {
            self.begin(Track::new(who.tid, who.tgid, at, cpu, after, 0, false));
        }
    }

    /// The living thread of this id.
    fn track(&mut self, who: Who) -> Option<&mut Track> {
        let index = *self.now.get(&who.tid)?;
        Some(&mut self.tracks[index]).filter(|track| !track.ended())
    }

    fn begin(&mut self, track: Track) {
        self.now.insert(track.tid, self.tracks.len());
        self.tracks.push(track);
    }

    /// `[from, to)` for the processes `chosen`, by their ids.
    pub fn weigh(&self, from: u64, to: u64, chosen: &[i32]) -> Weighed {
        let ours = |who: &Who| chosen.contains(&who.tgid);
        let in_flight = self.disk.in_flight(to, ours);
        let theirs = self.tracks.iter().filter(|track| chosen.contains(&track.tgid));
        let threads: Vec<ThreadParts> = theirs
            .map(|track| track.parts(from, to, &in_flight))
            .filter(|parts| parts.present_ns > 0 || parts.why.is_some())
            .collect();
        let disk = self.disk.parts(from, to, ours);
        let cpus = self.processors.parts(
            from,
            to,
            &self.waits(to, |_| true),
            &self.waits(to, |track| chosen.contains(&track.tgid)),
            &in_flight,
        );
        let why = self.why(from, to, &threads, &disk);
        Weighed { threads, disk, cpus, why }
    }

    /// Who waited for I/O, by the CPU on which each had run before.
    fn waits(&self, to: u64, of: impl Fn(&Track) -> bool) -> BTreeMap<u32, Spans> {
        let mut found: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
        for (cpu, span) in self.tracks.iter().filter(|track| of(track)).flat_map(|t| t.block_io(to)) {
            found.entry(cpu).or_default().push(span);
        }
        found.into_iter().map(|(cpu, spans)| (cpu, Spans::union(spans))).collect()
    }

    fn why(&self, from: u64, to: u64, threads: &[ThreadParts], disk: &DiskParts) -> Vec<String> {
        let mut why = Vec::new();
        if from < self.began_ns || to > self.ended_ns {
            why.push("the interval was not traced from its beginning to its end".to_owned());
        }
        if self.dropped > 0 {
            why.push(format!("{} events found no room", self.dropped));
        }
        if threads.is_empty() {
            why.push("no thread of the chosen processes was seen".to_owned());
        }
        why.extend(threads.iter().filter_map(|thread| thread.why.clone()));
        let (traced, counted): (u64, u64) =
            (threads.iter().map(|t| t.switch_ins).sum(), threads.iter().map(|t| t.slices).sum());
        if traced != counted {
            why.push(format!("{traced} switch-ins traced, {counted} slices counted by the kernel"));
        }
        if !disk.trusted {
            why.push("the end of a block request was not traced".to_owned());
        }
        why
    }
}

impl Weighed {
    /// The sum over the threads of the time in one state, ns.
    pub fn spent_ns(&self, state: State) -> u64 {
        self.threads.iter().map(|thread| thread.spent_ns[state as usize]).sum()
    }
}

#[cfg(test)]
mod tests;
