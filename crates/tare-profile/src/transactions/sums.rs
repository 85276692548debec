//! Times by path of the transaction that is being put together.

use crate::profile::Cell;

#[derive(Clone, Copy, Default)]
struct Sum {
    touched: bool,
    calls: u32,
    inclusive: u64,
    own: u64,
}

/// One sum for every path, and a list of those that are not zero.
#[derive(Default)]
pub(super) struct Sums {
    by_path: Vec<Sum>,
    touched: Vec<u32>,
}

impl Sums {
    #[inline]
    fn sum(&mut self, path: u32) -> &mut Sum {
        let place = path as usize;
        if place >= self.by_path.len() {
            self.by_path.resize((place + 1).next_power_of_two(), Sum::default());
        }
        let sum = &mut self.by_path[place];
        if !sum.touched {
            sum.touched = true;
            self.touched.push(path);
        }
        sum
    }

    #[inline]
    pub(super) fn call(&mut self, path: u32, calls: u32) {
        let sum = self.sum(path);
        sum.calls = sum.calls.saturating_add(calls);
    }

    #[inline]
    pub(super) fn time(&mut self, path: u32, inclusive: u64, own: u64) {
        let sum = self.sum(path);
        sum.inclusive += inclusive;
        sum.own += own;
    }

    /// What another has, on top.
    pub(super) fn add(&mut self, cell: &Cell) {
        self.call(cell.path, cell.calls);
        self.time(cell.path, cell.inclusive_ns, cell.own_ns);
    }

    /// All of it as cells of this transaction, in the order of paths; none of it stays.
    pub(super) fn flush(&mut self, transaction: u32, into: &mut Vec<Cell>) {
        self.touched.sort_unstable();
        for path in self.touched.drain(..) {
            let Sum { calls, inclusive, own, .. } = std::mem::take(&mut self.by_path[path as usize]);
            into.push(Cell { transaction, path, calls, inclusive_ns: inclusive, own_ns: own });
        }
    }
}
