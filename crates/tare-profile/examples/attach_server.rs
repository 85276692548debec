//! Probes on a server under load: how long it takes to set them, which the kernel refuses, what they cost in throughput.
//!
//! `cargo run --release --features bpf --example attach_server -- PID MARKER [FUNCTIONS [SECONDS]]`, as root, for a
//! server that runs already with its children and is under load: PID is its first process, MARKER the function that is
//! called once a transaction (PostgreSQL: CommitTransactionCommand is called a few times, PreCommit_Portals once). The
//! FUNCTIONS (100) that are called most, but no more than three times a transaction, are watched in every other of
//! windows of SECONDS (2) each.

use std::process::Command;
use std::time::{Duration, Instant};

use tare_profile::attach::Attach;
use tare_profile::backend::{Backend, Detail, Mode, Probe, Target};

const MOST_CALLS: f64 = 3.0;
const PAIRS: usize = 8;

fn main() -> tare_profile::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (pid, marker) = (arguments[0].parse().expect("a process"), arguments[1].as_str());
    let number = |at: usize, other| arguments.get(at).map_or(other, |word| word.parse().expect("a number"));
    let (functions, seconds) = (number(2, 100), number(3, 2));
    let targets = functions_of(pid);
    let marker = targets.iter().find(|target| target.name == marker).expect("a function of the server").id;

    let mut attach = Attach::open(&[pid], true)?;
    let probe = |function| Probe { function, detail: Detail::Site, cpu: false, entry_only: false };
    let all: Vec<Probe> = targets.iter().map(|target| probe(target.id)).collect();
    for round in ["first", "second"] {
        let begun = Instant::now();
        let refused = attach.set(&targets, &all, Mode::Counting)?;
        println!(
            "{} functions counted, {} refused, set {round} in {:.0?}",
            all.len() - refused.len(),
            refused.len(),
            begun.elapsed()
        );
        for refused in refused.iter().take(3) {
            println!("  {}: {}", targets[refused.function as usize].name, refused.why);
        }
    }
    std::thread::sleep(Duration::from_secs(seconds));
    let mut calls = attach.calls()?;
    let transactions = calls.iter().find(|(id, _)| *id == marker).map_or(0, |(_, calls)| *calls) as f64;
    assert!(transactions > 0.0, "the server is under load");
    let total: u64 = calls.iter().map(|(_, calls)| calls).sum();
    println!("{transactions} transactions while counting, {:.0} calls each", total as f64 / transactions);
    calls.retain(|(_, calls)| *calls as f64 / transactions <= MOST_CALLS);
    calls.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    let mut chosen: Vec<Probe> = calls.iter().take(functions as usize).map(|(id, _)| probe(*id)).collect();
    if chosen.iter().all(|chosen| chosen.function != marker) {
        chosen.push(probe(marker));
    }

    let markers = [Probe { entry_only: true, ..probe(marker) }];
    for pair in 0..PAIRS {
        for on in [pair % 2 == 0, pair % 2 != 0] {
            let begun = Instant::now();
            attach.set(&targets, if on { &chosen } else { &markers }, Mode::Timing)?;
            let set = begun.elapsed();
            attach.take()?;
            let (begun, mut records, mut marks, mut lost, mut taking) =
                (Instant::now(), 0, 0, 0, Duration::ZERO);
            while begun.elapsed() < Duration::from_secs(seconds) {
                std::thread::sleep(Duration::from_millis(10));
                let at = Instant::now();
                let taken = attach.take()?;
                taking += at.elapsed();
                lost += taken.lost;
                for record in taken.threads.iter().flat_map(|thread| &thread.records) {
                    records += 1;
                    match record.kind() {
                        Some(tare_rings::Kind::Enter) if record.subject() == marker => marks += 1,
                        Some(tare_rings::Kind::Lost) => lost += u64::from(record.detail),
                        _ => {}
                    }
                }
            }
            let took = begun.elapsed().as_secs_f64();
            println!(
                "{:>3} functions: {:>7.0} transactions/s, {:>6.1} records each, {lost} lost, set in {set:.0?}, reading took {:.1}%",
                if on { chosen.len() } else { 1 },
                f64::from(marks) / took,
                f64::from(records) / f64::from(marks),
                taking.as_secs_f64() / took * 100.0,
            );
        }
    }
    println!("{}", attach.says());
    attach.finish()
}

/// Those that the program exports.
fn functions_of(pid: i32) -> Vec<Target> {
    let object = std::fs::read_link(format!("/proc/{pid}/exe")).expect("the process runs");
    let nm = Command::new("nm")
        .args(["-S", "-D", "--defined-only"])
        .arg(&object)
        .output()
        .expect("nm is installed");
    let text = String::from_utf8_lossy(&nm.stdout).into_owned();
    let hexadecimal = |digits: &str| u64::from_str_radix(digits, 16).ok();
    let function = |line: &str| match line.split_ascii_whitespace().collect::<Vec<_>>()[..] {
        [address, size, "T", name] => Some((hexadecimal(address)?, hexadecimal(size)?, name.to_owned())),
        _ => None,
    };
    let mut functions: Vec<_> = text.lines().filter_map(function).collect();
    functions.sort();
    functions.dedup_by_key(|(address, ..)| *address);
    let target = |(id, (address, size, name)): (usize, (u64, u64, String))| Target {
        id: id as u32,
        name,
        object: object.clone(),
        address,
        size,
        semaphore: 0,
        parts: Vec::new(),
    };
    functions.into_iter().enumerate().map(target).collect()
}
