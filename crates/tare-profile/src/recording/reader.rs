//! A recording's file, read: an index first, then one thread's records at a time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use tare_rings::Record;

use super::clock::Nanoseconds;
use super::coding;
use super::frame::{
    self, BODY_LIMIT, FRAME_BYTES, FrameKind, HEAD_BYTES, Last, MAGIC, VERSION, WindowBegin, WindowEnd,
};
use crate::backend::{Clock, Detail, FunctionId};
use crate::profile::Window;
use crate::{ProbeError, Result};

/// A window, with what assembly needs of it. Its ticks are [begin, end).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    /// As it is told.
    pub window: Window,
    /// On the backend's clock.
    pub begin: u64,
    /// The same; that of the last reading where the recording was cut off.
    pub end: u64,
    /// Functions of which only entries are recorded.
    pub entry_only: Vec<FunctionId>,
    /// What entries tell, of functions that do not tell their call site.
    pub details: Vec<(FunctionId, Detail)>,
}

/// Ticks between which records were lost, nobody knows whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// How many.
    pub lost: u64,
    /// After this.
    pub from: u64,
    /// Not after this.
    pub to: u64,
}

/// Where a recording was cut off: by a full disk, a kill, or damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Bytes up to the end of the last whole frame.
    pub whole: u64,
    /// Bytes behind it, which are left out.
    pub rest: u64,
}

#[derive(Debug, Clone, Copy)]
struct Chunk {
    offset: u64,
    bytes: u32,
    records: u32,
}

/// A recording, indexed.
#[derive(Debug)]
pub struct Recording {
    file: File,
    path: PathBuf,
    /// Its windows, in time.
    pub spans: Vec<Span>,
    /// Records lost whose thread is not known, in time.
    pub gaps: Vec<Gap>,
    /// `None` where it was ended as it should be.
    pub cut: Option<Cut>,
    /// How many records there are.
    pub records: u64,
    readings: Option<Clock>,
    texts: Vec<(u64, usize)>, // offset and length of frames
    threads: BTreeMap<(i32, i32), Vec<Chunk>>,
}

impl Recording {
    /// Reads a file's frames up to the last whole one. An error for a file that is no recording.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |error: &io::Error| {
            let what = format_args!("reading the recording {}", path.display()).to_string();
            ProbeError::os(what, error, "give the file recording.tare of a profile's run")
        };
        let file = File::open(path).map_err(|error| failed(&error))?;
        let bytes = file.metadata().map_err(|error| failed(&error))?.len();
        let mut input = BufReader::with_capacity(1 << 20, &file);
        let mut head = [0; HEAD_BYTES];
        let read = fill(&mut input, &mut head).map_err(|error| failed(&error))?;
        judge(path, &head[..read])?;
        let mut index = Index::default();
        let whole = index.frames(&mut input).map_err(|error| failed(&error))?;
        let ended = index.last.is_some();
        let mut recording = Self {
            path: path.to_owned(),
            spans: index.spans,
            gaps: index.gaps,
            cut: (!ended).then_some(Cut { whole, rest: bytes.saturating_sub(whole) }),
            records: index.records,
            readings: index.readings,
            texts: index.texts,
            threads: index.threads,
            file,
        };
        recording.put_times();
        Ok(recording)
    }

    /// Turns its ticks into ns.
    pub fn nanoseconds(&self) -> Nanoseconds {
        Nanoseconds::new(self.readings.unwrap_or(Clock { ticks: [0, 1], ns: [0, 1] }))
    }

    /// Its threads, by process and thread id.
    pub fn threads(&self) -> impl Iterator<Item = (i32, i32)> + '_ {
        self.threads.keys().copied()
    }

    /// Gives one thread's records, in their order, to `take`.
    pub fn thread(&self, id: (i32, i32), mut take: impl FnMut(Record)) -> Result<()> {
        let mut bytes = Vec::new();
        for chunk in self.threads.get(&id).into_iter().flatten() {
            bytes.resize(chunk.bytes as usize, 0);
            self.read(chunk.offset, &mut bytes)?;
            coding::decode(&bytes, chunk.records, &mut take).ok_or_else(|| {
                ProbeError::new(
                    format!(
                        "the recording {} has records at byte {} that are none",
                        self.path.display(),
                        chunk.offset
                    ),
                    "record again",
                )
            })?;
        }
        Ok(())
    }

    /// Gives every text and its hash to `take`.
    pub fn texts(&self, mut take: impl FnMut(u32, &str)) -> Result<()> {
        for (offset, bytes) in &self.texts {
            let mut body = vec![0; *bytes];
            self.read(*offset, &mut body)?;
            let texts: Vec<(u32, String)> = serde_json::from_slice(&body).unwrap_or_default(); // seen to be well-formed
            texts.iter().for_each(|(hash, text)| take(*hash, text));
        }
        Ok(())
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(bytes, offset).map_err(|error| {
            let what = format_args!("reading the recording {} again", self.path.display()).to_string();
            ProbeError::os(what, &error, "it was changed while it was read: let it be, and try again")
        })
    }

    fn put_times(&mut self) {
        let line = self.nanoseconds();
        let last = self.readings.map_or(0, |clock| clock.ticks[1]);
        for span in &mut self.spans {
            if span.end == OPEN {
                span.end = last.max(span.begin).saturating_add(1); // the last reading itself is within
            }
            (span.window.begin_ns, span.window.end_ns) = (line.at(span.begin), line.at(span.end));
            let within = self.gaps.iter().filter(|gap| span.begin < gap.to && gap.to <= span.end);
            span.window.lost = within.map(|gap| gap.lost).sum();
        }
    }
}

