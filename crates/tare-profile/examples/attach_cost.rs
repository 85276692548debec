//! What a probe costs: ns for an entry and its exit in an idle loop, with the kernel's probes as Tare sets them, and with
//! bpftrace's beside them where that is installed.
//!
//! `cargo run --release --features bpf --example attach_cost`; as root, with gcc and nm. Each figure is the lowest and
//! the median of 9 runs of 10,000 calls, less the same loop without probes; by the clock, and below it in CPU time, which
//! other work on the machine prolongs less.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use tare_profile::attach::Attach;
use tare_profile::backend::{Backend, Detail, Mode, Probe, Target};

const CALLS: u32 = 10_000;
const RUNS: usize = 9;

/// Functions that differ in their first instruction only: the kernel emulates push and nop, and steps over others;
/// bpftrace sets its probe on endbr64 itself.
const SOURCE: &str = r#"
#include <stdio.h>
#include <string.h>
#include <time.h>
#define FUNCTION(name, first) __asm__(".text; .globl " #name "; .type " #name ", @function; " #name ": " \
	first "; ret; .size " #name ", .-" #name)
FUNCTION(push_first, "push %rbx; pop %rbx");
FUNCTION(nop_first, "nop");
FUNCTION(endbr_first, "endbr64; push %rbx; pop %rbx");
FUNCTION(mov_first, "mov %rdi, %rax");
extern void push_first(long, const char *), nop_first(long, const char *);
extern void endbr_first(long, const char *), mov_first(long, const char *);
static long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
int main(void)
{
	char line[32];

	while (fgets(line, sizeof(line), stdin)) {
		void (*functions[])(long, const char *) = { push_first, nop_first, endbr_first, mov_first };
		void (*function)(long, const char *) = functions[*line - '0'];
		long clock = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);

		for (int i = 0; i < 10000; i++)
			function(i, "SELECT abalance FROM pgbench_accounts WHERE aid = 7");
		cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
		printf("%ld %ld\n", now(CLOCK_MONOTONIC) - clock, cpu);
		fflush(stdout);
	}
	return 0;
}
"#;
const FUNCTIONS: [&str; 4] = ["push_first", "nop_first", "endbr_first", "mov_first"];

/// ns a call, lowest and median, by the clock and in CPU time.
#[derive(Clone, Copy)]
struct Cost {
    clock: (f64, f64),
    cpu: (f64, f64),
}

struct Program {
    path: PathBuf,
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Program {
    fn start() -> Self {
        let path = std::env::temp_dir().join(format!("tare-attach-cost-{}", std::process::id()));
        let mut gcc = Command::new("gcc")
            .args(["-x", "c", "-O2", "-o"])
            .arg(&path)
            .arg("-")
            .stdin(Stdio::piped())
            .spawn()
            .expect("gcc is installed");
        gcc.stdin.take().unwrap().write_all(SOURCE.as_bytes()).unwrap();
        assert!(gcc.wait().unwrap().success());
        let mut child =
            Command::new(&path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { path, child, to, from }
    }

    /// Of the function with this number; `between` runs after each run.
    fn cost(&mut self, function: usize, mut between: impl FnMut()) -> Cost {
        let (mut clock, mut cpu) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            writeln!(self.to, "{function}").unwrap();
            let mut line = String::new();
            self.from.read_line(&mut line).unwrap();
            between();
            let (by_clock, in_cpu) = line.trim().split_once(' ').unwrap();
            clock.push(by_clock.parse::<f64>().unwrap() / f64::from(CALLS));
            cpu.push(in_cpu.parse::<f64>().unwrap() / f64::from(CALLS));
        }
        let lowest_and_median = |mut runs: Vec<f64>| {
            runs.sort_by(f64::total_cmp);
            (runs[0], runs[RUNS / 2])
        };
        Cost { clock: lowest_and_median(clock), cpu: lowest_and_median(cpu) }
    }

    fn targets(&self) -> Vec<Target> {
        let nm = Command::new("nm").arg("-S").arg(&self.path).output().expect("nm is installed");
        let text = String::from_utf8_lossy(&nm.stdout).into_owned();
        let symbol = |line| match str::split_ascii_whitespace(line).collect::<Vec<_>>()[..] {
            [address, size, _, name] => Some((name, (address, size))),
            _ => None,
        };
        let places: HashMap<&str, (&str, &str)> = text.lines().filter_map(symbol).collect();
        let hexadecimal = |digits| u64::from_str_radix(digits, 16).unwrap();
        let target = |(id, name): (usize, &&str)| Target {
            id: id as u32,
            name: (*name).to_owned(),
            object: self.path.clone(),
            address: hexadecimal(places[name].0),
            size: hexadecimal(places[name].1),
            semaphore: 0,
            parts: Vec::new(),
        };
        FUNCTIONS.iter().enumerate().map(target).collect()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.path);
    }
}

