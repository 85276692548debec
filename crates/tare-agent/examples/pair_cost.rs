//! What an entry and exit cost under the agent: `cargo run --release -p tare-agent --example pair_cost [ROUNDS]`. Runs a C
//! program without the agent, with its functions patched and switched off, and watched in each way, in turns. Prints ns a
//! call: the median over rounds of each run's median batch, and the least batch.

#[path = "../tests/watched/mod.rs"]
mod watched;

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use tare_profile::backend::{Detail, Mode, Target};
use watched::{Running, compile};

const NAMES: [&str; 9] = ["leaf", "link2", "link3", "link4", "link5", "link6", "link7", "link8", "caller"];
const WAYS: [&str; 6] = ["no agent", "switched off", "timing", "entry only", "counting", "with CPU time"];

fn without() -> String {
    let program = compile("cost.c", &[]);
    let child = Command::new(&program.path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it was compiled");
    std::io::Write::write_all(&mut child.stdin.as_ref().expect("piped"), b"\n").expect("it reads");
    let output = child.wait_with_output().expect("it ends").stdout;
    std::fs::remove_dir_all(&program.folder).expect("ours");
    String::from_utf8(output).expect("numbers")
}

fn with(way: &str) -> (String, usize, u64) {
    let mode = if way == "counting" { Mode::Counting } else { Mode::Timing };
    let mut running: Running = compile("cost.c", &[]).start(&NAMES, mode, |_, probe| {
        probe.entry_only = way == "entry only";
        probe.cpu = way == "with CPU time";
        probe.detail = Detail::Site;
    });
    if way == "switched off" {
        let none: [Target; 0] = [];
        running.agent_set(&none);
    }
    let ended = running.end();
    let lost = ended.taken.lost
        + ended
            .all()
            .filter(|record| record.kind() == Some(tare_rings::Kind::Lost))
            .map(|r| u64::from(r.detail))
            .sum::<u64>();
    (ended.output.clone(), ended.all().count(), lost)
}

fn main() {
    let rounds: usize = std::env::args().nth(1).map_or(5, |text| text.parse().expect("a number of rounds"));
    let mut found: BTreeMap<(usize, String), Vec<(f64, f64)>> = BTreeMap::new();
    for _ in 0..rounds {
        for (number, way) in WAYS.iter().enumerate() {
            let output = if number == 0 {
                without()
            } else {
                // Where records were lost, calls looked cheaper or dearer than they are: again.
                let (output, records, _) = (0..5)
                    .map(|_| with(way))
                    .find(|(_, _, lost)| *lost == 0)
                    .expect("a machine with a processor for the reader");
                assert_eq!(
                    records == 0,
                    matches!(*way, "switched off" | "counting"),
                    "{way}: {records} records"
                );
                output
            };
            for line in output.lines() {
                let words: Vec<&str> = line.split(' ').collect();
                let number_of = |place: usize| words[place].parse::<f64>().expect("ns");
                found.entry((number, words[0].to_owned())).or_default().push((number_of(1), number_of(2)));
            }
        }
    }
    println!("{:<16}{:<8}{:>12}{:>12}", "ns a call", "", "median", "least");
    for ((way, what), mut runs) in found {
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let least = runs.iter().map(|run| run.1).fold(f64::INFINITY, f64::min);
        println!("{:<16}{what:<8}{:>12.2}{least:>12.2}", WAYS[way], runs[runs.len() / 2].0);
    }
}
