//! A C or C++ program under the agent: compiled, started, watched, and what it said.

#![allow(dead_code)] // each test file uses a part

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tare_profile::agent::{Agent, LIBRARY, Tier};
use tare_profile::backend::{Backend, Detail, FunctionId, Mode, Probe, Refused, Taken, Target};
use tare_rings::{Kind, Record};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A compiled program and the folder for its records.
pub struct Program {
    pub path: PathBuf,
    pub folder: PathBuf,
    pub targets: Vec<Target>,
}

/// A program that runs, waiting for its start.
pub struct Running {
    pub agent: Agent,
    pub child: Child,
    pub refused: Vec<Refused>,
    pub taken: Taken,
    targets: Vec<Target>,
    folder: PathBuf,
    rings: PathBuf,
}

/// What was left when it had ended.
pub struct Ended {
    pub status: ExitStatus,
    pub output: String,
    pub taken: Taken,
    pub calls: HashMap<String, u64>,
    names: HashMap<FunctionId, String>,
    pub refused: HashMap<String, String>,
}

/// Looks again and again, for as long as a busy machine may need.
pub fn comes_to_be(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed().as_secs() < 30, "it never comes to be that {what}");
        sleep(Duration::from_millis(2));
    }
}

/// The agent beside this test.
pub fn library() -> PathBuf {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    [deps.join(LIBRARY), deps.parent().unwrap().join(LIBRARY)]
        .into_iter()
        .find(|path| path.exists())
        .expect("cargo builds the library before its tests")
}