const OPEN: u64 = u64::MAX; // the end of a window that has none

fn judge(path: &Path, head: &[u8]) -> Result<()> {
    let refused = |what: &str, next: &str| Err(ProbeError::new(format!("{} {what}", path.display()), next));
    if head.len() < HEAD_BYTES || !head.starts_with(MAGIC) {
        return refused("is no recording of a profile", "give the file recording.tare of a profile's run");
    }
    match u32::from_le_bytes([head[8], head[9], head[10], head[11]]) {
        VERSION => Ok(()),
        version => refused(
            &format!("is a recording of format {version}, and this Tare reads format {VERSION}"),
            "read it with the Tare that wrote it, or record again",
        ),
    }
}

/// As much as there is.
fn fill(input: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match input.read(&mut into[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[derive(Default)]
struct Index {
    spans: Vec<Span>,
    gaps: Vec<Gap>,
    records: u64,
    readings: Option<Clock>,
    texts: Vec<(u64, usize)>,
    threads: BTreeMap<(i32, i32), Vec<Chunk>>,
    last: Option<Last>,
}

impl Index {
    /// Takes in frames up to the first that is not whole; says where that is.
    fn frames(&mut self, input: &mut impl Read) -> io::Result<u64> {
        let mut whole = HEAD_BYTES as u64;
        let mut head = [0; FRAME_BYTES];
        let mut body = Vec::new();
        while self.last.is_none() && fill(input, &mut head)? == FRAME_BYTES {
            let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
            let (number, bytes) = (word(0), word(4) as usize);
            let check = u64::from(word(8)) | u64::from(word(12)) << 32;
            let Some(kind) = FrameKind::from_number(number).filter(|_| bytes <= BODY_LIMIT) else { break };
            body.resize(bytes, 0);
            if fill(input, &mut body)? < bytes || frame::check(number, &body) != check {
                break;
            }
            if self.frame(kind, &body, whole + FRAME_BYTES as u64).is_none() {
                break;
            }
            whole += (FRAME_BYTES + bytes) as u64;
        }
        Ok(whole)
    }

    /// `None` for a body that no writer of this version writes.
    fn frame(&mut self, kind: FrameKind, body: &[u8], offset: u64) -> Option<()> {
        match kind {
            FrameKind::Begin => self.begin(parsed(body)?),
            FrameKind::End => self.end(parsed(body)?),
            FrameKind::Records => self.chunk(body, offset)?,
            FrameKind::Texts => {
                parsed::<Vec<(u32, String)>>(body)?;
                self.texts.push((offset, body.len()));
            }
            FrameKind::Lost => {
                let [lost, from, to] = numbers(body)?;
                self.gaps.push(Gap { lost, from, to });
            }
            FrameKind::Clock => {
                let [ticks, ns] = numbers(body)?;
                let clock = self.readings.get_or_insert(Clock { ticks: [ticks; 2], ns: [ns; 2] });
                (clock.ticks[1], clock.ns[1]) = (ticks, ns);
            }
            FrameKind::Last => self.last = Some(parsed(body)?),
        }
        Some(())
    }

    fn begin(&mut self, begin: WindowBegin) {
        let WindowBegin { number, ticks, mode, purpose, round, functions, entry_only, details } = begin;
        let details = details.iter().filter_map(|(function, text)| Some((*function, text.parse().ok()?)));
        self.spans.push(Span {
            window: Window { number, purpose, round, mode, functions, ..Window::default() },
            begin: ticks,
            end: OPEN,
            entry_only,
            details: details.collect(),
        });
    }

    fn end(&mut self, end: WindowEnd) {
        let span = self.spans.last_mut().filter(|span| span.window.number == end.number);
        if let Some(span) = span {
            span.end = end.ticks.max(span.begin);
            span.window.calls = end.calls;
            span.window.own_cpu_ns = end.own_cpu_ns;
            span.window.unrecorded = end.unrecorded;
        }
    }

    fn chunk(&mut self, body: &[u8], offset: u64) -> Option<()> {
        let (head, coded) = body.split_first_chunk::<12>()?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (bytes, records) = (u32::try_from(coded.len()).ok()?, word(8));
        let chunk = Chunk { offset: offset + head.len() as u64, bytes, records };
        if coded.len() / coding::LEAST < records as usize {
            return None;
        }
        self.threads.entry((word(0) as i32, word(4) as i32)).or_default().push(chunk);
        self.records += u64::from(records);
        Some(())
    }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    serde_json::from_slice(body).ok()
}

fn numbers<const N: usize>(body: &[u8]) -> Option<[u64; N]> {
    let (words, rest) = body.as_chunks::<8>();
    let words: &[[u8; 8]; N] = words.try_into().ok()?;
    rest.is_empty().then(|| words.map(u64::from_le_bytes))
}
