//! Addresses of the executable's own symbols: those it exports, else those of its .symtab. XRay's run-time library is
//! linked into an executable and exports nothing by itself.

use std::ffi::CStr;
use std::fs;

const SECTION_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;
const SYMTAB: u32 = 2;

/// Where each of these functions is in this process, in their order. `bias`: what addresses of the executable's file are
/// moved by.
pub fn addresses<const N: usize>(names: [&CStr; N], bias: usize) -> Result<[usize; N], String> {
    // SAFETY: the names end with NUL; RTLD_DEFAULT asks what has been loaded.
    let exported = names.map(|name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize);
    if exported.iter().all(|address| *address != 0) {
        return Ok(exported);
    }
    let file = fs::read("/proc/self/exe").map_err(|why| format!("the executable cannot be read: {why}"))?;
    let values = from_symtab(&file, &names).ok_or("the executable has no symbol table; it was stripped")?;
    let mut found = [0; N];
    for ((place, value), name) in found.iter_mut().zip(values).zip(names) {
        let value = value.ok_or_else(|| {
            format!(
                "the executable has no {}; build and link it with clang -fxray-instrument",
                name.to_string_lossy()
            )
        })?;
        *place = bias + value as usize;
    }
    Ok(found)
}

/// Of each name its value in the symbol table of an ELF file; `None` for the whole if there is no such table.
fn from_symtab(file: &[u8], names: &[&CStr]) -> Option<Vec<Option<u64>>> {
    let sections = usize::try_from(u64_at(file, 0x28)?).ok()?;
    let count = usize::from(u16_at(file, 0x3c)?);
    let section = |at: usize| file.get(sections + at * SECTION_BYTES..sections + (at + 1) * SECTION_BYTES);
    let body = |section: &[u8]| {
        let begin = usize::try_from(u64_at(section, 0x18)?).ok()?;
        file.get(begin..begin.checked_add(usize::try_from(u64_at(section, 0x20)?).ok()?)?)
    };
    let table = (0..count).filter_map(section).find(|one| u32_at(one, 4) == Some(SYMTAB))?;
    let texts = body(section(u32_at(table, 0x28)? as usize)?)?;
    let mut found = vec![None; names.len()];
    for symbol in body(table)?.chunks_exact(SYMBOL_BYTES) {
        let (Some(name), Some(value)) = (u32_at(symbol, 0), u64_at(symbol, 8)) else { continue };
        let Some(text) = texts.get(name as usize..) else { continue };
        for (place, wanted) in found.iter_mut().zip(names) {
            if value != 0 && text.starts_with(wanted.to_bytes_with_nul()) {
                *place = Some(value);
            }
        }
    }
    Some(found)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[unsafe(no_mangle)]
    extern "C" fn tare_symbol_that_is_not_exported() -> u32 {
        7
    }

    /// From /proc/self/maps: the first part that is mapped of this program.
    fn bias() -> usize {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        usize::from_str_radix(maps.split('-').next().unwrap(), 16).unwrap()
    }

    #[test]
    fn a_function_that_is_not_exported_is_found_by_the_symbol_table() {
        let here = tare_symbol_that_is_not_exported as *const () as usize;
        assert_eq!(addresses([c"tare_symbol_that_is_not_exported"], bias()), Ok([here]));
    }

    #[test]
    fn one_that_is_not_there_is_named() {
        let why = addresses([c"tare_symbol_that_is_not_exported", c"no_such_function"], bias()).unwrap_err();
        assert!(why.contains("no_such_function"), "{why}");
    }

    #[test]
    fn a_file_cut_off_anywhere_has_no_symbols_and_breaks_nothing() {
        let file = fs::read("/proc/self/exe").unwrap();
        for end in (0..file.len()).step_by(file.len() / 50 + 1) {
            let _ = from_symtab(&file[..end], &[c"main"]);
        }
    }
}
