//! Symbols that were stripped and kept in a file of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use tare_profile::image::Image;

use crate::compiled::{Compiled, only};

const PROGRAM: &str = "static __attribute__((noipa)) int hidden(int x) { return x * 3; }\n\
                       int main(int argc, char **argv) { return hidden(argc); }";

fn run(program: &str, arguments: &[&Path], options: &[&str]) {
    let done = Command::new(program).args(options).args(arguments).status().unwrap();
    assert!(done.success(), "{program} {options:?}");
}

/// A stripped program, and the file of its symbols in `folder` beside it.
fn separated(program: &Compiled, folder: &str) -> (PathBuf, PathBuf) {
    let folder = program.path.parent().unwrap().join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let (stripped, debug) = (program.path.with_file_name("stripped"), folder.join("program.debug"));
    run("objcopy", &[&program.path, &debug], &["--only-keep-debug"]);
    let link = format!("--add-gnu-debuglink={}", debug.display());
    run("objcopy", &[&program.path, &stripped], &["--strip-all", &link]);
    (stripped, debug)
}

#[test]
fn symbols_are_read_from_the_file_that_the_debug_link_names() {
    let Some(program) = Compiled::new(PROGRAM, &["-Wl,--build-id=none"]) else { return };
    for folder in ["", ".debug"] {
        let (stripped, debug) = separated(&program, folder);
        only(&Image::open(&stripped).unwrap(), "hidden");
        std::fs::remove_file(debug).unwrap();
    }
}

#[test]
fn symbols_of_another_build_are_not_taken() {
    let Some(program) = Compiled::new(PROGRAM, &["-Wl,--build-id=none"]) else { return };
    let (stripped, debug) = separated(&program, "");
    let mut bytes = std::fs::read(&debug).unwrap();
    bytes.push(0);
    std::fs::write(&debug, bytes).unwrap();
    let error = Image::open(&stripped).unwrap().require_names().unwrap_err();
    assert!(error.what.contains("is stripped"), "{error}");
}
