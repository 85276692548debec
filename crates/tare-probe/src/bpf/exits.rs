//! Exits through a BPF ring buffer.

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object};

use super::load::{Plain, attach, load, map, object};
use super::record::Record;
use super::ring::Ring;
use crate::delay;
use crate::error::Result;
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

/// Records exits until it is dropped.
pub(crate) struct Listener {
    ring: Ring<ExitRecord>,
    counts: MapHandle,
    links: Vec<Link>,
    object: Object,
}

impl Listener {
    pub(crate) fn start() -> Result<Self> {
        let object = load(object!("exits"))?;
        let counts = map(&object, "counts")?;
        let ring = Ring::open(&map(&object, "ring")?, "tare-exits")?;
        let mut listener = Self { ring, counts, links: Vec::new(), object };
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
        // A task's record is in the ring before its parent can learn of the end.
        Ok(self.ring.take().iter().map(|record| record.exit(accounting)).collect())
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
        // Nothing more goes into the ring when its thread is stopped.
        self.links.clear();
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
