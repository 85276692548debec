//! A trace of arrivals: a line for each, seconds from the start, none before the one above it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::clock;

/// No number of seconds is longer; a file without lines is not read into memory.
const LONGEST_LINE: u64 = 64;

/// Read as it is needed. After an error there is nothing more.
pub(super) struct Trace {
    lines: BufReader<File>,
    name: String,
    line: u64,
    last: i64,
}

impl Trace {
    /// Only a file can be read again, and it is: once to check it, then for the run.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let cannot = |error| format!("the trace {name} cannot be read: {error}");
        let file = File::open(path).map_err(cannot)?;
        if !file.metadata().map_err(cannot)?.is_file() {
            return Err(format!("the trace {name} is not a file"));
        }
        Ok(Self { lines: BufReader::with_capacity(1 << 13, file), name, line: 0, last: 0 })
    }

    /// Its next arrival, in ns from the start. None: it is at its end.
    pub(super) fn next(&mut self) -> Result<Option<i64>, String> {
        let mut text = Vec::new();
        self.line += 1;
        self.lines
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut text)
            .map_err(|error| format!("the trace {} cannot be read: {error}", self.name))?;
        if text.is_empty() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&text);
        let text = text.trim();
        let at = self
            .seconds(text)
            .map_err(|why| format!("the trace {}, line {}: {why}", self.name, self.line))?;
        self.last = at;
        Ok(Some(at))
    }

    fn seconds(&self, text: &str) -> Result<i64, String> {
        let seconds = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        let at =
            clock::ns(seconds.ok_or_else(|| format!("`{text}` is no number of seconds from the start"))?);
        if at < self.last {
            return Err(format!("{text} comes before the arrival above it"));
        }
        Ok(at)
    }
}
