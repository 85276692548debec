//! A process's command line. Servers rewrite theirs while they run, so it is read again on demand.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::procfs::kept::Kept;

/// The command line of one life of a process; it outlives the process.
#[derive(Debug)]
pub struct Title {
    /// Some text has been read, or there never will be any.
    known: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// `None` once the process is gone.
    file: Option<Kept>,
    text: Arc<str>,
}

impl Title {
    /// Reads the command line of a process that is alive now.
    pub fn of(pid: i32) -> Self {
        let file = Some(Kept::new(format!("/proc/{pid}/cmdline")));
        let title =
            Self { known: AtomicBool::new(false), inner: Mutex::new(Inner { file, text: Arc::from("") }) };
        title.read();
        title
    }

    /// The command line of a task that has none.
    pub fn none() -> Self {
        Self { known: AtomicBool::new(true), inner: Mutex::new(Inner { file: None, text: Arc::from("") }) }
    }

    /// Reads it if nothing has been read yet, as of a process that was seen in the middle of its exec.
    pub fn learn(&self) {
        if !self.known.load(Ordering::Relaxed) {
            self.read();
        }
    }

    /// The command line now or, once the process is gone, the last one that was read.
    pub fn read(&self) -> Arc<str> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = Vec::new();
        let seen = inner.file.as_mut().map(|file| file.read(&mut buffer).map(text));
        match seen {
            // An empty answer is that of a process that has given its memory up.
            Some(Ok(now)) if !now.is_empty() && *now != *inner.text => {
                inner.text = Arc::from(now);
                self.known.store(true, Ordering::Relaxed);
            }
            Some(Err(_)) => {
                inner.file = None;
                self.known.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
        Arc::clone(&inner.text)
    }
}

/// Arguments end in NULs; a rewritten title is padded with them.
pub fn text(raw: &[u8]) -> String {
    let end = raw.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    String::from_utf8_lossy(&raw[..end]).replace('\0', " ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_joined_and_padding_is_dropped() {
        assert_eq!(text(b"postgres\0-D\0data\0"), "postgres -D data");
        assert_eq!(text(b"postgres: idle\0\0\0\0"), "postgres: idle");
        assert_eq!(text(b""), "");
    }

    #[test]
    fn a_title_outlives_its_process() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let title = Title::of(child.id() as i32);
        // Until its exec is done it has none, or still its parent's.
        let start = std::time::Instant::now();
        let in_time = |_: &u32| start.elapsed() < std::time::Duration::from_secs(10);
        let alive = (0..).take_while(in_time).map(|_| title.read()).find(|t| &**t == "sleep 60");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(alive.as_deref(), Some("sleep 60"));
        assert_eq!(&*title.read(), "sleep 60");
    }
}
