//! How often each kind comes, by workload.

use crate::oltp::Kind;
use crate::oltp::ycsb::settings::Core;

const fn kind(name: &'static str, share: f64, writes: bool) -> Kind {
    Kind { name, share, writes, keying_s: 0.0, think_s: 0.0 }
}

/// All six in each workload, so that a mix by hand may name any of them.
const fn shares(
    read: f64,
    insert: f64,
    scan: f64,
    update: f64,
    delete: f64,
    read_modify_write: f64,
) -> [Kind; 6] {
    [
        kind("read", read, false),
        kind("insert", insert, true),
        kind("scan", scan, false),
        kind("update", update, true),
        kind("delete", delete, true),
        kind("read_modify_write", read_modify_write, true),
    ]
}

static A: [Kind; 6] = shares(50.0, 0.0, 0.0, 50.0, 0.0, 0.0);
static B: [Kind; 6] = shares(95.0, 0.0, 0.0, 5.0, 0.0, 0.0);
static C: [Kind; 6] = shares(100.0, 0.0, 0.0, 0.0, 0.0, 0.0);
static D: [Kind; 6] = shares(95.0, 5.0, 0.0, 0.0, 0.0, 0.0);
static E: [Kind; 6] = shares(0.0, 5.0, 95.0, 0.0, 0.0, 0.0);
static F: [Kind; 6] = shares(50.0, 0.0, 0.0, 0.0, 0.0, 50.0);
/// OLTP-Bench's. More is deleted than inserted, the hottest keys first: in a long run ever more reads find nothing.
static ALL: [Kind; 6] = shares(50.0, 5.0, 15.0, 10.0, 10.0, 10.0);

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
