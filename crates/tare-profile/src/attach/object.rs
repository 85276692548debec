//! Which file a watched process really runs: its path may name another one by now, or another one here than there.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use object::{Object as _, ObjectSymbol as _};
use tare_probe::{ProbeError, Result};

use super::segments::Segments;
use crate::agent;
use crate::image::entry::{Entry, SEEN, behind_stack_check, place};
use crate::maps::{self, Mapping};

/// A file to put probes on. It is held open: the processes that have it mapped may end, and its path may name another
/// file, before the probes are set.
#[derive(Debug)]
pub(super) struct Object {
    /// Its name for the user.
    pub name: PathBuf,
    pub segments: Segments,
    file: File,
    id: maps::File,
    /// Addresses of code that Go compiled, once they are looked up.
    go: OnceLock<Range<u64>>,
}

/// Files that probes came to, each held open from its first use on. Addresses within a file are those of the file that
/// was there then: what is at its path later has other functions at them, so it is never looked at again.
#[derive(Debug, Default)]
pub(super) struct Objects(HashMap<PathBuf, Arc<Object>>);

impl Objects {
    /// The file that `named` was when it was first used, as these processes run it.
    pub(super) fn find(&mut self, named: &Path, pids: &[i32]) -> Result<Arc<Object>> {
        if let Some(object) = self.0.get(named) {
            let object = Arc::clone(object);
            return object.patched_by_the_agent().map_or(Ok(object), Err);
        }
        let object = Arc::new(find(named, pids)?);
        self.0.insert(named.to_owned(), Arc::clone(&object));
        Ok(object)
    }
}

