//! Which file a watched process really runs: its path may name another one by now, or another one here than there.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use object::{Object as _, ObjectSymbol as _};
use tare_probe::{ProbeError, Result};

use super::segments::Segments;
use crate::agent;
use crate::image::entry::{SEEN, behind_stack_check, is_mistaken, place};
use crate::maps::{self, Mapping};

/// A file to put probes on.
#[derive(Debug)]
pub(super) struct Object {
    /// A path at which the kernel finds the file that is mapped.
    pub path: PathBuf,
    pub segments: Segments,
    file: File,
    /// Addresses of code that Go compiled, once they are looked up.
    go: OnceCell<Range<u64>>,
}

impl Object {
    fn open(path: PathBuf) -> Result<Self> {
        let segments = Segments::read(&path)?;
        let file = File::open(&path)
            .map_err(|e| ProbeError::os(format!("cannot read {}", path.display()), &e, "try again"))?;
        let found = Self { path, segments, file, go: OnceCell::new() };
        found.patched_by_the_agent().map_or(Ok(found), Err)
    }

    /// A breakpoint comes to every process that maps the file, and one on text that the agent has patched is the end of
    /// its process (`agent::is_in`).
    fn patched_by_the_agent(&self) -> Option<ProbeError> {
        let file = self.file.metadata().ok()?;
        let all = fs::read_dir("/proc").ok()?;
        let mut pids = all.flatten().filter_map(|one| one.file_name().to_str()?.parse::<i32>().ok());
        let maps_it = |pid: &i32| {
            let mappings = maps::read(*pid).unwrap_or_default();
            // By the link too: some file systems (btrfs) tell another device in maps than to stat.
            let linked = |m: &Mapping| {
                fs::metadata(m.link(*pid)).is_ok_and(|f| (f.dev(), f.ino()) == (file.dev(), file.ino()))
            };
            mappings.iter().any(|m| m.executable && (m.is(file.dev(), file.ino()) || linked(m)))
        };
        let pid = pids.find(|pid| agent::is_in(*pid) && maps_it(pid))?;
        Some(ProbeError::new(
            format!(
                "process {pid} runs the same file with Tare's agent in it: a probe of the kernel would end that process"
            ),
            "go on with the agent's profile: tare profile refine; or end that process, or start the server to be watched \
             from a copy of its programs (tare server start --own-programs)",
        ))
    }

    /// The offset at which a probe on the function at this offset is cheapest, and whether the kernel emulates the
    /// instruction there. `arguments`: whether they are read at that place.
    pub(super) fn place(&self, offset: u64, arguments: bool, goroutines: bool) -> (u64, bool) {
        let mut code = [0; SEEN];
        // At a file's very end there are fewer.
        let seen = self.file.read_at(&mut code, offset).unwrap_or(0);
        let choose = if goroutines { behind_stack_check(&code[..seen]) } else { None };
        let (further, emulated) = choose.unwrap_or_else(|| place(&code[..seen], arguments));
        (offset + further, emulated)
    }

    /// Whether the kernel may take the instruction at this offset for another, and do that.
    pub(super) fn is_mistaken(&self, offset: u64) -> bool {
        is_mistaken(&self.code(offset, SEEN as u64))
    }

    /// Whether Go compiled the function at this address. C code in the same program keeps no goroutine in r14.
    pub(super) fn is_go(&self, address: u64) -> bool {
        self.go.get_or_init(|| go_text(&self.file)).contains(&address)
    }

    /// Its bytes from this offset on, or as many as it has.
    pub(super) fn code(&self, offset: u64, size: u64) -> Vec<u8> {
        let mut code = vec![0; size as usize];
        let seen = self.file.read_at(&mut code, offset).unwrap_or(0);
        code.truncate(seen);
        code
    }
}

/// Addresses between the marks of Go's linker; none where they are missing.
fn go_text(file: &File) -> Range<u64> {
    let cache = object::ReadCache::new(file);
    let Ok(elf) = object::File::parse(&cache) else { return 0..0 };
    let address = |name| elf.symbol_by_name(name).map(|symbol| symbol.address());
    address("runtime.text").zip(address("runtime.etext")).map_or(0..0, |(from, to)| from..to)
}

/// The file that `named` is, as these processes run it.
pub(super) fn find(named: &Path, pids: &[i32]) -> Result<Object> {
    let mut other = None;
    for &pid in pids {
        // One that has just ended maps nothing.
        let mappings = maps::read(pid).unwrap_or_default();
        match mapped(named, pid, &mappings) {
            Some(path) => return Object::open(path),
            None if mappings.iter().any(|m| m.path == named) => other = Some(pid),
            None => {}
        }
    }
    if let Some(pid) = other {
        return Err(ProbeError::new(
            format!("{} is not the file that process {pid} runs: it was replaced since", named.display()),
            format!("name /proc/{pid}/exe instead, or start the server anew"),
        ));
    }
    // A library may be loaded later.
    Object::open(named.to_owned())
}

/// A path to the file if the process has it mapped: by what it is, not by its name.
fn mapped(named: &Path, pid: i32, mappings: &[Mapping]) -> Option<PathBuf> {
    let mut inside = PathBuf::from(format!("/proc/{pid}/root"));
    inside.push(named.strip_prefix("/").unwrap_or(named));
    for path in [named, &inside] {
        let Ok(file) = fs::metadata(path) else { continue };
        // Some file systems (btrfs) tell another device in maps than to stat; then name and inode have to do.
        let same = |m: &&Mapping| {
            m.is(file.dev(), file.ino()) || m.inode == file.ino() && m.path == named && !m.deleted
        };
        if let Some(mapping) = mappings.iter().find(same) {
            let link = mapping.link(pid);
            // Without CAP_CHECKPOINT_RESTORE the link cannot be followed; the path is the same file then.
            return Some(if fs::metadata(&link).is_ok() { link } else { path.to_owned() });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me() -> [i32; 1] {
        [std::process::id().cast_signed()]
    }

    #[test]
    fn a_program_is_found_under_any_name_it_has() {
        let program = fs::read_link("/proc/self/exe").unwrap();
        let by_name = find(&program, &me()).unwrap();
        let by_link = find(Path::new("/proc/self/exe"), &me()).unwrap();
        let inode = |path: &Path| fs::metadata(path).unwrap().ino();
        assert_eq!(inode(&by_name.path), inode(&program));
        assert_eq!(inode(&by_link.path), inode(&program));
    }

    #[test]
    fn a_file_that_nobody_maps_yet_is_taken_as_it_is() {
        let shell = Path::new("/bin/sh");
        assert_eq!(find(shell, &me()).unwrap().path, shell);
    }

    #[test]
    fn no_file_is_an_error_with_its_name() {
        let error = find(Path::new("/nowhere/at-all"), &me()).unwrap_err();
        assert!(error.what.contains("/nowhere/at-all"), "{error}");
    }
}
