//! A process and the file that it runs, which may have been replaced since.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tare_profile::image::Image;

use crate::compiled::Compiled;

const WAITS: &str =
    "#include <unistd.h>\nint main(void) { char c = 'r'; write(1, &c, 1); return (int)read(0, &c, 1); }";

/// Waits for its standard input, which ends with it.
struct Waiting(Child);

impl Waiting {
    fn start(path: &Path) -> Self {
        let mut child = Command::new(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let started = child.stdout.as_mut().unwrap().read_exact(&mut [0]); // until then its file may not be mapped
        started.unwrap();
        Self(child)
    }

    fn pid(&self) -> i32 {
        self.0.id() as i32
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

#[test]
fn what_a_process_runs_is_found_and_known_again() {
    let Some(program) = Compiled::new(WAITS, &[]) else { return };
    let process = Waiting::start(&program.path);
    let image = Image::of_process(process.pid()).unwrap();
    assert_eq!(image.path(), program.path.canonicalize().unwrap());
    image.check(process.pid()).unwrap();
    let own = Image::open(std::env::current_exe().unwrap()).unwrap();
    let error = own.check(process.pid()).unwrap_err();
    assert!(error.what.contains("does not use"), "{error}");
}

#[test]
fn a_file_that_was_replaced_or_deleted_since_is_read_as_it_runs() {
    let Some(program) = Compiled::new(WAITS, &["-Wl,--build-id"]) else { return };
    let Some(newer) = Compiled::new(&WAITS.replace("'r'", "'s'"), &["-Wl,--build-id"]) else { return };
    let process = Waiting::start(&program.path);
    let build = Image::of_process(process.pid()).unwrap().build_id().to_string();
    std::fs::remove_file(&program.path).unwrap();
    let deleted = Image::of_process(process.pid()).unwrap();
    assert_eq!(deleted.build_id(), build);
    assert_eq!(deleted.path(), Path::new(&format!("/proc/{}/exe", process.pid())));
    deleted.check(process.pid()).unwrap();

    std::fs::copy(&newer.path, &program.path).unwrap();
    assert_eq!(Image::of_process(process.pid()).unwrap().build_id(), build);
    let on_disk = Image::open(&program.path).unwrap();
    assert_ne!(on_disk.build_id(), build);
    let error = on_disk.check(process.pid()).unwrap_err();
    assert!(error.what.contains("was replaced"), "{error}");
    assert!(error.next_step.contains("/exe"), "{error}");
}

#[test]
fn a_program_that_is_in_memory_alone_is_read() {
    use std::os::fd::{AsRawFd, FromRawFd};

    let Some(program) = Compiled::new(WAITS, &[]) else { return };
    // SAFETY: a name that ends with NUL; the descriptor that comes of it is ours.
    let file = unsafe { std::fs::File::from_raw_fd(libc::memfd_create(c"in-memory".as_ptr(), 0)) };
    std::fs::copy(&program.path, format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
    let process = Waiting::start(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())));
    let image = Image::of_process(process.pid()).unwrap();
    image.check(process.pid()).unwrap();
    assert!(!image.find("main").is_empty());
}

#[test]
fn a_process_that_is_not_there_is_told() {
    let error = Image::of_process(i32::MAX).unwrap_err();
    assert!(error.next_step.contains("it has ended"), "{error}");
}
