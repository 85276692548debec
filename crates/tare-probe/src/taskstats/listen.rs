//! Listening to taskstats: the kernel sends a record of every task that ends.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::decode::Stats;
use super::netlink::{Attributes, Messages, Socket};
use super::query::{TYPE_AGGR_PID, TYPE_STATS, refusal};
use crate::clock::{monotonic_ns, tick_ns};
use crate::error::{ProbeError, Result};
use crate::exit::{Exit, Listen};
use crate::poll::Listening;
use crate::process::Process;
use crate::split::scale;

const TASKSTATS_CMD_GET: u8 = 1;
const TASKSTATS_CMD_ATTR_REGISTER_CPUMASK: u16 = 3;
/// A record takes about 1.3 KB of receive buffer: room for some 12,000 between two looks.
const RECEIVE_BUFFER: libc::c_int = 16 << 20;

struct Inbox {
    socket: Socket,
    buffer: Vec<u8>,
    exits: Vec<Exit>,
    /// The socket failed for good.
    broken: Option<io::Error>,
}

/// Records exits until it is dropped: closing the socket ends the registration.
pub(crate) struct Listener {
    inbox: Arc<Mutex<Inbox>>,
    lost: Arc<AtomicU64>,
    _listening: Listening,
}

impl Listener {
    pub(crate) fn start() -> Result<Self> {
        Self::with_room(RECEIVE_BUFFER)
    }

    fn with_room(bytes: libc::c_int) -> Result<Self> {
        let mut socket = Socket::open().map_err(|e| refusal(&e))?;
        make_room(&socket, bytes);
        let cpus = std::fs::read_to_string("/sys/devices/system/cpu/possible")
            .map_err(|e| ProbeError::os("cannot tell which CPUs there are", &e, "mount sysfs on /sys"))?;
        let mask = format!("{}\0", cpus.trim());
        socket
            .command(TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, mask.as_bytes())
            .map_err(|e| refusal(&e))?;
        let source = socket.as_raw_fd();
        let inbox = Inbox { socket, buffer: vec![0; 8192], exits: Vec::new(), broken: None };
        let (inbox, lost) = (Arc::new(Mutex::new(inbox)), Arc::new(AtomicU64::new(0)));
        let (into, counted) = (Arc::clone(&inbox), Arc::clone(&lost));
        let listening = Listening::start("tare-exits", source, move || {
            let mut inbox = into.lock().unwrap_or_else(PoisonError::into_inner);
            inbox.receive(&counted);
            inbox.broken.is_none()
        })?;
        Ok(Self { inbox, lost, _listening: listening })
    }
}

impl Listen for Listener {
    fn drain(&mut self) -> Result<Vec<Exit>> {
        let mut inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        // The kernel queues a task's record before its parent can learn of the end.
        inbox.receive(&self.lost);
        if let Some(error) = &inbox.broken {
            return Err(ProbeError::os("taskstats stopped sending records of exits", error, "listen anew"));
        }
        Ok(std::mem::take(&mut inbox.exits))
    }

    /// A lower bound: the kernel says that it dropped records, not how many.
    fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn births(&self) -> Option<u64> {
        None
    }
}

impl Inbox {
    fn receive(&mut self, lost: &AtomicU64) {
        while self.broken.is_none() {
            match self.socket.receive(&mut self.buffer, libc::MSG_DONTWAIT) {
                Ok(n) => {
                    self.exits.extend(Messages(&self.buffer[..n]).filter_map(|m| record(m.attributes())));
                }
                Err(e) if e.raw_os_error() == Some(libc::ENOBUFS) => {
                    lost.fetch_add(1, Ordering::Relaxed);
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) => self.broken = Some(e),
            }
        }
    }
}

