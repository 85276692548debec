//! Programs of ours, as GCC makes them.

use std::path::{Path, PathBuf};
use std::process::Command;

use tare_profile::image::{Function, Image};
use tempfile::TempDir;

/// A binary in a folder that goes with it.
pub(crate) struct Compiled {
    pub(crate) path: PathBuf,
    folder: TempDir,
}

impl Compiled {
    /// `None`, and a line on why, where GCC is not there or cannot do it (no static libraries).
    pub(crate) fn new(source: &str, options: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let (text, path) = (folder.path().join("program.c"), folder.path().join("program"));
        std::fs::write(&text, source).unwrap();
        let made = Command::new("gcc").args(["-O2", "-w", "-o"]).args([&path, &text]).args(options).output();
        match made {
            Ok(made) if made.status.success() => Some(Self { path, folder }),
            Ok(made) => skipped(&String::from_utf8_lossy(&made.stderr)),
            Err(error) => skipped(&format!("gcc: {error}")),
        }
    }

    /// A copy without symbols that are not needed to run it.
    pub(crate) fn stripped(&self) -> PathBuf {
        let copy = self.folder.path().join("stripped");
        strip(&self.path, &copy);
        copy
    }
}

/// Writes a copy of a binary without its .symtab.
pub(crate) fn strip(path: &Path, copy: &Path) {
    let done = Command::new("strip").args(["--strip-all", "-o"]).args([copy, path]).status().unwrap();
    assert!(done.success());
}

pub(crate) fn skipped<T>(why: &str) -> Option<T> {
    eprintln!("skipped: {why}");
    None
}

/// The only function of this name.
pub(crate) fn only<'a>(image: &'a Image, name: &str) -> &'a Function {
    let found = image.find(name);
    assert_eq!(found.len(), 1, "{name}: {found:?}; near: {:?}", image.near(name, 3));
    found[0]
}

/// Names of what a function calls in its own file.
pub(crate) fn calls(image: &Image, name: &str) -> Vec<String> {
    let place = image.entry(only(image, name).address).unwrap();
    let functions =
        image.graph().callees(place).iter().map(|edge| image.functions()[edge.to as usize].name.clone());
    let mut names: Vec<String> = functions.collect();
    names.sort();
    names
}

/// Height by name.
pub(crate) fn height(image: &Image, name: &str) -> u32 {
    image.graph().heights()[image.entry(only(image, name).address).unwrap() as usize]
}
