//! The unwinder's functions: exceptions (and ends of threads) go from frame to frame by return addresses, so those of watched
//! functions are put back before, and taken off again where the exception is caught (`hot/hot.c`, tare_hook).

use std::ffi::CStr;
use std::fs;

use tare_rings::Refusal;

use crate::elf::Elf;
use crate::objects::Mapped;

const UNWINDS: u32 = 1;
const CAUGHT: u32 = 2;

const FUNCTIONS: [(&CStr, u32); 5] = [
    (c"_Unwind_RaiseException", UNWINDS),
    (c"_Unwind_Resume", UNWINDS),
    (c"_Unwind_Resume_or_Rethrow", UNWINDS),
    (c"_Unwind_ForcedUnwind", UNWINDS),
    (c"__cxa_begin_catch", CAUGHT),
];

/// A function to hook: its address in this process, and which kind it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hook {
    pub(crate) address: u64,
    pub(crate) kind: u32,
}

/// All of them: in the shared libraries, and in the program itself where it has them.
pub(crate) fn find(objects: &[Mapped]) -> Result<Vec<Hook>, Refusal> {
    let mut hooks = Vec::new();
    // glibc loads this one when a thread is cancelled: now, so that it can be hooked. It stays.
    // SAFETY: opens a system library, whose start-up code does nothing.
    let library = unsafe { libc::dlopen(c"libgcc_s.so.1".as_ptr(), libc::RTLD_NOW) };
    for (name, kind) in FUNCTIONS {
        for handle in [library, libc::RTLD_DEFAULT] {
            if handle.is_null() && handle != libc::RTLD_DEFAULT {
                continue;
            }
            // SAFETY: looks a name up.
            let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
            if !found.is_null() {
                hooks.push(Hook { address: found as u64, kind });
            }
        }
    }
    let Some(program) = objects.first() else { return Ok(hooks) };
    let bytes = fs::read(&program.path).unwrap_or_default();
    if let Some(elf) = Elf::new(&bytes) {
        let mut known = false;
        for (name, address) in elf.functions() {
            // A version may follow the name of one that comes from a library.
            let plain = name.split(|byte| *byte == b'@').next().unwrap_or_default();
            let Some((_, kind)) = FUNCTIONS.iter().find(|(hooked, _)| hooked.to_bytes() == plain) else {
                known |= plain == b"__gxx_personality_v0" && address == 0;
                continue;
            };
            known = true;
            if address != 0 {
                hooks.push(Hook { address: program.bias as u64 + address, kind: *kind });
            }
        }
        if elf.has(".gcc_except_table") && !known {
            return Err(Refusal::Unwinder);
        }
    }
    hooks.sort_unstable();
    hooks.dedup_by_key(|hook| hook.address);
    Ok(hooks)
}
