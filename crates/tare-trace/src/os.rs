//! Counts of what processes ask of the kernel: time, system calls, page cache, block requests, messages.

use std::collections::{BTreeMap, HashMap};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// How much is observed; each level has all of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing in a system call's path.
    Light,
    /// Each system call.
    Full,
    /// Each message between addresses, with a hash of its content.
    Messages,
    /// Each buffered read of a file.
    Reads,
}

impl Level {
    /// The level of this name.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "light" => Self::Light,
            "full" => Self::Full,
            "messages" => Self::Messages,
            "reads" => Self::Reads,
            _ => return None,
        })
    }
}

/// Times of a thread in the states of `tare_probe::timeline::State`, in their order, ns.
pub type Spent = [u64; 5];

/// The kernel's own counters of a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Kept {
    /// Time on a CPU, ns (schedstat).
    pub run: u64,
    /// Time in a run queue, ns.
    pub run_delay: u64,
    /// Bytes of calls like read.
    pub read_chars: u64,
    /// Bytes of calls like write.
    pub write_chars: u64,
    /// Calls like read.
    pub read_calls: u64,
    /// Calls like write.
    pub write_calls: u64,
    /// Bytes caused to be read from a device.
    pub read_bytes: u64,
    /// Bytes caused to be written to one.
    pub write_bytes: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with it.
    pub major_faults: u64,
    /// Context switches by waiting.
    pub voluntary: u64,
    /// Context switches by preemption.
    pub involuntary: u64,
}

impl Kept {
    /// The growth since `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            run: self.run.saturating_sub(before.run),
            run_delay: self.run_delay.saturating_sub(before.run_delay),
            read_chars: self.read_chars.saturating_sub(before.read_chars),
            write_chars: self.write_chars.saturating_sub(before.write_chars),
            read_calls: self.read_calls.saturating_sub(before.read_calls),
            write_calls: self.write_calls.saturating_sub(before.write_calls),
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(before.write_bytes),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            voluntary: self.voluntary.saturating_sub(before.voluntary),
            involuntary: self.involuntary.saturating_sub(before.involuntary),
        }
    }
}

/// Sends and receives on sockets of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Sockets {
    /// Calls that sent.
    pub sends: u64,
    /// Bytes that they sent.
    pub sent_bytes: u64,
    /// Calls that received.
    pub receives: u64,
    /// Bytes that they received.
    pub received_bytes: u64,
}

/// Buffered reads of a thread, in pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PageCache {
    /// Buffered reads.
    pub reads: u64,
    /// Pages that they asked for.
    pub requested: u64,
    /// Of these, pages that the read itself brought in.
    pub missed: u64,
    /// Of these, pages that were on their way from a disk.
    pub in_flight: u64,
    /// Pages brought in beyond a request.
    pub ahead: u64,
    /// Pages brought in otherwise: faults of mapped files.
    pub mapped: u64,
}

/// Counts of one thread since it was first seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// Place of its process among the observed nodes.
    pub node: u32,
    /// The thread.
    pub tid: i32,
    /// Its process.
    pub tgid: i32,
    /// The thread's own name.
    pub comm: String,
    /// Command line of its process when it ended; empty while it lives.
    pub title: String,
    /// Whether it has ended.
    pub ended: bool,
    /// How long it has been observed, ns.
    pub present_ns: u64,
    /// Where this time went.
    pub spent: Spent,
    /// Time on a CPU in system calls, ns.
    pub system_ns: u64,
    /// Time on a CPU while a request of the observed was outstanding, ns.
    pub io_on_cpu_ns: u64,
    /// Its use of the page cache.
    pub cache: PageCache,
    /// Messages between addresses.
    pub network: Sockets,
    /// Messages of Unix sockets.
    pub local: Sockets,
    /// Growth of the kernel's own counters.
    pub kept: Kept,
    /// Calls that have returned and found room in the table of calls.
    pub returned: u64,
    /// The call in progress, with its time so far. One that began before the thread was first seen is none.
    pub open_call: Option<Calls>,
}

/// Calls of one kind by one thread. Times are also those of a call in progress; all else is of calls that returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// The thread.
    pub tid: i32,
    /// The call's number.
    pub number: u32,
    /// How many returned.
    pub count: u64,
    /// How many of them with an error.
    pub errors: u64,
    /// Sum of positive results.
    pub result: u64,
    /// Where their time went.
    pub spent: Spent,
}

