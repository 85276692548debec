//! Makes a detour for each function of the table, object by object, and patches those that are to be from the start: all of them, or
//! where the table has triggers these alone (`later`).

use std::ffi::c_void;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;

use tare_rings::{Refusal, Shared, shared};

use crate::displace::Displaced;
use crate::hooks::{self, Hook};
use crate::later::{self, Detour};
use crate::near::{self, PAGE, protect};
use crate::objects::{self, Mapped};
use crate::runtime;
use crate::stub::{ALIGNMENT, MOST, Zone};
use crate::sweep::Sweep;

const PATCHED: u32 = 1;
const POINTERS: usize = 64;
const HUGE_PAGE: usize = 2 << 20;
/// So many stubs are worth a huge page.
const MANY: usize = 512;
/// A function whose size is not known is taken to be no longer.
const LONGEST: u64 = 1 << 20;

/// A function of the table in this process.
#[derive(Debug, Clone, Copy)]
struct Entry {
    place: usize,
    address: u64,
    size: u64,
    /// To the next one of the table.
    room: u64,
}

/// Patches what can be, and says of each function in the table what became of it.
pub(crate) fn all(shared: &'static Shared, before: &[Mapped]) -> Result<(), Refusal> {
    let hooks = hooks::find(before)?;
    // With the library that the search may have loaded.
    let objects = objects::mapped();
    let mut sites = vec![0u64; shared.functions().len()];
    let mut work: Vec<(&Mapped, Vec<Detour>)> = Vec::new();
    // The unwinder's libraries before the program: a watched function without them would end in the first exception.
    for (number, object) in objects.iter().enumerate().rev() {
        let entries = entries(shared, object, number == 0, &hooks);
        let inside = |hook: &&Hook| {
            object.code.iter().any(|(begin, end)| (*begin..*end).contains(&(hook.address as usize)))
        };
        let mine: Vec<Hook> = hooks.iter().filter(inside).copied().collect();
        if !entries.is_empty() || !mine.is_empty() {
            work.push((object, prepare(shared, object, &entries, &mine, &mut sites)?));
        }
    }
    for function in shared.functions() {
        let known = shared.objects().get(function.object as usize);
        if known.is_none_or(|object| object.mapped.load(Ordering::Relaxed) == 0) {
            function.status.store(Refusal::NotMapped as u32, Ordering::Release);
        }
    }
    runtime::set_sites(sites);
    let work = work.into_iter().flat_map(|(object, detours)| later::codes(object, &detours)).collect();
    later::start(shared, work)
}

/// The table's functions of a mapped object, by address; none if the table does not have it.
fn entries(shared: &Shared, object: &Mapped, program: bool, hooks: &[Hook]) -> Vec<Entry> {
    let same = |identity: &[u64; 4]| shared::identity(&object.path).is_ok_and(|found| found == *identity);
    let number = if program {
        Some(0)
    } else {
        (1..shared.objects().len()).find(|place| same(&shared.objects()[*place].identity))
    };
    let Some(number) = number else { return Vec::new() };
    shared.objects()[number].mapped.store(1, Ordering::Relaxed);
    // SAFETY: reads a number that the kernel gave the program.
    let start = unsafe { libc::getauxval(libc::AT_ENTRY) };
    let mut entries = Vec::new();
    for (place, function) in
        shared.functions().iter().enumerate().filter(|(_, function)| function.object as usize == number)
    {
        let address = (object.bias as u64).wrapping_add(function.address);
        let special = address == start || hooks.iter().any(|hook| hook.address == address);
        if special || function.status.load(Ordering::Relaxed) == Refusal::Special as u32 {
            function.status.store(Refusal::Special as u32, Ordering::Release);
        } else {
            entries.push(Entry { place, address, size: u64::from(function.size), room: LONGEST });
        }
    }
    entries.sort_unstable_by_key(|entry| entry.address);
    for place in 1..entries.len() {
        let room = entries[place].address - entries[place - 1].address;
        entries[place - 1].room = room.min(LONGEST);
    }
    entries
}

