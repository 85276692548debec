//! The sums' BPF programs: loaded, attached and read.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object};
use tare_probe::Result;
use tare_probe::bpf::load::{Plain, attach, from_bytes, iterate, load_some, map, object, refusal};
use tare_probe::bpf::ring::Ring;
use tare_probe::clock::monotonic_ns;

use super::runs::{Runs, count_run_times, runs_of};
use crate::os::{
    Activity, COUNTS, CallSum, Histogram, LOST, Level, MESSAGE_BYTES, Member, Process, ProcessSum,
    ProgramRuns, Scope, Snapshot,
};

const SETTLE: &str = "settle";
const CALLS: [&str; 2] = ["on_enter", "on_exit"];
/// Without one of these there is no trace.
const NEEDED: [&str; 4] = ["on_switch", "on_wakeup", "on_wakeup_new", "on_fork"];
/// Each of these is a table of its own; a kernel may lack some.
const OTHERS: [&str; 10] = [
    "on_exec",
    "on_fault_user",
    "on_fault_kernel",
    "on_add",
    "on_get",
    "on_queue",
    "on_complete",
    "on_done",
    "on_send",
    "on_receive",
];
/// Since Linux 6.17.
const ARRIVAL: &str = "on_arrival";
const BY_NAMESPACE: u32 = 1;
const MESSAGES: u32 = 2;
const TRACE_CALLS: u32 = 4;
const SLOTS: usize = 40;
const STATES: usize = 5;

#[repr(C)]
#[derive(Clone, Copy)]
struct Key {
    node: u32,
    tgid: u32,
    call: u32,
    pad: u32,
}
// SAFETY: four 32-bit numbers.
unsafe impl Plain for Key {}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawProcess {
    node: u32,
    pad: u32,
    next_sector: u64,
    name: [u8; 16],
    title: [u8; 96],
}
// SAFETY: numbers and bytes without padding between them.
unsafe impl Plain for RawProcess {}

#[derive(Clone, Copy)]
#[repr(C)]
struct RawMessage([u8; MESSAGE_BYTES]);
// SAFETY: bytes.
unsafe impl Plain for RawMessage {}

pub(crate) struct Programs {
    links: Vec<(&'static str, Link)>,
    settle: Link,
    ring: Ring<RawMessage>,
    object: Object,
    /// Open while run times are counted.
    _run_times: Option<OwnedFd>,
}

impl Programs {
    pub(crate) fn start(members: &[Member], level: Level) -> Result<Self> {
        Self::with(members, level, true).or_else(|refused| {
            // The first refusal says more where both fail.
            Self::with(members, level, false).map_err(|_| refused)
        })
    }

    fn with(members: &[Member], level: Level, arrival: bool) -> Result<Self> {
        let mut names: Vec<&'static str> = NEEDED.into_iter().chain(OTHERS).collect();
        if arrival {
            names.push(ARRIVAL);
        }
        if level != Level::Light {
            names.extend(CALLS);
        }
        let mut object = load_some(object!("os"), |name| name == SETTLE || names.contains(&name))?;
        let mut options = if level == Level::Light { 0 } else { TRACE_CALLS };
        if members.iter().any(|member| matches!(member.scope, Scope::Namespace(_))) {
            options |= BY_NAMESPACE;
        }
        if level == Level::Messages {
            options |= MESSAGES;
        }
        put(&map(&object, "options")?, 0, &options.to_ne_bytes())?;
        for member in members {
            enlist(&object, member)?;
        }
        let ring = Ring::open(&map(&object, "ring")?, "tare-messages")?;
        let settle = attach(&mut object, SETTLE)?;
        let mut links = Vec::new();
        for name in names {
            links.push((name, attach(&mut object, name)?));
        }
        iterate(&settle, &mut Vec::new())?;
        Ok(Self { links, settle, ring, object, _run_times: count_run_times() })
    }

