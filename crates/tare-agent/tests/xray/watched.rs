//! A program that runs with the library in it, and what it has told.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tare_profile::agent::Agent;
use tare_profile::backend::{Backend, Detail, Mode, Probe, Refused, Target, ThreadRecords};
use tare_profile::xray::Xray;
use tare_rings::{Kind, Record};

use crate::build;

const NAMES: [&str; 6] = ["outer", "inner", "tail", "recursive", "named", "unsledded"];
const CODE_BYTES: usize = 32;

/// A plain probe.
pub fn on(name: &str) -> Probe {
    let function = NAMES.iter().position(|one| *one == name).unwrap() as u32 + 1;
    Probe { function, detail: Detail::Site, cpu: false, entry_only: false }
}

pub struct Watched {
    program: PathBuf,
    folder: PathBuf,
    targets: Vec<Target>,
    backend: Xray,
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Watched {
    /// `None` where there is no compiler for it.
    pub fn start() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let program = build::with_sleds()?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("tare-xray-{}-{number}", std::process::id()));
        let targets = symbols(&program);
        Xray::create(&folder, &program, &targets, None).unwrap();
        let variables = Agent::environment(&folder, &library()).unwrap();
        let mut process = Command::new(&program)
            .envs(variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let backend = Xray::open(&folder).unwrap();
        let mut started = Self { program, folder, targets, backend, process, input, output };
        started.tell("calls 0"); // by now it has loaded the library
        Some(started)
    }

    pub fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    pub fn await_line(&mut self, wanted: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), wanted);
    }

    pub fn tell(&mut self, line: &str) {
        self.send(line);
        self.await_line("done");
    }

    pub fn set(&mut self, probes: &[Probe], mode: Mode) {
        assert_eq!(self.try_set(probes, mode).unwrap(), []);
    }

    pub fn try_set(&mut self, probes: &[Probe], mode: Mode) -> tare_profile::Result<Vec<Refused>> {
        self.backend.set(&self.targets, probes, mode)
    }

    pub fn backend(&mut self) -> &mut Xray {
        &mut self.backend
    }

    pub fn threads(&mut self) -> Vec<ThreadRecords> {
        let taken = self.backend.take().unwrap();
        assert_eq!(taken.lost, 0);
        taken.threads
    }

    pub fn taken(&mut self) -> (Vec<Record>, Vec<(u32, String)>) {
        let taken = self.backend.take().unwrap();
        (taken.threads.into_iter().flat_map(|one| one.records).collect(), taken.texts)
    }

    pub fn records(&mut self) -> Vec<Record> {
        self.taken().0
    }

    /// "+name" for an entry, "-name" for an exit.
    pub fn names(&mut self) -> Vec<String> {
        let sign = |record: &Record| if record.kind() == Some(Kind::Enter) { '+' } else { '-' };
        self.records()
            .iter()
            .map(|one| format!("{}{}", sign(one), NAMES[one.subject() as usize - 1]))
            .collect()
    }

    pub fn id(&self, name: &str) -> u32 {
        on(name).function
    }

    pub fn pid(&self) -> i32 {
        self.process.id() as i32
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// First address in the file, and the one after the last.
    pub fn extent(&self, name: &str) -> (u64, u64) {
        let target = self.targets.iter().find(|one| one.name == name).unwrap();
        (target.address, target.address + target.size)
    }

    /// Its first bytes in memory.
    pub fn code(&self, name: &str) -> [u8; CODE_BYTES] {
        self.whole_code(self.pid(), name)[..CODE_BYTES].try_into().unwrap()
    }

    /// All its bytes in the memory of a process.
    fn whole_code(&self, pid: i32, name: &str) -> Vec<u8> {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
        let base = u64::from_str_radix(maps.split('-').next().unwrap(), 16).unwrap();
        let (begin, end) = self.extent(name);
        let mut bytes = vec![0; (end - begin).max(CODE_BYTES as u64) as usize];
        let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
        memory.read_exact_at(&mut bytes, base + begin).unwrap();
        bytes
    }

    /// Waits until its only child has a function's code as it has itself: the child's own thread patches.
    pub fn await_child(&self, name: &str) {
        let pid = self.pid();
        let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        let child: i32 = listed.trim().parse().unwrap();
        let begun = Instant::now();
        while self.whole_code(child, name) != self.whole_code(pid, name) {
            assert!(begun.elapsed().as_secs() < 30, "the child's {name} stays unlike its parent's");
            sleep(Duration::from_millis(2));
        }
    }

    /// Its first bytes in the file: its code is where its addresses say, but for whole pages.
    pub fn code_in_file(&self, name: &str) -> [u8; CODE_BYTES] {
        let done = Command::new("objcopy")
            .args(["-O", "binary", "--only-section=.text"])
            .arg(&self.program)
            .arg("/dev/stdout")
            .output()
            .unwrap();
        let headers =
            Command::new("objdump").args(["-h", "-j", ".text"]).arg(&self.program).output().unwrap();
        let headers = String::from_utf8(headers.stdout).unwrap();
        let line = headers.lines().find(|line| line.contains(" .text ")).unwrap();
        let begin = u64::from_str_radix(line.split_whitespace().nth(3).unwrap(), 16).unwrap();
        let at = (self.extent(name).0 - begin) as usize;
        done.stdout[at..at + CODE_BYTES].try_into().unwrap()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The program's functions, by nm.
fn symbols(program: &Path) -> Vec<Target> {
    let done = Command::new("nm").arg("-S").arg(program).output().unwrap();
    let lines = String::from_utf8(done.stdout).unwrap();
    let find = |name: &str| {
        lines.lines().find_map(|line| {
            let parts: Vec<&str> = line.split_whitespace().collect();
            (parts.len() == 4 && parts[3] == name)
                .then(|| [parts[0], parts[1]].map(|one| u64::from_str_radix(one, 16).unwrap()))
        })
    };
    NAMES
        .iter()
        .zip(1..)
        .map(|(name, id)| {
            let [address, size] = find(name).unwrap_or_else(|| panic!("no {name} in the program"));
            Target {
                id,
                name: (*name).to_owned(),
                object: program.to_owned(),
                address,
                size,
                semaphore: 0,
                parts: Vec::new(),
            }
        })
        .collect()
}

fn library() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors()
        .map(|folder| folder.join("libtare_agent.so"))
        .find(|path| path.exists())
        .expect("cargo builds it first")
}
