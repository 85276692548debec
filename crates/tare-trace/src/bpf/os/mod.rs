//! The BPF programs of `os.bpf.c`: loaded as far as this kernel has their tracepoints, attached, and read.

mod raw;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object};
use tare_probe::bpf::load::{attach, from_bytes, iterate, load_some, map, object, refusal};
use tare_probe::bpf::ring::Ring;
use tare_probe::clock::monotonic_ns;
use tare_probe::{ProbeError, Result};

use self::raw::{RawCall, RawMessage, RawRead, RawRecord, RawRequest};
use crate::os::{Calls, Level, Outstanding, Request, Snapshot, Thread, with_open_calls};

const LOOK: &str = "look";
/// The scheduler's, without which there is nothing.
const NEEDED: [&str; 5] = ["on_switch", "on_wakeup", "on_wakeup_new", "on_fork", "on_exit"];
const CALLS: [&str; 2] = ["on_call", "on_return"];
const DISK: &str = "disk";
const LOST: [&str; 5] = ["threads", "calls", DISK, "messages", "reads"];
const PAUSE: Duration = Duration::from_millis(1);

/// Programs that a kernel may not have, by the part that they are for.
fn parts(level: Level) -> Vec<(&'static str, Vec<&'static str>)> {
    let send = if level >= Level::Messages { "on_message" } else { "on_send" };
    let read = if level >= Level::Reads { "on_read_of_file" } else { "on_read" };
    vec![
        ("arrivals", vec!["on_arrival"]),
        ("cache", vec![read, "on_added", "on_fault"]),
        (DISK, vec!["on_submit", "on_issue", "on_done", "on_merge"]),
        ("sockets", vec![send, "on_receive"]),
    ]
}

/// Counts until it is dropped.
pub(crate) struct Os {
    /// Why the kernel refuses a part.
    pub(crate) absent: BTreeMap<&'static str, String>,
    ended: Ring<RawRecord>,
    requests: Ring<RawRequest>,
    messages: Ring<RawMessage>,
    reads: Ring<RawRead>,
    dead: Vec<Thread>,
    before_ns: u64,
    look: Link,
    links: Vec<Link>,
    object: Object,
}

impl Os {
    pub(crate) fn start(level: Level, nodes: &[Vec<i32>]) -> Result<Self> {
        let mut programs: Vec<&str> = NEEDED.to_vec();
        if level >= Level::Full {
            programs.extend(CALLS);
        }
        let mut absent = BTreeMap::new();
        for (part, of_part) in parts(level) {
            // Each part by itself first: one refused program would take the whole object with it.
            match load_some(object!("os"), |name| of_part.contains(&name)) {
                Ok(_) => programs.extend(of_part),
                Err(error) => {
                    absent.insert(part, error.what);
                }
            }
        }
        // Its work is done by on_switch, too: see the program.
        absent.remove("arrivals");
        let mut object = load_some(object!("os"), |name| name == LOOK || programs.contains(&name))?;
        enlist(&map(&object, "processes")?, nodes)?;
        let ended = Ring::open(&map(&object, "ended")?, "tare-os-ended")?;
        let requests = Ring::open(&map(&object, "done_requests")?, "tare-os-disk")?;
        let messages = Ring::open(&map(&object, "messages")?, "tare-os-messages")?;
        let reads = Ring::open(&map(&object, "reads")?, "tare-os-reads")?;
        let look = attach(&mut object, LOOK)?;
        let links = programs.iter().map(|name| attach(&mut object, name)).collect::<Result<Vec<_>>>()?;
        let mut os = Self {
            absent,
            ended,
            requests,
            messages,
            reads,
            dead: Vec::new(),
            before_ns: 0,
            look,
            links,
            object,
        };
        os.living()?;
        Ok(os)
    }

    pub(crate) fn snapshot(&mut self, patience: Duration) -> Result<Snapshot> {
        let living = self.living()?;
        self.dead.extend(self.ended.take().iter().map(RawRecord::thread));
        let mut threads = self.dead.clone();
        // One that ended while we looked is among the dead, with more to say.
        let dead: HashSet<_> = self.dead.iter().map(|thread| (thread.tid, thread.tgid)).collect();
        threads.extend(living.into_iter().filter(|thread| !dead.contains(&(thread.tid, thread.tgid))));
        let at_ns = monotonic_ns();
        let calls = with_open_calls(self.calls()?, &threads);
        let mut snapshot = Snapshot {
            at_ns,
            threads,
            calls,
            messages: self.messages.take().iter().map(RawMessage::message).collect(),
            reads: self.reads.take().iter().map(RawRead::read).collect(),
            lost: self.lost()?,
            ..Snapshot::default()
        };
        (snapshot.requests, snapshot.outstanding) = self.disk(at_ns, patience)?;
        // A request that found no room while its end was waited for may be one of this snapshot.
        if let Some(count) = self.lost()?.remove(DISK) {
            snapshot.lost.insert(DISK, count);
        }
        self.before_ns = at_ns;
        Ok(snapshot)
    }

