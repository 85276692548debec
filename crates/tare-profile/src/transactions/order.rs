//! Transactions in the order of their beginnings, and their cells with them.

use super::transaction::Raw;
use crate::profile::{Cell, Transaction};

pub(super) fn ordered(mut raw: Vec<Raw>, cells: &[Cell]) -> (Vec<Transaction>, Vec<Cell>) {
    raw.sort_by_key(|one| (one.transaction.begin_ns, one.transaction.pid, one.transaction.tid));
    let mut sorted = Vec::with_capacity(cells.len());
    for (place, one) in (0..).zip(&raw) {
        let own = cells[one.cells.clone()].iter();
        sorted.extend(own.map(|cell| Cell { transaction: place, ..*cell }));
    }
    (raw.into_iter().map(|one| one.transaction).collect(), sorted)
}
