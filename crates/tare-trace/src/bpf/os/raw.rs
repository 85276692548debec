//! Structs of os.bpf.c as the kernel hands them over.

use tare_probe::bpf::load::Plain;

use crate::os::{
    Calls, Kept, Message, Outstanding, PageCache, Read, Request, Sockets, Spent, Thread, address,
};

/// Order of `tare_probe::timeline::State`.
const ON_CPU: u32 = 0;
const RUN_QUEUE: u32 = 1;
const INET: u32 = 2;

/// `struct thread`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct RawThread {
    done: u64,
    spent: Spent,
    since: u64,
    first: u64,
    system: u64,
    io_on_cpu: u64,
    io_clock: u64,
    cache: PageCache,
    network: Sockets,
    local: Sockets,
    state: u32,
    node: u32,
    entered: u64,
    base: Spent,
    buffer: u64,
    length: u64,
    returned: u64,
    call: u32,
    padding: u32,
    reading: [u64; 4],
    added: [u64; 5],
    waited: u64,
    before: Kept,
    begun: u64,
}

/// `struct record`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct RawRecord {
    tid: i32,
    tgid: i32,
    node: u32,
    state: u32,
    now: u64,
    io_clock_now: u64,
    ended: u64,
    slice: u64,
    thread: RawThread,
    kept: Kept,
    comm: [u8; 16],
    title: [u8; 96],
}

/// `struct call`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct RawCall {
    count: u64,
    errors: u64,
    result: u64,
    spent: Spent,
}

/// `struct done_request`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct RawRequest {
    sector: u64,
    submitted: u64,
    issued: u64,
    done: u64,
    bytes: u32,
    device: u32,
    tid: i32,
    node: i32,
    write: u32,
    padding: u32,
}

/// `struct message`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct RawMessage {
    at: u64,
    hash: u64,
    sender: [u8; 16],
    receiver: [u8; 16],
    head: [u8; 8],
    bytes: u32,
    tid: i32,
    node: u32,
    sender_port: u16,
    receiver_port: u16,
    family: u32,
    is_whole: u32,
}

/// `struct read`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct RawRead {
    at: u64,
    inode: u64,
    page: u64,
    device: u32,
    pages: u32,
    missed: u32,
    in_flight: u32,
    tid: i32,
    node: u32,
}

// SAFETY: numbers, each at a multiple of its own size: no padding that is not named.
unsafe impl Plain for RawRecord {}
// SAFETY: as above.
unsafe impl Plain for RawCall {}
// SAFETY: as above.
unsafe impl Plain for RawRequest {}
// SAFETY: as above.
unsafe impl Plain for RawMessage {}
// SAFETY: as above.
unsafe impl Plain for RawRead {}

impl RawRecord {
    /// The counts up to the moment of the record, with the state and the call in progress.
    pub(super) fn thread(&self) -> Thread {
        let raw = &self.thread;
        let now = self.now.max(raw.since);
        let open = now - raw.since;
        let mut spent = raw.spent;
        if let Some(time) = spent.get_mut(self.state as usize) {
            *time += open;
        }
        let mut kept = self.kept;
        // The scheduler books a wait when it is over, and a slice from tick to tick.
        match self.state {
            ON_CPU => kept.run += open.saturating_sub(self.slice),
            RUN_QUEUE => kept.run_delay += open,
            _ => {}
        }
        let open_call = (raw.entered != 0).then(|| {
            let mut within = [0; 5];
            for state in 1..within.len() {
                within[state] = spent[state].saturating_sub(raw.base[state]);
            }
            let off: u64 = within.iter().sum();
            within[ON_CPU as usize] = now.saturating_sub(raw.entered).saturating_sub(off);
            Calls { tid: self.tid, number: raw.call, count: 0, errors: 0, result: 0, spent: within }
        });
        let in_call_ns = open_call.as_ref().map_or(0, |call| call.spent[ON_CPU as usize]);
        let io_in_progress =
            if self.state == ON_CPU { self.io_clock_now.saturating_sub(raw.io_clock) } else { 0 };
        Thread {
            node: self.node,
            tid: self.tid,
            tgid: self.tgid,
            comm: text(&self.comm, b'\0'),
            title: text(&self.title, b' '),
            ended: self.ended != 0,
            present_ns: now - raw.first,
            spent,
            system_ns: raw.system + in_call_ns,
            io_on_cpu_ns: raw.io_on_cpu + io_in_progress,
            cache: raw.cache,
            network: raw.network,
            local: raw.local,
            kept: kept.since(&raw.before),
            returned: raw.returned,
            open_call,
        }
    }
}

