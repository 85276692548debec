//! Probes on real programs, compiled for the test. They need gcc, nm, and root or its like.

mod details;
mod flow;
mod off;
mod others;
mod records;
mod refusals;
mod ways;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::backend::{Detail, ThreadRecords};
use crate::maps;

/// What every program has: each line it is told is a piece of work, and a line comes back when that is done.
const FRAME: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* Nothing of it is known to its callers, so every call is made. */
#define FUNCTION __attribute__((noipa))
static long work(void);
int main(void)
{
	char line[16];

	while (fgets(line, sizeof(line), stdin)) {
		printf("%ld\n", work());
		fflush(stdout);
	}
	return 0;
}
"#;

/// A program that runs and waits to be told to work.
struct Program {
    path: PathBuf,
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    symbols: HashMap<String, (u64, u64)>,
}

impl Program {
    /// Compiles and starts it.
    fn start(name: &str, source: &str) -> Self {
        Self::run(compile(name, source, &[]), |path| Command::new(path))
    }

    fn run(path: PathBuf, command: impl FnOnce(&Path) -> Command) -> Self {
        let mut child =
            command(&path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let symbols = symbols(&path);
        let mut program = Self { path, child, to, from, symbols };
        // It answers, so it is past its loader.
        program.work();
        program
    }

    /// Tells it to work, and waits for the number that comes back.
    fn work(&mut self) -> i64 {
        self.to.as_mut().unwrap().write_all(b"go\n").expect("it still runs");
        let mut line = String::new();
        self.from.read_line(&mut line).expect("it answers");
        line.trim().parse().expect("it answers with a number")
    }

    fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Its events all go to one CPU's ring.
    fn stay_on_one_cpu(&self) {
        // SAFETY: a set that is filled by the call, and one that is made of zeros.
        unsafe {
            let mut allowed: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of_val(&allowed);
            assert_eq!(libc::sched_getaffinity(0, size, &raw mut allowed), 0);
            let first = (0..libc::CPU_SETSIZE as usize).find(|cpu| libc::CPU_ISSET(*cpu, &allowed)).unwrap();
            let mut one: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(first, &mut one);
            assert_eq!(libc::sched_setaffinity(self.pid(), size, &raw const one), 0);
        }
    }

    /// Functions by name, numbered from 1.
    fn targets(&self, names: &[&str]) -> Vec<Target> {
        let target = |(number, name): (usize, &&str)| {
            let (address, size) = self.symbols[*name];
            let object = self.path.clone();
            Target {
                id: number as u32 + 1,
                name: (*name).to_owned(),
                object,
                address,
                size,
                semaphore: 0,
                parts: Vec::new(),
            }
        };
        names.iter().enumerate().map(target).collect()
    }

    /// The first bytes of a function, as they are in this program's memory now.
    fn text(&self, name: &str) -> [u8; 16] {
        use std::os::unix::fs::FileExt;
        let mappings = maps::read(self.pid()).unwrap();
        let start = mappings.iter().find(|m| m.offset == 0).unwrap().start;
        let mut bytes = [0; 16];
        let memory = std::fs::File::open(format!("/proc/{}/mem", self.pid())).unwrap();
        memory.read_exact_at(&mut bytes, start + self.symbols[name].0).unwrap();
        bytes
    }

    /// Whether this number, from a return address, is in this function.
    fn has(&self, name: &str, site: u32) -> bool {
        let (address, size) = self.symbols[name];
        // A call may be the last instruction.
        (address + 1..=address + size).contains(&u64::from(site))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.path);
    }
}

fn compile(name: &str, source: &str, flags: &[&str]) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("tare-attach-{}-{number}-{name}", std::process::id()));
    let mut gcc = Command::new("gcc")
        .args(["-x", "c", "-O2", "-Wall", "-Werror", "-pthread", "-o"])
        .arg(&path)
        .args(flags)
        .arg("-")
        .stdin(Stdio::piped())
        .spawn()
        .expect("gcc is installed");
    write!(gcc.stdin.take().unwrap(), "{FRAME}{source}").unwrap();
    assert!(gcc.wait().unwrap().success());
    path
}

/// Address and size by name.
fn symbols(path: &Path) -> HashMap<String, (u64, u64)> {
    let nm = Command::new("nm").arg("-S").arg(path).output().expect("nm is installed");
    let hexadecimal = |word: &str| u64::from_str_radix(word, 16).ok();
    let symbol = |line: &str| {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        match words[..] {
            [address, size, _, name] => Some((name.to_owned(), (hexadecimal(address)?, hexadecimal(size)?))),
            [address, _, name] => Some((name.to_owned(), (hexadecimal(address)?, 0))),
            _ => None,
        }
    };
    String::from_utf8_lossy(&nm.stdout).lines().filter_map(symbol).collect()
}

/// Watches these processes; `None`, and says so, where that is not allowed here.
fn watch(pids: &[i32], follow_children: bool) -> Option<Attach> {
    allowed(Attach::open(pids, follow_children))
}

fn allowed(attach: Result<Attach>) -> Option<Attach> {
    match attach {
        Err(e) if refused(e.errno) => {
            eprintln!("skipped: {e}");
            None
        }
        attach => Some(attach.expect("what is allowed works")),
    }
}

/// A probe on each, all alike.
fn probes(targets: &[Target], like: Probe) -> Vec<Probe> {
    targets.iter().map(|target| Probe { function: target.id, ..like }).collect()
}

const PLAIN: Probe = Probe { function: 0, detail: Detail::Site, cpu: false, entry_only: false };

/// Puts plain probes on these functions.
fn time(attach: &mut Attach, program: &Program, names: &[&str]) {
    let targets = program.targets(names);
    let refused = attach.set(&targets, &probes(&targets, PLAIN), Mode::Timing).expect("they can be set");
    assert_eq!(refused, []);
}

/// What a thread did, in signs: "+1" the entry of function 1, "-1" its exit, "lost 7", …
fn signs(thread: &ThreadRecords) -> String {
    let sign = |record: &Record| match record.kind() {
        Some(Kind::Enter) => format!("+{}", record.subject()),
        Some(Kind::Exit) => format!("-{}", record.subject()),
        Some(Kind::Cut) => format!("cut {}", record.subject()),
        Some(Kind::Lost) => format!("lost {}", record.detail),
        other => format!("{other:?}"),
    };
    thread.records.iter().map(sign).collect::<Vec<_>>().join(" ")
}

/// The only thread that did anything.
fn only(taken: Taken) -> ThreadRecords {
    assert_eq!(taken.lost, 0);
    let [thread] = <[_; 1]>::try_from(taken.threads).expect("one thread did something");
    thread
}
