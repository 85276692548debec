//! Events between the kernel's programs and us: by CPU a ring of slots in memory that both sides have.
//!
//! A program claims a slot by counting `claimed` up, and writes its event with `word` last. We take slots in their order
//! until one that has no word yet, clear their words, and give them back by counting `taken` up. The kernel's own ring
//! buffer costs some 0.1 µs more for an event and has one lock for all CPUs.

use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use libbpf_rs::MapHandle;
use memmap2::MmapRaw;
use tare_probe::Result;
use tare_probe::clock::monotonic_ns;

use super::event::Event;
use super::memory::mapped;

/// Longer than a processor keeps what it has written to itself; up to half a microsecond was seen.
const HANDED_ON: Duration = Duration::from_micros(10);

/// `struct end`. What each side writes has a cache line of its own.
#[repr(C, align(64))]
struct End {
    claimed: AtomicU64,
    other_line: [u64; 7],
    taken: AtomicU64,
    /// Slots of the ring, a power of two.
    size: AtomicU64,
}

/// How many entries the maps need for rings of `events` in all, a little fewer perhaps, but no fewer than one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub cpus: u32,
    /// Of one CPU's ring, a power of two.
    pub size: u32,
}

impl Plan {
    pub(super) fn new(cpus: u32, events: u32) -> Self {
        let each = (events / cpus).max(1);
        Self { cpus, size: 1 << each.ilog2() }
    }

    pub(super) fn slots(self) -> u32 {
        self.cpus * self.size
    }
}

/// The rings of all CPUs.
pub(super) struct Slots {
    ends: MmapRaw,
    slots: MmapRaw,
    plan: Plan,
}

impl Slots {
    /// From the maps `ends` and `slots`, made as the plan says. Before any program runs: without sizes they find no
    /// room.
    pub(super) fn open(ends: &MapHandle, slots: &MapHandle, plan: Plan) -> Result<Self> {
        Ok(Self::of(mapped::<End>(ends)?, mapped::<Event>(slots)?, plan))
    }

    fn of(ends: MmapRaw, slots: MmapRaw, plan: Plan) -> Self {
        assert!(ends.len() >= plan.cpus as usize * size_of::<End>());
        assert!(slots.len() >= plan.slots() as usize * size_of::<Event>());
        let made = Self { ends, slots, plan };
        for cpu in 0..plan.cpus {
            made.end(cpu).size.store(plan.size.into(), Ordering::Release);
        }
        made
    }

    fn end(&self, cpu: u32) -> &End {
        debug_assert!(cpu < self.plan.cpus);
        // SAFETY: within the mapping, which is page-aligned; atomic numbers may be written from elsewhere.
        unsafe { &*self.ends.as_ptr().cast::<End>().add(cpu as usize) }
    }

    /// Where the `count`-th event of this CPU's ring is, and its word.
    fn slot(&self, cpu: u32, count: u64) -> (*mut Event, &AtomicU32) {
        let at = cpu as usize * self.plan.size as usize + (count as usize & (self.plan.size as usize - 1));
        // SAFETY: within the mapping, since the rings are as long as the plan says.
        unsafe {
            let event = self.slots.as_mut_ptr().cast::<Event>().add(at);
            (event, AtomicU32::from_ptr(ptr::addr_of_mut!((*event).word)))
        }
    }

    /// Adds what is there to `into`: each CPU's events in their order, so those of a thread that went from one CPU to
    /// another may be out of theirs. Returns a time, and how full the fullest ring was. Of events up to that time no thread
    /// has an earlier one that was not taken now or before; events after it are to be kept until the next call says the
    /// same of them.
    ///
    /// A thread's events are written one after the other. If one is of the time when this begins or before, all of its
    /// earlier ones are written, and soon there for us: a processor reads the clock while it still has writes of before
    /// to hand on. Whether they are taken depends on what stands before them in their ring.
    pub(super) fn take(&mut self, into: &mut Vec<Event>) -> (u64, f64) {
        let (mut until, mut most) = (monotonic_ns(), 0);
        sleep(HANDED_ON);
        for cpu in 0..self.plan.cpus {
            let claimed = self.end(cpu).claimed.load(Ordering::Acquire);
            let mut count = self.end(cpu).taken.load(Ordering::Relaxed);
            most = most.max(claimed - count);
            while count != claimed {
                let (event, word) = self.slot(cpu, count);
                if word.load(Ordering::Acquire) == 0 {
                    until = until.min(self.earliest(cpu, count + 1, claimed));
                    break;
                }
                // SAFETY: an event with a word is written, and nobody writes there before it is given back.
                into.push(unsafe { ptr::read(event) });
                word.store(0, Ordering::Relaxed);
                count += 1;
            }
            self.end(cpu).taken.store(count, Ordering::Release);
        }
        (until, most as f64 / f64::from(self.plan.size))
    }

