//! Exits through a BPF ring buffer.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object, RingBuffer, RingBufferBuilder};

use super::load::{Plain, attach, from_bytes, load, map, object, refusal};
use super::record::Record;
use crate::delay;
use crate::error::{ProbeError, Result};
use crate::exit::{Exit, Listen};
use crate::split::scale;
use crate::title;

/// `struct exit_record` of exits.bpf.c.
#[repr(C)]
#[derive(Clone, Copy)]
struct ExitRecord {
    task: Record,
    ended_ns: u64,
    exit_code: i32,
    last_of_group: u32,
    arguments: u64,
    command: [u8; 256],
}

// SAFETY: a Plain whose size is a multiple of eight, then 64, 32, 32 and 64 bits and bytes: no padding.
unsafe impl Plain for ExitRecord {}

const BIRTHS: u32 = 0;
const LOST: u32 = 1;

struct Inbox {
    ring: RingBuffer<'static>,
    records: Arc<Mutex<Vec<ExitRecord>>>,
}

/// Records exits until it is dropped.
pub(crate) struct Listener {
    inbox: Arc<Mutex<Inbox>>,
    counts: MapHandle,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
    links: Vec<Link>,
    object: Object,
}

impl Listener {
    pub(crate) fn start() -> Result<Self> {
        let object = load(object!("exits"))?;
        let (source, counts) = (map(&object, "ring")?, map(&object, "counts")?);
        let records: Arc<Mutex<Vec<ExitRecord>>> = Arc::default();
        let into = Arc::clone(&records);
        let mut builder = RingBufferBuilder::new();
        let take = move |bytes: &[u8]| {
            if let Some(record) = from_bytes(bytes) {
                into.lock().unwrap_or_else(PoisonError::into_inner).push(record);
            }
            0
        };
        builder.add(&source, take).map_err(|e| refusal(&e))?;
        let ring = builder.build().map_err(|e| refusal(&e))?;
        let wake = ring.epoll_fd();
        // SAFETY: a non-negative result is a descriptor that we own.
        let stop = unsafe {
            let fd = libc::eventfd(0, libc::EFD_CLOEXEC);
            if fd < 0 {
                return Err(ProbeError::os(
                    "cannot make an event descriptor",
                    &io::Error::last_os_error(),
                    "",
                ));
            }
            Arc::new(OwnedFd::from_raw_fd(fd))
        };
        let inbox = Arc::new(Mutex::new(Inbox { ring, records }));
        let thread = {
            let (inbox, stop) = (Arc::clone(&inbox), Arc::clone(&stop));
            let run = move || {
                while crate::poll::either(wake, stop.as_raw_fd()) {
                    inbox.lock().unwrap_or_else(PoisonError::into_inner).consume();
                }
            };
            std::thread::Builder::new()
                .name("tare-exits".to_owned())
                .spawn(run)
                .map_err(|e| ProbeError::os("cannot start the listening thread", &e, ""))?
        };
        let mut listener = Self { inbox, counts, stop, thread: Some(thread), links: Vec::new(), object };
        for name in ["on_switch", "on_fork", "on_exit"] {
            let link = attach(&mut listener.object, name)?;
            listener.links.push(link);
        }
        Ok(listener)
    }

    fn count(&self, which: u32) -> u64 {
        let value = self.counts.lookup(&which.to_ne_bytes(), MapFlags::ANY).ok().flatten();
        value.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
    }
}

impl Listen for Listener {
    fn drain(&mut self) -> Result<Vec<Exit>> {
        let accounting = delay::accounting() == Some(true);
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        // A task's record is in the ring before its parent can learn of the end.
        inbox.consume();
        let mut records = inbox.records.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = std::mem::take(&mut *records);
        Ok(taken.iter().map(|record| record.exit(accounting)).collect())
    }

    fn lost(&self) -> u64 {
        self.count(LOST)
    }

    fn births(&self) -> Option<u64> {
        Some(self.count(BIRTHS))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.links.clear();
        let one = 1u64;
        // SAFETY: eight bytes, as an eventfd wants them.
        unsafe { libc::write(self.stop.as_raw_fd(), (&raw const one).cast(), 8) };
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to stop.
            let _ = thread.join();
        }
    }
}

impl Inbox {
    fn consume(&self) {
        // Our callback never fails, and neither does consuming then.
        self.ring.consume_raw();
    }
}

impl ExitRecord {
    fn exit(&self, accounting: bool) -> Exit {
        let sums = &self.task.sums;
        let split = scale(sums.user, sums.system, sums.run, self.task.kernel());
        Exit {
            process: self.task.row(accounting, split, command(&self.command, self.arguments).into()),
            last_of_group: self.last_of_group != 0,
            ended_ns: self.ended_ns,
            exit_code: self.exit_code,
        }
    }
}

/// As the kernel's own reading of a command line: the arguments or, where the last one's NUL has been
/// overwritten, a title that ends at its first NUL.
fn command(raw: &[u8; 256], arguments: u64) -> String {
    let length = usize::try_from(arguments).unwrap_or(usize::MAX);
    match length.checked_sub(1).map(|last| raw.get(last)) {
        None => String::new(),
        Some(Some(0)) => title::text(&raw[..length]),
        Some(Some(_)) => title::text(raw.split(|&b| b == 0).next().unwrap_or_default()),
        Some(None) => title::text(raw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &[u8]) -> [u8; 256] {
        let mut raw = [0; 256];
        raw[..text.len()].copy_from_slice(text);
        raw
    }

    #[test]
    fn arguments_end_where_the_kernel_says() {
        assert_eq!(command(&raw(b"sleep\x0010\0PATH=/bin\0"), 9), "sleep 10");
    }

    #[test]
    fn a_title_that_outgrew_its_arguments_ends_at_its_first_nul() {
        assert_eq!(
            command(&raw(b"postgres: parallel worker for PID 1\0=/bin\0"), 9),
            "postgres: parallel worker for PID 1"
        );
    }

    #[test]
    fn nothing_read_is_nothing_said() {
        assert_eq!(command(&raw(b""), 0), "");
    }

    #[test]
    fn the_record_has_no_padding() {
        assert_eq!(size_of::<ExitRecord>(), size_of::<Record>() + 8 + 8 + 8 + 256);
    }
}
