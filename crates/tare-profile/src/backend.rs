//! What every way to watch functions owes: attach (the kernel's uprobes), agent (trampolines in the process), xray
//! (sleds that a compiler left), annotation only.

use tare_rings::Record;

use crate::Result;

/// A function that a probe is on, by its number in this recording: below 2^28.
pub type FunctionId = u32;

/// Where a function is, so that a backend finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its number in records.
    pub id: FunctionId,
    /// Its symbol, or the name inferred for it.
    pub name: String,
    /// Absolute path of the executable or library.
    pub object: std::path::PathBuf,
    /// Address in that file's own terms (ELF virtual address).
    pub address: u64,
    /// Bytes of machine code; 0 where unknown.
    pub size: u64,
    /// Of a USDT probe: the address of its semaphore in the file's own terms, which is raised as long as the probe is
    /// on; 0: it has none.
    pub semaphore: u64,
    /// `image::Function::parts`.
    pub parts: Vec<(u64, u64)>,
}

/// What the `detail` of an `Enter` record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// The low 32 bits of the return address less the base at which its object is mapped: the call site.
    #[default]
    Site,
    /// The low 32 bits of this integer argument, from 0 (at most 5).
    Word(u8),
    /// The low 4 bits of argument `word`, above them the hash of the C string that argument `text` points to
    /// (`tare_rings::record::text_hash`), or 0 for a null pointer. The text goes to `Taken::texts`.
    WordAndText {
        /// Which argument is the word.
        word: u8,
        /// Which is the text.
        text: u8,
    },
    /// As `WordAndText`, of a function that says what state its thread comes to: `until` is the state in which work is
    /// through. The text is a C string that the function reads itself, or none: a backend in its process may read it without
    /// care. A backend for which a reading of CPU time is dear may tell it only when work begins and when it is through,
    /// and one may leave out a state that says what the thread's last one said.
    State {
        /// Which argument is the word.
        word: u8,
        /// Which is the text.
        text: u8,
        /// A word, from 0 to 15.
        until: u8,
    },
    /// The function is `tare_mark(uint32_t kind, uint64_t id, const char *label)` of `include/tare_profile.h`: its
    /// entry becomes no `Enter` record but one of the `Kind` whose number argument 0 is: Begin, Suspend, Resume and
    /// End carry argument 1 (`Record::with_id`); Label has the low 28 bits of argument 1 as its subject and the hash
    /// of the C string that argument 2 points to as its detail, and the text goes to `Taken::texts`. Another number,
    /// or a null label, makes no record. Such a probe is `entry_only`; if it asks for `cpu`, a `Cpu` record follows.
    Mark,
}

impl Detail {
    /// The arguments that it reads.
    pub fn arguments(self) -> impl Iterator<Item = u8> {
        let read = match self {
            Self::Site | Self::Mark => [None, None],
            Self::Word(word) => [Some(word), None],
            Self::WordAndText { word, text } | Self::State { word, text, .. } => [Some(word), Some(text)],
        };
        read.into_iter().flatten()
    }
}

/// A probe on a function's entry and exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// On which.
    pub function: FunctionId,
    /// What its entry tells.
    pub detail: Detail,
    /// Whether entry and exit are each followed by a `Cpu` record of the thread's CPU time.
    pub cpu: bool,
    /// Whether only the entry is recorded, as for a function that marks a transaction by its arguments.
    pub entry_only: bool,
}

impl Probe {
    /// Whether it marks transactions, and so makes records also in counting mode.
    pub fn marks(&self) -> bool {
        self.cpu || self.detail != Detail::Site
    }

    /// Whether it makes records of exits in this mode.
    pub fn records_exits(&self, mode: Mode) -> bool {
        !self.entry_only && (mode == Mode::Timing || self.marks())
    }
}

/// What probes do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Each makes records.
    #[default]
    Timing,
    /// Each adds one to its function's count at entry, and makes no record; probes that mark transactions
    /// (`cpu` or another detail than `Site`; see `Probe::marks`) make records all the same.
    Counting,
}

/// A function that no probe can be put on, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Which.
    pub function: FunctionId,
    /// In words: "its first 5 bytes are the target of a jump", …
    pub why: String,
}

/// Records of one thread since the last time, in the order in which they happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRecords {
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
    /// What it did.
    pub records: Vec<Record>,
}

/// What was handed over since the last time.
#[derive(Debug, Default)]
pub struct Taken {
    /// By thread.
    pub threads: Vec<ThreadRecords>,
    /// Texts by hash, each once in a session.
    pub texts: Vec<(u32, String)>,
    /// Records that found no room and are in no thread's `Lost`.
    pub lost: u64,
    /// Calls of signal handlers that are in no record, neither their entry nor their exit. They hide no other call.
    pub unrecorded: u64,
    /// How full the fullest of the places was where records wait, 0 to 1.
    pub fullest: f64,
}

/// Two readings of the backend's clock beside CLOCK_MONOTONIC, far apart: they turn ticks into ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Clock {
    /// First reading: ticks.
    pub ticks: [u64; 2],
    /// CLOCK_MONOTONIC at each, ns.
    pub ns: [u64; 2],
}

/// How both ends of a call are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Probes at each place where the function leaves.
    ExitSites,
    /// A jump at the function's entry, into a library in the process.
    Trampoline,
    /// Places that a compiler left at entries and exits.
    Sled,
}

impl Way {
    /// As files and reports have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::ExitSites => "exit sites",
            Self::Trampoline => "trampoline",
            Self::Sled => "sled",
        }
    }
}

/// A function at which the kernel has to step over an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stepped {
    /// Which.
    pub function: FunctionId,
    /// Where it is entered.
    pub entered: bool,
    /// At one of the places where it leaves.
    pub left: bool,
}

/// A way to watch functions of running processes.
pub trait Backend: Send {
    /// "attach", "agent", "xray" or "annotation".
    fn name(&self) -> &'static str;

    /// What a user should know: tier, kernel, what is followed.
    fn says(&self) -> String;

    /// From now on exactly these probes are on, in this mode. Returns those that cannot be; an error if none can.
    /// `targets` holds every function that `probes` names.
    fn set(&mut self, targets: &[Target], probes: &[Probe], mode: Mode) -> Result<Vec<Refused>>;

    /// Of these, the functions at whose ends the kernel has to step over an instruction, at many times the usual price.
    fn stepped(&mut self, _targets: &[Target]) -> Vec<Stepped> {
        Vec::new()
    }

    /// How many functions of the last `set` are watched, both ends of their calls, in each way.
    fn watching(&self) -> Vec<(Way, usize)> {
        Vec::new()
    }

    /// What was recorded since the last call. Called every few ms by one thread.
    fn take(&mut self) -> Result<Taken>;

    /// Entries since the probes were set, by function; in counting mode.
    fn calls(&mut self) -> Result<Vec<(FunctionId, u64)>>;

    /// Its clock now, beside CLOCK_MONOTONIC: (ticks, ns).
    fn clock(&self) -> (u64, u64);

    /// Whether what is watched still runs.
    fn alive(&self) -> bool;

    /// Takes every probe off. The watched processes go on at their former speed, and their text is as before.
    fn finish(&mut self) -> Result<()>;
}
