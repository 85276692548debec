//! The shared file, mapped. Everything that both sides write is atomic; the rest is written once, before others look.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use crate::layout::{Function, Header, MAGIC, Object, Plan, Slot, Text, Ticks, Tier, VERSION};
use crate::mode;
use crate::record::Record;

/// Its name in the folder.
pub const FILE: &str = "rings";
/// The environment variable that tells an agent the folder.
pub const VARIABLE: &str = "TARE_AGENT";

/// What tells a file from another of the same path: device, inode, length, time of last change in ns.
pub fn identity(path: &Path) -> io::Result<[u64; 4]> {
    let about = fs::metadata(path)?;
    let changed = (about.mtime() as u64).wrapping_mul(1_000_000_000).wrapping_add(about.mtime_nsec() as u64);
    Ok([about.dev(), about.ino(), about.size(), changed])
}

/// The file, mapped to read and write.
#[derive(Debug)]
pub struct Shared {
    base: *mut u8,
    plan: Plan,
    file: File,
}

// SAFETY: the mapping lives as long as the value, and its parts are atomic or written before it is shared.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Makes the file in a folder that is there, for `owner` (user and group) alone, with its tables filled in.
    pub fn create(
        folder: &Path,
        tier: Tier,
        ticks: Ticks,
        plan: Plan,
        owner: Option<(u32, u32)>,
        objects: &[(PathBuf, [u64; 4])],
        functions: &[(u64, u32, u32)],
    ) -> io::Result<Self> {
        assert!(plan.is_sound());
        assert!(plan.objects as usize == objects.len() && plan.functions as usize == functions.len());
        let unfinished = folder.join(format!("{FILE}.new"));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&unfinished)?;
        file.set_len(plan.length() as u64)?;
        for (place, (path, identity)) in objects.iter().enumerate() {
            let path = path.as_os_str().as_encoded_bytes();
            let mut bytes = [0u8; size_of::<Object>()];
            for (number, part) in identity.iter().enumerate() {
                bytes[number * 8..number * 8 + 8].copy_from_slice(&part.to_le_bytes());
            }
            let kept = path.len().min(472);
            bytes[36..40].copy_from_slice(&(kept as u32).to_le_bytes());
            bytes[40..40 + kept].copy_from_slice(&path[..kept]);
            file.write_all_at(&bytes, (plan.objects_at() + place * bytes.len()) as u64)?;
        }
        let mut table = Vec::with_capacity(functions.len() * size_of::<Function>());
        for (address, size, object) in functions {
            table.extend(address.to_le_bytes());
            table.extend(size.to_le_bytes());
            table.extend(object.to_le_bytes());
            table.extend([0; 8]);
        }
        file.write_all_at(&table, plan.functions_at() as u64)?;
        let mut head = Vec::new();
        head.extend(MAGIC.to_le_bytes());
        for word in [
            VERSION,
            tier as u32,
            ticks as u32,
            plan.objects,
            plan.functions,
            plan.slots,
            plan.ring,
            plan.texts,
        ] {
            head.extend(word.to_le_bytes());
        }
        file.write_all_at(&head, 0)?;
        if let Some((user, group)) = owner {
            chown(&unfinished, Some(user), Some(group))?;
        }
        let shared = Self::map(file)?;
        shared.header().modes[usize::from(mode::PLAIN)].store(mode::USED, Ordering::Relaxed);
        fs::rename(&unfinished, folder.join(FILE))?;
        Ok(shared)
    }

    /// Maps the file of a folder.
    pub fn open(folder: &Path) -> io::Result<Self> {
        Self::map(OpenOptions::new().read(true).write(true).open(folder.join(FILE))?)
    }

    fn map(file: File) -> io::Result<Self> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let mut head = [0u8; 40];
        file.read_exact_at(&mut head, 0)?;
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("4 bytes"));
        if u64::from_le_bytes(head[..8].try_into().expect("8 bytes")) != MAGIC {
            return Err(wrong("not a file of this profiler"));
        }
        if word(8) != VERSION {
            return Err(wrong("made by another version of this profiler"));
        }
        let plan =
            Plan { objects: word(20), functions: word(24), slots: word(28), ring: word(32), texts: word(36) };
        if !plan.is_sound() || file.metadata()?.len() != plan.length() as u64 {
            return Err(wrong("its length is not what its head says"));
        }
        // SAFETY: a new shared mapping of a file of exactly this length.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                plan.length(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: our own mapping; a dump of the server's memory need not hold it.
        unsafe { libc::madvise(base, plan.length(), libc::MADV_DONTDUMP) };
        Ok(Self { base: base.cast(), plan, file })
    }

    fn part<T>(&self, at: usize, count: usize) -> &[T] {
        debug_assert!(at + count * size_of::<T>() <= self.plan.length());
        // SAFETY: within the mapping by the plan's arithmetic; page-aligned; any bytes are valid for these types.
        unsafe { std::slice::from_raw_parts(self.base.add(at).cast(), count) }
    }

    /// How much of everything; as read when it was mapped, whatever the file says since.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// The first page.
    pub fn header(&self) -> &Header {
        &self.part(0, 1)[0]
    }

    /// The objects.
    pub fn objects(&self) -> &[Object] {
        self.part(self.plan.objects_at(), self.plan.objects as usize)
    }

    /// The functions.
    pub fn functions(&self) -> &[Function] {
        self.part(self.plan.functions_at(), self.plan.functions as usize)
    }

    /// One byte for each function: 0 off, else a place in `Header::modes`.
    pub fn switches(&self) -> &[AtomicU8] {
        self.part(self.plan.switches_at(), self.plan.functions as usize)
    }

    /// The texts.
    pub fn texts(&self) -> &[Text] {
        self.part(self.plan.texts_at(), self.plan.texts as usize)
    }

    /// The slots.
    pub fn slots(&self) -> &[Slot] {
        self.part(self.plan.slots_at(), self.plan.slots as usize)
    }

    /// A slot's counts, one for each function.
    pub fn counts(&self, slot: usize) -> &[AtomicU32] {
        let at = self.plan.rings_at() + slot * self.plan.stride() + self.plan.ring_length();
        self.part(at, self.plan.functions as usize)
    }

    /// A slot's ring.
    pub fn ring(&self, slot: usize) -> *mut Record {
        // SAFETY: within the mapping by the plan's arithmetic.
        unsafe { self.base.add(self.plan.rings_at() + slot * self.plan.stride()).cast() }
    }

    /// Where the mapping begins.
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// The file, to map a part of it again.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Takes what a slot's thread has written since the last time. Only one reader may.
    pub fn drain(&self, slot: usize, into: &mut Vec<Record>) {
        let about = &self.slots()[slot];
        let ring = self.ring(slot);
        let (tail, head) = (about.tail.load(Ordering::Relaxed), about.head.load(Ordering::Acquire));
        let size = u64::from(self.plan.ring);
        // A head out of reach would be a writer's mistake: never read more than there can be.
        let tail = if head.wrapping_sub(tail) > size { head.wrapping_sub(size) } else { tail };
        let count = head.wrapping_sub(tail) as usize;
        let first = (tail & (size - 1)) as usize;
        let until_wrap = count.min(size as usize - first);
        into.reserve(count);
        // SAFETY: the writer published these with its head, and will not write them again until the tail has passed.
        unsafe {
            into.extend_from_slice(std::slice::from_raw_parts(ring.add(first), until_wrap));
            into.extend_from_slice(std::slice::from_raw_parts(ring, count - until_wrap));
        }
        about.tail.store(head, Ordering::Release);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the whole of our own mapping, which nothing refers to any more.
        unsafe { libc::munmap(self.base.cast(), self.plan.length()) };
    }
}