    /// Adds nodes' processes that were missing from the list.
    pub(crate) fn add(&mut self, members: &[Member]) -> Result<()> {
        for member in members {
            enlist(&self.object, member)?;
        }
        iterate(&self.settle, &mut Vec::new()).map(|_| ())
    }

    pub(crate) fn snapshot(&mut self) -> Result<Snapshot> {
        let at_ns = monotonic_ns();
        put(&map(&self.object, "moment")?, 0, &at_ns.to_ne_bytes())?;
        iterate(&self.settle, &mut Vec::new())?;
        let mut programs = Vec::new();
        for (name, _) in &self.links {
            let Runs { count, ns, passed_over } = runs_of(&mut self.object, name)?;
            programs.push(ProgramRuns { name, count, ns, passed_over });
        }
        Ok(Snapshot {
            at_ns,
            calls: self.calls()?,
            sums: self.sums()?,
            processes: self.processes()?,
            histograms: self.histograms()?,
            activities: self.activities()?,
            lost: self.lost()?,
            programs,
        })
    }

    pub(crate) fn messages(&mut self) -> Vec<u8> {
        self.ring.take().into_iter().flat_map(|message| message.0).collect()
    }

    fn calls(&self) -> Result<Vec<CallSum>> {
        let rows = summed::<{ 3 + STATES }>(&map(&self.object, "calls")?)?;
        let sum = |(key, [count, errors, bytes, spent_ns @ ..]): (Key, [u64; 3 + STATES])| CallSum {
            node: key.node,
            tgid: key.tgid,
            call: key.call,
            count,
            errors,
            bytes,
            spent_ns,
        };
        Ok(rows.into_iter().map(sum).collect())
    }

    fn sums(&self) -> Result<Vec<ProcessSum>> {
        let rows = summed::<{ COUNTS.len() }>(&map(&self.object, "sums")?)?;
        Ok(rows
            .into_iter()
            .map(|(key, counts)| ProcessSum { node: key.node, tgid: key.tgid, counts })
            .collect())
    }

    fn histograms(&self) -> Result<Vec<Histogram>> {
        let rows = summed::<SLOTS>(&map(&self.object, "histograms")?)?;
        let histogram = |(key, slots): (Key, [u64; SLOTS])| Histogram {
            node: key.node,
            tgid: key.tgid,
            kind: key.call,
            slots: slots.to_vec(),
        };
        Ok(rows.into_iter().map(histogram).collect())
    }

    fn processes(&self) -> Result<Vec<Process>> {
        let table = map(&self.object, "processes")?;
        let mut found = BTreeMap::new();
        for key in table.keys() {
            let (Some(tgid), Some(bytes)) = (number(&key), get(&table, &key)?) else { continue };
            let Some(raw) = from_bytes::<RawProcess>(&bytes) else { continue };
            found.insert(
                tgid,
                Process { node: raw.node, tgid, name: text(&raw.name), title: text(&raw.title) },
            );
        }
        Ok(found.into_values().collect())
    }

    fn activities(&self) -> Result<Vec<Activity>> {
        let table = map(&self.object, "activities")?;
        let mut found = Vec::new();
        for key in table.keys() {
            let (Some(node), Some(bytes)) = (number(&key), get(&table, &key)?) else { continue };
            let [_mark, io_ns, busy_ns] = words(&bytes);
            found.push(Activity { node, io_ns, busy_ns });
        }
        Ok(found)
    }