impl Calls {
    /// The call's name, or its number where this build has no name for it.
    pub fn name(&self) -> String {
        syscalls::Sysno::new(self.number as usize)
            .map_or_else(|| format!("call {}", self.number), |call| call.name().to_owned())
    }
}

/// The calls that have returned, with the time of those in progress, so that its part in each window counts there.
///
/// The table of calls is read after the threads. A thread whose call has returned since is found by the number of its
/// calls: the table has all of that call. A call that its thread did not survive never returns.
pub fn with_open_calls(returned: Vec<Calls>, threads: &[Thread]) -> Vec<Calls> {
    let mut table: HashMap<i32, u64> = HashMap::new();
    for calls in &returned {
        *table.entry(calls.tid).or_default() += calls.count;
    }
    let mut known: HashMap<i32, u64> = HashMap::new();
    for thread in threads {
        *known.entry(thread.tid).or_default() += thread.returned;
    }
    let mut all: BTreeMap<_, _> =
        returned.into_iter().map(|calls| ((calls.tid, calls.number), calls)).collect();
    for thread in threads {
        let is_open = thread.ended || known.get(&thread.tid) == Some(table.get(&thread.tid).unwrap_or(&0));
        if let Some(open) = thread.open_call.as_ref().filter(|_| is_open) {
            let none = Calls { spent: [0; 5], ..open.clone() };
            let calls = all.entry((open.tid, open.number)).or_insert(none);
            for (sum, spent) in calls.spent.iter_mut().zip(open.spent) {
                *sum += spent;
            }
        }
    }
    all.into_values().collect()
}

/// A block request that is done. Instants in CLOCK_MONOTONIC, ns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The submitter's node; `None`: a thread of the kernel.
    pub node: Option<u32>,
    /// The submitter.
    pub tid: i32,
    /// The device's number.
    pub device: u32,
    /// Whether it writes.
    pub write: bool,
    /// First sector, of 512 bytes.
    pub sector: u64,
    /// Its length.
    pub bytes: u32,
    /// When it was submitted.
    pub submitted_ns: u64,
    /// When its device got it.
    pub issued_ns: u64,
    /// When it was done.
    pub done_ns: u64,
}

/// A block request that was submitted and is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outstanding {
    /// The submitter's node; `None`: a thread of the kernel.
    pub node: Option<u32>,
    /// The submitter.
    pub tid: i32,
    /// When it was submitted; CLOCK_MONOTONIC, ns. A thread submits one request at a time.
    pub submitted_ns: u64,
}

impl Outstanding {
    /// Whether it is this one that is done.
    pub fn is(&self, request: &Request) -> bool {
        (self.node, self.tid, self.submitted_ns) == (request.node, request.tid, request.submitted_ns)
    }
}

/// A message that was sent by one system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// When the call began; CLOCK_MONOTONIC, ns.
    pub at_ns: u64,
    /// The sender's node.
    pub node: u32,
    /// The sender.
    pub tid: i32,
    /// Its address.
    pub sender: SocketAddr,
    /// The other end's.
    pub receiver: SocketAddr,
    /// Its length.
    pub bytes: u32,
    /// Hash of the whole payload; `None` where it was not read whole.
    pub hash: Option<u64>,
    /// Its first bytes.
    pub head: Vec<u8>,
}

/// Pages of a file that a buffered read got at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// When it had them; CLOCK_MONOTONIC, ns.
    pub at_ns: u64,
    /// The reader's node.
    pub node: u32,
    /// The reader.
    pub tid: i32,
    /// Number of the file's device.
    pub device: u32,
    /// The file.
    pub inode: u64,
    /// First page.
    pub page: u64,
    /// How many were requested; 0 for a further batch of a long read, whose first record has them.
    pub pages: u32,
    /// How many of them the read itself brought in.
    pub missed: u32,
    /// How many were on their way from a disk.
    pub in_flight: u32,
}

/// An address as the kernel keeps it: IPv4 in the first four bytes. IPv4 in IPv6 becomes IPv4.
pub fn address(bytes: [u8; 16], is_v4: bool, port: u16) -> SocketAddr {
    if is_v4 {
        let [a, b, c, d, ..] = bytes;
        return (Ipv4Addr::new(a, b, c, d), port).into();
    }
    let address = Ipv6Addr::from(bytes);
    address.to_ipv4_mapped().map_or_else(|| (address, port).into(), |v4| (v4, port).into())
}

