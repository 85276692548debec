//! What the code of watched functions says of where probes belong. It is read once, however often probes are set.

use std::collections::{HashMap, HashSet};

use super::object::Object;
use crate::backend::Target;
use crate::image::around::Around;
use crate::image::entry::SEEN;
use crate::image::exits::{self, Exit};
use crate::image::flow::{Flow, Stretch, Unreadable};
use crate::maps;

/// Longer functions are not read, in bytes.
const LONGEST: u64 = 1 << 20;

/// Of one function.
#[derive(Debug)]
pub(super) struct Body {
    /// Each place at which it leaves.
    pub exits: Vec<Exit>,
    /// Offsets, among its first bytes, to which jumps lead.
    pub joined: HashSet<u64>,
}

/// Of functions, by file and address. The files are held open, so that no other file comes to their inodes.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    around: HashMap<maps::File, Around>,
    read: HashMap<(maps::File, u64), Result<Body, &'static str>>,
}

impl Bodies {
    /// Of this function, or why it is not known where it leaves. `all_code`: as `Flow::read` takes it.
    pub(super) fn of(
        &mut self,
        target: &Target,
        object: &Object,
        all_code: bool,
    ) -> Result<&Body, &'static str> {
        let around = self
            .around
            .entry(object.id())
            .or_insert_with(|| object.contents().map(Around::read).unwrap_or_default());
        let known = self.read.entry((object.id(), target.address));
        known.or_insert_with(|| read(target, object, around, all_code)).as_ref().map_err(|why| *why)
    }
}

fn read(target: &Target, object: &Object, around: &Around, all_code: bool) -> Result<Body, &'static str> {
    let size = target.size + target.parts.iter().map(|(_, size)| size).sum::<u64>();
    if target.size == 0 {
        return Err("how long it is is not known, and so not where it leaves");
    }
    if size > LONGEST {
        return Err("it is longer than 1 MiB");
    }
    let stretch = |(address, size)| {
        let offset = object.segments.offset_of(address)?;
        Some(Stretch { address, code: object.code(offset, size) })
    };
    let whole = std::iter::once((target.address, target.size)).chain(target.parts.iter().copied());
    let stretches = whole.map(stretch).collect::<Option<Vec<_>>>();
    let stretches = stretches.ok_or(Unreadable::Code.says())?;
    let flow = Flow::read(stretches, around, all_code).map_err(Unreadable::says)?;
    let exits = exits::read(&flow).map_err(Unreadable::says)?;
    let joined = flow.joined(target.address..target.address + SEEN as u64);
    let joined = joined.into_iter().map(|address| address - target.address).collect();
    Ok(Body { exits, joined })
}
