//! Frames appended to a recording's file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tare_rings::Record;

use super::coding;
use super::frame::{self, FRAME_BYTES, FrameKind, HEAD_BYTES, MAGIC, VERSION};
use crate::backend::ThreadRecords;
use crate::{ProbeError, Result};

const FULL: usize = 1 << 20; // bytes that wait to be written
const RECORDS: usize = 1 << 16; // in one frame

/// The file, and frames on their way to it.
pub(super) struct Writer {
    file: Box<dyn Write + Send>,
    path: PathBuf,
    waiting: Vec<u8>,
}

impl Writer {
    /// A new file. One that is there already is not written over.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let file: File = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
            let next = match error.kind() {
                io::ErrorKind::AlreadyExists => "choose another name, or remove the old recording",
                _ => "choose a folder that you may write to",
            };
            ProbeError::os(format_args!("recording {}", path.display()), &error, next)
        })?;
        Self::to(Box::new(file), path)
    }

    /// To whatever takes bytes; `path` names it in errors.
    pub(super) fn to(file: Box<dyn Write + Send>, path: &Path) -> Result<Self> {
        let mut waiting = Vec::with_capacity(HEAD_BYTES);
        waiting.extend_from_slice(MAGIC);
        waiting.extend_from_slice(&VERSION.to_le_bytes());
        waiting.resize(HEAD_BYTES, 0);
        let mut writer = Self { file, path: path.to_owned(), waiting };
        writer.flush()?;
        Ok(writer)
    }

    pub(super) fn json(&mut self, kind: FrameKind, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(value).expect("plain data has a JSON form");
        self.frame(kind, &text)
    }

    pub(super) fn numbers(&mut self, kind: FrameKind, numbers: &[u64]) -> Result<()> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.frame(kind, &bytes)
    }

    pub(super) fn records(&mut self, thread: &ThreadRecords) -> Result<()> {
        thread.records.chunks(RECORDS).try_for_each(|records| self.chunk(thread.pid, thread.tid, records))
    }

    fn chunk(&mut self, pid: i32, tid: i32, records: &[Record]) -> Result<()> {
        self.framed(FrameKind::Records, |body| {
            body.extend_from_slice(&pid.to_le_bytes());
            body.extend_from_slice(&tid.to_le_bytes());
            body.extend_from_slice(&(records.len() as u32).to_le_bytes());
            coding::encode(records, body);
        })
    }

    fn frame(&mut self, kind: FrameKind, body: &[u8]) -> Result<()> {
        self.framed(kind, |waiting| waiting.extend_from_slice(body))
    }

    /// A frame whose body is appended.
    fn framed(&mut self, kind: FrameKind, append: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let head = self.waiting.len();
        self.waiting.resize(head + FRAME_BYTES, 0);
        append(&mut self.waiting);
        let body = &self.waiting[head + FRAME_BYTES..];
        let (bytes, check) = (body.len() as u32, frame::check(kind as u32, body));
        self.waiting[head..head + 4].copy_from_slice(&(kind as u32).to_le_bytes());
        self.waiting[head + 4..head + 8].copy_from_slice(&bytes.to_le_bytes());
        self.waiting[head + 8..head + 16].copy_from_slice(&check.to_le_bytes());
        if self.waiting.len() > FULL { self.flush() } else { Ok(()) }
    }

    /// To the kernel; a profiler that is killed after it loses nothing of it.
    pub(super) fn flush(&mut self) -> Result<()> {
        let written = self.file.write_all(&self.waiting);
        self.waiting.clear();
        self.waiting.shrink_to(2 * FULL);
        written.map_err(|error| {
            ProbeError::os(
                format_args!("writing the recording {}", self.path.display()),
                &error,
                "make room on that disk or record elsewhere; the recording can be read up to here",
            )
        })
    }
}
