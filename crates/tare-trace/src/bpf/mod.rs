//! The audit's BPF programs: loaded, attached, and emptied at the end.

mod os;
mod raw;

use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object, libbpf_sys};
use tare_probe::bpf::load::{attach, iterate, load_some, map, object, program, refusal};
use tare_probe::bpf::ring::Ring;
use tare_probe::clock::monotonic_ns;
use tare_probe::{ProbeError, Result};

pub(crate) use self::os::Os;
use self::raw::Raw;
use crate::recording::Recorded;

/// What is asked for, best first; the first that this kernel has is used.
const OFFERS: [&[&str]; 3] = [
    // Linux 6.17
    &[
        "on_switch",
        "on_wakeup",
        "on_wakeup_new",
        "on_fork",
        "on_merge",
        "on_submit",
        "on_issue",
        "on_done",
        "on_arrival",
    ],
    // Linux 6.5: a switch that was not traced is found out, and not mended
    &["on_switch", "on_wakeup", "on_wakeup_new", "on_fork", "on_merge", "on_submit", "on_issue", "on_done"],
    // before: a request is heard of when it is issued
    &["on_switch", "on_wakeup", "on_wakeup_new", "on_fork", "on_merge", "on_issue", "on_complete"],
];
const LOOK: &str = "look";

/// Records until it is finished or dropped.
pub(crate) struct Audit {
    began_ns: u64,
    ring: Ring<Raw>,
    look: Link,
    programs: &'static [&'static str],
    links: Vec<Link>,
    object: Object,
}

impl Audit {
    pub(crate) fn start(processes: &[i32]) -> Result<Self> {
        let [best, rest @ ..] = OFFERS;
        Self::with(processes, best).or_else(|refused| {
            rest.iter().find_map(|programs| Self::with(processes, programs).ok()).ok_or(refused)
        })
    }

    fn with(processes: &[i32], programs: &'static [&'static str]) -> Result<Self> {
        let mut object = load_some(object!("audit"), |name| name == LOOK || programs.contains(&name))?;
        enlist(&map(&object, "processes")?, processes)?;
        let ring = Ring::open(&map(&object, "ring")?, "tare-audit")?;
        let look = attach(&mut object, LOOK)?;
        let links = programs.iter().map(|name| attach(&mut object, name)).collect::<Result<Vec<_>>>()?;
        let began_ns = monotonic_ns();
        iterate(&look, &mut Vec::new())?;
        Ok(Self { began_ns, ring, look, programs, links, object })
    }

    pub(crate) fn finish(mut self) -> Result<Recorded> {
        let ended_ns = monotonic_ns();
        iterate(&self.look, &mut Vec::new())?;
        self.links.clear();
        let mut passed_over = Vec::new();
        for name in self.programs {
            let count = misses(&mut self.object, name)?;
            if count > 0 {
                passed_over.push((*name, count));
            }
        }
        let raw = self.ring.take();
        Ok(Recorded {
            began_ns: self.began_ns,
            ended_ns,
            dropped: dropped(&map(&self.object, "dropped")?)?,
            passed_over,
            events: raw.iter().filter_map(Raw::event).collect(),
        })
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        // Nothing more goes into the ring when its thread is stopped.
        self.links.clear();
    }
}

fn enlist(list: &MapHandle, processes: &[i32]) -> Result<()> {
    for tgid in processes {
        list.update(&tgid.to_ne_bytes(), &1u32.to_ne_bytes(), MapFlags::ANY).map_err(|e| refusal(&e))?;
    }
    Ok(())
}

fn dropped(counts: &MapHandle) -> Result<u64> {
    let value = counts.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(|e| refusal(&e))?;
    Ok(value.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes))
}

/// How often the kernel passed over a program because it was at work on that CPU already.
fn misses(object: &mut Object, name: &str) -> Result<u64> {
    let program = program(object, name)?;
    let mut info = libbpf_sys::bpf_prog_info::default();
    let mut length = size_of::<libbpf_sys::bpf_prog_info>() as u32;
    // SAFETY: `info` is as long as `length` says, and asks for no arrays.
    let refused = unsafe {
        libbpf_sys::bpf_obj_get_info_by_fd(
            program.as_fd().as_raw_fd(),
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if refused != 0 {
        let error = std::io::Error::from_raw_os_error(-refused);
        return Err(ProbeError::os(format!("the kernel says nothing of its program {name}"), &error, ""));
    }
    Ok(info.recursion_misses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offer_loads_and_records_where_bpf_works() {
        for programs in OFFERS {
            let audit = match Audit::with(&[std::process::id() as i32], programs) {
                Ok(audit) => audit,
                Err(error) => {
                    eprintln!("skipped: {error}");
                    continue;
                }
            };
            std::thread::sleep(std::time::Duration::from_millis(5));
            let recorded = audit.finish().unwrap();
            assert!(recorded.events.len() > 2, "{recorded:?}");
            assert_eq!(recorded.dropped, 0);
        }
    }
}
