//! Events as the kernel's programs hand them over.

use tare_probe::bpf::load::Plain;

use crate::event::{After, Event, Request, What, Who};

/// `struct event` of audit.bpf.c.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw {
    pub time: u64,
    pub value: u64,
    pub kind: u32,
    pub cpu: u32,
    pub pid: i32,
    pub tgid: i32,
    pub next_pid: i32,
    pub next_tgid: i32,
    pub count: u32,
    pub detail: u32,
}

const TRACED: u32 = 0x100;
const NEXT_TRACED: u32 = 0x200;
const KERNEL_THREAD: u32 = 0x400;

// SAFETY: two 64-bit and eight 32-bit numbers: no padding.
unsafe impl Plain for Raw {}

impl Raw {
    /// The event; `None` for what this build does not know.
    pub(super) fn event(&self) -> Option<Event> {
        let who = Who { tid: self.pid, tgid: self.tgid, traced: self.detail & TRACED != 0 };
        let request = Request {
            address: self.value,
            by: who,
            kernel: self.detail & KERNEL_THREAD != 0,
            bytes: self.count,
            operation: (self.detail & 0xff) as u8,
        };
        let what = match self.kind {
            0 => What::Switch {
                from: who,
                after: after(self.detail)?,
                to: Who { tid: self.next_pid, tgid: self.next_tgid, traced: self.detail & NEXT_TRACED != 0 },
                slices: self.count,
                stolen: self.value,
            },
            1 => What::Wake(who),
            2 => What::Fork(who),
            3 => What::Look { who, state: after(self.detail)?, slices: self.count },
            4 => What::Submit(request),
            5 => What::Issue(request),
            6 => What::Done(request),
            7 => What::Arrive { who, slices: self.count, stolen: self.value },
            8 => What::Merge(request),
            _ => return None,
        };
        Some(Event { at: self.time, cpu: self.cpu, what })
    }
}

fn after(detail: u32) -> Option<After> {
    use After::{BlockIo, Ended, OnCpu, OtherWait, RunQueue, Sleep};
    [OnCpu, RunQueue, Sleep, BlockIo, OtherWait, Ended].get((detail & 0xff) as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: Raw = Raw {
        time: 7,
        value: 5,
        kind: 0,
        cpu: 1,
        pid: 10,
        tgid: 9,
        next_pid: 0,
        next_tgid: 0,
        count: 3,
        detail: 3 | TRACED,
    };

    #[test]
    fn a_switch_tells_who_leaves_to_what_and_who_comes() {
        let event = SWITCH.event().unwrap();
        let What::Switch { from, after, to, slices, stolen } = event.what else { panic!("{event:?}") };
        assert_eq!((event.at, event.cpu), (7, 1));
        assert_eq!(from, Who { tid: 10, tgid: 9, traced: true });
        assert_eq!((after, to.tid, to.traced, slices, stolen), (After::BlockIo, 0, false, 3, 5));
    }

    #[test]
    fn a_request_tells_its_operation_and_whether_the_kernel_asked() {
        let event = Raw { kind: 4, detail: 1 | KERNEL_THREAD, count: 4096, ..SWITCH }.event().unwrap();
        let What::Submit(request) = event.what else { panic!("{event:?}") };
        assert!(request.kernel);
        assert_eq!((request.operation, request.bytes, request.address), (1, 4096, 5));
    }

    #[test]
    fn what_is_unknown_is_no_event() {
        assert_eq!(Raw { kind: 9, ..SWITCH }.event(), None);
        assert_eq!(Raw { detail: 6, ..SWITCH }.event(), None);
    }
}