impl Object {
    /// Opens a file by its path.
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| {
            ProbeError::os(format!("cannot read {}", path.display()), &e, "run as root, or name another file")
        })?;
        Self::of(file, path)
    }

    fn of(file: File, name: &Path) -> Result<Self> {
        let segments = Segments::read(&file, name)?;
        let id = identity(&file).map_err(|e| {
            ProbeError::os(format!("cannot read {}", name.display()), &e, "name another file")
        })?;
        let object = Self { name: name.to_owned(), segments, file, id, go: OnceLock::new() };
        object.patched_by_the_agent().map_or(Ok(object), Err)
    }

    /// A path at which the kernel finds the file, as long as this object is there.
    pub(super) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.file.as_raw_fd()).into()
    }

    /// Which file it is, under whatever name.
    pub(super) fn id(&self) -> maps::File {
        self.id
    }

    /// Reads it as the object file that it is.
    pub(super) fn contents(&self) -> std::io::Result<File> {
        self.file.try_clone()
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

    /// Where a probe is cheapest on the entry of the function at this offset. `arguments`: whether they are read at that
    /// place. `joined`: offsets from its first byte to which jumps lead, where that is known.
    pub(super) fn place(
        &self,
        offset: u64,
        arguments: bool,
        joined: Option<&HashSet<u64>>,
        goroutines: bool,
    ) -> Entry {
        let mut code = [0; SEEN];
        // At a file's very end there are fewer.
        let seen = self.file.read_at(&mut code, offset).unwrap_or(0);
        if goroutines {
            // Its first bytes run again where the stack has no room.
            return behind_stack_check(&code[..seen])
                .unwrap_or_else(|| place(&code[..seen], arguments, None));
        }
        place(&code[..seen], arguments, joined)
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

/// The device and inode of an open file.
fn identity(file: &File) -> std::io::Result<maps::File> {
    let metadata = file.metadata()?;
    Ok(((libc::major(metadata.dev()), libc::minor(metadata.dev())), metadata.ino()))
}

/// The file that `named` is, as these processes run it.
pub(super) fn find(named: &Path, pids: &[i32]) -> Result<Object> {
    let mut other = None;
    for &pid in pids {
        // One that has just ended maps nothing.
        let mappings = maps::read(pid).unwrap_or_default();
        match mapped(named, pid, &mappings) {
            // A process that has ended since shows no file: the next one may.
            Some(mapping) => match open_mapped(named, pid, mapping) {
                Some(file) => return Object::of(file, named),
                None => continue,
            },
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
    Object::open(named)
}

/// The file behind a part of a process's memory, whatever its path names by now.
pub(super) fn behind(mapping: &Mapping, pid: i32) -> Option<Object> {
    Object::of(open_mapped(&mapping.path, pid, mapping)?, &mapping.path).ok()
}

/// The part of the process's memory that has this file, by what it is, not by its name.
fn mapped<'a>(named: &Path, pid: i32, mappings: &'a [Mapping]) -> Option<&'a Mapping> {
    [named.to_owned(), inside(named, pid)].iter().find_map(|path| {
        let file = fs::metadata(path).ok()?;
        // Some file systems (btrfs) tell another device in maps than to stat; then name and inode have to do.
        let same = |m: &&Mapping| {
            m.is(file.dev(), file.ino()) || m.inode == file.ino() && m.path == named && !m.deleted
        };
        mappings.iter().find(same)
    })
}

/// The file behind a part of the process's memory. Without `CAP_CHECKPOINT_RESTORE` the kernel's link to it cannot be
/// followed; the path is the same file then.
fn open_mapped(named: &Path, pid: i32, mapping: &Mapping) -> Option<File> {
    let paths = [mapping.link(pid), named.to_owned(), inside(named, pid)];
    let is_it = |file: &File| identity(file).is_ok_and(|(_, inode)| inode == mapping.inode);
    paths.iter().find_map(|path| File::open(path).ok().filter(is_it))
}

/// A path as the process sees it, perhaps below another root.
fn inside(named: &Path, pid: i32) -> PathBuf {
    Path::new(&format!("/proc/{pid}/root")).join(named.strip_prefix("/").unwrap_or(named))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    fn me() -> [i32; 1] {
        [std::process::id().cast_signed()]
    }

    #[test]
    fn a_program_is_found_under_any_name_it_has() {
        let program = fs::read_link("/proc/self/exe").unwrap();
        let by_name = find(&program, &me()).unwrap();
        let by_link = find(Path::new("/proc/self/exe"), &me()).unwrap();
        let id = identity(&File::open(&program).unwrap()).unwrap();
        assert_eq!((by_name.id(), by_link.id()), (id, id));
    }

    /// A process that runs `program`, and its mapping of it: the process is there some time before that.
    fn sleeping(program: &Path) -> (Child, Mapping) {
        let child = Command::new(program).arg("60").spawn().unwrap();
        let mapping = |_| {
            sleep(Duration::from_millis(1));
            let mappings = maps::read(child.id().cast_signed()).unwrap();
            mappings
                .into_iter()
                .find(|mapping| mapping.executable && mapping.path == fs::canonicalize(program).unwrap())
        };
        let mapping = (0..10_000).find_map(mapping).expect("the program is mapped");
        (child, mapping)
    }

    #[test]
    fn a_file_keeps_its_path_for_the_kernel_though_its_process_ends_and_its_name_goes() {
        let name = std::env::temp_dir().join(format!("tare-object-{}", std::process::id()));
        std::os::unix::fs::symlink("/bin/sleep", &name).unwrap();
        let (mut child, _) = sleeping(&name);
        let found = find(&name, &[child.id().cast_signed()]).unwrap();
        let id = identity(&File::open(&name).unwrap()).unwrap();
        fs::remove_file(&name).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found.name, name);
        assert_eq!(identity(&File::open(found.path()).unwrap()).unwrap(), id);
    }

    #[test]
    fn a_file_is_the_same_from_its_first_use_on_whatever_comes_to_its_path() {
        let name = std::env::temp_dir().join(format!("tare-objects-{}", std::process::id()));
        fs::copy("/bin/sleep", &name).unwrap();
        let (mut child, _) = sleeping(&name);
        let pids = [child.id().cast_signed()];
        let mut objects = Objects::default();
        let first = objects.find(&name, &pids).unwrap().id();
        let other = name.with_extension("other");
        fs::copy("/bin/sleep", &other).unwrap();
        fs::rename(&other, &name).unwrap();
        let again = objects.find(&name, &pids).map(|object| object.id());
        let anew = Objects::default().find(&name, &pids).map(|object| object.id());
        child.kill().unwrap();
        child.wait().unwrap();
        fs::remove_file(&name).unwrap();
        assert_eq!(again.unwrap(), first);
        assert!(anew.is_err(), "what runs is not what is there");
    }

    #[test]
    fn a_process_that_has_ended_is_passed_over() {
        let (mut child, mapping) = sleeping(Path::new("/bin/sleep"));
        let ended = child.id().cast_signed();
        child.kill().unwrap();
        child.wait().unwrap();
        let found = open_mapped(Path::new("/bin/sleep"), ended, &mapping).unwrap();
        assert_eq!(identity(&found).unwrap().1, fs::metadata("/bin/sleep").unwrap().ino());
        assert!(find(Path::new("/bin/sleep"), &[ended, std::process::id().cast_signed()]).is_ok());
    }

    #[test]
    fn a_file_that_nobody_maps_yet_is_taken_as_it_is() {
        let shell = Path::new("/bin/sh");
        assert_eq!(find(shell, &me()).unwrap().name, shell);
    }

    #[test]
    fn no_file_is_an_error_with_its_name() {
        let error = find(Path::new("/nowhere/at-all"), &me()).unwrap_err();
        assert!(error.what.contains("/nowhere/at-all"), "{error}");
    }
}
