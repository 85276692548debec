//! Return addresses of watched processes in their files' own terms.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::message::Life;
use super::segments::Segments;
use crate::maps;

/// How long a process's mappings hold before an unknown address makes them be read again.
const HOLDS: Duration = Duration::from_millis(500);

/// Executable memory that a file backs.
#[derive(Debug, Clone, Copy)]
struct Area {
    start: u64,
    end: u64,
    /// Less this, an address is the file's own; it may wrap.
    bias: u64,
}

/// One process's, in the order of addresses.
#[derive(Debug, Clone)]
struct Space {
    areas: Arc<[Area]>,
    read: Instant,
}

/// What is mapped where, by process.
#[derive(Debug, Default)]
pub(super) struct Sites {
    spaces: HashMap<i32, Space>,
    /// By device and inode; `None`: no ELF file that can be read.
    files: HashMap<maps::File, Option<Segments>>,
}

impl Sites {
    /// The low 32 bits of the address in its file; 0 where no file is behind it: code made at run time.
    pub(super) fn site(&mut self, pid: i32, address: u64) -> u32 {
        let known = self.spaces.get(&pid);
        if let Some(site) = known.and_then(|space| space.site(address)) {
            return site;
        }
        if known.is_some_and(|space| space.read.elapsed() < HOLDS) {
            return 0;
        }
        self.learn(pid);
        self.spaces.get(&pid).and_then(|space| space.site(address)).unwrap_or(0)
    }

    /// What became of a watched process.
    pub(super) fn heed(&mut self, life: Life) {
        match life {
            Life::Forked { parent, child } => self.forked(parent, child),
            Life::Replaced(pid) | Life::Ended(pid) => {
                self.spaces.remove(&pid);
            }
            Life::ThreadEnded { .. } => {}
        }
    }

    /// A child has its parent's memory; it may be gone before it can be asked.
    fn forked(&mut self, parent: i32, child: i32) {
        if !self.spaces.contains_key(&parent) {
            self.learn(parent);
        }
        if let Some(space) = self.spaces.get(&parent).cloned() {
            self.spaces.insert(child, space);
        }
    }

    fn learn(&mut self, pid: i32) {
        let mappings = maps::read(pid).unwrap_or_default();
        let mut areas = Vec::new();
        for mapping in mappings.iter().filter(|mapping| mapping.executable) {
            let segments = match self.files.entry(mapping.file()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    // What cannot be opened is not known to be unreadable: its process may have ended in between.
                    let Ok(file) = mapping.open(pid) else { continue };
                    place.insert(Segments::read(&file, &mapping.path).ok())
                }
            };
            let length = mapping.end - mapping.start;
            let bias = segments.as_ref().and_then(|s| s.bias(mapping.start, mapping.offset, length));
            if let Some(bias) = bias {
                areas.push(Area { start: mapping.start, end: mapping.end, bias });
            }
        }
        match self.spaces.get_mut(&pid) {
            // It has ended: what was known of it holds for the records it left.
            Some(space) if areas.is_empty() => space.read = Instant::now(),
            _ => {
                self.spaces.insert(pid, Space { areas: areas.into(), read: Instant::now() });
            }
        }
    }
}

impl Space {
    fn site(&self, address: u64) -> Option<u32> {
        let after = self.areas.partition_point(|area| area.start <= address);
        let area = self.areas[..after].last().filter(|area| address < area.end)?;
        Some(address.wrapping_sub(area.bias) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_program_is_told_in_its_own_terms() {
        let me = std::process::id().cast_signed();
        let here = an_address_of_this_program_is_told_in_its_own_terms as *const () as u64;
        let mut sites = Sites::default();
        let site = sites.site(me, here);
        let program = std::fs::read_link("/proc/self/exe").unwrap();
        let start = maps::read(me).unwrap().iter().find(|m| m.path == program).unwrap().start;
        assert_eq!(u64::from(site), (here - start) & 0xffff_ffff);
    }

    #[test]
    fn an_address_that_no_file_is_behind_is_not_known() {
        let on_the_stack = 0u64;
        let mut sites = Sites::default();
        assert_eq!(sites.site(std::process::id().cast_signed(), &raw const on_the_stack as u64), 0);
    }

    #[test]
    fn a_child_is_known_by_its_parent() {
        let me = std::process::id().cast_signed();
        let here = an_address_that_no_file_is_behind_is_not_known as *const () as u64;
        let mut sites = Sites::default();
        let nobody = i32::MAX;
        sites.forked(me, nobody);
        assert_eq!(sites.site(nobody, here), sites.site(me, here));
        assert_ne!(sites.site(nobody, here), 0);
        sites.heed(Life::Ended(nobody));
        assert_eq!(sites.site(nobody, here), 0);
    }
}