impl Object {
    /// Its path when the table was made.
    pub fn path(&self) -> PathBuf {
        let kept = (self.path_length as usize).min(self.path.len());
        PathBuf::from(String::from_utf8_lossy(&self.path[..kept]).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan = Plan { objects: 1, functions: 3, slots: 2, ring: 64, texts: 8 };

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tare-rings-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn made(folder: &Path) -> Shared {
        let objects = [(PathBuf::from("/bin/x"), [1, 2, 3, 4])];
        let functions = [(0x1000, 16, 0), (0x1010, 0, 0), (0x2000, 5, 0)];
        Shared::create(folder, Tier::Trampolines, Ticks::Tsc, PLAN, None, &objects, &functions).unwrap()
    }

    #[test]
    fn what_one_side_writes_the_other_reads() {
        let folder = folder("both");
        let ours = made(&folder);
        let theirs = Shared::open(&folder).unwrap();
        assert_eq!(theirs.plan(), PLAN);
        assert_eq!(theirs.objects()[0].identity, [1, 2, 3, 4]);
        assert_eq!(theirs.objects()[0].path(), Path::new("/bin/x"));
        assert_eq!(theirs.functions()[2].address, 0x2000);
        assert_eq!(theirs.header().tier, Tier::Trampolines as u32);
        ours.switches()[2].store(7, Ordering::Relaxed);
        assert_eq!(theirs.switches()[2].load(Ordering::Relaxed), 7);
        let plain = usize::from(mode::PLAIN);
        assert_eq!(theirs.header().modes[plain].load(Ordering::Relaxed), mode::USED);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_ring_gives_each_record_once_in_order_also_over_its_end() {
        let folder = folder("ring");
        let shared = made(&folder);
        let slot = &shared.slots()[1];
        let mut taken = Vec::new();
        let mut written = 0u64;
        for batch in [40u64, 64, 1, 0, 63] {
            for _ in 0..batch {
                // SAFETY: within the ring, and nobody else writes.
                unsafe {
                    *shared.ring(1).add((written & 63) as usize) =
                        Record { time: written, word: 1 << 28, detail: 0 };
                }
                written += 1;
            }
            slot.head.store(written, Ordering::Release);
            shared.drain(1, &mut taken);
        }
        assert_eq!(
            taken.iter().map(|record| record.time).collect::<Vec<_>>(),
            (0..written).collect::<Vec<_>>()
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_not_ours_is_refused() {
        let folder = folder("foreign");
        fs::write(folder.join(FILE), [7u8; 5000]).unwrap();
        assert!(Shared::open(&folder).unwrap_err().to_string().contains("not a file of this profiler"));
        drop(made(&folder));
        File::options().write(true).open(folder.join(FILE)).unwrap().set_len(4096).unwrap();
        assert!(Shared::open(&folder).unwrap_err().to_string().contains("length"));
        fs::remove_dir_all(folder).unwrap();
    }
}
