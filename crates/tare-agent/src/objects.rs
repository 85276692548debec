//! Files mapped in this process: the program and its libraries.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A mapped file. Addresses are of this process.
#[derive(Debug, Clone)]
pub(crate) struct Mapped {
    /// What to add to an address of the file.
    pub(crate) bias: usize,
    /// /proc/self/exe for the program, which comes first.
    pub(crate) path: PathBuf,
    /// Executable parts: first address and the one after the last.
    pub(crate) code: Vec<(usize, usize)>,
    /// Whether the linker has changed its code, which then is not the file's (text relocations).
    pub(crate) relocated: bool,
}

impl Mapped {
    /// First address of code and the one after the last.
    pub(crate) fn span(&self) -> (usize, usize) {
        let begin = self.code.iter().map(|part| part.0).min().unwrap_or(0);
        (begin, self.code.iter().map(|part| part.1).max().unwrap_or(0))
    }

    /// The executable bytes from `address` on to the end of their part.
    pub(crate) fn code_from(&self, address: usize) -> Option<&'static [u8]> {
        let (_, end) = self.code.iter().find(|(begin, end)| (*begin..*end).contains(&address))?;
        // SAFETY: a mapped, readable part of a file that stays mapped: the program or a library it is linked with.
        Some(unsafe { std::slice::from_raw_parts(address as *const u8, end - address) })
    }
}

/// All mapped files, the program first.
pub(crate) fn mapped() -> Vec<Mapped> {
    extern "C" fn note(about: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the linker's own record, valid during the call; `found` is the vector below.
        let (about, found) = unsafe { (&*about, &mut *found.cast::<Vec<Mapped>>()) };
        let name = if about.dlpi_name.is_null() {
            Path::new("")
        } else {
            // SAFETY: a C string of the linker's.
            Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(about.dlpi_name) }.to_bytes()))
        };
        // SAFETY: so many program headers are there.
        let headers = unsafe { std::slice::from_raw_parts(about.dlpi_phdr, usize::from(about.dlpi_phnum)) };
        let bias = about.dlpi_addr as usize;
        let code = headers
            .iter()
            .filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0)
            .filter(|header| header.p_flags & libc::PF_R != 0)
            .map(|header| {
                let begin = bias + header.p_vaddr as usize;
                (begin, begin + header.p_memsz as usize)
            })
            .collect();
        let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC);
        // SAFETY: the object's own dynamic section, where the linker has mapped it.
        let relocated =
            dynamic.is_some_and(|header| unsafe { relocates_code(bias + header.p_vaddr as usize) });
        let path = if found.is_empty() { Path::new("/proc/self/exe") } else { name };
        found.push(Mapped { bias, path: path.to_owned(), code, relocated });
        0
    }
    let mut found: Vec<Mapped> = Vec::new();
    // SAFETY: the callback is called before this returns, with our vector.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut found).cast()) };
    found
}

const NULL: u64 = 0;
const TEXTREL: u64 = 22;
const FLAGS: u64 = 30;
const FLAG_TEXTREL: u64 = 4;

/// Whether a dynamic section says that code is to be relocated.
///
/// # Safety
/// One is mapped there.
unsafe fn relocates_code(at: usize) -> bool {
    let mut entry = at as *const [u64; 2];
    loop {
        // SAFETY: up to the entry that ends it.
        match unsafe { *entry } {
            [NULL, _] => return false,
            [TEXTREL, _] => return true,
            [FLAGS, flags] if flags & FLAG_TEXTREL != 0 => return true,
            // SAFETY: that was not the last.
            _ => entry = unsafe { entry.add(1) },
        }
    }
}
