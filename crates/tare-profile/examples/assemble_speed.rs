//! How fast a recording is put together, and in how much memory:
//! `cargo run --release -p tare-profile --example assemble_speed [million records]`. The answer is checked.

use std::time::{Duration, Instant};

use tare_profile::Result;
use tare_profile::backend::{
    Backend, Detail, FunctionId, Mode, Probe, Refused, Taken, Target, ThreadRecords,
};
use tare_profile::recording::{Recorder, Recording};
use tare_profile::rules::Rules;
use tare_profile::transactions::assemble;
use tare_rings::{Kind, Record};

const THREADS: i32 = 8;
const CALLS: u64 = 20; // of a transaction, its root's included: 40 records
const AT_ONCE: u64 = 1_000; // transactions of a thread
const TICKS: u64 = 1_000; // between two records

/// Hands over transactions until there are so many records.
struct Source {
    left: u64,
    time: u64,
}

impl Source {
    /// A root, and calls three deep under it at changing sites.
    fn transaction(&mut self, records: &mut Vec<Record>) {
        let mut put = |kind, function, site| {
            records.push(Record::new(self.time, kind, function, site));
            self.time += TICKS;
        };
        put(Kind::Enter, 1, 100);
        let mut left = CALLS - 1;
        while left > 0 {
            let depth = left.min(3) as u32;
            (0..depth).for_each(|level| put(Kind::Enter, 2 + level, 100 + left as u32 % 4));
            (0..depth).rev().for_each(|level| put(Kind::Exit, 2 + level, 0));
            left -= u64::from(depth);
        }
        put(Kind::Exit, 1, 0);
    }
}

impl Backend for Source {
    fn name(&self) -> &'static str {
        "source"
    }

    fn says(&self) -> String {
        String::new()
    }

    fn set(&mut self, _: &[Target], _: &[Probe], _: Mode) -> Result<Vec<Refused>> {
        Ok(Vec::new())
    }

    fn take(&mut self) -> Result<Taken> {
        let mut taken = Taken::default();
        for tid in 1..=THREADS {
            let mut records = Vec::new();
            for _ in 0..AT_ONCE.min(self.left / (2 * CALLS)) {
                self.transaction(&mut records);
            }
            self.left -= records.len() as u64;
            taken.threads.push(ThreadRecords { pid: 1, tid, records });
        }
        Ok(taken)
    }

    fn calls(&mut self) -> Result<Vec<(FunctionId, u64)>> {
        Ok(Vec::new())
    }

    fn clock(&self) -> (u64, u64) {
        (self.time, self.time)
    }

    fn alive(&self) -> bool {
        self.left >= 2 * CALLS
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

fn main() -> Result<()> {
    let millions: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    let file = std::env::temp_dir().join(format!("tare-assemble-speed-{}", std::process::id()));
    let mut recorder = Recorder::start(&file, Box::new(Source { left: millions * 1_000_000, time: 1 }))?;
    let probe = Probe { function: 1, detail: Detail::Site, cpu: false, entry_only: false };
    recorder.set(&[], &[probe], Mode::Timing, "speed", 0)?;
    while recorder.alive() {
        std::thread::sleep(Duration::from_millis(10));
    }
    recorder.stop()?;
    let before = peak_bytes();
    let begun = Instant::now();
    let recording = Recording::open(&file)?;
    let indexed = begun.elapsed();
    let profile = assemble(&recording, &Rules::Function { root: 1 })?;
    let took = begun.elapsed();
    let _ = std::fs::remove_file(&file);
    let transactions = profile.transactions.len() as u64;
    let own: u64 = profile.cells.iter().map(|cell| cell.own_ns).sum();
    assert!(transactions * 2 * CALLS > profile.records * 9 / 10, "all but what came before the window");
    assert_eq!(own, transactions * (2 * CALLS - 1) * TICKS, "every tick is some path's own");
    println!(
        "{:.1} million records, {transactions} transactions, {} paths, {} cells: {:.2} s, {:.2} s of it to index; \
         {:.0} ns a record; {} MB",
        profile.records as f64 / 1e6,
        profile.paths.len(),
        profile.cells.len(),
        took.as_secs_f64(),
        indexed.as_secs_f64(),
        took.as_nanos() as f64 / profile.records as f64,
        (peak_bytes() - before) >> 20,
    );
    Ok(())
}

/// The most memory that this process has had.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}
