//! The file that keeps the symbols which were stripped from another one.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use object::Object;

use super::file::{self, Cache, Elf};
use super::running::DELETED;

const ROOT: &str = "/usr/lib/debug";

/// Finds it by build id, or by the name and checksum in `.gnu_debuglink`.
pub(super) fn open(path: &Path, elf: &Elf<'_>, build_id: &str) -> Option<(PathBuf, Cache)> {
    let found = by_build_id(build_id).or_else(|| by_link(path, elf))?;
    let cache = Cache::new(file::open(&found).ok()?);
    Some((found, cache))
}

fn by_build_id(build_id: &str) -> Option<PathBuf> {
    let (folder, rest) = build_id.split_at_checked(2)?;
    let path = PathBuf::from(format!("{ROOT}/.build-id/{folder}/{rest}.debug"));
    path.exists().then_some(path)
}

/// In the folder of the file, in `.debug` below it, and in the same folder below the root of debug files. A file with
/// another checksum belongs to another build.
fn by_link(path: &Path, elf: &Elf<'_>) -> Option<PathBuf> {
    let (name, checksum) = elf.gnu_debuglink().ok()??;
    let name = std::str::from_utf8(name).ok()?;
    let folder = real(path).parent()?.to_path_buf();
    let below_root = Path::new(ROOT).join(folder.strip_prefix("/").ok()?);
    let places = [folder.join(name), folder.join(".debug").join(name), below_root.join(name)];
    let fits = |place: &PathBuf| checksum_of(place) == Some(checksum);
    places.into_iter().filter(|place| place != path).find(fits)
}

/// Without links: of `/proc/PID/exe` the path at which the file is or was.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| {
        let link = fs::read_link(path).unwrap_or_else(|_| path.to_path_buf());
        let text = link.to_string_lossy();
        PathBuf::from(text.strip_suffix(DELETED).unwrap_or(&text))
    })
}

/// CRC-32 as in zlib, which `.gnu_debuglink` holds.
fn checksum_of(path: &Path) -> Option<u32> {
    let mut file = File::open(path).ok()?;
    let (mut hasher, mut part) = (crc32fast::Hasher::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut part).ok()? {
            0 => return Some(hasher.finalize()),
            read => hasher.update(&part[..read]),
        }
    }
}
