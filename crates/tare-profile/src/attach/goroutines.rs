//! Whether a process has goroutines: any file in its memory that Go's linker made.

use std::collections::HashMap;

use object::{Object as _, ObjectSection as _};

use crate::maps::{self, Mapping};

/// Sections that it makes.
const SECTIONS: [&str; 2] = [".gopclntab", ".go.buildinfo"];

/// What files are found to be, by device and inode.
#[derive(Debug, Default)]
pub(super) struct Goroutines(HashMap<maps::File, bool>);

impl Goroutines {
    /// Whether any of these processes has them. Each time anew: a library may have been loaded since.
    pub(super) fn are_in(&mut self, pids: &[i32]) -> bool {
        let mut found = false;
        for (pid, mapping) in maps::executable_files(pids) {
            let known = self.0.get(&mapping.file()).copied();
            // Of a file that cannot be opened nothing is known: its process may have ended.
            let Some(is_go) = known.or_else(|| is_go(pid, &mapping)) else { continue };
            self.0.insert(mapping.file(), is_go);
            found |= is_go;
        }
        found
    }
}

fn is_go(pid: i32, mapping: &Mapping) -> Option<bool> {
    let cache = object::ReadCache::new(mapping.open(pid).ok()?);
    let Ok(elf) = object::File::parse(&cache) else { return Some(false) };
    Some(elf.sections().any(|section| section.name().is_ok_and(|name| SECTIONS.contains(&name))))
}
