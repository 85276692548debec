//! From a file to what it says.

use std::path::Path;

use object::LittleEndian;
use object::elf::{DF_1_PIE, DT_FLAGS_1, ET_EXEC, PT_INTERP, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};

use super::code::Code;
use super::file::{self, Cache, Elf, Memory};
use super::links::Links;
use super::{Image, debug, extents, indirect, running, symbols, usdt};
use crate::{ProbeError, Result};

impl Image {
    /// Reads an executable or a library, which may name no function.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = std::path::absolute(path.as_ref()).unwrap_or_else(|_| path.as_ref().to_path_buf());
        let cache = Cache::new(file::open(&path)?);
        let inode = running::inode(&path).map_err(|error| ProbeError::os(path.display(), &error, ""))?;
        let elf = file::parse(&path, &cache)?;
        let build_id = file::build_id(&elf);
        let debug = debug::open(&path, &elf, &build_id);
        let debug = debug.as_ref().and_then(|(path, cache)| file::parse(path, cache).ok());
        let memory = Memory::of(&path, &elf)?;
        let symbols = symbols::read(&elf, debug.as_ref(), &memory);
        let extents = extents::read(&elf, &memory);
        let links = Links::read(&elf, &memory);
        let code = Code::read(&symbols, extents, &links, &memory);
        let mut image = code.image(&memory, &links);
        (image.path, image.build_id, image.inode) = (path, build_id, inode);
        (image.usdt, image.preloadable) = (usdt::read(&elf), preloadable(&elf));
        image.resolvers = indirect::resolvers(&elf, debug.as_ref());
        (image.own_slots, image.imports) = (indirect::own_slots(&elf, &memory), links.imports());
        image.first_load = first_load(&elf);
        Ok(image)
    }

    /// An error if no function has a name.
    pub fn require_names(&self) -> Result<()> {
        if self.counts.symbols + self.counts.inferred > 0 {
            return Ok(());
        }
        Err(nameless(&self.path, self.functions.len()))
    }
}

fn nameless(path: &Path, functions: usize) -> ProbeError {
    let shown = path.display();
    let what = if functions == 0 {
        format!("{shown} has neither symbols nor unwind tables: no function can be found in it")
    } else {
        format!("{shown} is stripped: it has {functions} functions, and none of them has a name")
    };
    let next = "install its debug symbols under /usr/lib/debug/.build-id (Debian: the package's -dbgsym, Fedora: dnf \
                debuginfo-install), put the file that its .gnu_debuglink names beside it, or use a build that is not \
                stripped";
    ProbeError::new(what, next)
}

/// Offset and address of the first part that is mapped.
fn first_load(elf: &Elf<'_>) -> (u64, u64) {
    let endian = LittleEndian;
    let loads = elf.elf_program_headers().iter().filter(|part| part.p_type(endian) == PT_LOAD);
    loads.map(|part| (part.p_offset(endian), part.p_vaddr(endian))).min().unwrap_or_default()
}

/// Without a dynamic loader nothing is ever preloaded: a static executable. Libraries have none of their own.
fn preloadable(elf: &Elf<'_>) -> bool {
    let (endian, header) = (LittleEndian, elf.elf_header());
    let loader = elf.elf_program_headers().iter().any(|part| part.p_type(endian) == PT_INTERP);
    let position_independent = || {
        let table = elf.elf_dynamic_table().ok();
        let mut entries = table.iter().flat_map(|table| table.iter());
        entries.any(|entry| entry.tag == DT_FLAGS_1 && entry.val & DF_1_PIE.0 != 0)
    };
    loader || !(header.e_type(endian) == ET_EXEC || position_independent())
}
