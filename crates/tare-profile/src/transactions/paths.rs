//! The tree of call paths, over all transactions of a recording.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::backend::FunctionId;
use crate::profile::Path;

/// By place; a caller's place is below those of the paths that it calls.
pub(super) struct Paths {
    list: Vec<Path>,
    places: HashMap<(u32, FunctionId, u32), u32, BuildHasherDefault<Mixer>>,
}

impl Paths {
    pub(super) const ROOT: u32 = 0;

    pub(super) fn new() -> Self {
        let root = Path { parent: None, function: None, site: 0 };
        let waiting = Path { parent: Some(Self::ROOT), function: None, site: 0 };
        Self { list: vec![root, waiting], places: HashMap::default() }
    }

    /// That of a function as called from `parent` at `site`.
    #[inline]
    pub(super) fn child(&mut self, parent: u32, function: FunctionId, site: u32) -> u32 {
        *self.places.entry((parent, function, site)).or_insert_with(|| {
            self.list.push(Path { parent: Some(parent), function: Some(function), site });
            (self.list.len() - 1) as u32
        })
    }

    pub(super) fn into_list(self) -> Vec<Path> {
        self.list
    }
}

/// A hash for keys that nobody chooses to our harm: multiply and rotate.
#[derive(Default)]
pub(super) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = self.0.wrapping_add(number).wrapping_mul(0xf135_7aea_2e62_a9c5);
    }
}
