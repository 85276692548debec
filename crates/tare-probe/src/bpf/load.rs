//! Loading BPF objects, and why they could not be.

use std::io;
use std::mem::MaybeUninit;

use libbpf_rs::{Iter, Link, MapCore, MapHandle, Object, ObjectBuilder, ProgramMut};

use crate::error::{ProbeError, Result};

/// An ELF object in memory, aligned as its readers expect.
#[repr(C, align(16))]
pub struct Aligned<T: ?Sized>(pub T);

/// The BPF object of this name that the using crate's build script compiled.
#[macro_export]
macro_rules! object {
    ($name:literal) => {{
        static ELF: &$crate::bpf::load::Aligned<[u8]> =
            &$crate::bpf::load::Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o")));
        &ELF.0
    }};
}
pub use object;

/// Loads an object's programs and maps into the kernel, attaching nothing.
pub fn load(elf: &[u8]) -> Result<Object> {
    load_some(elf, |_| true)
}

/// The same for those of its programs that are wanted, by name.
pub fn load_some(elf: &[u8], wanted: impl Fn(&str) -> bool) -> Result<Object> {
    load_sized(elf, wanted, &[])
}

/// The same, and the maps that `sizes` names have that many entries (a ring buffer: bytes), whatever the object says.
pub fn load_sized(elf: &[u8], wanted: impl Fn(&str) -> bool, sizes: &[(&str, u32)]) -> Result<Object> {
    if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Err(ProbeError::new(
            "the kernel describes its types nowhere: /sys/kernel/btf/vmlinux is missing",
            "use a kernel built with CONFIG_DEBUG_INFO_BTF, and mount sysfs on /sys",
        ));
    }
    // libbpf would print the verifier's log on a terminal that is not ours.
    libbpf_rs::set_print(None);
    let mut object = ObjectBuilder::default().open_memory(elf).map_err(|e| refusal(&e))?;
    for mut program in object.progs_mut() {
        let load = program.name().to_str().is_some_and(&wanted);
        program.set_autoload(load);
    }
    for mut map in object.maps_mut() {
        let asked = sizes.iter().find(|(name, _)| map.name() == *name);
        if let Some((_, entries)) = asked {
            map.set_max_entries(*entries).map_err(|e| refusal(&e))?;
        }
    }
    object.load().map_err(|e| refusal(&e))
}

/// Whether this process has the capabilities that loading takes.
fn privileged() -> bool {
    const PERFMON: u64 = 1 << 38;
    const BPF: u64 = 1 << 39;
    const SYS_ADMIN: u64 = 1 << 21;
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let held = effective.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    held & SYS_ADMIN != 0 || held & (PERFMON | BPF) == PERFMON | BPF
}

/// A libbpf error in our words. Its number is EPERM only where more privilege would do: the kernel's verifier refuses
/// programs with EACCES, and to the privileged too.
pub fn refusal(error: &libbpf_rs::Error) -> ProbeError {
    let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0);
    let (errno, next) = match error.kind() {
        libbpf_rs::ErrorKind::PermissionDenied if privileged() => (
            libc::EINVAL,
            "see in the kernel's log whether lockdown or a security module forbids it; else its verifier does not take \
             this program: report that, with the output of uname -r",
        ),
        libbpf_rs::ErrorKind::PermissionDenied => {
            (libc::EPERM, "run as root, or with CAP_BPF and CAP_PERFMON and kernel lockdown off")
        }
        libbpf_rs::ErrorKind::NotFound => {
            (libc::ENOENT, "use a newer kernel (5.11 or later for the iterator)")
        }
        _ => (errno, "use Linux 5.18 or later; the kernel log may say more"),
    };
    ProbeError {
        what: format!("the kernel refused the BPF program: {error}"),
        next_step: next.to_owned(),
        errno,
    }
}

/// One program of a loaded object.
pub fn program<'o>(object: &'o mut Object, name: &str) -> Result<ProgramMut<'o>> {
    object.progs_mut().find(|program| program.name() == name).ok_or_else(|| {
        ProbeError::new(format!("the BPF object has no program {name}"), "build the package anew")
    })
}

/// Attaches one program of a loaded object.
pub fn attach(object: &mut Object, name: &str) -> Result<Link> {
    program(object, name)?.attach().map_err(|e| refusal(&e))
}

/// A descriptor of one map of a loaded object.
pub fn map(object: &Object, name: &str) -> Result<MapHandle> {
    let map = object.maps().find(|map| map.name() == name).ok_or_else(|| {
        ProbeError::new(format!("the BPF object has no map {name}"), "build the package anew")
    })?;
    MapHandle::try_from(&map).map_err(|e| refusal(&e))
}

/// Runs an iterator to its end; how much it wrote at the start of `buffer`, which grows as needed.
pub fn iterate(link: &Link, buffer: &mut Vec<u8>) -> Result<usize> {
    use io::Read;
    const CHUNK: usize = 32 * 1024;
    let mut iterator = Iter::new(link).map_err(|e| refusal(&e))?;
    let mut end = 0;
    loop {
        if buffer.len() < end + CHUNK {
            buffer.resize(end + 2 * CHUNK, 0);
        }
        match iterator.read(&mut buffer[end..]) {
            Ok(0) => return Ok(end),
            Ok(n) => end += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(ProbeError::os("the task iterator could not be read", &e, "")),
        }
    }
}

/// Reads a C struct from the start of `bytes`.
pub fn from_bytes<T: Plain>(bytes: &[u8]) -> Option<T> {
    if bytes.len() < size_of::<T>() {
        return None;
    }
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: `bytes` is long enough, and any bytes make a valid `Plain`.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), value.as_mut_ptr().cast(), size_of::<T>());
        Some(value.assume_init())
    }
}

/// # Safety
/// A `repr(C)` struct of integers and arrays of them, without padding.
pub unsafe trait Plain: Copy {}