/// Makes the stubs of an object's functions in memory near it. Nothing of the object is changed yet.
fn prepare(
    shared: &'static Shared,
    object: &Mapped,
    entries: &[Entry],
    hooks: &[Hook],
    sites: &mut [u64],
) -> Result<Vec<Detour>, Refusal> {
    let sizes: Vec<(u64, u64)> = entries
        .iter()
        .map(|entry| (entry.address, if entry.size == 0 { entry.room } else { entry.size }))
        .collect();
    let mut sweeps = Vec::new();
    for (begin, end) in &object.code {
        if let Some(code) = object.code_from(*begin) {
            sweeps.push(((*begin as u64)..(*end as u64), Sweep::new(code, *begin as u64, &sizes)));
        }
    }
    let displaced = |address: u64, size: u64, room: u64| -> Result<Displaced, Refusal> {
        let code = object.code_from(address as usize).ok_or(Refusal::NotExecutable)?;
        let displaced = Displaced::read(code, address, size as usize)?;
        if room < displaced.length as u64 {
            return Err(Refusal::Overlap);
        }
        match sweeps.iter().find(|(part, _)| part.contains(&address)) {
            Some((_, sweep)) if sweep.enters(address, displaced.length) => Err(Refusal::JumpedInto),
            Some((_, sweep)) if sweep.loops(address) => Err(Refusal::Loops),
            _ => Ok(displaced),
        }
    };

    let count = entries.len() + hooks.len();
    let switches_length = shared.plan().switches_length();
    let page = if count < MANY { PAGE } else { HUGE_PAGE };
    let code_length = (POINTERS + count * MOST).next_multiple_of(page);
    let (begin, end) = object.span();
    let base = near::reserve(begin, end, switches_length + code_length + page - PAGE).ok_or(Refusal::Far)?;
    map_switches(shared, base)?;
    let code = (base + switches_length).next_multiple_of(page);
    protect(code, code_length, libc::PROT_READ | libc::PROT_WRITE)?;
    if page == HUGE_PAGE {
        // One entry of the processor's table of pages instead of one a function. If there is none to be had, small ones do.
        // SAFETY: memory just made, not touched yet.
        unsafe { libc::madvise(code as *mut c_void, code_length, libc::MADV_HUGEPAGE) };
    }
    let put = |at: u64, bytes: &[u8]| {
        // SAFETY: within the zone just made writable: each part has its room.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) }
    };
    let zone = Zone { switches: base as u64, pointers: code as u64 };
    let functions: [unsafe extern "C" fn(); 3] =
        [runtime::tare_entry, runtime::tare_exit, runtime::tare_hook_entry];
    for (place, function) in functions.iter().enumerate() {
        put((code + place * 8) as u64, &(*function as usize as u64).to_le_bytes());
    }

    let mut detours = Vec::new();
    let mut at = (code + POINTERS) as u64;
    for hook in hooks {
        // Without the unwinder's help an exception would end the program.
        let stub = displaced(hook.address, 0, LONGEST)
            .and_then(|displaced| zone.hook(&displaced, hook.address, hook.kind, at))
            .map_err(|_| Refusal::Unwinder)?;
        put(at, &stub);
        detours.push(Detour::new(None, hook.address, at)?);
        at += (stub.len() as u64).next_multiple_of(ALIGNMENT as u64);
    }
    for entry in entries {
        let stub = displaced(entry.address, entry.size, entry.room)
            .and_then(|displaced| zone.stub(&displaced, entry.address, entry.place as u32, at));
        let status = match stub {
            Ok(stub) => {
                put(at, &stub.code);
                sites[entry.place] = stub.site;
                detours.push(Detour::new(Some(entry.place), entry.address, at)?);
                at += (stub.code.len() as u64).next_multiple_of(ALIGNMENT as u64);
                PATCHED
            }
            Err(why) => why as u32,
        };
        shared.functions()[entry.place].status.store(status, Ordering::Release);
    }
    protect(code, code_length, libc::PROT_READ | libc::PROT_EXEC)?;
    Ok(detours)
}

/// The switches a second time, within reach of the stubs.
fn map_switches(shared: &Shared, at: usize) -> Result<(), Refusal> {
    let (length, from) = (shared.plan().switches_length(), shared.plan().switches_at());
    if length == 0 {
        return Ok(());
    }
    // SAFETY: over memory that was reserved for it.
    let got = unsafe {
        libc::mmap(
            at as *mut c_void,
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_FIXED,
            shared.file().as_raw_fd(),
            from as libc::off_t,
        )
    };
    if got == libc::MAP_FAILED {
        return Err(Refusal::Far);
    }
    runtime::set_switches(got.cast());
    Ok(())
}
