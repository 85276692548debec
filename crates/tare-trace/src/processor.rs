//! What each CPU did: whether its switches form one chain, and when it idled.

use std::collections::BTreeMap;

use crate::spans::Spans;

/// No thread has this id.
const UNKNOWN: i32 = -1;

/// One CPU while it is listened to.
#[derive(Debug, Default)]
struct Processor {
    runs: Option<i32>,
    since: u64,
    idle: Vec<(u64, u64)>,
    breaks: Vec<(u64, u64)>,
}

/// All CPUs that made a switch. Who leaves a CPU must be who came to it last.
#[derive(Debug)]
pub struct Processors {
    began: u64,
    of: BTreeMap<u32, Processor>,
}

/// One CPU within an interval. `iowait_ns` is idle time that the kernel calls iowait: a thread that had run
/// there last waited for I/O.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuParts {
    /// The CPU.
    pub cpu: u32,
    /// Idle, iowait included, ns.
    pub idle_ns: u64,
    /// Of it, iowait, ns.
    pub iowait_ns: u64,
    /// Of iowait, while a thread of the chosen processes was what it waited for, ns.
    pub own_iowait_ns: u64,
    /// Of iowait, while a request of the chosen processes was in flight, ns.
    pub own_disk_ns: u64,
    /// A switch was missed somewhere in it: what the CPU did is not known, and none of the above, ns.
    pub unknown_ns: u64,
}

impl Processors {
    /// Listened to from `began` on: who leaves a CPU first has been there since then.
    pub fn new(began: u64) -> Self {
        Self { began, of: BTreeMap::new() }
    }

    /// `from` leaves `cpu` and `to` comes.
    pub fn switch(&mut self, at: u64, cpu: u32, from: i32, to: i32) {
        let began = self.began;
        let processor =
            self.of.entry(cpu).or_insert_with(|| Processor { since: began, ..Processor::default() });
        if processor.runs.is_some_and(|runs| runs != from) {
            processor.breaks.push((processor.since, at));
        } else if from == 0 {
            processor.idle.push((processor.since, at));
        }
        (processor.runs, processor.since) = (Some(to), at);
    }

    /// `who` has come to `cpu`; the switch was not traced, but whoever left is who came last.
    pub fn arrive(&mut self, at: u64, cpu: u32, who: i32) {
        match self.of.get(&cpu).and_then(|processor| processor.runs) {
            Some(runs) => self.switch(at, cpu, runs, who),
            None => self.switch(at, cpu, UNKNOWN, who),
        }
    }

    /// Each CPU within `[from, to)`, given for each CPU who waited for I/O on it, all and the chosen ones, and
    /// when a request of the chosen ones was in flight.
    pub fn parts(
        &self,
        from: u64,
        to: u64,
        all: &BTreeMap<u32, Spans>,
        chosen: &BTreeMap<u32, Spans>,
        in_flight: &Spans,
    ) -> Vec<CpuParts> {
        let nobody = Spans::default();
        let of =
            |waits: &BTreeMap<u32, Spans>, cpu, idle: &Spans| idle.and(waits.get(&cpu).unwrap_or(&nobody));
        self.of
            .iter()
            .map(|(&cpu, processor)| {
                let mut spans = processor.idle.clone();
                if processor.runs == Some(0) {
                    spans.push((processor.since, to));
                }
                let unknown = Spans::union(processor.breaks.clone()).within(from, to);
                let idle = Spans::union(spans).within(from, to);
                let iowait = of(all, cpu, &idle);
                CpuParts {
                    cpu,
                    idle_ns: idle.total(),
                    iowait_ns: iowait.total(),
                    own_iowait_ns: of(chosen, cpu, &iowait).total(),
                    own_disk_ns: iowait.and(in_flight).total(),
                    unknown_ns: unknown.total(),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn waits(cpu: u32, spans: &[(u64, u64)]) -> BTreeMap<u32, Spans> {
        BTreeMap::from([(cpu, Spans::union(spans.to_vec()))])
    }

    fn parts(processors: &Processors, all: &[(u64, u64)], chosen: &[(u64, u64)]) -> Vec<CpuParts> {
        processors.parts(0, 100, &waits(0, all), &waits(0, chosen), &Spans::union(vec![(20, 30)]))
    }

    #[test]
    fn idle_is_iowait_while_a_thread_of_this_cpu_waits_for_io() {
        let mut processors = Processors::new(0);
        processors.switch(10, 0, 7, 0);
        processors.switch(60, 0, 0, 8);
        processors.switch(90, 0, 8, 0);
        let found = parts(&processors, &[(5, 40)], &[(15, 35)]);
        let expected = CpuParts {
            cpu: 0,
            idle_ns: 50 + 10,
            iowait_ns: 30,
            own_iowait_ns: 20,
            own_disk_ns: 10,
            unknown_ns: 0,
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn who_leaves_first_was_there_from_the_beginning() {
        let mut processors = Processors::new(0);
        processors.switch(40, 0, 0, 7);
        assert_eq!(parts(&processors, &[], &[])[0].idle_ns, 40);
    }

    #[test]
    fn an_arrival_mends_the_chain() {
        let mut processors = Processors::new(0);
        processors.switch(10, 0, 7, 9);
        processors.arrive(30, 0, 0);
        processors.switch(60, 0, 0, 8);
        let found = &parts(&processors, &[], &[])[0];
        assert_eq!((found.unknown_ns, found.idle_ns), (0, 30));
    }

    #[test]
    fn where_the_chain_is_broken_nothing_is_known() {
        let mut processors = Processors::new(0);
        processors.switch(10, 0, 7, 0);
        processors.switch(60, 0, 9, 8);
        let all = &parts(&processors, &[], &[])[0];
        assert_eq!((all.unknown_ns, all.idle_ns), (50, 0));
        let later = processors.parts(60, 100, &BTreeMap::new(), &BTreeMap::new(), &Spans::default());
        assert_eq!(later[0].unknown_ns, 0);
    }

    proptest! {
        #[test]
        fn no_part_exceeds_its_whole(
            lengths in proptest::collection::vec(1u64..20, 1..20),
            all in proptest::collection::vec((0u64..100, 0u64..100), 0..9),
        ) {
            let (mut now, mut runs, mut processors) = (0, 0, Processors::new(0));
            for length in lengths {
                now += length;
                processors.switch(now, 0, runs, 1 - runs);
                runs = 1 - runs;
            }
            let of_some = &all[..all.len() / 2];
            let one = &parts(&processors, &all, of_some)[0];
            prop_assert!(one.unknown_ns == 0 && one.idle_ns <= 100 && one.iowait_ns <= one.idle_ns);
            prop_assert!(one.own_iowait_ns <= one.iowait_ns && one.own_disk_ns <= one.iowait_ns);
        }
    }
}