/// Text up to its zeros; zeros in its midst become `between`.
fn text(bytes: &[u8], between: u8) -> String {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let whole: Vec<u8> = bytes[..end].iter().map(|&byte| if byte == 0 { between } else { byte }).collect();
    String::from_utf8_lossy(&whole).into_owned()
}

impl RawCall {
    /// Adds one CPU's counts.
    pub(super) fn add_to(&self, sum: &mut Calls) {
        sum.count += self.count;
        sum.errors += self.errors;
        sum.result += self.result;
        for (sum, spent) in sum.spent.iter_mut().zip(self.spent) {
            *sum += spent;
        }
    }
}

impl RawRequest {
    /// The request.
    pub(super) fn request(&self) -> Request {
        Request {
            node: u32::try_from(self.node).ok(),
            tid: self.tid,
            device: self.device,
            write: self.write != 0,
            sector: self.sector,
            bytes: self.bytes,
            submitted_ns: self.submitted,
            issued_ns: self.issued.max(self.submitted),
            done_ns: self.done.max(self.issued),
        }
    }

    /// The request, as long as it is not done.
    pub(super) fn outstanding(&self) -> Outstanding {
        Outstanding { node: u32::try_from(self.node).ok(), tid: self.tid, submitted_ns: self.submitted }
    }
}

impl RawRead {
    /// The read.
    pub(super) fn read(&self) -> Read {
        Read {
            at_ns: self.at,
            node: self.node,
            tid: self.tid,
            device: self.device,
            inode: self.inode,
            page: self.page,
            pages: self.pages,
            missed: self.missed,
            in_flight: self.in_flight,
        }
    }
}

impl RawMessage {
    /// The message.
    pub(super) fn message(&self) -> Message {
        let head = self.head.len().min(self.bytes as usize);
        let is_v4 = self.family == INET;
        Message {
            at_ns: self.at,
            node: self.node,
            tid: self.tid,
            sender: address(self.sender, is_v4, self.sender_port),
            receiver: address(self.receiver, is_v4, self.receiver_port),
            bytes: self.bytes,
            hash: (self.is_whole != 0).then_some(self.hash),
            head: self.head[..head].to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> RawRecord {
        // SAFETY: all zeros make a valid record.
        let mut record: RawRecord = unsafe { std::mem::zeroed() };
        record.thread.first = 100;
        record.thread.since = 150;
        record.thread.spent = [10, 20, 20, 0, 0];
        record.now = 180;
        record
    }

    #[test]
    fn the_state_in_progress_is_counted_up_to_now() {
        let thread = RawRecord { state: 3, ..record() }.thread();
        assert_eq!(thread.spent, [10, 20, 20, 30, 0]);
        assert_eq!(thread.present_ns, thread.spent.iter().sum::<u64>());
    }

    #[test]
    fn a_call_in_progress_is_system_time_as_far_as_it_ran() {
        let mut record = record();
        record.thread.entered = 140;
        record.thread.base = [0, 20, 15, 0, 0];
        // 40 ns ago, of which 5 ns asleep before, and 30 ns on the CPU since.
        assert_eq!(record.thread().system_ns, 35);
        assert_eq!(record.thread().open_call.unwrap().spent, [35, 0, 5, 0, 0]);
        record.state = 2;
        assert_eq!(record.thread().system_ns, 5);
        assert_eq!(record.thread().open_call.unwrap().spent, [5, 0, 35, 0, 0]);
        record.thread.entered = 0;
        assert_eq!((record.thread().system_ns, record.thread().open_call), (0, None));
    }

    #[test]
    fn what_the_scheduler_has_not_booked_yet_is_added_to_its_counts() {
        let waiting = RawRecord { state: RUN_QUEUE, ..record() }.thread();
        assert_eq!((waiting.kept.run, waiting.kept.run_delay), (0, 30));
        let mut running = record();
        running.slice = 12;
        running.kept.run = 12;
        assert_eq!(running.thread().kept.run, 30);
    }

    #[test]
    fn a_title_is_read_with_blanks_between_its_words() {
        assert_eq!(text(b"a\0b\0\0\0", b' '), "a b");
        assert_eq!(text(&[0; 4], b' '), "");
    }

    #[test]
    fn a_message_that_was_not_read_whole_has_no_hash() {
        // SAFETY: all zeros make a valid message.
        let mut raw: RawMessage = unsafe { std::mem::zeroed() };
        raw.family = INET;
        raw.bytes = 3;
        raw.head = *b"abc\0\0\0\0\0";
        raw.hash = 5;
        assert_eq!((raw.message().hash, raw.message().head), (None, b"abc".to_vec()));
        raw.is_whole = 1;
        assert_eq!(raw.message().hash, Some(5));
    }
}
