//! What must be so before an agent can help: the program's kind, the folder, the clock.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::{Path, PathBuf};

use tare_rings::shared;

use crate::{ProbeError, Result};

const X86_64: u16 = 62;
const INTERPRETER: u32 = 3;
const USE_ATTACH: &str = "use attach, which needs no agent";

/// The program's path without links, if it is one that can preload the agent.
pub(super) fn checked(program: &Path) -> Result<PathBuf> {
    let refused = |why: &str, next: &str| Err(ProbeError::new(format!("{}: {why}", program.display()), next));
    let unreadable = |error: &io::Error| {
        ProbeError::os(
            format!("cannot read {}", program.display()),
            error,
            "name the server's executable file",
        )
    };
    let path = fs::canonicalize(program).map_err(|error| unreadable(&error))?;
    let bytes = fs::read(&path).map_err(|error| unreadable(&error))?;
    if bytes.starts_with(b"#!") {
        return refused("it is a script", "name the executable file that the script starts");
    }
    if bytes.len() < 64 || !bytes.starts_with(b"\x7fELF") || bytes[4] != 2 || bytes[5] != 1 {
        return refused("it is no 64-bit little-endian ELF file", "name the server's executable file");
    }
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    if half(18) != X86_64 || !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return refused("the agent patches x86-64 Linux programs only", USE_ATTACH);
    }
    let table = u64::from_le_bytes(bytes[32..40].try_into().expect("8 bytes")) as usize;
    let (size, count) = (usize::from(half(54)), usize::from(half(56)));
    let dynamic = (0..count).any(|entry| {
        let kind = bytes.get(table + entry * size..).and_then(|rest| rest.first_chunk::<4>());
        kind.is_some_and(|kind| u32::from_le_bytes(*kind) == INTERPRETER)
    });
    if !dynamic {
        return refused("it is statically linked, and preloads nothing", USE_ATTACH);
    }
    Ok(path)
}

/// Paths without links, each looked up once.
#[derive(Debug, Default)]
pub(super) struct Paths(HashMap<PathBuf, PathBuf>);

impl Paths {
    /// The file that a path leads to; itself if there is none.
    pub(super) fn real(&mut self, path: &Path) -> PathBuf {
        if let Some(known) = self.0.get(path) {
            return known.clone();
        }
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.0.insert(path.to_owned(), real.clone());
        real
    }
}

/// See `tare_rings::shared::identity`.
pub(super) fn identity(path: &Path) -> Result<[u64; 4]> {
    shared::identity(path)
        .map_err(|error| ProbeError::os(format!("cannot read {}", path.display()), &error, ""))
}

/// The folder, for its owner alone.
pub(super) fn make_folder(folder: &Path, owner: Option<(u32, u32)>) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        other => other?,
    }
    match owner {
        Some((user, group)) => chown(folder, Some(user), Some(group)),
        None => Ok(()),
    }
}

/// Functions that look at their return address or change stacks: with another return address they go wrong.
pub(super) fn is_special(name: &str) -> bool {
    let plain = name.trim_start_matches('_').split('@').next().unwrap_or_default();
    const NAMES: [&str; 15] = [
        "start",
        "setjmp",
        "sigsetjmp",
        "longjmp",
        "siglongjmp",
        "vfork",
        "clone",
        "clone3",
        "getcontext",
        "setcontext",
        "swapcontext",
        "makecontext",
        "restore_rt",
        "cxa_begin_catch",
        "gxx_personality_v0",
    ];
    NAMES.contains(&plain)
        || plain.ends_with("_fcontext")
        || name.starts_with("_Unwind_")
        || name.starts_with("my_context_")
        || name.starts_with("__tsan_")
        || name.starts_with("__asan_")
}

/// CLOCK_MONOTONIC, ns.
pub(super) fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills one timespec; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Whether the time-stamp counter runs at one speed always.
pub(super) fn tsc_is_steady() -> bool {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = text.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
    cfg!(target_arch = "x86_64") && has("constant_tsc") && has("nonstop_tsc")
}

/// Both clocks at one moment: of several tries the one with the least time between.
#[cfg(target_arch = "x86_64")]
pub(super) fn tsc_and_ns() -> (u64, u64) {
    // SAFETY: every x86-64 processor has this instruction.
    let ticks = || unsafe { std::arch::x86_64::_rdtsc() };
    (0..16)
        .map(|_| {
            let before = ticks();
            let ns = monotonic_ns();
            let after = ticks();
            (after.wrapping_sub(before), (before.wrapping_add(after.wrapping_sub(before) / 2), ns))
        })
        .min()
        .map_or((0, 0), |(_, both)| both)
}

/// Other architectures have no agent.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn tsc_and_ns() -> (u64, u64) {
    let now = monotonic_ns();
    (now, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_and_a_text_are_refused_with_what_to_do() {
        let folder = std::env::temp_dir().join(format!("tare-agent-kinds-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let script = folder.join("server.sh");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        let error = checked(&script).unwrap_err();
        assert!(error.what.contains("script") && error.next_step.contains("executable"), "{error}");
        fs::write(&script, "hello").unwrap();
        assert!(checked(&script).unwrap_err().what.contains("ELF"));
        assert!(checked(&folder.join("absent")).unwrap_err().what.contains("cannot read"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    fn a_program_of_another_architecture_and_a_static_one_are_refused() {
        let ours = checked(&std::env::current_exe().unwrap()).unwrap();
        let mut bytes = fs::read(ours).unwrap();
        let folder = std::env::temp_dir().join(format!("tare-agent-elf-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("program");
        bytes[56..58].fill(0); // no program headers: nothing that loads an interpreter
        fs::write(&path, &bytes).unwrap();
        assert!(checked(&path).unwrap_err().what.contains("statically linked"));
        bytes[18] = 183;
        fs::write(&path, &bytes).unwrap();
        assert!(checked(&path).unwrap_err().what.contains("x86-64"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn functions_that_handle_stacks_are_known_by_name() {
        for name in ["_start", "__sigsetjmp", "swapcontext", "jump_fcontext", "_Unwind_Resume", "vfork@plt"] {
            assert!(is_special(name), "{name}");
        }
        for name in ["main", "heap_update", "start_xact_command", "StartTransaction"] {
            assert!(!is_special(name), "{name}");
        }
    }
}
