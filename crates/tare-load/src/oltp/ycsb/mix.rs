//! Types of transactions, and how often each comes, by workload.

use super::Ycsb;
use super::delete::Delete;
use super::insert::Insert;
use super::read::Read;
use super::read_modify_write::ReadModifyWrite;
use super::scan::Scan;
use super::settings::Core;
use super::update::Update;
use crate::oltp::workload::Draw;
use crate::oltp::{Kind, Random, Transaction};

/// In numbering order: name, whether it writes, how it is drawn.
static TYPES: [(&str, bool, Draw<Ycsb>); 6] = [
    ("read", false, |ycsb, random, _| {
        Box::new(Read::draw(ycsb.keys.draw(random), ycsb.settings.read, random))
    }),
    ("insert", true, |ycsb, random, _| Box::new(Insert::draw(&ycsb.keys, random))),
    ("scan", false, |ycsb, random, _| Box::new(Scan::draw(ycsb.keys.draw(random), &ycsb.settings, random))),
    ("update", true, |ycsb, random, _| {
        Box::new(Update::draw(ycsb.keys.draw(random), ycsb.settings.write, random))
    }),
    ("delete", true, |ycsb, random, _| Box::new(Delete { key: ycsb.keys.draw(random) })),
    ("read_modify_write", true, |ycsb, random, _| {
        Box::new(ReadModifyWrite::draw(ycsb.keys.draw(random), &ycsb.settings, random))
    }),
];

pub fn draw(ycsb: &Ycsb, kind: usize, random: &mut Random) -> Box<dyn Transaction> {
    (TYPES[kind].2)(ycsb, random, None)
}

/// All six in each workload, so that a mix by hand may name any of them.
const fn shares(shares: [f64; 6]) -> [Kind; 6] {
    let mut kinds = [Kind { name: "", share: 0.0, writes: false, keying_s: 0.0, think_s: 0.0 }; 6];
    let mut number = 0;
    while number < kinds.len() {
        (kinds[number].name, kinds[number].writes) = (TYPES[number].0, TYPES[number].1);
        kinds[number].share = shares[number];
        number += 1;
    }
    kinds
}

static A: [Kind; 6] = shares([50.0, 0.0, 0.0, 50.0, 0.0, 0.0]);
static B: [Kind; 6] = shares([95.0, 0.0, 0.0, 5.0, 0.0, 0.0]);
static C: [Kind; 6] = shares([100.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
static D: [Kind; 6] = shares([95.0, 5.0, 0.0, 0.0, 0.0, 0.0]);
static E: [Kind; 6] = shares([0.0, 5.0, 95.0, 0.0, 0.0, 0.0]);
static F: [Kind; 6] = shares([50.0, 0.0, 0.0, 0.0, 0.0, 50.0]);
/// OLTP-Bench's. More is deleted than inserted, the hottest keys first: in a long run ever more reads find nothing.
static ALL: [Kind; 6] = shares([50.0, 5.0, 15.0, 10.0, 10.0, 10.0]);

/// In numbering order.
pub fn kinds(core: Option<Core>) -> &'static [Kind] {
    match core {
        Some(Core::A) => &A,
        Some(Core::B) => &B,
        Some(Core::C) => &C,
        Some(Core::D) => &D,
        Some(Core::E) => &E,
        Some(Core::F) => &F,
        None => &ALL,
    }
}