/// Compiles tests/programs/`source`.
pub fn compile(source: &str, flags: &[&str]) -> Program {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let base = if Path::new("/dev/shm").is_dir() { PathBuf::from("/dev/shm") } else { std::env::temp_dir() };
    let folder = base.join(format!("tare-agent-test-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    let compiler = if source.extension().is_some_and(|end| end == "cpp") { "c++" } else { "cc" };
    let done = Command::new(compiler)
        .args(["-O2", "-g", "-Wall", "-o"])
        .arg(&path)
        .arg(&source)
        .args(["-pthread", "-ldl"])
        .args(flags)
        .status()
        .unwrap();
    assert!(done.success(), "{} does not compile", source.display());
    let targets = symbols(&path);
    Program { path, folder, targets }
}

/// The functions of a program, as nm lists them.
pub fn symbols(path: &Path) -> Vec<Target> {
    let listed = Command::new("nm").args(["-S", "--defined-only"]).arg(path).output().unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let mut targets = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (address, size, kind, name) = match words[..] {
            [address, size, kind, name] => (address, size, kind, name),
            [address, kind, name] => (address, "0", kind, name),
            _ => continue,
        };
        if matches!(kind, "t" | "T") {
            targets.push(Target {
                id: 1000 + targets.len() as u32,
                name: name.to_owned(),
                object: path.to_owned(),
                address: u64::from_str_radix(address, 16).unwrap(),
                size: u64::from_str_radix(size, 16).unwrap(),
                semaphore: 0,
                parts: Vec::new(),
            });
        }
    }
    targets
}

impl Program {
    /// Targets of these names.
    pub fn named(&self, names: &[&str]) -> Vec<Target> {
        let found: Vec<Target> =
            self.targets.iter().filter(|target| names.contains(&target.name.as_str())).cloned().collect();
        assert_eq!(found.len(), names.len(), "{names:?} in {:?}", self.targets);
        found
    }

    /// Starts it with these functions patched, each probed plainly unless `change` does something about it.
    pub fn start(self, names: &[&str], mode: Mode, change: impl Fn(&str, &mut Probe)) -> Running {
        self.start_with(names, &[], mode, change)
    }

    /// The same, with some of them for triggers: these are patched, and the others once they are watched.
    pub fn start_with(
        self,
        names: &[&str],
        triggers: &[&str],
        mode: Mode,
        change: impl Fn(&str, &mut Probe),
    ) -> Running {
        self.started(&[], names, triggers, mode, change)
    }

    /// The same, of a program that takes an argument; all are probed plainly.
    pub fn start_with_argument(self, argument: &str, names: &[&str], triggers: &[&str]) -> Running {
        self.started(&[argument], names, triggers, Mode::Timing, |_, _| {})
    }

    fn started(
        self,
        arguments: &[&str],
        names: &[&str],
        triggers: &[&str],
        mode: Mode,
        change: impl Fn(&str, &mut Probe),
    ) -> Running {
        let targets = self.named(names);
        let triggers: Vec<FunctionId> = self.named(triggers).iter().map(|target| target.id).collect();
        let rings = self.folder.join("rings");
        Agent::create(&rings, Tier::Trampolines, &self.path, &targets, &triggers, None).unwrap();
        let environment = Agent::environment(&rings, &library()).unwrap();
        let child = Command::new(&self.path)
            .args(arguments)
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut agent = Agent::open(&self.folder.join("rings")).unwrap();
        let probes = probes(&targets, change);
        let begun = Instant::now();
        let refused = loop {
            match agent.set(&targets, &probes, mode) {
                Ok(refused) => break refused,
                Err(error)
                    if error.what.contains("has loaded the agent") && begun.elapsed().as_secs() < 10 =>
                {
                    sleep(Duration::from_millis(2));
                }
                Err(error) => panic!("{error}"),
            }
        };
        Running { agent, child, refused, taken: Taken::default(), targets, folder: self.folder, rings }
    }

    /// Starts it, lets it run, and waits for its end.
    pub fn run(self, names: &[&str]) -> Ended {
        self.start(names, Mode::Timing, |_, _| {}).end()
    }
}

/// On each plainly, unless `change` does something about it.
fn probes(targets: &[Target], change: impl Fn(&str, &mut Probe)) -> Vec<Probe> {
    let probe = |target: &Target| {
        let mut probe = Probe { function: target.id, detail: Detail::Site, cpu: false, entry_only: false };
        change(&target.name, &mut probe);
        probe
    };
    targets.iter().map(probe).collect()
}

impl Running {
    /// Lets it begin.
    pub fn go(&mut self) {
        self.child.stdin.take().expect("not begun yet").write_all(b"\n").unwrap();
    }

    /// The same, where it goes on until its input ends.
    pub fn go_on(&mut self) {
        self.child.stdin.as_mut().expect("not ended yet").write_all(b"\n").unwrap();
    }

    /// The functions it was started with.
    pub fn targets(&self) -> Vec<Target> {
        self.targets.clone()
    }

    /// Where its shared memory is.
    pub fn rings(&self) -> &Path {
        &self.rings
    }

    /// Watches exactly these, plainly.
    pub fn agent_set(&mut self, targets: &[Target]) {
        self.agent.set(targets, &probes(targets, |_, _| {}), Mode::Timing).unwrap();
    }

    /// Another profiler takes over, and watches what it was started with.
    pub fn changes_hands(&mut self, change: impl Fn(&str, &mut Probe)) {
        self.agent.finish().unwrap();
        self.agent = Agent::open(&self.rings).unwrap();
        self.taken = Taken::default();
        self.agent.set(&self.targets, &probes(&self.targets, change), Mode::Timing).unwrap();
    }

    /// Takes what there is.
    pub fn take(&mut self) {
        let more = self.agent.take().unwrap();
        self.taken.lost += more.lost;
        self.taken.texts.extend(more.texts);
        for thread in more.threads {
            match self
                .taken
                .threads
                .iter_mut()
                .find(|known| (known.pid, known.tid) == (thread.pid, thread.tid))
            {
                Some(known) => known.records.extend(thread.records),
                None => self.taken.threads.push(thread),
            }
        }
    }

    /// Takes what there is, until a function has been entered once more than it was when this was asked.
    pub fn until_entered(&mut self, name: &str) {
        let id = self.targets.iter().find(|target| target.name == name).expect("it was started with it").id;
        self.take();
        let before: HashMap<(i32, i32), usize> = self
            .taken
            .threads
            .iter()
            .map(|thread| ((thread.pid, thread.tid), thread.records.len()))
            .collect();
        comes_to_be(&format!("{name} is entered"), || {
            self.take();
            self.taken.threads.iter().any(|thread| {
                let known = before.get(&(thread.pid, thread.tid)).copied().unwrap_or(0);
                let entered = |record: &Record| record.kind() == Some(Kind::Enter) && record.subject() == id;
                thread.records[known..].iter().any(entered)
            })
        });
    }

    /// Lets it run, and takes nothing before its end.
    pub fn unread(mut self) -> Ended {
        self.go();
        self.child.wait().unwrap();
        self.end()
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ended {
        if self.child.stdin.is_some() {
            self.go();
        }
        let begun = Instant::now();
        let status = loop {
            self.take();
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed().as_secs() < 60, "the program hangs");
            sleep(Duration::from_millis(1));
        };
        self.take();
        let mut output = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        let names: HashMap<FunctionId, String> =
            self.targets.iter().map(|target| (target.id, target.name.clone())).collect();
        let calls =
            self.agent.calls().unwrap().into_iter().map(|(id, count)| (names[&id].clone(), count)).collect();
        let refused = self
            .refused
            .iter()
            .map(|refused| (names[&refused.function].clone(), refused.why.clone()))
            .collect();
        assert!(!self.agent.alive(), "it has ended");
        self.agent.finish().unwrap();
        fs::remove_dir_all(&self.folder).unwrap();
        Ended { status, output, taken: self.taken, calls, names, refused }
    }
}

impl Ended {
    /// One thread's records, as "+name", "-name", "!name" for entry, exit, cut.
    pub fn story(&self, thread: usize) -> Vec<String> {
        self.taken.threads[thread]
            .records
            .iter()
            .filter_map(|record| {
                let sign = match record.kind()? {
                    Kind::Enter => '+',
                    Kind::Exit => '-',
                    Kind::Cut => '!',
                    _ => return None,
                };
                Some(format!("{sign}{}", self.names[&record.subject()]))
            })
            .collect()
    }

    /// Of a kind, over all threads, of one function.
    pub fn count(&self, kind: Kind, name: &str) -> usize {
        self.all()
            .filter(|record| record.kind() == Some(kind) && self.names[&record.subject()] == name)
            .count()
    }

    /// All records.
    pub fn all(&self) -> impl Iterator<Item = &Record> {
        self.taken.threads.iter().flat_map(|thread| &thread.records)
    }

    /// Fails unless the program ended well and each thread's entries, exits and cuts nest.
    pub fn well(&self) -> &Self {
        assert!(self.status.success(), "{:?}: {}", self.status, self.output);
        for thread in &self.taken.threads {
            let mut open = Vec::new();
            let mut lost = false;
            let mut before = 0;
            for record in &thread.records {
                assert!(record.time >= before, "time goes back in thread {}", thread.tid);
                before = record.time;
                match record.kind() {
                    Some(Kind::Enter) => open.push(record.subject()),
                    Some(Kind::Exit | Kind::Cut) => {
                        let top = open.pop().map(|id| &self.names[&id]);
                        let sound = top == Some(&self.names[&record.subject()]) || top.is_none() && lost;
                        assert!(sound, "{record:?} ends {top:?} in thread {}", thread.tid);
                    }
                    // A program in a tight loop is faster than a reader that has to wait for a processor.
                    Some(Kind::Lost) => {
                        open.clear();
                        lost = true;
                    }
                    _ => {}
                }
            }
        }
        self
    }
}