    fn lost(&self) -> Result<[u64; LOST.len()]> {
        let table = map(&self.object, "lost")?;
        let mut found = [0; LOST.len()];
        for (kind, count) in (0u32..).zip(&mut found) {
            *count = get(&table, &kind.to_ne_bytes())?.map_or(0, |bytes| words::<1>(&bytes)[0]);
        }
        Ok(found)
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        // Nothing more goes into the ring when its thread is stopped.
        self.links.clear();
    }
}

fn enlist(object: &Object, member: &Member) -> Result<()> {
    match member.scope {
        Scope::Namespace(number) => put(&map(object, "namespaces")?, number, &member.node.to_ne_bytes()),
        Scope::Process(tgid) => {
            // One that ended since it was listed has nothing to trace.
            let name = std::fs::read_to_string(format!("/proc/{tgid}/comm")).unwrap_or_default();
            if name.is_empty() {
                return Ok(());
            }
            let mut raw = [0; size_of::<RawProcess>()];
            raw[..4].copy_from_slice(&member.node.to_ne_bytes());
            let name = &name.trim_end().as_bytes()[..name.trim_end().len().min(15)];
            raw[16..16 + name.len()].copy_from_slice(name);
            put(&map(object, "processes")?, tgid, &raw)
        }
    }
}

fn put(map: &MapHandle, key: u32, value: &[u8]) -> Result<()> {
    map.update(&key.to_ne_bytes(), value, MapFlags::ANY).map_err(|e| refusal(&e))
}

fn get(map: &MapHandle, key: &[u8]) -> Result<Option<Vec<u8>>> {
    map.lookup(key, MapFlags::ANY).map_err(|e| refusal(&e))
}

/// Entries of a map with values for each CPU, added up.
fn summed<const N: usize>(map: &MapHandle) -> Result<Vec<(Key, [u64; N])>> {
    let mut found = Vec::new();
    for key in map.keys() {
        let values = map.lookup_percpu(&key, MapFlags::ANY).map_err(|e| refusal(&e))?;
        let (Some(key), Some(values)) = (from_bytes::<Key>(&key), values) else { continue };
        let mut sum = [0u64; N];
        for value in &values {
            for (total, part) in sum.iter_mut().zip(words::<N>(value)) {
                *total += part;
            }
        }
        found.push((key, sum));
    }
    Ok(found)
}

/// The first numbers of 64 bits.
fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let (chunks, _) = bytes.as_chunks::<8>();
    let mut words = [0; N];
    for (word, chunk) in words.iter_mut().zip(chunks) {
        *word = u64::from_ne_bytes(*chunk);
    }
    words
}

fn number(key: &[u8]) -> Option<u32> {
    key.try_into().ok().map(u32::from_ne_bytes)
}

/// Parts that end with a zero byte, joined by spaces.
fn text(bytes: &[u8]) -> String {
    let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    let parts: Vec<_> = parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(level: Level) -> Option<Programs> {
        let member = Member { node: 1, scope: Scope::Process(std::process::id()) };
        match Programs::start(&[member], level) {
            Ok(programs) => Some(programs),
            Err(error) if error.errno == libc::EPERM => {
                eprintln!("skipped: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn times_of_a_sleeping_process_add_up_to_the_elapsed_time() {
        for level in [Level::Light, Level::Full, Level::Messages] {
            let Some(mut programs) = started(level) else { return };
            let before = programs.snapshot().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(50));
            let after = programs.snapshot().unwrap();
            let total =
                |snapshot: &Snapshot| -> u64 { snapshot.calls.iter().flat_map(|sum| sum.spent_ns).sum() };
            let elapsed = after.at_ns - before.at_ns;
            let spent = total(&after) - total(&before);
            assert!(spent >= elapsed - elapsed / 1000, "{level:?}: {spent} of {elapsed}");
            assert_eq!(after.lost, [0; LOST.len()]);
        }
    }

    #[test]
    fn calls_are_counted_to_the_last() {
        let Some(mut programs) = started(Level::Full) else { return };
        let counted = |snapshot: &Snapshot| -> u64 {
            snapshot
                .calls
                .iter()
                .filter(|sum| i64::from(sum.call) == libc::SYS_getppid)
                .map(|sum| sum.count)
                .sum()
        };
        let before = counted(&programs.snapshot().unwrap());
        for _ in 0..1234 {
            let _ = std::os::unix::process::parent_id();
        }
        assert_eq!(counted(&programs.snapshot().unwrap()) - before, 1234);
    }

    #[test]
    fn parts_of_a_title_are_joined() {
        assert_eq!(text(b"postgres: a\0b\0\0\0"), "postgres: a b");
    }
}