/// Makes room for bursts; without the right to, as much as an ordinary user may have.
fn make_room(socket: &Socket, bytes: libc::c_int) {
    for option in [libc::SO_RCVBUF, libc::SO_RCVBUFFORCE] {
        // SAFETY: an int, as the option wants it. A refusal leaves the smaller buffer, and losses are counted.
        unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                option,
                (&raw const bytes).cast(),
                size_of_val(&bytes) as libc::socklen_t,
            );
        }
    }
}

/// The thread's part of a message about an exit.
fn record(mut attributes: Attributes<'_>) -> Option<Exit> {
    let (_, inner) = attributes.find(|&(kind, _)| kind == TYPE_AGGR_PID)?;
    let (_, raw) = Attributes(inner).find(|&(kind, _)| kind == TYPE_STATS)?;
    let stats = Stats(raw);
    let sched = stats.sched();
    let (user, system) = stats.sampled();
    let run_ns = run(&stats).unwrap_or((user + system) * 1000);
    let (user_ns, system_ns) = scale(user, system, run_ns, false);
    let io = stats.io();
    Some(Exit {
        last_of_group: stats.last_of_group(),
        ended_ns: monotonic_ns(),
        exit_code: stats.exit_code(),
        process: Process {
            pid: stats.pid(),
            tgid: stats.tgid().unwrap_or(stats.pid()),
            ppid: stats.ppid(),
            comm: stats.comm().into(),
            cmdline: "".into(),
            uid: stats.uid(),
            start_ns: born(stats.age_ns().unwrap_or(0)),
            kernel: false,
            threads: 1,
            cpu: -1,
            user_ns,
            system_ns,
            guest_ns: None,
            child_guest_ns: None,
            run_ns: run(&stats),
            run_queue_ns: sched.map(|sched| sched.run_queue_ns),
            slices: sched.map(|sched| sched.slices),
            block_io_ns: stats.block_io_ns().filter(|_| crate::delay::accounting() == Some(true)),
            min_faults: stats.faults().map(|(min, _)| min),
            maj_faults: stats.faults().map(|(_, maj)| maj),
            voluntary_switches: stats.switches().map(|(voluntary, _)| voluntary),
            involuntary_switches: stats.switches().map(|(_, involuntary)| involuntary),
            read_chars: io.map(|io| io[0]),
            write_chars: io.map(|io| io[1]),
            read_calls: io.map(|io| io[2]),
            write_calls: io.map(|io| io[3]),
            read_bytes: io.map(|io| io[4]),
            write_bytes: io.map(|io| io[5]),
        },
    })
}

/// The scheduler books a running task's time at ticks and switches only, and a short process ends before its
/// first. One that never waited spent its whole life running or queueing to run, so its life tells the rest;
/// of one that did wait, up to a tick may be missing.
fn run(stats: &Stats<'_>) -> Option<u64> {
    let sched = stats.sched()?;
    match (stats.switches(), stats.age_ns()) {
        (Some((0, _)), Some(age_ns)) => Some(sched.run_ns.max(age_ns.saturating_sub(sched.run_queue_ns))),
        _ => Some(sched.run_ns),
    }
}

/// Since boot, in whole ticks, from the age at the end: late by as long as the record took to reach us.
fn born(age_ns: u64) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec that the call fills in.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut now) };
    let since_boot = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
    since_boot.saturating_sub(age_ns) / tick_ns() * tick_ns()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_the_kernel_had_to_drop_are_reported_as_lost() {
        let mut listener = match Listener::with_room(4096) {
            Ok(listener) => listener,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let inbox = Arc::clone(&listener.inbox);
        // The listening thread cannot look while this is held, so the small buffer overflows.
        let held = inbox.lock().unwrap();
        for _ in 0..100 {
            assert!(std::process::Command::new("true").status().unwrap().success());
        }
        drop(held);
        let exits = listener.drain().unwrap();
        assert!(
            exits.len() < 100 && listener.lost() >= 1,
            "{} records, {} lost",
            exits.len(),
            listener.lost()
        );
    }
}
