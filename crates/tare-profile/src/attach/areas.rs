//! In which stretch of a process's memory an address is: each stack is one, or lies in one.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::maps;

/// How long what was read holds before an unknown address makes it be read again.
const HOLDS: Duration = Duration::from_millis(200);

/// Memory of processes, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Areas(HashMap<i32, (Vec<(u64, u64)>, Instant)>);

impl Areas {
    /// From its first byte to the one behind its last; `None` where that is not known.
    pub(super) fn find(&mut self, pid: i32, address: u64) -> Option<(u64, u64)> {
        if let Some((areas, read)) = self.0.get(&pid) {
            let found = within(areas, address);
            if found.is_some() || read.elapsed() < HOLDS {
                return found;
            }
        }
        let areas = maps::areas(pid).unwrap_or_default();
        let found = within(&areas, address);
        self.0.insert(pid, (areas, Instant::now()));
        found
    }

    pub(super) fn forget(&mut self, pid: i32) {
        self.0.remove(&pid);
    }
}

fn within(areas: &[(u64, u64)], address: u64) -> Option<(u64, u64)> {
    let after = areas.partition_point(|(from, _)| *from <= address);
    areas[..after].last().copied().filter(|(_, to)| address < *to)
}