    /// Just before the earliest event that is written, from this one on.
    fn earliest(&self, cpu: u32, from: u64, to: u64) -> u64 {
        let behind = (from..to).map(|count| self.slot(cpu, count));
        let written = behind.filter(|(_, word)| word.load(Ordering::Acquire) != 0);
        // SAFETY: as above.
        written.map(|(event, _)| unsafe { (*event).time - 1 }).min().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use memmap2::MmapOptions;

    use super::super::stream::ripe;
    use super::*;

    fn rings(plan: Plan) -> Slots {
        both_sides(plan).0
    }

    /// The same rings twice, as we and the kernel's programs have them.
    fn both_sides(plan: Plan) -> (Slots, Slots) {
        let file = |length: usize| {
            let file = tempfile::tempfile().unwrap();
            file.set_len(length as u64).unwrap();
            file
        };
        let ends = file(plan.cpus as usize * size_of::<End>());
        let slots = file(plan.slots() as usize * size_of::<Event>());
        let side = || {
            let mapped = |file| MmapOptions::new().map_raw(file).unwrap();
            Slots::of(mapped(&ends), mapped(&slots), plan)
        };
        (side(), side())
    }

    /// As attach.bpf.c does it.
    impl Slots {
        fn claim(&self, cpu: u32) -> Option<u64> {
            let end = self.end(cpu);
            let claimed = end.claimed.load(Ordering::Relaxed);
            let room = claimed - end.taken.load(Ordering::Acquire) < end.size.load(Ordering::Relaxed);
            let exchange = |_| {
                end.claimed.compare_exchange(claimed, claimed + 1, Ordering::AcqRel, Ordering::Relaxed).ok()
            };
            room.then_some(()).and_then(exchange)
        }

        fn write(&self, cpu: u32, count: u64, time: u64, tid: i32) {
            let (event, word) = self.slot(cpu, count);
            assert_eq!(word.load(Ordering::Relaxed), 0, "it was given back");
            // SAFETY: claimed, and of this thread only; the word is left as it is.
            unsafe {
                ptr::addr_of_mut!((*event).time).write(time);
                ptr::addr_of_mut!((*event).tid).write(tid);
            }
            word.store(1, Ordering::Release);
        }

        fn add(&self, cpu: u32, time: u64, tid: i32) -> bool {
            self.claim(cpu).map(|count| self.write(cpu, count, time, tid)).is_some()
        }

        fn times(&mut self) -> (Vec<u64>, u64) {
            let mut events = Vec::new();
            let (until, _) = self.take(&mut events);
            (events.iter().map(|event| event.time).collect(), until)
        }
    }

    #[test]
    fn sizes_are_those_of_the_programs() {
        assert_eq!((size_of::<End>(), size_of::<Event>()), (128, 56));
        assert_eq!(Plan::new(2, 1 << 21), Plan { cpus: 2, size: 1 << 20 });
        assert_eq!(Plan::new(3, 1 << 10), Plan { cpus: 3, size: 256 });
        assert_eq!(Plan::new(200, 100), Plan { cpus: 200, size: 1 });
    }

    #[test]
    fn a_full_ring_refuses_and_has_room_again_once_it_was_taken() {
        let mut rings = rings(Plan::new(2, 8));
        for turn in 0..10 {
            let first = turn * 10;
            assert!((0..4).all(|i| rings.add(1, first + i, 1)));
            assert!(!rings.add(1, first + 4, 1));
            assert!(rings.add(0, first + 5, 1), "another CPU's has room");
            let (times, until) = rings.times();
            assert_eq!(times, [first + 5, first, first + 1, first + 2, first + 3]);
            assert!(until > first + 5 && until <= monotonic_ns());
        }
    }

    #[test]
    fn what_stands_behind_an_event_that_is_not_written_waits_and_keeps_what_is_later_waiting() {
        let mut rings = rings(Plan::new(2, 8));
        rings.add(0, 10, 1);
        let stalled = rings.claim(0).unwrap();
        rings.add(0, 30, 2);
        // Thread 2 goes on on the other CPU: its event of 30 has to come before this.
        rings.add(1, 40, 2);
        assert_eq!(rings.times(), (vec![10, 40], 29));
        rings.write(0, stalled, 20, 1);
        let (times, until) = rings.times();
        assert_eq!(times, [20, 30]);
        assert!(until > 40);
    }

    /// Threads go from CPU to CPU, and some are held up between claiming and writing while others go on.
    #[test]
    fn events_of_a_thread_stay_in_their_order_wherever_it_writes_them() {
        const EACH: u64 = 20_000;
        const THREADS: i32 = 4;
        let (mut ours, kernels) = both_sides(Plan::new(3, 3 << 9));
        let running = AtomicU32::new(THREADS as u32);
        let work = |tid: i32| {
            let mut chance = tid as u64;
            for _ in 0..EACH {
                chance = chance.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let cpu = (chance >> 40) as u32 % kernels.plan.cpus;
                let time = monotonic_ns();
                let claimed = loop {
                    match kernels.claim(cpu) {
                        Some(claimed) => break claimed,
                        None => std::thread::yield_now(),
                    }
                };
                if chance >> 56 == 0 {
                    sleep(Duration::from_micros(50));
                }
                kernels.write(cpu, claimed, time, tid);
            }
            running.fetch_sub(1, Ordering::Release);
        };
        let mut last = [0; THREADS as usize];
        let mut held = Vec::new();
        let (mut seen, mut swapped) = (0, 0);
        std::thread::scope(|scope| {
            (0..THREADS).for_each(|tid| drop(scope.spawn(move || work(tid))));
            loop {
                let done = running.load(Ordering::Acquire) == 0;
                let (until, _) = ours.take(&mut held);
                for event in ripe(&mut held, until, |event| event.time) {
                    let before = std::mem::replace(&mut last[event.tid as usize], event.time);
                    swapped += u64::from(before >= event.time);
                    seen += 1;
                }
                if done {
                    break;
                }
            }
        });
        assert_eq!((seen, swapped, held.len()), (EACH * THREADS as u64, 0, 0));
    }

    #[test]
    fn an_event_that_nobody_stands_behind_keeps_nothing_waiting() {
        let mut rings = rings(Plan::new(1, 8));
        rings.claim(0).unwrap();
        let (times, until) = rings.times();
        assert!(times.is_empty() && until > 0 && until <= monotonic_ns());
    }
}