    /// Requests that are done, and those submitted until `at_ns` that are not. A request is waited for once: one that
    /// was outstanding at the snapshot before may never end.
    fn disk(&self, at_ns: u64, patience: Duration) -> Result<(Vec<Request>, Vec<Outstanding>)> {
        let until = Instant::now() + patience;
        let table = map(&self.object, "requests")?;
        let submitted = |key: &[u8]| -> Result<Option<RawRequest>> {
            let value = table.lookup(key, MapFlags::ANY).map_err(|e| refusal(&e))?;
            Ok(value.and_then(|bytes| from_bytes(&bytes)))
        };
        let mut pending = Vec::new();
        for key in table.keys() {
            if let Some(request) = submitted(&key)?.map(|raw| raw.outstanding())
                && request.submitted_ns <= at_ns
            {
                pending.push((key, request));
            }
        }
        while pending.iter().any(|(_, request)| request.submitted_ns > self.before_ns)
            && Instant::now() < until
        {
            sleep(PAUSE);
            let mut remaining = Vec::new();
            for (key, request) in pending {
                // The kernel uses the memory of a request again.
                if submitted(&key)?.is_some_and(|raw| raw.outstanding() == request) {
                    remaining.push((key, request));
                }
            }
            pending = remaining;
        }
        // The table was read before the ring: what is in neither does not exist.
        let done: Vec<_> = self.requests.take().iter().map(RawRequest::request).collect();
        let outstanding = pending.into_iter().map(|(_, request)| request);
        let outstanding = outstanding.filter(|one| !done.iter().any(|request| one.is(request))).collect();
        Ok((done, outstanding))
    }

    fn living(&mut self) -> Result<Vec<Thread>> {
        let mut bytes = Vec::new();
        let end = iterate(&self.look, &mut bytes)?;
        let records = bytes[..end].chunks_exact(size_of::<RawRecord>());
        Ok(records.filter_map(from_bytes::<RawRecord>).map(|record| record.thread()).collect())
    }

    fn calls(&self) -> Result<Vec<Calls>> {
        let calls = map(&self.object, "calls")?;
        let mut found = Vec::new();
        for key in calls.keys() {
            let Some(values) = calls.lookup_percpu(&key, MapFlags::ANY).map_err(|e| refusal(&e))? else {
                continue;
            };
            let (Some(tid), Some(number)) = (word(&key, 0), word(&key, 4)) else { continue };
            let mut sum = Calls { tid: tid as i32, number, count: 0, errors: 0, result: 0, spent: [0; 5] };
            for value in values.iter().filter_map(|bytes| from_bytes::<RawCall>(bytes)) {
                value.add_to(&mut sum);
            }
            found.push(sum);
        }
        Ok(found)
    }

    fn lost(&self) -> Result<BTreeMap<&'static str, u64>> {
        let counts = map(&self.object, "lost")?;
        let mut lost = BTreeMap::new();
        for (place, part) in LOST.iter().enumerate() {
            let value =
                counts.lookup(&(place as u32).to_ne_bytes(), MapFlags::ANY).map_err(|e| refusal(&e))?;
            let count = value.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes);
            if count > 0 {
                lost.insert(*part, count);
            }
        }
        Ok(lost)
    }
}

impl Drop for Os {
    fn drop(&mut self) {
        // Nothing more goes into the rings when their threads are stopped.
        self.links.clear();
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

fn enlist(list: &MapHandle, nodes: &[Vec<i32>]) -> Result<()> {
    for (node, processes) in nodes.iter().enumerate() {
        for tgid in processes {
            if !Path::new(&format!("/proc/{tgid}")).exists() {
                return Err(ProbeError::new(
                    format!("process {tgid} is gone"),
                    "give the id of a process that runs",
                ));
            }
            list.update(&tgid.to_ne_bytes(), &(node as u32).to_ne_bytes(), MapFlags::ANY)
                .map_err(|e| refusal(&e))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_level_counts_a_thread_of_this_process_where_bpf_works() {
        for level in [Level::Light, Level::Full, Level::Messages, Level::Reads] {
            let mut os = match Os::start(level, &[vec![std::process::id() as i32]]) {
                Ok(os) => os,
                Err(error) => {
                    eprintln!("skipped: {error}");
                    continue;
                }
            };
            let before = os.snapshot(Duration::ZERO).unwrap();
            for _ in 0..10 {
                fs::read("/proc/self/stat").unwrap();
            }
            let after = os.snapshot(Duration::ZERO).unwrap();
            assert!(after.lost.is_empty(), "{:?}", after.lost);
            assert!(!before.threads.is_empty());
            for thread in &after.threads {
                assert_eq!(thread.spent.iter().sum::<u64>(), thread.present_ns, "{thread:?}");
            }
            let reads = |snapshot: &Snapshot| -> u64 {
                snapshot.calls.iter().filter(|calls| calls.name() == "read").map(|calls| calls.count).sum()
            };
            if level >= Level::Full {
                assert!(reads(&after) >= reads(&before) + 10);
            } else {
                assert!(after.calls.is_empty());
            }
        }
    }
}