fn main() {
    let mut program = Program::start();
    let bare = numbers().map(|number| program.cost(number, || {}));
    println!("{:<44} {}", "ns a call, lowest (median)", FUNCTIONS.map(|name| format!("{name:>17}")).concat());
    print(&"no probe", bare);
    let text = Detail::WordAndText { word: 0, text: 1 };
    let (site, timing) = (Detail::Site, Mode::Timing);
    for follow_children in [false, true] {
        let mut attach = match Attach::open(&[program.child.id().cast_signed()], follow_children) {
            Ok(attach) => attach,
            Err(e) => return eprintln!("skipped: {e}"),
        };
        let whom = if follow_children { "any process, filtered" } else { "one process" };
        let kinds = [
            ("entry and exit", site, false, false, timing),
            ("entry and exit with CPU time", site, true, false, timing),
            ("entry and exit with a text", text, false, false, timing),
            ("entry only", site, false, true, timing),
            ("counting", site, false, true, Mode::Counting),
        ];
        for (what, detail, cpu, entry_only, mode) in kinds {
            let targets = program.targets();
            let probe = |target: &Target| Probe { function: target.id, detail, cpu, entry_only };
            let probes: Vec<Probe> = targets.iter().map(probe).collect();
            attach.set(&targets, &probes, mode).expect("they can be set");
            let costs = numbers().map(|number| {
                program.cost(number, || {
                    let taken = attach.take().unwrap();
                    let records: usize = taken.threads.iter().map(|thread| thread.records.len()).sum();
                    let calls = if mode == timing { CALLS as usize } else { 0 };
                    assert_eq!(records, calls * if entry_only { 1 } else { 2 } * if cpu { 2 } else { 1 });
                })
            });
            print(&format!("{what}, {whom}"), std::array::from_fn(|i| less(costs[i], bare[i])));
        }
        println!("{}", attach.says());
    }
    if let Some(costs) = bpftrace(&mut program) {
        print(&"bpftrace, entry and exit", std::array::from_fn(|i| less(costs[i], bare[i])));
    }
}

fn numbers() -> [usize; 4] {
    std::array::from_fn(|number| number)
}

fn less(cost: Cost, bare: Cost) -> Cost {
    let less = |cost: (f64, f64), bare: (f64, f64)| (cost.0 - bare.0, cost.1 - bare.0);
    Cost { clock: less(cost.clock, bare.clock), cpu: less(cost.cpu, bare.cpu) }
}

fn print(what: &dyn std::fmt::Display, costs: [Cost; 4]) {
    let columns = |of: fn(Cost) -> (f64, f64)| {
        costs.map(|cost| format!("{:>8.0} ({:>6.0})", of(cost).0, of(cost).1)).concat()
    };
    println!("{what:<44} {}", columns(|cost| cost.clock));
    println!("{:<44} {}", "  in CPU time", columns(|cost| cost.cpu));
}

/// The same pairs as bpftrace times them: a start by thread, and a sum.
fn bpftrace(program: &mut Program) -> Option<[Cost; 4]> {
    let script = FUNCTIONS.map(|name| probe_of(&program.path, name)).concat();
    let tracer =
        Command::new("bpftrace").args(["-e", &script]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut tracer) = tracer else {
        eprintln!("no bpftrace here: its cost is not measured");
        return None;
    };
    let mut said = BufReader::new(tracer.stdout.take().unwrap()).lines();
    let begun = Instant::now();
    // "Attaching 6 probes...", and some time for it.
    let _ = said.next();
    std::thread::sleep(Duration::from_secs(3).saturating_sub(begun.elapsed()));
    let costs = numbers().map(|number| program.cost(number, || {}));
    // SAFETY: numbers only; it is our own child.
    unsafe { libc::kill(tracer.id().cast_signed(), libc::SIGINT) };
    tracer.wait().unwrap();
    Some(costs)
}

fn probe_of(path: &Path, name: &str) -> String {
    let path = path.display();
    format!(
        "uprobe:{path}:{name} {{ @start[tid] = nsecs; }} \
         uretprobe:{path}:{name} /@start[tid]/ {{ @sum = sum(nsecs - @start[tid]); delete(@start[tid]); }} "
    )
}
