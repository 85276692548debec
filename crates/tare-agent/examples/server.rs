//! A real server under the agent, by hand:
//! `server create FOLDER PROGRAM SIZE [UID GID]` makes a table of the functions that PROGRAM exports, those of at least SIZE bytes,
//! and says how to start it;
//! `server listen FOLDER SECONDS COUNT` counts for two seconds, then watches COUNT of the functions that were called, those called
//! least often first, `-COUNT` most often first, and says what came.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tare_profile::agent::{Agent, LIBRARY, Tier};
use tare_profile::backend::{Backend, Detail, Mode, Probe, Target};
use tare_rings::Kind;

fn exported(program: &Path) -> Vec<Target> {
    let listed =
        Command::new("nm").args(["-D", "-S", "--defined-only"]).arg(program).output().expect("nm is there");
    let text = String::from_utf8(listed.stdout).expect("ASCII");
    let mut targets = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, size, kind, name] = words[..] else { continue };
        if matches!(kind, "T" | "t" | "W") {
            targets.push(Target {
                id: targets.len() as u32,
                name: name.to_owned(),
                object: program.to_owned(),
                address: u64::from_str_radix(address, 16).expect("hexadecimal"),
                size: u64::from_str_radix(size, 16).expect("hexadecimal"),
                semaphore: 0,
                parts: Vec::new(),
            });
        }
    }
    targets
}

fn probes(targets: &[Target]) -> Vec<Probe> {
    let probe =
        |target: &Target| Probe { function: target.id, detail: Detail::Site, cpu: false, entry_only: false };
    targets.iter().map(probe).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = PathBuf::from(&arguments[1]);
    let kept = folder.with_extension("program");
    if arguments[0] == "create" {
        let program = PathBuf::from(&arguments[2]);
        let least: u64 = arguments[3].parse()?;
        let owner = match arguments[4..] {
            [ref user, ref group] => Some((user.parse()?, group.parse()?)),
            _ => None,
        };
        let mut targets = exported(&program);
        targets.retain(|target| target.size >= least);
        Agent::create(&folder, Tier::Trampolines, &program, &targets, &[], owner)?;
        std::fs::write(kept, &arguments[2])?;
        let library =
            std::env::current_exe()?.parent().and_then(Path::parent).ok_or("no folder")?.join(LIBRARY);
        for (name, value) in Agent::environment(&folder, &library)? {
            println!("{name}={value}");
        }
        return Ok(());
    }
    let targets = exported(Path::new(&std::fs::read_to_string(kept)?));
    let (seconds, count): (f64, i64) = (arguments[2].parse()?, arguments[3].parse()?);
    let mut agent = Agent::open(&folder)?;
    let refused = agent.set(&targets, &probes(&targets), Mode::Counting)?;
    let end = Instant::now() + Duration::from_secs(2);
    while Instant::now() < end {
        agent.take()?;
        sleep(Duration::from_millis(10));
    }
    let mut calls = agent.calls()?;
    calls.retain(|(_, calls)| *calls > 0);
    calls.sort_by_key(|(id, calls)| (*calls, *id));
    println!(
        "{}\n{} refused; {} called in 2 s, {} calls",
        agent.says(),
        refused.len(),
        calls.len(),
        calls.iter().map(|c| c.1).sum::<u64>()
    );
    for (why, many) in agent.patched().refused {
        println!("  {many}: {why}");
    }
    if count < 0 {
        calls.reverse();
    }
    calls.truncate(count.unsigned_abs() as usize);
    let by_id: HashMap<u32, &Target> = targets.iter().map(|target| (target.id, target)).collect();
    let chosen: Vec<Target> =
        calls.iter().filter_map(|(id, _)| by_id.get(id).map(|target| (*target).clone())).collect();
    agent.set(&targets, &probes(&chosen), Mode::Timing)?;
    let (begun, mut records, mut lost, mut kinds, mut threads) =
        (Instant::now(), 0usize, 0u64, HashMap::<u32, usize>::new(), std::collections::HashSet::new());
    let mut depth: HashMap<i32, Vec<u32>> = HashMap::new();
    let mut wrong = 0;
    while begun.elapsed().as_secs_f64() < seconds && agent.alive() {
        let taken = agent.take()?;
        lost += taken.lost;
        for thread in taken.threads {
            threads.insert(thread.tid);
            records += thread.records.len();
            let open = depth.entry(thread.tid).or_default();
            for record in thread.records {
                *kinds.entry(record.word >> 28).or_default() += 1;
                match record.kind() {
                    Some(Kind::Enter) => open.push(record.subject()),
                    Some(Kind::Exit | Kind::Cut) => {
                        wrong += usize::from(open.pop() != Some(record.subject()));
                    }
                    Some(Kind::Lost) => {
                        lost += u64::from(record.detail);
                        open.clear();
                    }
                    _ => {}
                }
            }
        }
        sleep(Duration::from_millis(10));
    }
    agent.finish()?;
    println!(
        "{} functions, {} threads, {records} records in {seconds} s, {lost} lost, {wrong} out of place, kinds {kinds:?}",
        chosen.len(),
        threads.len()
    );
    Ok(())
}
