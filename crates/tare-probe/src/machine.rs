//! /proc/stat: the CPUs' ticks and what the machine has done since boot.

use crate::clock::monotonic_ns;
use crate::error::{ProbeError, Result};
use crate::procfs::kept::Kept;
use crate::procfs::unsigned;

/// Ticks of one CPU since boot, or of all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTicks {
    /// Its number, -1 for the sum.
    pub cpu: i32,
    /// user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice; 0 where the kernel has none.
    pub ticks: [u64; 10],
}

/// The machine at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// CLOCK_MONOTONIC at the reading.
    pub taken_ns: u64,
    /// The sum over CPUs.
    pub total: CpuTicks,
    /// The CPUs that are on line; numbers may have gaps.
    pub cpus: Vec<CpuTicks>,
    /// Processes and threads ever created.
    pub forks: u64,
    /// Context switches.
    pub context_switches: u64,
    /// Tasks on a CPU or waiting for one.
    pub running: u64,
    /// Tasks waiting for block I/O.
    pub blocked: u64,
}

impl Machine {
    /// Parses /proc/stat; lines that are not known are skipped. `None` without the sum over CPUs.
    pub fn parse(text: &[u8], taken_ns: u64) -> Option<Self> {
        let mut machine = Self {
            taken_ns,
            total: CpuTicks { cpu: i32::MIN, ticks: [0; 10] },
            cpus: Vec::new(),
            forks: 0,
            context_switches: 0,
            running: 0,
            blocked: 0,
        };
        for line in text.split(|&b| b == b'\n') {
            let mut words = line.splitn(2, |&b| b == b' ');
            let (Some(label), Some(rest)) = (words.next(), words.next()) else { continue };
            let number = || unsigned(rest).unwrap_or(0);
            match label {
                b"cpu" => machine.total = CpuTicks { cpu: -1, ticks: ticks(rest) },
                b"processes" => machine.forks = number(),
                b"ctxt" => machine.context_switches = number(),
                b"procs_running" => machine.running = number(),
                b"procs_blocked" => machine.blocked = number(),
                _ => {
                    let cpu = label.strip_prefix(b"cpu").and_then(unsigned);
                    if let Some(cpu) = cpu.and_then(|cpu| i32::try_from(cpu).ok()) {
                        machine.cpus.push(CpuTicks { cpu, ticks: ticks(rest) });
                    }
                }
            }
        }
        (machine.total.cpu == -1).then_some(machine)
    }
}

fn ticks(fields: &[u8]) -> [u64; 10] {
    let mut ticks = [0; 10];
    let numbers = fields.split(|&b| b == b' ').filter(|field| !field.is_empty());
    for (slot, field) in ticks.iter_mut().zip(numbers) {
        *slot = unsigned(field).unwrap_or(0);
    }
    ticks
}

/// Reads /proc/stat through one kept descriptor.
#[derive(Debug)]
pub struct Reader {
    file: Kept,
    buffer: Vec<u8>,
}

impl Default for Reader {
    fn default() -> Self {
        Self { file: Kept::new("/proc/stat".to_owned()), buffer: vec![0; 16 * 1024] }
    }
}

impl Reader {
    /// The machine now.
    pub fn read(&mut self) -> Result<Machine> {
        let next = "mount proc on /proc (mount -t proc proc /proc)";
        let text = self
            .file
            .read(&mut self.buffer)
            .map_err(|e| ProbeError::os("cannot read /proc/stat", &e, next))?;
        Machine::parse(text, monotonic_ns())
            .ok_or_else(|| ProbeError::new("/proc/stat has no line for the sum over CPUs", next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: &str =
        "intr 9 8 7\nctxt 123\nbtime 1\nprocesses 45\nprocs_running 2\nprocs_blocked 1\nnew 1\n";

    #[test]
    fn the_sum_the_cpus_and_the_counts_are_read() {
        let text = format!("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10 11\n{TAIL}");
        let machine = Machine::parse(text.as_bytes(), 5).unwrap();
        assert_eq!(machine.total, CpuTicks { cpu: -1, ticks: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] });
        assert_eq!(machine.cpus, [CpuTicks { cpu: 0, ..machine.total }]);
        assert_eq!((machine.forks, machine.context_switches), (45, 123));
        assert_eq!((machine.running, machine.blocked, machine.taken_ns), (2, 1, 5));
    }

    #[test]
    fn more_than_a_thousand_cpus_and_gaps_in_their_numbers() {
        let cpus: String = (0..2048).filter(|n| n % 3 != 1).map(|n| format!("cpu{n} {n} 0 0 1\n")).collect();
        let machine = Machine::parse(format!("cpu  1 2 3 4\n{cpus}{TAIL}").as_bytes(), 0).unwrap();
        assert_eq!(machine.cpus.len(), 1365);
        assert_eq!(machine.cpus.last().unwrap().cpu, 2046);
        assert!(machine.cpus.iter().all(|c| c.ticks[0] == c.cpu as u64 && c.ticks[7] == 0));
    }

    #[test]
    fn a_text_without_the_sum_is_refused() {
        assert_eq!(Machine::parse(b"", 0), None);
        assert_eq!(Machine::parse(b"cpu0 1 2 3\nprocesses 4\n", 0), None);
    }

    #[test]
    fn the_real_file_is_read_twice_through_one_descriptor() {
        let mut reader = Reader::default();
        let (first, second) = (reader.read().unwrap(), reader.read().unwrap());
        assert!(second.context_switches >= first.context_switches && second.taken_ns >= first.taken_ns);
        assert!(!first.cpus.is_empty());
    }
}