/// All counts at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// CLOCK_MONOTONIC, ns.
    pub at_ns: u64,
    /// Those that live and those that have ended.
    pub threads: Vec<Thread>,
    /// Calls by thread and kind.
    pub calls: Vec<Calls>,
    /// Requests done since the snapshot before; some were submitted before it, some after `at_ns`.
    pub requests: Vec<Request>,
    /// Requests that were submitted until `at_ns` and are not done.
    pub outstanding: Vec<Outstanding>,
    /// Messages since the snapshot before.
    pub messages: Vec<Message>,
    /// Reads of files since the snapshot before.
    pub reads: Vec<Read>,
    /// Events that found no room since the start, by part.
    pub lost: BTreeMap<&'static str, u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_the_kernel_keeps_them() {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&[127, 0, 0, 1]);
        assert_eq!(address(bytes, true, 5432).to_string(), "127.0.0.1:5432");
        let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets();
        assert_eq!(address(mapped, false, 1).to_string(), "127.0.0.1:1");
        assert_eq!(address(Ipv6Addr::LOCALHOST.octets(), false, 1).to_string(), "[::1]:1");
    }

    fn calls(tid: i32, count: u64, sleep: u64) -> Calls {
        Calls { tid, number: 0, count, errors: 0, result: 0, spent: [0, 0, sleep, 0, 0] }
    }

    fn thread(tid: i32, ended: bool, returned: u64, open_call: Option<Calls>) -> Thread {
        Thread {
            node: 0,
            tid,
            tgid: tid,
            comm: String::new(),
            title: String::new(),
            ended,
            present_ns: 0,
            spent: [0; 5],
            system_ns: 0,
            io_on_cpu_ns: 0,
            cache: PageCache::default(),
            network: Sockets::default(),
            local: Sockets::default(),
            kept: Kept::default(),
            returned,
            open_call,
        }
    }

    #[test]
    fn a_call_in_progress_has_its_time_so_far() {
        let threads = [thread(1, false, 2, Some(calls(1, 0, 30))), thread(2, false, 0, Some(calls(2, 0, 5)))];
        assert_eq!(with_open_calls(vec![calls(1, 2, 10)], &threads), [calls(1, 2, 40), calls(2, 0, 5)]);
    }

    #[test]
    fn a_call_that_returned_since_its_thread_was_looked_at_counts_once() {
        let threads = [thread(1, false, 2, Some(calls(1, 0, 30)))];
        assert_eq!(with_open_calls(vec![calls(1, 3, 41)], &threads), [calls(1, 3, 41)]);
    }

    #[test]
    fn a_call_that_its_thread_did_not_survive_keeps_its_time() {
        let died = thread(1, true, 2, Some(calls(1, 0, 30)));
        assert_eq!(with_open_calls(vec![calls(1, 2, 10)], std::slice::from_ref(&died)), [calls(1, 2, 40)]);
        // Its id is another thread's now, in a call that returned since, or that did not.
        let other = thread(1, false, 1, Some(calls(1, 0, 7)));
        let both = [died, other];
        assert_eq!(with_open_calls(vec![calls(1, 4, 20)], &both), [calls(1, 4, 50)]);
        assert_eq!(with_open_calls(vec![calls(1, 3, 10)], &both), [calls(1, 3, 47)]);
    }

    #[test]
    fn a_request_is_the_one_that_its_thread_submitted_then() {
        let request = Request {
            node: Some(0),
            tid: 1,
            device: 8,
            write: false,
            sector: 0,
            bytes: 4096,
            submitted_ns: 10,
            issued_ns: 11,
            done_ns: 20,
        };
        let outstanding = Outstanding { node: Some(0), tid: 1, submitted_ns: 10 };
        assert!(outstanding.is(&request));
        assert!(!outstanding.is(&Request { tid: 2, ..request.clone() }));
        assert!(!outstanding.is(&Request { submitted_ns: 11, ..request }));
    }

    #[test]
    fn calls_have_names() {
        let calls = calls(1, 1, 0);
        if cfg!(target_arch = "x86_64") {
            assert_eq!(calls.name(), "read");
        }
        assert_eq!(Calls { number: 99_999, ..calls }.name(), "call 99999");
    }

    #[test]
    fn levels_are_ordered_and_have_names() {
        assert!(
            Level::Light < Level::Full && Level::Full < Level::Messages && Level::Messages < Level::Reads
        );
        assert_eq!(Level::of("full"), Some(Level::Full));
        assert_eq!(Level::of("all"), None);
    }
}
